//! What a history yields: events of the domain, and lines that the ledger added itself.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::Actor;
use crate::time::Timestamp;

/// An event with its place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded<E> {
    /// Line number in the log, counted from 1 without gaps; the ledger's own lines count too.
    pub seq: u64,
    /// When it was recorded. Never earlier than the line before.
    pub ts: Timestamp,
    /// Who caused it.
    pub actor: Actor,
    /// The line's hash.
    pub hash: Digest,
    /// What happened.
    pub event: E,
}

/// One line of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry<E> {
    /// An event of the domain.
    Domain(Recorded<E>),
    /// A line that the ledger wrote about the log itself.
    Ledger(Recorded<LedgerEvent>),
}

impl<E> Entry<E> {
    /// The line number.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        match self {
            Self::Domain(recorded) => recorded.seq,
            Self::Ledger(recorded) => recorded.seq,
        }
    }

    /// The event of the domain, if it is one.
    #[must_use]
    pub const fn domain(&self) -> Option<&Recorded<E>> {
        match self {
            Self::Domain(recorded) => Some(recorded),
            Self::Ledger(_) => None,
        }
    }
}

/// What the ledger records about a log. Its actor is always `ledger`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub enum LedgerEvent {
    /// An unfinished tail, left by a crash or a failed write, was moved out of the log into a file beside it.
    #[serde(rename = "ledger.tail_moved")]
    TailMoved {
        /// Name of the file, in the stream's directory.
        file: String,
        /// Length of what was moved, in bytes.
        bytes: u64,
        /// SHA-256 of what was moved.
        sha256: Digest,
    },
    /// Everything from the first damaged batch on was moved out of the log into a file beside it, on request.
    #[serde(rename = "ledger.cut")]
    Cut {
        /// Name of the file, in the stream's directory.
        file: String,
        /// Length of what was moved, in bytes.
        bytes: u64,
        /// SHA-256 of what was moved.
        sha256: Digest,
    },
}

/// The actor of the ledger's own lines.
pub(crate) const LEDGER_ACTOR: &str = "ledger";

/// The prefix that only the ledger's own events may have.
pub(crate) const LEDGER_PREFIX: &str = "ledger.";
