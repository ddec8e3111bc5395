#![doc = include_str!("../README.md")]

#[cfg(not(unix))]
compile_error!("harn-ledger relies on Unix file locks and permissions, and is not available for this system");

mod append;
mod blob_ref;
mod blobs;
mod catalog;
mod checkpoint;
mod clock;
mod compact;
mod create;
mod decider;
mod digest;
pub mod disk;
mod durability;
mod entry;
mod fold;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod fuzzing;
mod ground;
mod group;
mod id;
mod last;
mod layout;
mod lease;
mod ledger;
mod limits;
mod line;
mod lock;
mod log;
mod open;
mod parallel;
mod payload;
mod place;
mod raw;
mod repair;
mod scan;
mod staging;
mod stream;
mod system;
mod tail;
pub mod text;
mod time;
mod verify;

pub use append::AppendError;
pub use blob_ref::BlobRef;
pub use blobs::{BLOB_MAX, BlobError, BlobWriter, Blobs};
pub use catalog::{Catalog, Listed};
pub use checkpoint::{
    CHECKPOINT_MAX, CHECKPOINT_STREAMS_MAX, Checkpoint, CheckpointError, ParseCheckpointError,
    WriteCheckpointError,
};
pub use clock::{Clock, CountingIds, FixedClock, IdSource};
pub use create::CreateError;
pub use decider::{Decider, Expect, Head};
pub use digest::{Digest, Hasher, ParseDigestError};
pub use entry::{Entry, LedgerEvent, Recorded};
pub use id::{ACTOR_MAX, Actor, InvalidId, InvalidKind, StreamId, StreamName};
pub use lease::{Lease, LeaseError, LeaseStatus};
pub use ledger::{Ledger, StreamError};
pub use limits::Limits;
pub use log::ReadError;
pub use open::{LedgerBuilder, OpenError};
pub use payload::EventNotCanonical;
pub use place::{PlaceProblem, UnsafePlace};
pub use raw::{RawEvent, RawStream};
pub use repair::{LogPart, Moved, Repair, RepairError, RepairMode, Repaired};
pub use scan::{Damage, DamageKind, UnfinishedTail};
pub use stream::{Committed, ExecuteError, Stream};
pub use system::{SystemClock, SystemIds};
pub use time::{ParseTimestampError, Timestamp};
pub use verify::{Problem, ProblemKind, Verification, VerifyOptions};
