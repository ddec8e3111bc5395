//! Adding lines to a log so that they are there whole and for good, or not at all.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use crate::decider::Head;
use crate::disk::{DiskFile, FileKind, Lock, Open, write_all_at};
use crate::entry::{LEDGER_ACTOR, LedgerEvent, Recorded};
use crate::id::{Actor, StreamName};
use crate::line::{self, Content};
use crate::lock::{self, LOG_DEADLINE};
use crate::log::{EVENTS_FILE, INTENT_FILE, Log, ReadError, SUSPECT_FILE};
use crate::payload::{self, EventNotCanonical, Payload};
use crate::place::{self, UnsafePlace};
use crate::scan::Position;
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
            Self::Io { .. } => "write_failed",
            Self::Read(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Conflict { .. } | Self::Busy { .. } => {
                Some("look at what changed, then try again".to_owned())
            }
            Self::StorageFull { .. } => Some("make room, then try again: nothing was recorded".to_owned()),
            Self::DurabilityUnknown { .. } => Some(
                "check the disk; the stream refuses writes while the file `suspect` stands beside its log"
                    .to_owned(),
            ),
            Self::UnsafePlace(place) => place.mend(),
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

/// What an append came to.
#[derive(Debug)]
pub(crate) enum Appended {
    /// Somebody else appended first: read from the position on, and decide again.
    Moved,
    /// It is written, and not yet on stable storage.
    Written(Written),
}

/// Lines that were written.
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

impl Log {
    /// Checks once per handle that the stream's files are private.
    pub(crate) fn check_place(&self) -> Result<(), UnsafePlace> {
        place::check(&*self.disk, &self.directory, FileKind::Directory)?;
        place::check(&*self.disk, &self.path(INTENT_FILE), FileKind::File)?;
        place::check(&*self.disk, &self.path(EVENTS_FILE), FileKind::File)
    }

    /// Writes `batch` at `at`, under the lock, if the log still ends there.
    ///
    /// `torn` names the moved tails that the log already tells of, or is `None` if there is no need to look.
    pub(crate) fn append(
        &self,
        at: Position,
        torn: Option<&BTreeSet<String>>,
        batch: &Batch,
        now: Timestamp,
    ) -> Result<Appended, AppendError> {
        let file = self.writer()?;
        let held =
            lock::take(file, Lock::Exclusive, LOG_DEADLINE).map_err(|source| self.write_failed(source))?;
        let Some(_held) = held else {
            return Err(AppendError::Busy { stream: self.name.clone() });
        };
        self.check_not_suspect()?;
        let mut moved = false;
        let end = self.scan(file, at, &mut |_| {
            moved = true;
            ControlFlow::Break(())
        })?;
        if moved {
            return Ok(Appended::Moved);
        }
        let end = self.conclude(end)?;
        let mut ledger_events = Vec::new();
        if end.tail.is_some() || torn.is_some() {
            let known = torn.cloned().unwrap_or_default();
            ledger_events = self.move_tails_aside(file, end.tail, known, torn.is_some(), now)?;
        }
        let lines = self.lay_out(at, &ledger_events, batch, now)?;
        self.write(file, at.offset, &lines.bytes)?;
        Ok(Appended::Written(lines.written))
    }

    /// Refuses a stream whose end may not be what stable storage holds.
    fn check_not_suspect(&self) -> Result<(), AppendError> {
        let suspect =
            self.refused.load(Ordering::Acquire) || self.disk.stat(&self.path(SUSPECT_FILE)).is_ok();
        if suspect {
            return Err(AppendError::DurabilityUnknown { stream: self.name.clone(), source: None });
        }
        Ok(())
    }

    /// Encodes the ledger's own lines and the batch, and checks the limits.
    fn lay_out(
        &self,
        at: Position,
        ledger_events: &[LedgerEvent],
        batch: &Batch,
        now: Timestamp,
    ) -> Result<Lines, AppendError> {
        let mut layout = Layout::new(self, at, now);
        let ledger_actor = Actor::new(LEDGER_ACTOR).expect("the ledger's own actor is a legal one");
        let mut ledger = Vec::new();
        for event in ledger_events {
            let payload = payload::encode(event)?;
            let head = layout.line(&ledger_actor, &payload, false)?;
            let actor = ledger_actor.clone();
            ledger.push(Recorded {
                seq: head.seq,
                ts: layout.ts,
                actor,
                hash: head.hash,
                event: event.clone(),
            });
        }
        let mut heads = Vec::with_capacity(batch.payloads.len());
        for (index, payload) in batch.payloads.iter().enumerate() {
            heads.push(layout.line(&batch.actor, payload, index + 1 < batch.payloads.len())?);
        }
        layout.check_total(batch.closes)?;
        let Layout { position, ts, bytes, .. } = layout;
        Ok(Lines { bytes, written: Written { ledger, heads, ts, position } })
    }

    /// One write. If it fails or falls short, what it wrote is cut off again while the lock is still held.
    fn write(&self, file: &dyn DiskFile, offset: u64, bytes: &[u8]) -> Result<(), AppendError> {
        let source = match file.write_at(offset, bytes) {
            Ok(written) if written == bytes.len() => return Ok(()),
            Ok(_) => None,
            Err(source) => Some(source),
        };
        // If even this fails, the bytes stay as an unfinished tail: readers pass over it, the next append moves it.
        let _ = file.truncate(offset);
        let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::FileTooLarge];
        match source {
            Some(source) if !full.contains(&source.kind()) => Err(self.write_failed(source)),
            source => Err(AppendError::StorageFull { path: self.path(EVENTS_FILE), source }),
        }
    }

    pub(crate) fn write_failed(&self, source: io::Error) -> AppendError {
        AppendError::Io { path: self.path(EVENTS_FILE), source }
    }

    /// Brings the log up to `end` to stable storage. Called with no lock held, so that others can go on writing.
    ///
    /// After a failed sync the kernel may take the pages for clean, and another process would chain onto bytes that
    /// were never written. So a mark is left that every writer looks for.
    pub(crate) fn make_durable(&self, end: u64) -> Result<(), AppendError> {
        let synced = self.synced.load(Ordering::Acquire);
        if synced >= end {
            return Ok(());
        }
        let Err(source) = self.writer()?.sync() else {
            self.synced.fetch_max(end, Ordering::AcqRel);
            return Ok(());
        };
        self.refused.store(true, Ordering::Release);
        // Should the mark fail too, this process at least refuses the stream for the rest of its life.
        let _ = self.leave_suspect_mark(synced);
        Err(AppendError::DurabilityUnknown { stream: self.name.clone(), source: Some(source) })
    }

    fn leave_suspect_mark(&self, synced: u64) -> io::Result<()> {
        let held = match self.writer() {
            Ok(file) => lock::take(file, Lock::Exclusive, LOG_DEADLINE)?,
            Err(_) => None,
        };
        let mark = self.disk.open(&self.path(SUSPECT_FILE), Open::Create)?;
        if mark.stat()?.length == 0 {
            write_all_at(&*mark, 0, format!("{synced}\n").as_bytes())?;
        }
        mark.sync()?;
        self.disk.sync_dir(&self.directory)?;
        drop(held);
        Ok(())
    }
}

/// Encoded lines and where they end.
struct Lines {
    bytes: Vec<u8>,
    written: Written,
}

/// Lines while they are put one behind the other.
struct Layout<'a> {
    log: &'a Log,
    position: Position,
    ts: Timestamp,
    bytes: Vec<u8>,
}

impl<'a> Layout<'a> {
    fn new(log: &'a Log, at: Position, now: Timestamp) -> Self {
        Self { log, position: at, ts: now.max(at.ts), bytes: Vec::new() }
    }

    fn line(&mut self, actor: &Actor, payload: &Payload, more: bool) -> Result<Head, AppendError> {
        let content =
            Content { ts: self.ts, actor: actor.as_str(), event: &payload.name, data: &payload.data, more };
        let start = self.bytes.len();
        let seq = self.position.seq + 1;
        let hash = line::encode(&mut self.bytes, &self.log.stream, seq, &self.position.hash, &content);
        let length = (self.bytes.len() - start) as u64;
        let limit = self.log.limits.line_bytes;
        if length > limit {
            return Err(self.full("line", limit));
        }
        let offset = self.position.offset + length;
        self.position = Position { offset, seq, hash, ts: self.ts };
        Ok(Head { seq, hash })
    }

    fn check_total(&self, closes: bool) -> Result<(), AppendError> {
        let limits = if closes { self.log.limits } else { self.log.limits.without_reserve() };
        if self.position.seq > limits.events {
            Err(self.full("number of events", limits.events))
        } else if self.position.offset > limits.log_bytes {
            Err(self.full("log", limits.log_bytes))
        } else {
            Ok(())
        }
    }

    fn full(&self, what: &'static str, limit: u64) -> AppendError {
        AppendError::LimitReached { stream: self.log.name.clone(), what, limit }
    }
}

/// Encodes the first events of a new stream.
pub(crate) fn first_lines(
    log: &Log,
    start: Position,
    batch: &Batch,
    now: Timestamp,
) -> Result<Vec<u8>, AppendError> {
    log.lay_out(start, &[], batch, now).map(|lines| lines.bytes)
}
