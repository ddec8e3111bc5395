//! A disk in memory that loses what a real one may lose, and fails where it is told to.

mod dice;
mod file;
mod machine;
mod names;
mod pages;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::machine::Machine;
use super::{Disk, DiskFile, Lock, Open, Stat};

/// A disk in memory that keeps apart what processes see and what survives a loss of power, and that stops or fails at
/// a chosen operation. Clones share the content, as processes on one machine do. The directory `/` exists from the
/// start; relative paths begin there.
///
/// # What survives a loss of power
///
/// * What a file held at its last successful [`sync`](DiskFile::sync) survives, as far as it was not changed since. Of
///   what changed since, each page of 4 KiB is lost, kept, or torn at one byte with either part being the new one,
///   independently of the others. What is lost shows what was there before, or zeros where the file ended before. A
///   changed length is lost, kept, or kept in part. After a truncation, what was cut off may come back, page by page.
/// * A name that was made, moved or removed is there for good, or gone for good, once its directory was synced; until
///   then either may survive, for each name independently. A file's own sync does nothing for its name, nor a
///   directory's for its own. What stands in a directory that is lost is lost with it.
/// * A move that was not synced leaves the old name or the new one, and of a file possibly both, but never neither.
///   The new name is there for good when its directory was synced, the old one is gone for good when its own was. A
///   directory never has two names.
/// * A failed sync of a file is reported once through each handle that was open when it failed. Its pages are lost,
///   though they go on being seen, and count as clean: later syncs succeed without writing them, unless they are changed
///   again. Directories are kept in a journal: if their sync fails, the names are not there for good, and a later sync
///   can bring them there.
/// * Permissions survive at once.
#[derive(Debug, Clone)]
pub struct FaultyDisk {
    machine: Arc<Mutex<Machine>>,
}

/// The kinds of operations that change a disk, and so are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// A file was made; opening one that exists is not counted.
    CreateFile,
    /// [`Disk::create_dir`].
    CreateDir,
    /// [`Disk::rename`]; its path is the new name.
    Rename,
    /// [`Disk::link`]; its path is the new name.
    Link,
    /// [`Disk::unlink`].
    Unlink,
    /// [`Disk::remove_dir`].
    RemoveDir,
    /// [`Disk::set_mode`].
    SetMode,
    /// [`Disk::sync_dir`].
    SyncDir,
    /// [`DiskFile::write_at`].
    Write,
    /// [`DiskFile::truncate`].
    Truncate,
    /// [`DiskFile::sync`].
    Sync,
}

/// Where in an operation everything stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It does nothing.
    Before,
    /// A write takes the first half of its bytes, a sync reaches the first half of what it has to bring, and anything
    /// else is done; but nobody learns of it.
    Inside,
    /// It is done and says so.
    After,
}

/// What goes wrong at an operation, if it is one that can go wrong like this; any other is done as usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A write, or whatever needs a new name, finds no room and does nothing.
    StorageFull,
    /// A write takes the first half of its bytes, and says so.
    ShortWrite,
    /// A write takes the first half of its bytes, and fails.
    WriteError,
    /// A sync of a file or directory fails.
    SyncError,
}

impl Default for FaultyDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl FaultyDisk {
    /// An empty disk without any faults.
    #[must_use]
    pub fn new() -> Self {
        Self::from(Machine::new())
    }

    fn from(machine: Machine) -> Self {
        Self { machine: Arc::new(Mutex::new(machine)) }
    }

    /// A panic elsewhere cannot leave a file half-changed in a way that a test would mistake for the ledger's doing.
    fn machine(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every operation so far that changed the disk, or would have, with the path it was about. Reads and locks are
    /// none. The number of an operation, for [`cut_at`](Self::cut_at) and [`fail_at`](Self::fail_at), is its index.
    #[must_use]
    pub fn operations(&self) -> Vec<(Operation, PathBuf)> {
        self.machine().operations.clone()
    }

    /// Stops everything at an operation, counted from 0: from then on every call fails, reads and locks too.
    pub fn cut_at(&self, operation: usize, moment: Moment) {
        self.machine().cut = Some((operation, moment));
    }

    /// Lets one operation, counted from 0, go wrong.
    pub fn fail_at(&self, operation: usize, fault: Fault) {
        self.machine().faults.insert(operation, fault);
    }

    /// The disk as it is found after the power failed. The same seed gives the same losses: with 0 all that was not
    /// synced is lost, with 1 nothing is, and with others some of it.
    #[must_use]
    pub fn power_loss(&self, seed: u64) -> Self {
        Self::from(self.machine().power_loss(seed))
    }

    /// The disk as the next process finds it after all that used it died: nothing is lost, no lock is held, and what was
    /// not synced still is not. Nothing is counted yet and no fault is due.
    #[must_use]
    pub fn process_death(&self) -> Self {
        Self::from(self.machine().process_death())
    }
}

impl Disk for FaultyDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let mut machine = self.machine();
        let (file, number) = machine.open(path, how)?;
        let writable = how != Open::Read;
        Ok(Arc::new(Handle { disk: self.clone(), path: path.to_owned(), file, number, writable }))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.machine().stat(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>> {
        self.machine().read_dir(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.machine().create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.machine().rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.machine().link(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.machine().unlink(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.machine().remove_dir(path)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.machine().set_mode(path, mode)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.machine().sync_dir(path)
    }

    fn user(&self) -> u32 {
        machine::USER
    }

    fn boot(&self) -> Option<String> {
        Some(self.machine().boot.to_string())
    }
}

/// One open file; locks belong to it.
#[derive(Debug)]
struct Handle {
    disk: FaultyDisk,
    path: PathBuf,
    file: u64,
    number: u64,
    writable: bool,
}

impl Handle {
    fn check_writable(&self) -> io::Result<()> {
        if self.writable { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }
}

/// An offset as an index; no file in memory is longer than the address space.
fn index(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge.into())
}

impl DiskFile for Handle {
    fn stat(&self) -> io::Result<Stat> {
        self.disk.machine().stat_file(self.file)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.disk.machine().read(self.file, index(offset)?, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.check_writable()?;
        self.disk.machine().write(self.file, &self.path, index(offset)?, bytes)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.check_writable()?;
        self.disk.machine().truncate(self.file, &self.path, index(length)?)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.machine().sync(self.file, self.number, &self.path)
    }

    fn try_lock(&self, lock: Lock) -> io::Result<bool> {
        self.disk.machine().try_lock(self.file, self.number, lock)
    }

    fn unlock(&self) -> io::Result<()> {
        self.disk.machine().unlock(self.file, self.number)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.disk.machine().close(self.file, self.number);
    }
}
