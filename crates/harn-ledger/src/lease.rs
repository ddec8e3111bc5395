//! Leases: who runs a stream, decided by the kernel and by nothing else.

use std::any::Any;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::disk::{DiskFile, FileKind, Lock, Open, read_bounded, write_all_at};
use crate::id::StreamName;
use crate::lock::{self, LEASE_DEADLINE};
use crate::log::{LEASE_FILE, Log};
use crate::place::{self, READ_ONLY_HINT, UnsafePlace, is_read_only};

/// Longest text of a lease, in characters.
const NOTE_MAX: usize = 500;

/// A stream's lease, held until this is dropped or the process ends, however it ends.
#[derive(Debug)]
#[must_use = "the lease is given back when this is dropped"]
pub struct Lease {
    file: Arc<dyn DiskFile>,
    mine: Arc<AtomicBool>,
    /// Keeps the stream's handle, so that a later one in this process knows whose lease it is.
    _handle: Arc<dyn Any + Send + Sync>,
}

/// Whether somebody holds the lease of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseStatus {
    /// Nobody holds it.
    Free,
    /// This process holds it.
    HeldByMe,
    /// Another process holds it, with the text that it left for display; empty if it left none.
    HeldByOther(String),
}

/// Why a lease was not taken or not looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// Somebody else holds it.
    #[error("`{stream}` is in use: {holder}")]
    Held {
        /// The stream.
        stream: StreamName,
        /// What the holder says about itself; display only.
        holder: String,
    },
    /// The ledger was opened for reading only.
    #[error("the ledger is open for reading only")]
    ReadOnly,
    /// The file system is mounted for reading only.
    #[error("`{}` is on a read-only file system", path.display())]
    ReadOnlyFileSystem {
        /// The file.
        path: PathBuf,
    },
    /// Others could read or change the stream's files.
    #[error(transparent)]
    UnsafePlace(#[from] UnsafePlace),
    /// The machine said no.
    #[error("cannot use the lease `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the machine said.
        source: io::Error,
    },
}

impl LeaseError {
    /// A stable name for the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Held { .. } => "lease_held",
            Self::ReadOnly => "read_only",
            Self::ReadOnlyFileSystem { .. } => "read_only_file_system",
            Self::UnsafePlace(_) => "unsafe_place",
            Self::Io { .. } => "lease_failed",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnsafePlace(place) => place.mend(),
            Self::ReadOnlyFileSystem { .. } => Some(READ_ONLY_HINT.to_owned()),
            Self::Held { .. } | Self::ReadOnly | Self::Io { .. } => None,
        }
    }
}

/// Takes the lease. `note` is shown to whoever asks who holds it.
pub(crate) fn take(
    log: &Log,
    mine: &Arc<AtomicBool>,
    handle: Arc<dyn Any + Send + Sync>,
    note: &str,
) -> Result<Lease, LeaseError> {
    if log.refusals.read_only() {
        return Err(LeaseError::ReadOnly);
    }
    log.check_place()?;
    let path = log.path(LEASE_FILE);
    // Who can open it can hold it, and so keep everybody from running the stream.
    place::check(&*log.disk, &path, FileKind::File)?;
    let failed = |source| {
        let path = path.clone();
        if is_read_only(&source) {
            LeaseError::ReadOnlyFileSystem { path }
        } else {
            LeaseError::Io { path, source }
        }
    };
    let file = log.disk.open(&path, Open::Create).map_err(failed)?;
    let Some(held) = lock::take(&*file, Lock::Exclusive, LEASE_DEADLINE).map_err(failed)? else {
        let note = read_note(&*file);
        let holder = if note.is_empty() { "its holder left no note".to_owned() } else { note };
        return Err(LeaseError::Held { stream: log.name.clone(), holder });
    };
    // From here on the lease itself gives the lock back.
    std::mem::forget(held);
    let note = harmless(note);
    let written = file.truncate(0).and_then(|()| write_all_at(&*file, 0, format!("{note}\n").as_bytes()));
    mine.store(true, Ordering::Release);
    let lease = Lease { file, mine: Arc::clone(mine), _handle: handle };
    written.map(|()| lease).map_err(failed)
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.mine.store(false, Ordering::Release);
        // Closing the file releases the lock too; this only does it at once.
        let _ = self.file.unlock();
    }
}

/// Asks without taking: creates nothing, and lets go at once.
pub(crate) fn status(log: &Log, mine: &AtomicBool) -> Result<LeaseStatus, LeaseError> {
    if mine.load(Ordering::Acquire) {
        return Ok(LeaseStatus::HeldByMe);
    }
    let path = log.path(LEASE_FILE);
    let file = match log.disk.open(&path, Open::Read) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LeaseStatus::Free),
        Err(source) => return Err(LeaseError::Io { path, source }),
    };
    let free = file.try_lock(Lock::Shared).map_err(|source| LeaseError::Io { path, source })?;
    Ok(if free { LeaseStatus::Free } else { LeaseStatus::HeldByOther(read_note(&*file)) })
}

/// The text for display, whatever state it is in.
fn read_note(file: &dyn DiskFile) -> String {
    match read_bounded(file, 4 * NOTE_MAX as u64 + 1) {
        Ok(Some(bytes)) => harmless(String::from_utf8_lossy(&bytes).trim()),
        _ => String::new(),
    }
}

/// The text without what could act on a terminal, and no longer than a note may be.
fn harmless(note: &str) -> String {
    note.chars().filter(|c| !c.is_control()).take(NOTE_MAX).collect()
}
