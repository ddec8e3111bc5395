//! Why a review could not go on.

use std::path::PathBuf;

use harn_env::fingerprint::FingerprintError;
use harn_ledger::{BlobError, CreateError, ExecuteError, ReadError, StreamError};
use harn_review::check::InvalidCheck;
use harn_review::sarif::InvalidSarif;
use harn_review::{InvalidIntent, Refusal};
use harn_workflow::WorkError;

use crate::git::GitError;

/// Why a review could not go on. Nothing was recorded unless the error says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReviewError {
    /// The review refuses.
    #[error(transparent)]
    Refused(Refusal),
    /// What it is opened with is out of its bounds.
    #[error(transparent)]
    Intent(#[from] InvalidIntent),
    /// The check is out of its bounds.
    #[error(transparent)]
    Check(InvalidCheck),
    /// What is imported is no SARIF.
    #[error(transparent)]
    Sarif(#[from] InvalidSarif),
    /// There is nothing to run.
    #[error("{of}")]
    NoChecks {
        /// Where.
        of: String,
    },
    /// No turn is waited for.
    #[error("no report is waited for")]
    NoTurn,
    /// The report is too large.
    #[error("the report has {bytes} bytes, expected at most 4194304")]
    ReportTooLarge {
        /// How large it is.
        bytes: usize,
    },
    /// A branch is named, and there is no repository.
    #[error("`{}` is not in a Git repository of its own, so there is no branch to merge into", root.display())]
    NoRepository {
        /// The project.
        root: PathBuf,
    },
    /// The branch that the work is to be merged into cannot be told.
    #[error("cannot tell what the work is to be merged into: {what}")]
    NoBase {
        /// Why.
        what: String,
    },
    /// The work does not have all of the branch that it is to be merged into.
    #[error(
        "the work does not contain `{branch}` at {commit}, so what would be merged is not what is reviewed"
    )]
    BaseNotMerged {
        /// The branch.
        branch: String,
        /// Where it is.
        commit: String,
    },
    /// The source was edited again and again while it was looked at.
    #[error("the source was edited again and again while it was looked at")]
    Unstable,
    /// Somebody stopped it.
    #[error("it was stopped")]
    Stopped,
    /// The source cannot be looked at.
    #[error(transparent)]
    Fingerprint(#[from] FingerprintError),
    /// Git did not do what it was asked.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The work item cannot be read.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// The review cannot be read.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The review cannot be created.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The review cannot be written any further.
    #[error(transparent)]
    Execute(ExecuteError<Refusal>),
    /// Evidence cannot be stored.
    #[error(transparent)]
    Blob(#[from] BlobError),
}

impl ReviewError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) | Self::Execute(ExecuteError::Refused(refusal)) => refusal.code(),
            Self::Intent(error) => error.code(),
            Self::Check(error) => error.code(),
            Self::Sarif(error) => error.code(),
            Self::NoChecks { .. } => "no_checks",
            Self::NoTurn => "no_turn",
            Self::ReportTooLarge { .. } => "report_too_large",
            Self::NoRepository { .. } => "no_repository",
            Self::NoBase { .. } => "no_base",
            Self::BaseNotMerged { .. } => "base_not_merged",
            Self::Unstable => "source_unstable",
            Self::Stopped => "stopped",
            Self::Fingerprint(error) => error.code(),
            Self::Git(error) => error.code(),
            Self::Work(error) => error.code(),
            Self::Stream(error) => error.code(),
            Self::Create(error) => error.code(),
            Self::Execute(ExecuteError::Facts(error)) => error.code(),
            Self::Execute(ExecuteError::Append(error)) => error.code(),
            Self::Blob(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::BaseNotMerged { branch, .. } => {
                Some(format!("fetch `{branch}`, and merge it or rebase the work onto it"))
            }
            Self::NoBase { .. } => Some("name the branch with `--base`".to_owned()),
            Self::Unstable => Some("stop what writes to it".to_owned()),
            Self::Fingerprint(error) => error.hint(),
            Self::Work(error) => error.hint(),
            Self::Stream(error) => error.hint(),
            Self::Create(error) => error.hint(),
            Self::Execute(ExecuteError::Append(error)) => error.hint(),
            Self::Blob(error) => error.hint(),
            _ => None,
        }
    }
}

impl From<ReadError> for ReviewError {
    fn from(error: ReadError) -> Self {
        Self::Stream(error.into())
    }
}

impl From<ExecuteError<Refusal>> for ReviewError {
    fn from(error: ExecuteError<Refusal>) -> Self {
        match error {
            ExecuteError::Refused(refusal) => Self::Refused(refusal),
            other => Self::Execute(other),
        }
    }
}
