//! What a ledger stands on: whether its file system can keep what the ledger promises.

use std::path::Path;
use std::sync::OnceLock;

use crate::disk::Disk;
use crate::place::{PlaceProblem, UnsafePlace};

/// The file system of a ledger, looked at before the first write and not again.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    network_accepted: bool,
    found: OnceLock<Option<UnsafePlace>>,
}

impl Ground {
    pub(crate) const fn new(network_accepted: bool) -> Self {
        Self { network_accepted, found: OnceLock::new() }
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
}
