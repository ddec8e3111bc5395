//! A turn of a reviewer, and what came of it.

use harn_ledger::{BlobRef, Digest, Timestamp};

use crate::event::Moved;
use crate::id::{FindingId, TurnId};
use crate::path::SourcePath;
use crate::report::Status;

/// A turn of a reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Its number.
    pub id: TurnId,
    /// The source that the reviewer was given.
    pub fingerprint: Digest,
    /// The plan that governed.
    pub plan: Digest,
    /// What the reviewer was told to do.
    pub instructions: Digest,
    /// The fingerprint itself, as the controller keeps it.
    pub manifest: Option<BlobRef>,
    /// Who reviews.
    pub reviewer: Option<String>,
    /// When it was begun.
    pub at: Timestamp,
    /// How often a report was refused.
    pub rejections: u32,
    /// What came of it.
    pub outcome: TurnOutcome,
}

/// What came of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnOutcome {
    /// Its report is waited for.
    Running,
    /// Its report was taken in.
    Accepted(Accepted),
    /// Its report was stored, and nothing follows from it.
    Stale {
        /// What the report came to.
        status: Status,
        /// In words.
        summary: String,
        /// The report.
        raw: BlobRef,
        /// What had moved.
        moved: Vec<Moved>,
    },
    /// Two reports were refused. It waits for another turn to be begun.
    Paused {
        /// What was wrong with the last one, each in a line.
        problems: Vec<String>,
        /// The report.
        raw: BlobRef,
    },
    /// Another turn was begun before it was answered.
    Superseded,
}

/// A report that was taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// What it says that it comes to.
    pub status: Status,
    /// In words.
    pub summary: String,
    /// The report.
    pub raw: BlobRef,
    /// The findings that it spoke of.
    pub reported: Vec<FindingId>,
    /// Whether everything that it raised had been ruled on before, so that nothing follows from it.
    pub only_ruled_on: bool,
    /// How many files it says were read.
    pub read: Option<u32>,
    /// Files that changed and that it does not say were read.
    pub unread: Vec<SourcePath>,
    /// How many more there are.
    pub unread_more: u32,
}

impl Turn {
    /// Whether its report is waited for.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.outcome == TurnOutcome::Running
    }

    /// Whether the source that it was given was found clean. What had been ruled on before does not count against it.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        match &self.outcome {
            TurnOutcome::Accepted(it) => {
                it.status == Status::Clean || (it.status == Status::Findings && it.only_ruled_on)
            }
            _ => false,
        }
    }

    /// The word for where it stands.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match &self.outcome {
            TurnOutcome::Running => "running",
            TurnOutcome::Accepted(it) => it.status.as_str(),
            TurnOutcome::Stale { .. } => "stale",
            TurnOutcome::Paused { .. } => "paused",
            TurnOutcome::Superseded => "superseded",
        }
    }
}
