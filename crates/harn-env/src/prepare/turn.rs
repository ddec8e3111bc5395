//! One preparation of a project at a time: the others wait.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

use harn_ledger::Ledger;

use super::{PrepareError, Progress, under_way};
use crate::command::Cancel;

/// How often whoever waits looks again.
const PERIOD: Duration = Duration::from_millis(50);

/// The right to prepare a project, until it is dropped. The kernel holds the lock, so it ends with its process.
#[derive(Debug)]
pub struct Turn {
    _directory: File,
}

/// Takes a turn; waits for whoever has it, and says for whom. A stop ends the wait.
pub(super) fn take(
    ledger: &Ledger,
    root: &Path,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Turn, PrepareError> {
    let failed = |source| PrepareError::Lock { path: root.display().to_string(), source };
    let directory = File::open(root).map_err(failed)?;
    let mut told = false;
    loop {
        match directory.try_lock() {
            Ok(()) => return Ok(Turn { _directory: directory }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
            Err(TryLockError::WouldBlock) if cancel.is_cancelled() => return Err(PrepareError::Stopped),
            Err(TryLockError::WouldBlock) => {}
        }
        if !std::mem::replace(&mut told, true) {
            let holder = under_way(ledger, root);
            progress(Progress::Waiting(holder.as_ref().map(|(id, actor)| (id, &**actor))));
        }
        thread::sleep(PERIOD);
    }
}
