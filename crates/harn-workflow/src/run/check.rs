//! A check: a command that the engine runs itself, so that its result is observed and not declared.

use serde::{Deserialize, Serialize};

use super::evidence::EvidenceStatus;

/// Most arguments of a command, the program included.
const ARGUMENTS_MAX: usize = 128;
/// Longest command, in bytes over all arguments.
const ARGV_BYTES_MAX: usize = 16 << 10;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CheckOutcome {
    /// It exited with 0.
    Passed,
    /// It exited with another code or was killed by a signal that the engine did not send.
    Failed,
    /// Its program does not exist here.
    MissingTool,
    /// It ran longer than it may and was ended.
    Timeout,
    /// It was ended because the run was.
    Stopped,
    /// It was never started.
    NotRun,
    /// Its program exists and could not be started.
    CouldNotStart,
}

impl CheckOutcome {
    /// What the outcome says about the work. A check that did not run to its end says nothing, except that one which
    /// takes too long does not pass.
    #[must_use]
    pub const fn evidence(self) -> EvidenceStatus {
        match self {
            Self::Passed => EvidenceStatus::Passed,
            Self::Failed | Self::Timeout => EvidenceStatus::Failed,
            Self::MissingTool | Self::Stopped | Self::NotRun | Self::CouldNotStart => EvidenceStatus::Unknown,
        }
    }
}

/// A command: a program and its arguments, without a shell. 1 to 128 strings, 16 KiB in all, the program not empty, and
/// no NUL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Argv(Vec<String>);

/// The strings are not a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the command is not usable, expected a program and at most 127 arguments, 16 KiB in all, without NUL characters"
)]
pub struct InvalidArgv;

impl Argv {
    /// Checks a command.
    pub fn new(argv: Vec<String>) -> Result<Self, InvalidArgv> {
        let named = argv.first().is_some_and(|program| !program.is_empty());
        let bytes: usize = argv.iter().map(String::len).sum();
        let clean = argv.iter().all(|argument| !argument.contains('\0'));
        if named && argv.len() <= ARGUMENTS_MAX && bytes <= ARGV_BYTES_MAX && clean {
            Ok(Self(argv))
        } else {
            Err(InvalidArgv)
        }
    }

    /// The program and its arguments.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<Vec<String>> for Argv {
    type Error = InvalidArgv;

    fn try_from(argv: Vec<String>) -> Result<Self, Self::Error> {
        Self::new(argv)
    }
}

impl From<Argv> for Vec<String> {
    fn from(argv: Argv) -> Self {
        argv.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_run_and_what_not() {
        let argv = |count: usize, length: usize| vec!["x".repeat(length); count];
        for good in [argv(1, 1), argv(128, 128), vec!["sh".into(), String::new()]] {
            assert!(Argv::new(good).is_ok());
        }
        for bad in [vec![], argv(1, 0), argv(129, 1), argv(2, (8 << 10) + 1), vec!["a\0".into()]] {
            assert_eq!(Argv::new(bad), Err(InvalidArgv));
        }
    }
}
