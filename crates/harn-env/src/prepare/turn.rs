//! One preparation of a project at a time: the others wait.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::{PrepareError, Progress};

/// The right to prepare a project, until it is dropped. The kernel holds the lock, so it ends with its process.
#[derive(Debug)]
pub struct Turn {
    _directory: File,
}

/// Takes a turn; waits for whoever has it, and says so.
pub(super) fn take(root: &Path, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Turn, PrepareError> {
    let failed = |source| PrepareError::Lock { path: root.display().to_string(), source };
    let directory = File::open(root).map_err(failed)?;
    match directory.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            progress(Progress::Waiting);
            directory.lock().map_err(failed)?;
        }
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    Ok(Turn { _directory: directory })
}
