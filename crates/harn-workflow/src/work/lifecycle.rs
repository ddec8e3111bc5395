//! The two words that say where an item stands: its state and the next action.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a work item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// A dependency is not accepted yet.
    Waiting,
    /// The next attempt can be started.
    Ready,
    /// Somebody runs an attempt.
    Running,
    /// An attempt is parked until a person decides on an approval.
    AwaitingApproval,
    /// An attempt passed and waits for a person's judgement.
    InReview,
    /// The last attempt did not pass, or none is left.
    Blocked,
    /// A person accepted the work.
    Succeeded,
    /// A person gave the objective up.
    Cancelled,
}

impl ItemState {
    /// All states, in the order of an item's life.
    pub const ALL: [Self; 8] = [
        Self::Waiting,
        Self::Ready,
        Self::Running,
        Self::AwaitingApproval,
        Self::InReview,
        Self::Blocked,
        Self::Succeeded,
        Self::Cancelled,
    ];

    /// The word in JSON and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::AwaitingApproval => "awaiting_approval",
            Self::InReview => "in_review",
            Self::Blocked => "blocked",
            Self::Succeeded => "succeeded",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether only a reopen leads on from here.
    #[must_use]
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Succeeded | Self::Cancelled)
    }
}

impl fmt::Display for ItemState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What comes next for a work item. `None` stops automation; a person may still act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextAction {
    /// Nothing until the dependencies are accepted.
    WaitForDependencies,
    /// Start the first attempt of this window.
    Run,
    /// Nothing until the attempt ends.
    WaitForRun,
    /// A person decides on the approval.
    ResolveApproval,
    /// The parked attempt goes on.
    Resume,
    /// Start another attempt.
    Retry,
    /// A person judges the proof.
    Review,
    /// Nothing by itself.
    None,
}

impl NextAction {
    /// All next actions.
    pub const ALL: [Self; 8] = [
        Self::WaitForDependencies,
        Self::Run,
        Self::WaitForRun,
        Self::ResolveApproval,
        Self::Resume,
        Self::Retry,
        Self::Review,
        Self::None,
    ];

    /// The word in JSON and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WaitForDependencies => "wait_for_dependencies",
            Self::Run => "run",
            Self::WaitForRun => "wait_for_run",
            Self::ResolveApproval => "resolve_approval",
            Self::Resume => "resume",
            Self::Retry => "retry",
            Self::Review => "review",
            Self::None => "none",
        }
    }
}

impl fmt::Display for NextAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_written_word_is_the_printed_word() {
        for state in ItemState::ALL {
            assert_eq!(serde_json::to_string(&state).ok(), Some(format!("\"{state}\"")));
        }
        for next in NextAction::ALL {
            assert_eq!(serde_json::to_string(&next).ok(), Some(format!("\"{next}\"")));
        }
    }
}
