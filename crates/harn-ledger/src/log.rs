//! A stream's files, read and verified; nothing here knows what its events mean.

use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::append::AppendError;
use crate::digest::Digest;
use crate::disk::{Disk, DiskFile, Lock, Open, read_bounded};
use crate::durability::Refusals;
use crate::group::Group;
use crate::id::StreamName;
use crate::limits::Limits;
use crate::line::{self, Line};
use crate::lock::{self, LOG_DEADLINE};
use crate::scan::{Damage, DamageKind, Position, Reading, ScanEnd, ScanFault, UnfinishedTail, scan};

pub(crate) const INTENT_FILE: &str = "intent.json";
pub(crate) const EVENTS_FILE: &str = "events.jsonl";
pub(crate) const LEASE_FILE: &str = "lease";
pub(crate) const SUSPECT_FILE: &str = "suspect";
/// Start of the names of files that hold moved tails.
pub(crate) const TORN_PREFIX: &str = "events.torn-";
/// Start of the names of files that hold damaged ends.
pub(crate) const CUT_PREFIX: &str = "events.cut-";

/// What to do about a stream whose end may not be on stable storage.
pub(crate) const SUSPECT_HINT: &str =
    "check the disk; the stream refuses writes until a repair has written its end again";

/// What to do about a lock that somebody holds for too long.
pub(crate) const BUSY_HINT: &str = "try again when the other command has ended";

/// Why a stream cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such stream.
    #[error("`{stream}` does not exist")]
    NotFound {
        /// The stream.
        stream: StreamName,
    },
    /// The log or the intent does not verify. Nothing is returned as if it were whole.
    #[error(
        "`{stream}` is damaged at line {}, byte {} of its log: {}",
        damage.line, damage.offset, damage.kind
    )]
    Damaged {
        /// The stream.
        stream: StreamName,
        /// Where and how.
        damage: Damage,
    },
    /// The stream verifies, but was written by a newer build or a different one.
    #[error("`{stream}` holds something that this build does not know, at event {seq}: {what}")]
    Newer {
        /// The stream.
        stream: StreamName,
        /// The event; 0 for the intent.
        seq: u64,
        /// What is not known.
        what: String,
    },
    /// What was read may not be on stable storage, so nothing may rest on it: a sync failed, now or earlier.
    #[error("the end of `{stream}` may not survive a power loss: the machine failed to sync it")]
    DurabilityUnknown {
        /// The stream.
        stream: StreamName,
        /// What the machine said, if it happened just now.
        source: Option<io::Error>,
    },
    /// A writer held the lock for too long.
    #[error("`{stream}` is being written by somebody else")]
    Busy {
        /// The stream.
        stream: StreamName,
    },
    /// The machine said no.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// What was read.
        path: PathBuf,
        /// What the machine said.
        source: io::Error,
    },
}

impl ReadError {
    /// A stable name for the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::Damaged { .. } => "damaged",
            Self::Newer { .. } => "newer",
            Self::DurabilityUnknown { .. } => "durability_unknown",
            Self::Busy { .. } => "busy",
            Self::Io { .. } => "read_failed",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { .. } | Self::Io { .. } => None,
            Self::Damaged { damage: Damage { kind: DamageKind::CutOff { .. }, .. }, .. } => {
                Some("open the stream again: a new handle reads it from the start".to_owned())
            }
            Self::Damaged { .. } => {
                Some("the bytes are untouched; a repair can move the damaged end aside".to_owned())
            }
            Self::Newer { .. } => Some("use the build that wrote it, or a later one".to_owned()),
            Self::DurabilityUnknown { .. } => Some(SUSPECT_HINT.to_owned()),
            Self::Busy { .. } => Some(BUSY_HINT.to_owned()),
        }
    }
}

/// The files of one stream.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) directory: PathBuf,
    pub(crate) name: StreamName,
    /// What every line begins with.
    pub(crate) opening: String,
    pub(crate) limits: Limits,
    reader: OnceLock<Arc<dyn DiskFile>>,
    writer: OnceLock<Arc<dyn DiskFile>>,
    /// What this handle knows to be on stable storage.
    pub(crate) group: Group,
    pub(crate) refusals: Arc<Refusals>,
    /// How many threads may read a long log.
    threads: Option<NonZeroUsize>,
}

impl Log {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        root: &Path,
        name: StreamName,
        limits: Limits,
        refusals: Arc<Refusals>,
        threads: Option<NonZeroUsize>,
    ) -> Self {
        Self {
            directory: root.join(name.kind()).join(name.id().as_str()),
            opening: line::opening(&name.to_string()),
            disk,
            name,
            limits,
            reader: OnceLock::new(),
            writer: OnceLock::new(),
            group: Group::default(),
            refusals,
            threads,
        }
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    pub(crate) fn io(&self, file: &str) -> impl Fn(io::Error) -> ReadError {
        let path = self.path(file);
        move |source| ReadError::Io { path: path.clone(), source }
    }

    /// The log, for reading.
    pub(crate) fn reader(&self) -> Result<&dyn DiskFile, ReadError> {
        self.opened(&self.reader, Open::Read)
    }

    /// The log, for writing. Opened once: it is never replaced, only appended to and cut.
    pub(crate) fn writer(&self) -> Result<&dyn DiskFile, AppendError> {
        self.opened(&self.writer, Open::Write).map_err(|error| match error {
            ReadError::Io { path, source } => AppendError::at(path, source),
            other => other.into(),
        })
    }

    fn opened<'a>(
        &self,
        cell: &'a OnceLock<Arc<dyn DiskFile>>,
        how: Open,
    ) -> Result<&'a dyn DiskFile, ReadError> {
        if let Some(file) = cell.get() {
            return Ok(&**file);
        }
        let file = self.disk.open(&self.path(EVENTS_FILE), how).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                self.damaged_empty()
            } else {
                self.io(EVENTS_FILE)(error)
            }
        })?;
        Ok(&**cell.get_or_init(|| file))
    }

    /// The bytes of the intent and their digest.
    pub(crate) fn intent(&self) -> Result<(Vec<u8>, Digest), ReadError> {
        let file =
            self.disk.open(&self.path(INTENT_FILE), Open::Read).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                    match self.disk.stat(&self.path(EVENTS_FILE)) {
                        Ok(_) => self.damaged(0, 0, DamageKind::Intent),
                        Err(_) => ReadError::NotFound { stream: self.name.clone() },
                    }
                }
                _ => self.io(INTENT_FILE)(error),
            })?;
        let limit = self.limits.intent_bytes;
        let too_large = || self.damaged(0, 0, DamageKind::TooLarge { what: "intent", limit });
        let bytes = read_bounded(&*file, limit).map_err(self.io(INTENT_FILE))?.ok_or_else(too_large)?;
        let digest = Digest::of(&bytes);
        Ok((bytes, digest))
    }

    /// Shows every line of every whole batch from `done` on to `visit`, and moves `done` behind what was shown, also
    /// when it fails later.
    ///
    /// Reads without a lock first. What looks like a tail or like damage may be a write that is still going on, so
    /// then it takes the shared lock and looks again. `visit` never runs under the lock.
    pub(crate) fn read(
        &self,
        done: &mut Position,
        visit: &mut dyn FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> Result<Option<UnfinishedTail>, ReadError> {
        let file = self.reader()?;
        loop {
            let end = self.scan(file, done, visit)?;
            if end.tail.is_none() && matches!(end.fault, None | Some(ScanFault::Stopped)) {
                return self.conclude(*done, end);
            }
            let end = self.look_again(*done)?;
            if !matches!(end.fault, Some(ScanFault::Stopped)) {
                return self.conclude(*done, end);
            }
        }
    }

    /// Scans under the shared lock, and stops at the first new line.
    ///
    /// On a file of its own: a lock belongs to the open file, so on a shared one the first thread to give it back would
    /// take it from the others.
    fn look_again(&self, mut from: Position) -> Result<ScanEnd, ReadError> {
        let file = self.disk.open(&self.path(EVENTS_FILE), Open::Read).map_err(self.io(EVENTS_FILE))?;
        let lock = lock::take(&*file, Lock::Shared, LOG_DEADLINE).map_err(self.io(EVENTS_FILE))?;
        let Some(_lock) = lock else {
            return Err(ReadError::Busy { stream: self.name.clone() });
        };
        self.scan(&*file, &mut from, &mut |_| ControlFlow::Break(()))
    }

    /// Scans with whatever lock the caller holds.
    pub(crate) fn scan(
        &self,
        file: &dyn DiskFile,
        done: &mut Position,
        visit: &mut dyn FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> Result<ScanEnd, ReadError> {
        let length = file.stat().map_err(self.io(EVENTS_FILE))?.length;
        self.scan_to(length, file, done, visit)
    }

    /// Scans a log whose length is known.
    pub(crate) fn scan_to(
        &self,
        length: u64,
        file: &dyn DiskFile,
        done: &mut Position,
        visit: &mut dyn FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> Result<ScanEnd, ReadError> {
        if !still_holds(file, length, *done).map_err(self.io(EVENTS_FILE))? {
            let kind = DamageKind::CutOff { expected: done.offset };
            return Err(self.damaged(done.seq, length, kind));
        }
        let reading = Reading {
            file,
            end: length,
            opening: &self.opening,
            limits: &self.limits,
            threads: self.threads,
        };
        scan(&reading, done, visit).map_err(self.io(EVENTS_FILE))
    }

    /// What the end of a scan up to `done` means.
    pub(crate) fn conclude(&self, done: Position, end: ScanEnd) -> Result<Option<UnfinishedTail>, ReadError> {
        match end.fault {
            Some(ScanFault::Stopped) => Ok(None),
            Some(ScanFault::Damage(damage)) => Err(ReadError::Damaged { stream: self.name.clone(), damage }),
            Some(ScanFault::NewerFormat { seq, version }) => {
                let what = format!("schema_version {version} of the line format");
                Err(ReadError::Newer { stream: self.name.clone(), seq, what })
            }
            None if done.seq == 0 => Err(self.damaged_empty()),
            None => Ok(end.tail),
        }
    }

    pub(crate) fn damaged(&self, line: u64, offset: u64, kind: DamageKind) -> ReadError {
        let damage = Damage { line, offset, kind, lines_behind: 0 };
        ReadError::Damaged { stream: self.name.clone(), damage }
    }

    fn damaged_empty(&self) -> ReadError {
        self.damaged(1, 0, DamageKind::Empty)
    }
}

/// Whether the line that ended at `done` still does. A log that was cut there may have grown again since.
fn still_holds(file: &dyn DiskFile, length: u64, done: Position) -> io::Result<bool> {
    if length < done.offset || done.seq == 0 {
        return Ok(length >= done.offset);
    }
    let mut digits = [0; 64];
    let start = done.offset - line::HASH_FROM_END;
    let mut filled = 0;
    while filled < digits.len() {
        match file.read_at(start + filled as u64, &mut digits[filled..])? {
            0 => return Ok(false),
            read => filled += read,
        }
    }
    Ok(digits == done.hash.hex())
}
