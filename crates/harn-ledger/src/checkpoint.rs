//! A checkpoint: where every stream of a ledger ended at one time, to be kept where the ledger is not.
//!
//! A log that was cut off at the end of a batch is a whole, shorter log, and a directory that is gone leaves no trace.
//! Only what is known from elsewhere shows that something is missing; this is the smallest thing to know.

mod file;
mod parse;
mod take;

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub use self::file::WriteCheckpointError;
pub use self::parse::{CHECKPOINT_MAX, ParseCheckpointError};
pub use self::take::CheckpointError;

use crate::decider::Head;
use crate::digest::Digest;
use crate::id::StreamName;
use crate::time::Timestamp;
use crate::verify::{Problem, against};

/// The version of the document that this build writes.
const VERSION: u64 = 1;

/// Most streams in a checkpoint. A document of so many streams with the longest names fits [`CHECKPOINT_MAX`].
pub const CHECKPOINT_STREAMS_MAX: usize = 1_000_000;

/// The head of every stream of a ledger at one time.
///
/// ```
/// use harn_ledger::disk::MemDisk;
/// use harn_ledger::{Checkpoint, Ledger};
///
/// let ledger = Ledger::builder("/bank").disk(MemDisk::new()).open()?;
/// let checkpoint = ledger.checkpoint()?;
/// assert_eq!(Checkpoint::parse(&checkpoint.to_bytes())?, checkpoint);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    ts: Timestamp,
    heads: BTreeMap<StreamName, Head>,
}

impl Checkpoint {
    /// When it was taken.
    #[must_use]
    pub const fn ts(&self) -> Timestamp {
        self.ts
    }

    /// The streams, in order, and where each ended.
    #[must_use]
    pub const fn heads(&self) -> &BTreeMap<StreamName, Head> {
        &self.heads
    }

    /// The digest that stands at the end of the document: of everything before it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.body().as_bytes())
    }

    /// The document: JSON, one line for each stream, one line feed at its end. The same checkpoint gives the same bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = self.body();
        let digest = Digest::of(body.as_bytes());
        seal(body, &digest)
    }

    /// What shows, from the two documents alone, that this later checkpoint is not of the same ledger as it went on.
    ///
    /// A stream must not be gone, must not end earlier, and must have the same hash where it ends at the same event. That
    /// a stream which ends later still holds the earlier event can only be proven against the ledger, so an empty list
    /// is no proof; see [`VerifyOptions::against`](crate::VerifyOptions::against).
    #[must_use]
    pub fn contradictions(&self, earlier: &Self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = earlier
            .heads
            .iter()
            .filter_map(|(stream, known)| {
                let kind = against::of_heads(*known, self.heads.get(stream).copied())?;
                Some(Problem { place: stream.to_string(), kind })
            })
            .collect();
        against::name_another_ledger(&mut problems, earlier);
        problems
    }

    /// The document up to the end of its list of streams.
    fn body(&self) -> String {
        let mut body = format!(r#"{{"schema_version":{VERSION},"ts":"{}","streams":["#, self.ts);
        let mut separator = "\n";
        for (stream, Head { seq, hash }) in &self.heads {
            write!(body, r#"{separator}{{"stream":"{stream}","seq":{seq},"hash":"{hash}"}}"#)
                .expect("writing to a string cannot fail");
            separator = ",\n";
        }
        body.push_str("\n]");
        body
    }
}

/// Closes a document with its digest.
fn seal(mut body: String, digest: &Digest) -> Vec<u8> {
    writeln!(body, ",\"sha256\":\"{digest}\"}}").expect("writing to a string cannot fail");
    body.into_bytes()
}
