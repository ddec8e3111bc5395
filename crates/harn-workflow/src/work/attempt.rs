//! One attempt: how it was started and how it stands.

use std::fmt;

use harn_ledger::{StreamId, Timestamp};
use serde::{Deserialize, Serialize};

use super::end::{End, Outcome};

/// Why an attempt was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The first of its window.
    Initial,
    /// A person or a mission asked for another one after a failure.
    Retry,
}

/// How an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    /// Somebody runs it.
    Running,
    /// It is parked until a person decides on an approval.
    Parked,
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// Nobody runs it and there is no terminal evidence.
    Lost,
}

/// One attempt, as far as the item's log goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// Counted from 1 over the life of the item, without gaps.
    pub number: u32,
    /// The run that is this attempt.
    pub run_id: StreamId,
    /// Why it was started.
    pub trigger: Trigger,
    /// When it was recorded, before the script was loaded.
    pub started_at: Timestamp,
    /// The approval that it is parked for.
    pub parked_for: Option<StreamId>,
    /// How it ended; none while it is open.
    pub end: Option<End>,
    /// When its end was recorded.
    pub ended_at: Option<Timestamp>,
}

impl Attempt {
    /// Whether no end is recorded.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.end.is_none()
    }

    /// Whether it counts against the budget. An open attempt does.
    #[must_use]
    pub fn is_charged(&self) -> bool {
        self.end.as_ref().is_none_or(End::is_charged)
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        self.end.as_ref().map(End::outcome)
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Initial => "initial",
            Self::Retry => "retry",
        })
    }
}

impl fmt::Display for AttemptStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Running => "running",
            Self::Parked => "parked",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Lost => "lost",
        })
    }
}
