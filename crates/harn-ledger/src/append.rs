//! Adding lines to a log so that they are there whole and for good, or not at all.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::decider::Head;
use crate::disk::{DiskFile, FileKind, Lock, Stat};
use crate::entry::{LedgerEvent, Recorded};
use crate::id::{Actor, StreamName};
use crate::layout::Lines;
use crate::line::Line;
use crate::lock::{self, Held, LOG_DEADLINE};
use crate::log::{BUSY_HINT, EVENTS_FILE, INTENT_FILE, Log, ReadError, SUSPECT_FILE, SUSPECT_HINT};
use crate::payload::{EventNotCanonical, Payload};
use crate::place::{self, READ_ONLY_HINT, UnsafePlace, is_read_only};
use crate::scan::{Position, UnfinishedTail};
use crate::text::TextError;
use crate::time::Timestamp;

/// Why nothing was appended. Unless it says otherwise, the log is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// Events came in between, again and again.
    #[error("`{stream}` was changed by somebody else")]
    Conflict {
        /// The stream.
        stream: StreamName,
    },
    /// Somebody else held the lock for too long.
    #[error("`{stream}` is being written by somebody else")]
    Busy {
        /// The stream.
        stream: StreamName,
    },
    /// The actor is not acceptable.
    #[error(transparent)]
    Actor(#[from] TextError),
    /// The domain's event types do not have the form that the format requires.
    #[error(transparent)]
    NotCanonical(#[from] EventNotCanonical),
    /// The name is reserved for the ledger.
    #[error("the event name `{name}` is reserved for the ledger")]
    ReservedName {
        /// The name.
        name: String,
    },
    /// The stream would exceed a limit of its kind.
    #[error("`{stream}` is full: its {what} would exceed {limit}")]
    LimitReached {
        /// The stream.
        stream: StreamName,
        /// What would be exceeded.
        what: &'static str,
        /// The limit, less the reserve unless the events close the stream.
        limit: u64,
    },
    /// No room is left. What was written of the events has been taken back.
    #[error("no room left to write `{}`", path.display())]
    StorageFull {
        /// The file.
        path: PathBuf,
        /// What the machine said; absent for a short write.
        source: Option<io::Error>,
    },
    /// The events are in the file, but the machine failed to bring them to stable storage, now or earlier.
    #[error("the end of `{stream}` may not survive a power loss: the machine failed to sync it")]
    DurabilityUnknown {
        /// The stream.
        stream: StreamName,
        /// What the machine said, if it happened just now.
        source: Option<io::Error>,
    },
    /// Others could read or change the stream's files.
    #[error(transparent)]
    UnsafePlace(#[from] UnsafePlace),
    /// The ledger was opened for reading only.
    #[error("the ledger is open for reading only")]
    ReadOnly,
    /// The file system is mounted for reading only.
    #[error("`{}` is on a read-only file system", path.display())]
    ReadOnlyFileSystem {
        /// The file or directory.
        path: PathBuf,
    },
    /// The machine said no.
    #[error("cannot write `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the machine said.
        source: io::Error,
    },
    /// The stream cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl AppendError {
    /// A stable name for the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Conflict { .. } => "conflict",
            Self::Busy { .. } => "busy",
            Self::Actor(error) => error.code(),
            Self::NotCanonical(_) => "event_not_canonical",
            Self::ReservedName { .. } => "event_name_reserved",
            Self::LimitReached { .. } => "limit_reached",
            Self::StorageFull { .. } => "storage_full",
            Self::DurabilityUnknown { .. } => "durability_unknown",
            Self::UnsafePlace(_) => "unsafe_place",
            Self::ReadOnly => "read_only",
            Self::ReadOnlyFileSystem { .. } => "read_only_file_system",
            Self::Io { .. } => "write_failed",
            Self::Read(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Conflict { .. } => Some("look at what changed, then try again".to_owned()),
            Self::Busy { .. } => Some(BUSY_HINT.to_owned()),
            Self::StorageFull { .. } => Some("make room, then try again: nothing was recorded".to_owned()),
            Self::DurabilityUnknown { .. } => Some(SUSPECT_HINT.to_owned()),
            Self::UnsafePlace(place) => place.mend(),
            Self::ReadOnlyFileSystem { .. } => Some(READ_ONLY_HINT.to_owned()),
            Self::Read(error) => error.hint(),
            _ => None,
        }
    }
}

/// Events ready to be written.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) actor: Actor,
    pub(crate) payloads: Vec<Payload>,
    /// Whether it may use the reserve.
    pub(crate) closes: bool,
}

/// Lines that were written, and are not yet on stable storage.
#[derive(Debug)]
pub(crate) struct Written {
    /// What the ledger itself had to record before the batch.
    pub(crate) ledger: Vec<Recorded<LedgerEvent>>,
    /// The end of each line of the batch.
    pub(crate) heads: Vec<Head>,
    /// When.
    pub(crate) ts: Timestamp,
    /// The new end of the log.
    pub(crate) position: Position,
}

/// What is known of the files beside a log that hold moved tails.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Torn<'a> {
    /// Nobody but this handle has touched the log since it wrote it, so there is none of which the log does not tell.
    AllTold,
    /// The log tells of these.
    Told(&'a BTreeSet<String>),
}

/// The right to write to a log: its exclusive lock, given back when this is dropped.
pub(crate) struct Appending<'a> {
    log: &'a Log,
    file: &'a dyn DiskFile,
    /// The log as it was found.
    found: Stat,
    _held: Held<'a>,
}

impl Log {
    /// Checks that the ledger is on a local disk, and that the stream's files and all directories above them, up to the
    /// ledger's root, are private.
    pub(crate) fn check_place(&self) -> Result<(), UnsafePlace> {
        self.check_parents()?;
        self.check_own_place()
    }

    /// The same for what is above the stream's directory.
    pub(crate) fn check_parents(&self) -> Result<(), UnsafePlace> {
        let (root, kind) = self.parents();
        self.refusals.ground.check(&*self.disk, root)?;
        place::check(&*self.disk, root, FileKind::Directory)?;
        place::check(&*self.disk, kind, FileKind::Directory)
    }

    /// The ledger's root and the directory of the stream's kind.
    pub(crate) fn parents(&self) -> (&Path, &Path) {
        let kind = self.directory.parent().expect("a stream's directory lies in its kind's");
        (kind.parent().expect("a kind's directory lies in the root"), kind)
    }

    /// Checks that the stream's directory and files are private.
    pub(crate) fn check_own_place(&self) -> Result<(), UnsafePlace> {
        place::check(&*self.disk, &self.directory, FileKind::Directory)?;
        place::check(&*self.disk, &self.path(INTENT_FILE), FileKind::File)?;
        place::check(&*self.disk, &self.path(EVENTS_FILE), FileKind::File)
    }

    /// Takes the lock of the log, unless its end may not be what stable storage holds.
    pub(crate) fn start_append(&self) -> Result<Appending<'_>, AppendError> {
        let appending = self.start_repair()?;
        if self.is_suspect().map_err(self.io(SUSPECT_FILE))? {
            return Err(AppendError::DurabilityUnknown { stream: self.name.clone(), source: None });
        }
        Ok(appending)
    }

    /// Takes the lock of the log, whatever stable storage holds.
    pub(crate) fn start_repair(&self) -> Result<Appending<'_>, AppendError> {
        let file = self.writer()?;
        let held = lock::take(file, Lock::Exclusive, LOG_DEADLINE)
            .map_err(|source| self.write_failed(source))?
            .ok_or_else(|| AppendError::Busy { stream: self.name.clone() })?;
        let found = file.stat().map_err(self.io(EVENTS_FILE))?;
        Ok(Appending { log: self, file, found, _held: held })
    }

    pub(crate) fn write_failed(&self, source: io::Error) -> AppendError {
        AppendError::at(self.path(EVENTS_FILE), source)
    }
}

impl AppendError {
    /// A failure of the machine at `path`; a disk that is full or for reading only is told from the others.
    pub(crate) fn at(path: PathBuf, source: io::Error) -> Self {
        if is_full(&source) {
            Self::StorageFull { path, source: Some(source) }
        } else if is_read_only(&source) {
            Self::ReadOnlyFileSystem { path }
        } else {
            Self::Io { path, source }
        }
    }
}

/// Whether the machine says that there is no room.
pub(crate) fn is_full(error: &io::Error) -> bool {
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::FileTooLarge];
    full.contains(&error.kind())
}

impl Appending<'_> {
    /// Verifies what others appended behind `done`, shows it to `visit`, and returns the unfinished tail behind it.
    pub(crate) fn catch_up(
        &self,
        done: &mut Position,
        visit: &mut dyn FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> Result<Option<UnfinishedTail>, ReadError> {
        let end = self.log.scan_to(self.found.length, self.file, done, visit)?;
        self.log.conclude(*done, end)
    }

    /// Whether the log is as this handle left it. The times tell it apart from a log that others changed and that has the
    /// same length again, as far as the clock of the file system is fine enough to see what they did.
    pub(crate) fn is_untouched_since(&self, left: &Stat) -> bool {
        self.found == *left
    }

    /// The log as it is left.
    pub(crate) fn leave(&self) -> Option<Stat> {
        self.file.stat().ok()
    }

    /// Moves `tail` aside and writes `batch` at `at`, the end of the log, together with what the ledger has to tell.
    pub(crate) fn write(
        &self,
        at: Position,
        tail: Option<UnfinishedTail>,
        torn: Torn<'_>,
        batch: &Batch,
        now: Timestamp,
    ) -> Result<Written, AppendError> {
        let events = self.log.move_tails_aside(self.file, tail, torn, now)?;
        let Lines { bytes, written } = self.log.lay_out(at, events, batch, now)?;
        self.write_bytes(at.offset, &bytes)?;
        Ok(written)
    }

    /// One write. If it fails or falls short, what it wrote is cut off again while the lock is still held.
    fn write_bytes(&self, offset: u64, bytes: &[u8]) -> Result<(), AppendError> {
        let error = match self.file.write_at(offset, bytes) {
            Ok(written) if written == bytes.len() => return Ok(()),
            Ok(_) => AppendError::StorageFull { path: self.log.path(EVENTS_FILE), source: None },
            Err(source) => self.log.write_failed(source),
        };
        // If even this fails, the bytes stay as an unfinished tail: readers pass over it, the next append moves it.
        if self.file.truncate(offset).is_ok() {
            let _ = self.log.settle_cut(self.file);
        }
        Err(error)
    }
}
