//! How one call of an agent, and each try within it, came out.

use serde::{Deserialize, Serialize};

/// How one try came out: one process started, or not even that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TryOutcome {
    /// It answered, and the answer is accepted.
    Replied,
    /// It answered, and the answer does not have the demanded form.
    Invalid,
    /// It failed.
    Failed,
    /// It ran longer than it may.
    Timeout,
}

/// How a call came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentOutcome {
    /// It answered.
    Succeeded,
    /// Its answer was taken over from an earlier attempt.
    Cached,
    /// No try was accepted.
    Failed,
}

impl AgentOutcome {
    /// Whether there is an answer.
    #[must_use]
    pub const fn answered(self) -> bool {
        matches!(self, Self::Succeeded | Self::Cached)
    }
}
