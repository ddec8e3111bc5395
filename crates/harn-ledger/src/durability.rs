//! Bringing a log to stable storage, and what follows when the machine fails to.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, PoisonError};

use crate::append::AppendError;
use crate::disk::{DiskFile, Lock, Open, write_all_at};
use crate::ground::Ground;
use crate::group::NotSynced;
use crate::id::StreamName;
use crate::lock::{self, LOG_DEADLINE};
use crate::log::{EVENTS_FILE, Log, ReadError, SUSPECT_FILE};
use crate::staging::sync_parent;

/// What a ledger does not write: anything, if it is for reading only or on the wrong ground; and streams that it failed
/// to sync.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    read_only: bool,
    pub(crate) ground: Ground,
    unsynced: Mutex<BTreeSet<StreamName>>,
}

impl Refusals {
    pub(crate) const fn new(read_only: bool, ground: Ground) -> Self {
        Self { read_only, ground, unsynced: Mutex::new(BTreeSet::new()) }
    }

    pub(crate) const fn read_only(&self) -> bool {
        self.read_only
    }

    pub(crate) fn add(&self, stream: &StreamName) {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner).insert(stream.clone());
    }

    /// The stream was brought to stable storage after all.
    pub(crate) fn remove(&self, stream: &StreamName) {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner).remove(stream);
    }

    fn contains(&self, stream: &StreamName) -> bool {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner).contains(stream)
    }
}

impl Log {
    /// Brings the log up to `end` to stable storage. Called with no lock held, so that others can go on writing.
    pub(crate) fn make_durable(&self, end: u64) -> Result<(), AppendError> {
        let file = self.writer()?;
        self.sync_up_to(end, file)
            .map_err(|NotSynced(source)| AppendError::DurabilityUnknown { stream: self.name.clone(), source })
    }

    /// Makes sure that the first `end` bytes are on stable storage before anything rests on them.
    pub(crate) fn settle(&self, end: u64) -> Result<(), ReadError> {
        let unknown = |source| ReadError::DurabilityUnknown { stream: self.name.clone(), source };
        if self.is_suspect().map_err(self.io(SUSPECT_FILE))? {
            return Err(unknown(None));
        }
        let file = self.reader()?;
        self.sync_up_to(end, file).map_err(|NotSynced(source)| unknown(source))
    }

    /// Whether stable storage may hold something else than what the log shows.
    pub(crate) fn is_suspect(&self) -> io::Result<bool> {
        if self.refusals.contains(&self.name) {
            return Ok(true);
        }
        match self.disk.stat(&self.path(SUSPECT_FILE)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Syncs unless it is known to be synced.
    ///
    /// The machine reports a failed sync once, and takes the pages for clean afterwards: the next sync succeeds over
    /// bytes that were never written. So after a failure none is tried again.
    fn sync_up_to(&self, end: u64, file: &dyn DiskFile) -> Result<(), NotSynced> {
        let refused = || self.refusals.contains(&self.name);
        let sync = |synced| {
            // Whoever created the stream may have died, or be about to, before its name was brought there.
            let named = if synced == 0 { self.sync_name() } else { Ok(()) };
            // Before anybody else has the turn, it must be known that this one failed.
            named.and_then(|()| file.sync()).inspect_err(|_| self.suspect(synced))
        };
        self.group.sync_up_to(end, refused, sync)
    }

    /// Brings a truncation to stable storage before anything is written where bytes were cut off. Otherwise a power loss
    /// could bring some of them back among the new ones, and that looks like tampering. Called under the exclusive lock.
    pub(crate) fn settle_cut(&self, file: &dyn DiskFile) -> Result<(), AppendError> {
        let (_turn, synced) = self.group.turn();
        file.sync().map_err(|source| {
            self.refusals.add(&self.name);
            let _ = self.write_suspect_mark(synced);
            AppendError::DurabilityUnknown { stream: self.name.clone(), source: Some(source) }
        })
    }

    /// Brings the stream's name to stable storage; the names above it were there before it.
    fn sync_name(&self) -> io::Result<()> {
        sync_parent(&*self.disk, &self.directory)
    }

    /// Refuses the stream from now on, and leaves a mark so that others do too. `synced` bytes are known to be safe.
    pub(crate) fn suspect(&self, synced: u64) {
        self.refusals.add(&self.name);
        if !self.refusals.read_only() {
            // Should the mark fail too, this ledger at least refuses the stream for as long as it is open.
            let _ = self.leave_suspect_mark(synced);
        }
    }

    fn leave_suspect_mark(&self, synced: u64) -> io::Result<()> {
        // A file of its own, because another thread may be appending under the lock of the shared one. A writer that
        // holds the lock for too long does not keep the mark from being left.
        let log = self.disk.open(&self.path(EVENTS_FILE), Open::Write)?;
        let _held = lock::take(&*log, Lock::Exclusive, LOG_DEADLINE)?;
        self.write_suspect_mark(synced)
    }

    fn write_suspect_mark(&self, synced: u64) -> io::Result<()> {
        let mark = self.disk.open(&self.path(SUSPECT_FILE), Open::Create)?;
        if mark.stat()?.length == 0 {
            write_all_at(&*mark, 0, format!("{synced}\n").as_bytes())?;
        }
        mark.sync()?;
        self.disk.sync_dir(&self.directory)
    }
}
