//! The disk that a project is on: the machine's, or the machine's in the guise that a test gives it.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use harn_ledger::disk::{Disk, DiskFile, FileSystem, Open, OsDisk, Stat};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Tests make the disk look like a network file system with this variable. It can only make more be refused.
const TEST_FSTYPE: &str = "HARN_TEST_FSTYPE";

/// What it can be made to look like.
const NETWORKS: [&str; 2] = ["nfs", "cifs"];

/// The machine's disk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProjectDisk {
    /// What a test says that it is.
    guise: Option<&'static str>,
}

impl ProjectDisk {
    pub(crate) fn from(io: &Io<'_>) -> Result<Self, Failure> {
        let Some(text) = io.variable(TEST_FSTYPE) else { return Ok(Self { guise: None }) };
        match NETWORKS.into_iter().find(|name| text == *name) {
            Some(name) => Ok(Self { guise: Some(name) }),
            None => Err(Failure::new(
                Exit::Usage,
                "test_fstype_invalid",
                format!(
                    "`{TEST_FSTYPE}` is `{}`, expected one of: {}",
                    text.to_string_lossy().escape_debug(),
                    NETWORKS.join(", ")
                ),
            )),
        }
    }
}

impl Disk for ProjectDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        OsDisk.open(path, how)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        OsDisk.stat(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>> {
        OsDisk.read_dir(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        OsDisk.create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsDisk.rename(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        OsDisk.unlink(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        OsDisk.remove_dir(path)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        OsDisk.set_mode(path, mode)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        OsDisk.sync_dir(path)
    }

    fn user(&self) -> u32 {
        OsDisk.user()
    }

    fn file_system(&self, path: &Path) -> io::Result<FileSystem> {
        let found = OsDisk.file_system(path)?;
        Ok(FileSystem { network: self.guise.or(found.network), ..found })
    }

    fn boot(&self) -> Option<String> {
        OsDisk.boot()
    }
}
