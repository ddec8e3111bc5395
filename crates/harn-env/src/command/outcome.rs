//! How a command ended.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Captured, Process, StartError};

/// How a command ended. The list is closed; the names are the ones that are written to disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It exited with code 0 in time.
    Passed,
    /// It exited with another code, or a signal ended it that we did not send.
    Failed,
    /// The operating system says that the program does not exist, or is nothing that may be executed. A shell's exit codes
    /// 126 and 127 are not this.
    MissingTool,
    /// It was still running at its time limit and was ended. Its exit code says nothing, even if it is 0.
    Timeout,
    /// It was cancelled while it ran and was ended.
    Stopped,
    /// It was cancelled before it started.
    NotRun,
    /// It did not start for another reason than a missing program.
    CouldNotStart,
}

impl Outcome {
    /// The name as it is written to disk.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::MissingTool => "missing_tool",
            Self::Timeout => "timeout",
            Self::Stopped => "stopped",
            Self::NotRun => "not_run",
            Self::CouldNotStart => "could_not_start",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How the program itself exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// With this code, 0 to 255.
    Code(i32),
    /// By the signal with this number.
    Signal(i32),
}

impl Exit {
    pub(super) fn from_status(status: ExitStatus) -> Option<Self> {
        status.code().map(Self::Code).or_else(|| status.signal().map(Self::Signal))
    }
}

/// What [`run`](super::run) found.
#[derive(Debug)]
#[must_use = "the outcome says whether the command passed"]
#[non_exhaustive]
pub struct Finished {
    /// How the command ended.
    pub outcome: Outcome,
    /// How the program exited; `None` if it did not start, or if even `KILL` did not end it.
    ///
    /// For [`Outcome::Timeout`] and [`Outcome::Stopped`] this only says how it reacted to being ended.
    pub exit: Option<Exit>,
    /// Why the program did not start; set for [`Outcome::MissingTool`] and [`Outcome::CouldNotStart`] only.
    pub start_error: Option<StartError>,
    /// From the call of [`run`](super::run) to its return.
    pub elapsed: Duration,
    /// What came on standard output.
    pub stdout: Captured,
    /// What came on standard error.
    pub stderr: Captured,
    /// Processes of the group that were still running after the program had exited by itself, and that were
    /// therefore ended.
    pub leftovers: Vec<Process>,
    /// Whether reading stopped before the end of a stream, because a process outside the group kept it open.
    pub output_open: bool,
    /// Processes that are known to be still running: those that `KILL` did not end and, where the system
    /// tells, those that kept a stream open.
    pub survivors: Vec<Process>,
}
