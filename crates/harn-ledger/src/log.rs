//! A stream's files, read and verified; nothing here knows what its events mean.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::digest::Digest;
use crate::disk::{Disk, DiskFile, Lock, Open, read_bounded};
use crate::id::StreamName;
use crate::limits::Limits;
use crate::line::Line;
use crate::lock::{self, LOG_DEADLINE};
use crate::scan::{Damage, DamageKind, Position, ScanEnd, ScanFault, UnfinishedTail, scan};

pub(crate) const INTENT_FILE: &str = "intent.json";
pub(crate) const EVENTS_FILE: &str = "events.jsonl";
pub(crate) const LEASE_FILE: &str = "lease";
pub(crate) const SUSPECT_FILE: &str = "suspect";
/// Start of the names of files that hold moved tails.
pub(crate) const TORN_PREFIX: &str = "events.torn-";

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
            Self::Busy { .. } => "busy",
            Self::Io { .. } => "read_failed",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { .. } | Self::Io { .. } => None,
            Self::Damaged { .. } => {
                Some("the bytes are untouched; `harn verify` lists every damaged place".to_owned())
            }
            Self::Newer { .. } => Some("use the build that wrote it, or a later one".to_owned()),
            Self::Busy { .. } => Some("try again when the other command has ended".to_owned()),
        }
    }
}

/// The files of one stream.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) directory: PathBuf,
    pub(crate) name: StreamName,
    /// `<kind>/<id>`, as every line holds it.
    pub(crate) stream: String,
    pub(crate) limits: Limits,
    reader: OnceLock<Arc<dyn DiskFile>>,
    writer: OnceLock<Arc<dyn DiskFile>>,
    /// Bytes of the log that this process knows to be on stable storage.
    pub(crate) synced: AtomicU64,
    /// Set when a sync failed: this process does not write the stream again.
    pub(crate) refused: AtomicBool,
}

/// How a read of new lines ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Read {
    pub(crate) position: Position,
    pub(crate) tail: Option<UnfinishedTail>,
}

impl Log {
    pub(crate) fn new(disk: Arc<dyn Disk>, root: &Path, name: StreamName, limits: Limits) -> Self {
        Self {
            directory: root.join(name.kind()).join(name.id().as_str()),
            stream: name.to_string(),
            disk,
            name,
            limits,
            reader: OnceLock::new(),
            writer: OnceLock::new(),
            synced: AtomicU64::new(0),
            refused: AtomicBool::new(false),
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
    fn reader(&self) -> Result<&dyn DiskFile, ReadError> {
        self.opened(&self.reader, Open::Read)
    }

    /// The log, for writing. Opened once: it is never replaced, only appended to and cut.
    pub(crate) fn writer(&self) -> Result<&dyn DiskFile, ReadError> {
        self.opened(&self.writer, Open::Write)
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

    /// Shows every line of every whole batch from `from` on to `visit`.
    ///
    /// Reads without a lock first. What looks like a tail or like damage may be a write that is still going on, so
    /// then it takes the shared lock and looks again.
    pub(crate) fn read(
        &self,
        from: Position,
        visit: &mut dyn FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> Result<Read, ReadError> {
        let file = self.reader()?;
        let end = self.scan(file, from, visit)?;
        if end.tail.is_none() && matches!(end.fault, None | Some(ScanFault::Stopped)) {
            return self.conclude(end);
        }
        let lock = lock::take(file, Lock::Shared, LOG_DEADLINE).map_err(self.io(EVENTS_FILE))?;
        let Some(_lock) = lock else {
            return Err(ReadError::Busy { stream: self.name.clone() });
        };
        let end = self.scan(file, end.position, visit)?;
        self.conclude(end)
    }

    /// Scans with whatever lock the caller holds.
    pub(crate) fn scan(
        &self,
        file: &dyn DiskFile,
        from: Position,
        visit: &mut dyn FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> Result<ScanEnd, ReadError> {
        let length = file.stat().map_err(self.io(EVENTS_FILE))?.length;
        if length < from.offset {
            let kind = DamageKind::CutOff { expected: from.offset };
            return Err(self.damaged(from.seq, length, kind));
        }
        scan(file, from, &self.stream, &self.limits, visit).map_err(self.io(EVENTS_FILE))
    }

    pub(crate) fn conclude(&self, end: ScanEnd) -> Result<Read, ReadError> {
        let stopped = match end.fault {
            None => false,
            Some(ScanFault::Stopped) => true,
            Some(ScanFault::Damage(damage)) => {
                return Err(ReadError::Damaged { stream: self.name.clone(), damage });
            }
            Some(ScanFault::NewerFormat { seq, version }) => {
                let what = format!("schema_version {version} of the line format");
                return Err(ReadError::Newer { stream: self.name.clone(), seq, what });
            }
        };
        if end.position.seq == 0 && !stopped {
            return Err(self.damaged_empty());
        }
        Ok(Read { position: end.position, tail: end.tail })
    }

    pub(crate) fn damaged(&self, line: u64, offset: u64, kind: DamageKind) -> ReadError {
        let damage = Damage { line, offset, kind, lines_behind: 0 };
        ReadError::Damaged { stream: self.name.clone(), damage }
    }

    fn damaged_empty(&self) -> ReadError {
        self.damaged(1, 0, DamageKind::Empty)
    }

    /// Makes sure that the first `end` bytes are on stable storage before anything rests on them.
    pub(crate) fn settle(&self, end: u64) -> Result<(), ReadError> {
        if self.synced.load(Ordering::Acquire) < end {
            self.reader()?.sync().map_err(self.io(EVENTS_FILE))?;
            self.synced.fetch_max(end, Ordering::AcqRel);
        }
        Ok(())
    }
}
