//! Why there is no receipt.

use harn_ledger::{AppendError, BlobError, CreateError, ExecuteError, ReadError, StreamError, StreamId};

use crate::fingerprint::FingerprintError;
use crate::key::InvalidKey;
use crate::receipt::Refusal;
use crate::recipe::InvalidRecipe;

/// Why there is no receipt, or why it has no end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The recipe is none. Nothing ran.
    #[error(transparent)]
    Recipe(#[from] InvalidRecipe),
    /// An earlier preparation changed the source, and nobody has said what becomes of that. Nothing ran.
    #[error("the preparation `{id}` changed the source, and a person must say what becomes of that")]
    Unresolved {
        /// Its receipt.
        id: StreamId,
    },
    /// The source cannot be looked at.
    #[error(transparent)]
    Fingerprint(#[from] FingerprintError),
    /// The key cannot be made.
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// The receipt with the baseline is none, or was not finished.
    #[error("the receipt `{id}` has no baseline to compare with: it is {status}")]
    NoBaseline {
        /// The receipt.
        id: StreamId,
        /// How it stands.
        status: &'static str,
    },
    /// A receipt cannot be read.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The receipt cannot be created.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The receipt cannot be written any further.
    #[error(transparent)]
    Execute(#[from] ExecuteError<Refusal>),
    /// Evidence cannot be stored.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// It was stopped before there was a receipt.
    #[error("it was stopped while another preparation of the project was under way")]
    Stopped,
    /// The project cannot be locked.
    #[error("cannot wait for another preparation of `{path}`")]
    Lock {
        /// The project.
        path: String,
        /// What the machine said.
        source: std::io::Error,
    },
}

impl PrepareError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Recipe(error) => error.code(),
            Self::Unresolved { .. } => "source_unresolved",
            Self::Fingerprint(error) => error.code(),
            Self::Key(_) => "key_invalid",
            Self::NoBaseline { .. } => "no_baseline",
            Self::Stream(error) => error.code(),
            Self::Create(error) => error.code(),
            Self::Execute(ExecuteError::Refused(refusal)) => refusal.code(),
            Self::Execute(ExecuteError::Facts(error)) => error.code(),
            Self::Execute(ExecuteError::Append(error)) => error.code(),
            Self::Blob(error) => error.code(),
            Self::Stopped => "stopped",
            Self::Lock { .. } => "lock_failed",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Fingerprint(error) => error.hint(),
            Self::Unresolved { id } => Some(format!(
                "`harn env show {id}` shows what; `harn env resolve {id} --keep --reason TEXT` or `harn env resolve {id} --restore --reason TEXT` says it"
            )),
            Self::NoBaseline { .. } => Some("harn env prepare".to_owned()),
            Self::Stream(error) => error.hint(),
            Self::Create(error) => error.hint(),
            Self::Execute(ExecuteError::Append(error)) => error.hint(),
            Self::Blob(error) => error.hint(),
            _ => None,
        }
    }
}

impl From<ReadError> for PrepareError {
    fn from(error: ReadError) -> Self {
        Self::Stream(error.into())
    }
}

impl From<AppendError> for PrepareError {
    fn from(error: AppendError) -> Self {
        Self::Execute(ExecuteError::Append(error))
    }
}
