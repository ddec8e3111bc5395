//! What a ledger stands on: whether its file system can keep what the ledger promises.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::disk::Disk;
use crate::place::{PlaceProblem, UnsafePlace};
use crate::staging::{make_directory, sync_parent};

/// The file system of a ledger, looked at before the first write and not again.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    network_accepted: bool,
    found: OnceLock<Option<UnsafePlace>>,
    /// Directories whose names this process has brought to stable storage.
    named: Mutex<BTreeSet<PathBuf>>,
}

impl Ground {
    pub(crate) const fn new(network_accepted: bool) -> Self {
        Self { network_accepted, found: OnceLock::new(), named: Mutex::new(BTreeSet::new()) }
    }

    /// Refuses a network file system that nobody accepted. Across machines its locks may be emulated, and its syncs
    /// acknowledged from the memory of a server.
    pub(crate) fn check(&self, disk: &dyn Disk, root: &Path) -> Result<(), UnsafePlace> {
        if self.network_accepted {
            return Ok(());
        }
        let found = self.found.get_or_init(|| {
            // Most disks are local, so one that does not say what it is gets the benefit of the doubt.
            let name = disk.file_system(root).ok()?.network?;
            Some(UnsafePlace { path: root.to_owned(), problem: PlaceProblem::NetworkFileSystem { name } })
        });
        found.clone().map_or(Ok(()), Err)
    }

    /// Makes a directory if it is missing, and sees to it once that its name is on stable storage, even if it is there:
    /// whoever made it may not have lived to do so.
    pub(crate) fn ensure_directory(&self, disk: &dyn Disk, path: &Path) -> io::Result<()> {
        let made = make_directory(disk, path)?;
        let named = || self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if made || !named().contains(path) {
            sync_parent(disk, path)?;
            named().insert(path.to_owned());
        }
        Ok(())
    }
}
