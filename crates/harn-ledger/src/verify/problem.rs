//! What verification can find to be wrong, and how it says so.

use std::error::Error;
use std::iter::successors;

use crate::digest::Digest;
use crate::place::UnsafePlace;
use crate::scan::{Damage, UnfinishedTail};

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where: a stream such as `work/a`, or a path below the root.
    pub place: String,
    /// What.
    pub kind: ProblemKind,
}

/// What is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A crash left bytes behind the last whole event.
    #[error("unfinished tail of {} bytes at byte {}", .0.bytes, .0.offset)]
    UnfinishedTail(UnfinishedTail),
    /// The log does not verify.
    #[error("damaged at line {}, byte {}: {} ({} lines behind it)", .0.line, .0.offset, .0.kind, .0.lines_behind)]
    Damaged(Damage),
    /// It verifies, but this build does not know its format.
    #[error("newer than this build at event {seq}: {what}")]
    Newer {
        /// The event.
        seq: u64,
        /// What is not known.
        what: String,
    },
    /// A cited blob is not there.
    #[error("blob {blob} is missing, cited by event {seq}")]
    MissingBlob {
        /// Its digest.
        blob: Digest,
        /// The first event that cites it; 0 for the intent.
        seq: u64,
    },
    /// A cited blob holds other bytes.
    #[error("blob {blob} does not hold the bytes that event {seq} cites")]
    DamagedBlob {
        /// Its digest.
        blob: Digest,
        /// The first event that cites it; 0 for the intent.
        seq: u64,
    },
    /// An object with a member `blob` is not a citation.
    #[error("event {seq} has a member `blob` that is not a citation")]
    FalseCitation {
        /// The event; 0 for the intent.
        seq: u64,
    },
    /// A sync failed earlier: the end of the log may not survive a power loss.
    #[error("a sync failed: the end of the log may not be on stable storage")]
    Suspect,
    /// Others could read or change it.
    #[error("unsafe: {}", .0.problem)]
    UnsafePlace(UnsafePlace),
    /// The ledger did not put it there.
    #[error("foreign file")]
    ForeignFile,
    /// It cannot be read.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// What the machine said.
        reason: String,
    },
    /// The stream verifies, but ends before the event where the checkpoint saw its end.
    #[error("cut off: it ends at event {seq}, and the checkpoint saw it end at event {known}{}", told(*cut))]
    Shorter {
        /// Where it ends.
        seq: u64,
        /// Where the checkpoint saw its end.
        known: u64,
        /// The first `ledger.cut` in it, if there is one: then the end was cut off by a repair, and its file is kept.
        cut: Option<u64>,
    },
    /// The stream verifies, but the event where the checkpoint saw its end is another one; so it, an event before it, or
    /// the intent was replaced.
    #[error("rewritten: event {seq} has the hash {found}, and the checkpoint saw {known}{}", told(*cut))]
    Rewritten {
        /// The event.
        seq: u64,
        /// The hash that the checkpoint saw.
        known: Digest,
        /// The hash that the event has.
        found: Digest,
        /// The first `ledger.cut` up to this event, if there is one: then a repair cut off what stood there, and its file
        /// is kept.
        cut: Option<u64>,
    },
    /// A stream that the checkpoint saw is not there.
    #[error("removed: the checkpoint saw it end at event {known}")]
    Removed {
        /// Where the checkpoint saw its end.
        known: u64,
    },
    /// Every single stream of the checkpoint is removed or rewritten.
    #[error(
        "no stream of the checkpoint, of {streams} in all, is left as it was seen: it may be of another ledger"
    )]
    AnotherLedger {
        /// How many streams the checkpoint has.
        streams: u64,
    },
}

/// A repair cuts with the ledger's knowledge, and says so in the log.
fn told(cut: Option<u64>) -> String {
    cut.map_or_else(String::new, |seq| format!("; event {seq} records that a repair cut off a damaged end"))
}

impl ProblemKind {
    /// What cannot be read, with everything that caused it.
    pub(super) fn unreadable(error: &dyn Error) -> Self {
        let causes = successors(Some(error), |&error| error.source());
        let reason = causes.map(ToString::to_string).collect::<Vec<String>>().join(": ");
        Self::Unreadable { reason }
    }

    /// A stable name.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnfinishedTail(_) => "unfinished_tail",
            Self::Damaged(_) => "damaged",
            Self::Newer { .. } => "newer",
            Self::MissingBlob { .. } => "missing_blob",
            Self::DamagedBlob { .. } => "damaged_blob",
            Self::FalseCitation { .. } => "false_citation",
            Self::Suspect => "suspect",
            Self::UnsafePlace(_) => "unsafe_place",
            Self::ForeignFile => "foreign_file",
            Self::Unreadable { .. } => "unreadable",
            Self::Shorter { .. } => "cut_off",
            Self::Rewritten { .. } => "rewritten",
            Self::Removed { .. } => "removed",
            Self::AnotherLedger { .. } => "another_ledger",
        }
    }
}
