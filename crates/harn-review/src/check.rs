//! Checks: commands that the controller runs, and what came of them.

use harn_ledger::text::{TextError, check_line};
use harn_ledger::{BlobRef, Digest};
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::id::FindingId;

/// A command that is run as a check. No shell is involved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What it is called: one line of 1 to 100 characters, unique among the checks of its task or of its finding.
    pub name: String,
    /// Program and arguments: 1 to 128, up to 64 KiB in all.
    pub argv: Vec<String>,
    /// Where it runs, below the project's root; the root itself without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<crate::path::SourcePath>,
    /// How long it may take: 1 to 3,600 seconds, 180 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
}

/// For what a check was run. Results of one scope never stand in for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The regression check of a finding, before a repair was attempted: it shows the finding.
    Baseline,
    /// The regression check of a finding, after a repair was attempted.
    Final,
    /// A check of a task of the plan.
    Task,
    /// One of the checks that always run all, on one source.
    Combined,
}

/// How a check ended. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// It exited with 0.
    Passed,
    /// It exited with another code, or by a signal.
    Failed,
    /// Its program is not there.
    MissingTool,
    /// It took too long.
    Timeout,
    /// Somebody stopped it.
    Stopped,
    /// It was not begun.
    NotRun,
    /// It could not be started.
    CouldNotStart,
    /// It changed the source that it was to judge.
    ChangedSource,
}

/// What a check came to. Only the controller that ran it makes one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckResult {
    /// For what it was run.
    pub scope: Scope,
    /// The check.
    pub check: Check,
    /// The finding that it shows, in the scopes `baseline` and `final`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<FindingId>,
    /// The task that it belongs to, in the scope `task`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// How many times it had been run for this before, plus 1.
    pub attempt: u32,
    /// Digest of the command and of the bytes of every file of the project that its arguments name.
    pub script: Digest,
    /// The source that it ran on.
    pub fingerprint: Digest,
    /// How it ended.
    pub outcome: CheckOutcome,
    /// Its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// What it printed, standard output first, without what looks like a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<BlobRef>,
    /// The end of that: at most 2 KiB.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
}

/// Longest end of an output in a result, in bytes.
pub const TAIL_MAX: usize = 2 << 10;

/// Why a check or its result is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidCheck {
    /// The name is blank, too long, or not one line.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The command is empty, too long, or cannot be passed to a program.
    #[error("the check `{name}` {why}")]
    Command {
        /// The check.
        name: String,
        /// What is wrong.
        why: &'static str,
    },
    /// A result names a finding or a task that its scope has not, or lacks the one that it has.
    #[error("a result of the scope `{}` has {expected}", scope.as_str())]
    Owner {
        /// The scope.
        scope: Scope,
        /// What it has.
        expected: &'static str,
    },
    /// The end of the output is too long.
    #[error("the end of an output has {0} bytes, expected at most 2048")]
    Tail(usize),
}

impl Check {
    /// Checks the bounds.
    pub fn check(&self) -> Result<(), InvalidCheck> {
        check_line("name of a check", &self.name, bounds::NAME)?;
        let bytes: usize = self.argv.iter().map(String::len).sum();
        let why = if self.argv.first().is_none_or(String::is_empty) {
            "names no program"
        } else if self.argv.len() > bounds::ARGV || bytes > bounds::ARGV_BYTES {
            "has more than 128 arguments or 64 KiB of them"
        } else if self.argv.iter().any(|word| word.contains('\0')) {
            "has a NUL in an argument"
        } else if self.timeout_seconds.is_some_and(|seconds| !(1..=bounds::TIMEOUT.1).contains(&seconds)) {
            "has a time limit out of 1 to 3,600 seconds"
        } else {
            return Ok(());
        };
        Err(InvalidCheck::Command { name: self.name.clone(), why })
    }

    /// How long it may take, in seconds.
    #[must_use]
    pub fn timeout(&self) -> u32 {
        self.timeout_seconds.unwrap_or(bounds::TIMEOUT.0)
    }

    /// The digest of the check's script: the command, and the files of the project that it names, each by path and content
    /// in the order of the arguments.
    #[must_use]
    pub fn script<'a>(&self, files: impl IntoIterator<Item = (&'a str, Digest)>) -> Digest {
        let files: Vec<_> = files.into_iter().collect();
        let parts = serde_json::json!(["check.v1", self.argv, self.cwd, files]);
        Digest::of(parts.to_string().as_bytes())
    }
}

impl CheckResult {
    /// Checks the bounds. Writer and reader both use it.
    pub fn check(&self) -> Result<(), InvalidCheck> {
        self.check.check()?;
        let (finding, task, expected) = match self.scope {
            Scope::Baseline | Scope::Final => (true, false, "a finding and no task"),
            Scope::Task => (false, true, "a task and no finding"),
            Scope::Combined => (false, false, "neither a finding nor a task"),
        };
        if self.finding.is_some() != finding || self.task.is_some() != task {
            return Err(InvalidCheck::Owner { scope: self.scope, expected });
        }
        if self.tail.len() > TAIL_MAX {
            return Err(InvalidCheck::Tail(self.tail.len()));
        }
        Ok(())
    }

    /// Whether it passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.outcome == CheckOutcome::Passed
    }
}

impl InvalidCheck {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Text(error) => error.code(),
            Self::Command { .. } => "check_command",
            Self::Owner { .. } => "check_owner",
            Self::Tail(_) => "too_much",
        }
    }
}

impl Scope {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Final => "final",
            Self::Task => "task",
            Self::Combined => "combined",
        }
    }
}

impl CheckOutcome {
    /// The word in JSON.
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
            Self::ChangedSource => "changed_source",
        }
    }
}
