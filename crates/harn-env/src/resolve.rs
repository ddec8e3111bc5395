//! What becomes of a source that preparation changed: a person keeps the edits, or has exactly those files put back.

mod restore;

use std::io;
use std::path::Path;

use harn_ledger::{BlobError, ExecuteError, Ledger, ReadError, Stream, StreamError, StreamId};

use crate::fingerprint::FingerprintError;
use crate::prepare::PrepareError;
use crate::receipt::{Event, Receipt, Record, Refusal, Resolution};

/// What a person says.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Where receipts are kept.
    pub ledger: &'a Ledger,
    /// The project: an absolute path.
    pub root: &'a Path,
    /// The receipt of the preparation that changed the source.
    pub receipt: &'a StreamId,
    /// What becomes of it.
    pub resolution: Resolution,
    /// Why: 1 to 1,000 characters.
    pub reason: &'a str,
    /// Who says it.
    pub actor: &'a str,
}

/// What was done.
#[derive(Debug)]
pub struct Resolved {
    /// The receipt.
    pub receipt: Stream<Receipt>,
    /// The files that were put back, by path.
    pub restored: Vec<String>,
}

/// Why nothing was resolved. No file was touched unless it says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// Nobody has to say anything about this receipt.
    #[error(
        "the receipt `{id}` does not wait for a person: preparation changed no source, or it was resolved"
    )]
    NothingToResolve {
        /// The receipt.
        id: StreamId,
    },
    /// The receipt is of another project.
    #[error("the receipt `{id}` is of `{root}`")]
    OtherProject {
        /// The receipt.
        id: StreamId,
        /// Its project.
        root: String,
    },
    /// Somebody changed a file after preparation did.
    #[error("`{path}` was changed since preparation changed it, so it is not put back")]
    ChangedSince {
        /// Where it is.
        path: String,
    },
    /// What a file held is not kept.
    #[error(
        "what `{path}` held before is not kept: it was too large, one of too many, or held what looks like a secret"
    )]
    NotKept {
        /// Where it is.
        path: String,
    },
    /// A file could not be put back. Those before it, by path, were.
    #[error("cannot put `{path}` back")]
    Write {
        /// Where it is.
        path: String,
        /// What the machine said.
        source: io::Error,
    },
    /// A fingerprint that the receipt cites is none.
    #[error("the receipt `{id}` cites a fingerprint that cannot be read")]
    Unreadable {
        /// The receipt.
        id: StreamId,
    },
    /// The source cannot be looked at.
    #[error(transparent)]
    Fingerprint(#[from] FingerprintError),
    /// The project cannot be locked.
    #[error(transparent)]
    Lock(PrepareError),
    /// The receipt cannot be read.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// What was kept cannot be read.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The decision cannot be recorded.
    #[error(transparent)]
    Execute(#[from] ExecuteError<Refusal>),
}

impl ResolveError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NothingToResolve { .. } => "nothing_to_resolve",
            Self::OtherProject { .. } => "other_project",
            Self::ChangedSince { .. } => "changed_since",
            Self::NotKept { .. } => "not_kept",
            Self::Write { .. } => "write_failed",
            Self::Unreadable { .. } => "blob_damaged",
            Self::Fingerprint(error) => error.code(),
            Self::Lock(error) => error.code(),
            Self::Stream(error) => error.code(),
            Self::Blob(error) => error.code(),
            Self::Execute(ExecuteError::Refused(refusal)) => refusal.code(),
            Self::Execute(ExecuteError::Facts(error)) => error.code(),
            Self::Execute(ExecuteError::Append(error)) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NothingToResolve { id } => Some(format!("harn env show {id}")),
            Self::ChangedSince { .. } | Self::NotKept { .. } => {
                Some("put the files right by hand, then use `--keep`".to_owned())
            }
            Self::Fingerprint(error) => error.hint(),
            Self::Lock(error) => error.hint(),
            Self::Stream(error) => error.hint(),
            Self::Blob(error) => error.hint(),
            Self::Execute(ExecuteError::Append(error)) => error.hint(),
            _ => None,
        }
    }
}

impl From<ReadError> for ResolveError {
    fn from(error: ReadError) -> Self {
        Self::Stream(error.into())
    }
}

/// Records what becomes of a source that preparation changed, and puts files back if that is asked for.
///
/// Files go back one by one, each by a rename; the decision is recorded behind the last one. When that is cut off, the
/// same command goes on where it ended.
pub fn resolve(request: Request<'_>) -> Result<Resolved, ResolveError> {
    let Request { ledger, root, receipt: id, resolution, reason, actor } = request;
    let receipt = ledger.stream::<Receipt>(id.as_str())?;
    let _turn = crate::prepare::wait_for_turn(ledger, root).map_err(ResolveError::Lock)?;
    let state = receipt.state()?;
    let Some(after) = state.source_after().filter(|_| state.waits_for_a_person()) else {
        return Err(ResolveError::NothingToResolve { id: id.clone() });
    };
    if receipt.intent().root != root.to_string_lossy() {
        return Err(ResolveError::OtherProject { id: id.clone(), root: receipt.intent().root.clone() });
    }
    let restored = match resolution {
        Resolution::Keep => Vec::new(),
        Resolution::Restore => restore::restore(ledger, root, &receipt, after)?,
    };
    receipt.execute(actor, Record(Event::SourceResolved { resolution, reason: reason.to_owned() }))?;
    Ok(Resolved { receipt, restored })
}
