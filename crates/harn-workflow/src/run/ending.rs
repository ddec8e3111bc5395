//! How a run ended.

use serde::{Deserialize, Serialize};

/// Whether the script returned. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The script returned a value that could be recorded.
    Succeeded,
    /// Anything else.
    Failed,
}

/// What ended a run that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Failure {
    /// The environment could not be prepared.
    Environment,
    /// The script could not be loaded, or what it says about itself was refused.
    LoadFailed,
    /// The script threw.
    ScriptError,
    /// The script waits for something that nothing will ever settle.
    ScriptStalled,
    /// The script used more memory than it may.
    OutOfMemory,
    /// The script nested too deeply.
    StackOverflow,
    /// The script returned a value that cannot be recorded.
    UnusableResult,
    /// The script said that a person must rule.
    Decision,
    /// A resumed script took another way than the transcript.
    ReplayDiverged,
    /// The transcript is full.
    TranscriptFull,
    /// The run's time was over.
    Deadline,
    /// The process was told to end.
    Signal,
    /// A person cancelled the work.
    Cancelled,
}
