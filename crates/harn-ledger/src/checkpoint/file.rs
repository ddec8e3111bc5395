//! Writing a checkpoint to a file of its own: whole and for good, or not at all.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Checkpoint;
use crate::append::is_full;
use crate::disk::{Disk, DiskFile, Open, write_all_at};
use crate::staging::sync_parent;

/// Why a checkpoint was not written to its file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteCheckpointError {
    /// Something stands there. It is left as it is.
    #[error("`{}` exists already", path.display())]
    AlreadyExists {
        /// The file.
        path: PathBuf,
    },
    /// No room is left.
    #[error("no room left to write `{}`", path.display())]
    StorageFull {
        /// The file.
        path: PathBuf,
        /// What the machine said.
        source: io::Error,
    },
    /// The file is there and whole, but its name may not survive a power loss.
    #[error("`{}` may not survive a power loss: the machine failed to sync its directory", path.display())]
    DurabilityUnknown {
        /// The file.
        path: PathBuf,
        /// What the machine said.
        source: io::Error,
    },
    /// The machine said no.
    #[error("cannot write `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the machine said.
        source: io::Error,
    },
}

impl WriteCheckpointError {
    /// A stable name for the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::AlreadyExists { .. } => "checkpoint_exists",
            Self::StorageFull { .. } => "storage_full",
            Self::DurabilityUnknown { .. } => "durability_unknown",
            Self::Io { .. } => "write_failed",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::AlreadyExists { .. } => "a checkpoint is never replaced: choose another name",
            Self::StorageFull { .. } => "make room, then try again: nothing was written",
            Self::DurabilityUnknown { .. } => "check the disk, and write the checkpoint to another one",
            Self::Io { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

/// Distinguishes what one process writes.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Checkpoint {
    /// Writes the document to a new file that only its owner can read. It appears whole, and when this returns it is on
    /// stable storage. What exists is never replaced. The file system must know hard links.
    ///
    /// A crash can leave a file `.checkpoint-<process>-<n>.new` beside it, which may be removed.
    pub fn write_new(&self, disk: &dyn Disk, path: &Path) -> Result<(), WriteCheckpointError> {
        let path = path.to_owned();
        match place(disk, &path, &self.to_bytes()) {
            Ok(()) => sync_parent(disk, &path)
                .map_err(|source| WriteCheckpointError::DurabilityUnknown { path, source }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(WriteCheckpointError::AlreadyExists { path })
            }
            Err(source) if is_full(&source) => Err(WriteCheckpointError::StorageFull { path, source }),
            Err(source) => Err(WriteCheckpointError::Io { path, source }),
        }
    }
}

/// Builds the file under another name and gives it its own in one step. A rename would be one step too, but would
/// replace what stands there.
fn place(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (built, file) = start(disk, path)?;
    let placed =
        write_all_at(&*file, 0, bytes).and_then(|()| file.sync()).and_then(|()| disk.link(&built, path));
    // What cannot be removed now is left over, and harms nothing.
    drop(disk.unlink(&built));
    placed
}

fn start(disk: &dyn Disk, path: &Path) -> io::Result<(PathBuf, Arc<dyn DiskFile>)> {
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let built = path.with_file_name(format!(".checkpoint-{}-{number}.new", std::process::id()));
        match disk.open(&built, Open::CreateNew) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (built, file)),
        }
    }
}
