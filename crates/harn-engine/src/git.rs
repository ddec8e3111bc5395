//! Calls of Git in a project, for what is read of its history and for what is published.

use std::path::{Path, PathBuf};
use std::time::Duration;

use harn_env::command::{self, Cancel, CommandSpec, Environment, Exit, Finished, Limits, Outcome, Streams};

/// How long a call may take. What is pushed may be large.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Most bytes that a call may answer.
const ANSWER_MAX: u64 = 256 << 20;
/// How many of Git's last lines an error repeats.
const WORDS_MAX: usize = 6;
/// Variables of the caller that would point Git at another repository.
const ELSEWHERE: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
];

/// Why Git did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// There is no Git.
    #[error("`git` was not found")]
    Missing,
    /// It failed.
    #[error("`git {command}` failed in `{}`: {why}", root.display())]
    Failed {
        /// Where.
        root: PathBuf,
        /// What was asked, without what it was asked about.
        command: String,
        /// Its last lines.
        why: String,
    },
    /// It was stopped.
    #[error("`git {command}` was stopped")]
    Stopped {
        /// What was asked.
        command: String,
    },
}

impl GitError {
    /// A stable name for the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing => "git_missing",
            Self::Failed { .. } => "git_failed",
            Self::Stopped { .. } => "stopped",
        }
    }
}

/// Git in one project.
#[derive(Debug)]
pub(crate) struct Git<'a> {
    root: &'a Path,
    environment: Environment,
    cancel: &'a Cancel,
}

impl<'a> Git<'a> {
    pub(crate) fn new(root: &'a Path, environment: &Environment, cancel: &'a Cancel) -> Self {
        let there = ELSEWHERE.iter().fold(environment.clone(), |rest, name| rest.without(*name));
        let fixed = [("GIT_TERMINAL_PROMPT", "0"), ("GIT_OPTIONAL_LOCKS", "0"), ("LC_ALL", "C")];
        let environment = fixed.into_iter().fold(there, |rest, (name, value)| rest.with(name, value));
        Self { root, environment, cancel }
    }

    /// The one line that a call answers.
    pub(crate) fn line(&self, arguments: &[&str]) -> Result<String, GitError> {
        Ok(String::from_utf8_lossy(&self.answer(arguments, b"")?).trim().to_owned())
    }

    /// What a call answers that passes.
    pub(crate) fn answer(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        let (finished, answer) = self.call(arguments, input)?;
        if finished.outcome == Outcome::Passed { Ok(answer) } else { Err(self.failed(arguments, &finished)) }
    }

    /// Whether a call says yes: it exits with 0 for yes and with 1 for no.
    pub(crate) fn says(&self, arguments: &[&str]) -> Result<bool, GitError> {
        let (finished, _) = self.call(arguments, b"")?;
        match finished.exit {
            Some(Exit::Code(0)) => Ok(true),
            Some(Exit::Code(1)) => Ok(false),
            _ => Err(self.failed(arguments, &finished)),
        }
    }

    /// Where a branch is on a remote, if it is there.
    pub(crate) fn remote_branch(&self, remote: &str, branch: &str) -> Result<Option<String>, GitError> {
        let name = format!("refs/heads/{branch}");
        let answer = self.line(&["ls-remote", "--quiet", "--", remote, &name])?;
        let of = |line: &str| {
            line.split_once('\t').filter(|(_, found)| *found == name).map(|(id, _)| id.to_owned())
        };
        Ok(answer.lines().find_map(of))
    }

    fn call(&self, arguments: &[&str], input: &[u8]) -> Result<(Finished, Vec<u8>), GitError> {
        let mut spec = CommandSpec::new("git", self.root)
            .args(
                ["-c", "core.fsmonitor=false", "-c", "core.quotePath=false"]
                    .into_iter()
                    .chain(arguments.iter().copied()),
            )
            .environment(self.environment.clone())
            .stdin(input)
            .timeout(TIMEOUT);
        spec.limits = Limits { sink: ANSWER_MAX, ..Limits::default() };
        let mut answer = Vec::new();
        let streams = Streams { stdout: &mut answer, stderr: &mut () };
        let finished = command::run(&spec, streams, self.cancel);
        match finished.outcome {
            Outcome::MissingTool => Err(GitError::Missing),
            Outcome::Stopped | Outcome::NotRun => Err(GitError::Stopped { command: named(arguments) }),
            _ => Ok((finished, answer)),
        }
    }

    fn failed(&self, arguments: &[&str], finished: &Finished) -> GitError {
        let words = finished.stderr.excerpt();
        let lines =
            words.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("hint:"));
        let mut last: Vec<&str> = lines.rev().take(WORDS_MAX).collect();
        last.reverse();
        let why = if last.is_empty() { finished.outcome.to_string() } else { last.join("; ") };
        GitError::Failed { root: self.root.to_owned(), command: named(arguments), why }
    }
}

/// The name of a call: an address may hold a password.
fn named(arguments: &[&str]) -> String {
    arguments.first().copied().unwrap_or_default().to_owned()
}
