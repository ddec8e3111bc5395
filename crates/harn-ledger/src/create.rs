//! Creating a stream: built out of sight, complete and synced, then renamed into place in one step.

use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::append::{AppendError, Batch};
use crate::blob_ref::citations;
use crate::digest::Digest;
use crate::disk::{Disk, FileKind, Open, write_all_at};
use crate::id::{InvalidId, InvalidKind, StreamName};
use crate::layout::Lines;
use crate::log::{EVENTS_FILE, INTENT_FILE, Log};
use crate::payload::holds_null_or_space;
use crate::scan::Position;
use crate::staging::{self, Staged};
use crate::time::Timestamp;

/// Why a stream was not created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The id is taken.
    #[error("`{stream}` exists already")]
    AlreadyExists {
        /// The stream.
        stream: StreamName,
    },
    /// The id is not one.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// The domain's kind is not one.
    #[error(transparent)]
    Kind(#[from] InvalidKind),
    /// A stream is created with its first event.
    #[error("no first event was given for `{stream}`")]
    NoEvents {
        /// The stream.
        stream: StreamName,
    },
    /// The intent does not have the form that the format requires.
    #[error("the intent of `{stream}` {problem}")]
    IntentNotCanonical {
        /// The stream.
        stream: StreamName,
        /// What is wrong with it.
        problem: String,
    },
    /// The intent is too long.
    #[error("the intent of `{stream}` has {bytes} bytes, expected at most {limit}")]
    IntentTooLarge {
        /// The stream.
        stream: StreamName,
        /// Its length.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The first events could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
}

impl CreateError {
    /// A stable name for the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::AlreadyExists { .. } => "already_exists",
            Self::Id(_) => "invalid_id",
            Self::Kind(_) => "invalid_kind",
            Self::NoEvents { .. } => "no_events",
            Self::IntentNotCanonical { .. } => "intent_not_canonical",
            Self::IntentTooLarge { .. } => "intent_too_large",
            Self::Append(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::AlreadyExists { .. } => {
                Some("choose another id, or leave it out to get a new one".to_owned())
            }
            Self::Append(error) => error.hint(),
            _ => None,
        }
    }
}

/// The bytes of an intent, proven to read back as themselves.
pub(crate) fn encode_intent<I: Serialize + DeserializeOwned>(
    intent: &I,
    log: &Log,
) -> Result<Vec<u8>, CreateError> {
    let refuse = |problem: String| CreateError::IntentNotCanonical { stream: log.name.clone(), problem };
    let write = |intent: &I| {
        let compact =
            serde_json::to_vec(intent).map_err(|error| refuse(format!("cannot be written: {error}")))?;
        if compact.first() != Some(&b'{') || holds_null_or_space(&compact) {
            return Err(refuse("is not an object without `null`".to_owned()));
        }
        let mut pretty = serde_json::to_vec_pretty(intent)
            .map_err(|error| refuse(format!("cannot be written: {error}")))?;
        pretty.push(b'\n');
        Ok(pretty)
    };
    let bytes = write(intent)?;
    if citations(&bytes).is_none() {
        return Err(refuse("has a member `blob` that is not a citation".to_owned()));
    }
    let reread: I =
        serde_json::from_slice(&bytes).map_err(|error| refuse(format!("cannot be read back: {error}")))?;
    if write(&reread)? != bytes {
        return Err(refuse("is written differently after it was read back".to_owned()));
    }
    let limit = log.limits.intent_bytes;
    if bytes.len() as u64 > limit {
        return Err(CreateError::IntentTooLarge {
            stream: log.name.clone(),
            bytes: bytes.len() as u64,
            limit,
        });
    }
    Ok(bytes)
}

/// The first lines of a stream that can be created, as far as that can be told without writing.
pub(crate) fn check(log: &Log, intent: &[u8], batch: &Batch, now: Timestamp) -> Result<Vec<u8>, CreateError> {
    if batch.payloads.is_empty() {
        return Err(CreateError::NoEvents { stream: log.name.clone() });
    }
    let Lines { bytes: lines, .. } =
        log.lay_out(Position::start(Digest::of(intent)), Vec::new(), batch, now)?;
    log.check_parents().map_err(AppendError::from)?;
    staging::check_place(&*log.disk, log.parents().0).map_err(AppendError::from)?;
    if is_taken(&*log.disk, &log.directory) {
        return Err(CreateError::AlreadyExists { stream: log.name.clone() });
    }
    Ok(lines)
}

/// Creates the stream of `log` with its intent and its first events.
pub(crate) fn create(log: &Log, intent: &[u8], batch: &Batch, now: Timestamp) -> Result<(), CreateError> {
    let lines = check(log, intent, batch, now)?;
    let (root, kind) = log.parents();
    let disk = &*log.disk;
    let failed = |source| AppendError::at(log.directory.clone(), source);
    log.refusals.ground.ensure_directory(disk, kind).map_err(failed)?;
    let staged = staging::directory(disk, root).map_err(failed)?;
    if let Err(error) =
        fill(disk, &staged, intent, &lines).and_then(|()| disk.rename(&staged.path, &log.directory))
    {
        discard(disk, &staged);
        return Err(match error.kind() {
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => {
                CreateError::AlreadyExists { stream: log.name.clone() }
            }
            _ => failed(error).into(),
        });
    }
    // From here on others see the stream, and may write it.
    drop(staged);
    // If its name may not survive, it must not look as if it did.
    disk.sync_dir(kind).map_err(|source| {
        log.suspect(lines.len() as u64);
        AppendError::DurabilityUnknown { stream: log.name.clone(), source: Some(source) }
    })?;
    Ok(())
}

/// Whether something stands in the way. An empty directory does not: it is no stream, and the rename replaces it.
fn is_taken(disk: &dyn Disk, directory: &Path) -> bool {
    match disk.stat(directory) {
        Ok(stat) if stat.kind == FileKind::Directory => {
            disk.read_dir(directory).map_or(true, |names| !names.is_empty())
        }
        found => found.is_ok(),
    }
}

fn fill(disk: &dyn Disk, staged: &Staged, intent: &[u8], lines: &[u8]) -> io::Result<()> {
    let file = disk.open(&staged.path.join(INTENT_FILE), Open::CreateNew)?;
    write_all_at(&*file, 0, intent)?;
    file.sync()?;
    write_all_at(&*staged.file, 0, lines)?;
    staged.file.sync()?;
    disk.sync_dir(&staged.path)
}

/// Takes back what was built. What cannot be removed now is swept by whoever builds next.
fn discard(disk: &dyn Disk, staged: &Staged) {
    for file in [INTENT_FILE, EVENTS_FILE] {
        drop(disk.unlink(&staged.path.join(file)));
    }
    drop(disk.remove_dir(&staged.path));
}
