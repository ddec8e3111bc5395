//! What a command of a recipe came to.

use harn_ledger::BlobRef;
use serde::{Deserialize, Serialize};

use crate::command::{Exit, Outcome};
use crate::compare::{Seen, Signature};

/// Longest end of an output that stands in an event, in bytes.
pub const EXCERPT_MAX: usize = 2048;

/// What a command came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandResult {
    /// The command's name in the recipe.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// How the program exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// Why it did not start, or what its output does not show: up to 1,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it left behind: processes that were ended, or that keep its output open. It says nothing about whether the command
    /// passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// How long it could have taken, in seconds.
    pub limit_seconds: u32,
    /// What it printed; absent when it printed nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Output>,
    /// What it printed on standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Output>,
    /// What tells one failure of it from another.
    pub signature: Signature,
}

/// What a command printed, without what looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// All of it, or its two ends with a mark between them that says how much is left out.
    pub content: BlobRef,
    /// How many bytes it printed.
    pub bytes: u64,
    /// Whether all of it is kept.
    pub whole: bool,
    /// Its end: at most 2 KiB.
    pub tail: String,
}

impl CommandResult {
    /// The result as far as it is compared.
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen { outcome: self.outcome, exit: self.exit, signature: self.signature.clone() }
    }

    /// Whether it passed and showed what it was to show.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.outcome == Outcome::Passed && self.error.is_none()
    }
}
