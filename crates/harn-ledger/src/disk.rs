//! The one seam between the ledger and the machine: every byte read or written passes through [`Disk`].

#[cfg(feature = "testing")]
mod faulty;
mod file_system;
mod mem;
mod os;

use std::ffi::OsString;
use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(feature = "testing")]
pub use faulty::{Fault, FaultyDisk, Moment, Operation};
pub use file_system::FileSystem;
pub use mem::MemDisk;
pub use os::OsDisk;

/// A place that holds files and directories. Paths are absolute or relative to the process, as the implementation
/// likes; the ledger only joins names onto the root that it was given.
///
/// Errors are plain `io::Error`s. The ledger depends on these kinds: `NotFound`, `AlreadyExists`, `StorageFull`,
/// `QuotaExceeded`, `ReadOnlyFilesystem`, `DirectoryNotEmpty` (a rename onto a directory that has entries) and
/// `NotADirectory`.
pub trait Disk: Send + Sync + Debug {
    /// Opens a regular file, never waiting, and without following a symbolic link in the last component. What is not a
    /// regular file is an error, and is left alone.
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>>;
    /// Facts about what stands at `path`, not following a symbolic link in the last component.
    fn stat(&self, path: &Path) -> io::Result<Stat>;
    /// The names in a directory, in no particular order.
    fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>>;
    /// Makes one directory with mode 0700; its parent must exist.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Moves a file or directory; an existing file or empty directory at `to` is replaced in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name, which must be free: `AlreadyExists` if anything stands there. A disk without hard links
    /// says `Unsupported`.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _ = (from, to);
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Removes a file.
    fn unlink(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Sets the permission bits.
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()>;
    /// Brings a directory's entries to stable storage.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// The user whose files the ledger may write.
    fn user(&self) -> u32;
    /// Facts about the file system at `path`; a local and writable one unless the disk says otherwise.
    fn file_system(&self, path: &Path) -> io::Result<FileSystem> {
        let _ = path;
        Ok(FileSystem::default())
    }
    /// Names this run of the machine: another name after anything that may have taken changes that were not synced, such as
    /// a loss of power. `None` if the disk cannot tell.
    fn boot(&self) -> Option<String> {
        None
    }
}

/// An open file. Closing it (dropping the last clone of the `Arc`) releases its lock.
pub trait DiskFile: Send + Sync + Debug {
    /// Facts about the file.
    fn stat(&self) -> io::Result<Stat>;
    /// Reads up to `buffer.len()` bytes at `offset`; 0 means the end of the file.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
    /// Writes at `offset` with one call to the machine and tells how many bytes it took, which may be fewer. Writing at
    /// the end appends.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize>;
    /// Cuts the file to `length` bytes.
    fn truncate(&self, length: u64) -> io::Result<()>;
    /// Brings the file's bytes and length to stable storage.
    fn sync(&self) -> io::Result<()>;
    /// Tries to take a lock that ends with this open file, never waiting: `false` if somebody else's lock forbids it.
    fn try_lock(&self, lock: Lock) -> io::Result<bool>;
    /// Gives the lock back.
    fn unlock(&self) -> io::Result<()>;
}

/// How to open a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// An existing file, for reading.
    Read,
    /// An existing file, for reading and writing.
    Write,
    /// A new file with mode 0600, for reading and writing; an existing one is an error.
    CreateNew,
    /// For reading and writing, created with mode 0600 if it is missing.
    Create,
}

/// The kind of a file lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// Many may hold it at once.
    Shared,
    /// One holds it, and nobody holds a shared one.
    Exclusive,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, a device or anything else.
    Other,
}

/// Facts about a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: FileKind,
    /// Length in bytes.
    pub length: u64,
    /// Permission bits, the lowest nine.
    pub mode: u32,
    /// Owner.
    pub user: u32,
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Time of the last change of the content, nanoseconds since the Unix epoch.
    pub modified: i128,
    /// Time of the last change of content or attributes, nanoseconds since the Unix epoch.
    pub changed: i128,
}

/// A time for disks in memory: later each time.
fn tick() -> i128 {
    static TIME: AtomicU64 = AtomicU64::new(1);
    TIME.fetch_add(1, Ordering::Relaxed).into()
}

/// Reads a whole file that must not be longer than `limit`; `None` means that it is.
pub(crate) fn read_bounded(file: &dyn DiskFile, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let length = file.stat()?.length;
    if length > limit {
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(filled as u64, &mut bytes[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    bytes.truncate(filled);
    Ok(Some(bytes))
}

/// Writes all of `bytes` at `offset`, in as many calls as it takes.
pub(crate) fn write_all_at(file: &dyn DiskFile, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(offset, bytes)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => {
                offset += written as u64;
                bytes = &bytes[written..];
            }
        }
    }
    Ok(())
}
