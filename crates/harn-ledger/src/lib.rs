//! Ledger.

mod blob_ref;
mod clock;
mod decider;
mod digest;
mod entry;
mod id;
mod limits;
mod system;
pub mod text;
mod time;

pub use blob_ref::BlobRef;
pub use clock::{Clock, CountingIds, FixedClock, IdSource};
pub use decider::{Decider, Expect, Head};
pub use digest::{Digest, Hasher, ParseDigestError};
pub use entry::{Entry, LedgerEvent, Recorded};
pub use id::{ACTOR_MAX, Actor, InvalidId, InvalidKind, StreamId, StreamName};
pub use limits::Limits;
pub use system::{SystemClock, SystemIds};
pub use time::{ParseTimestampError, Timestamp};
