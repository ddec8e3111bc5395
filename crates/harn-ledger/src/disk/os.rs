//! The machine's file system.
#![expect(clippy::disallowed_methods, reason = "this module is the shell that the ban on files points to")]

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{OFlags, StatVfsMountFlags};

use super::{Disk, DiskFile, FileKind, FileSystem, Lock, Open, Stat, file_system};

/// The file system of this machine. Locks are `flock` locks, which the kernel releases when their holder ends.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsDisk;

impl Disk for OsDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        // Opening a named pipe would wait for its other end.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.read(true).mode(0o600).custom_flags(flags.bits().cast_signed());
        match how {
            Open::Read => &mut options,
            Open::Write => options.write(true),
            Open::CreateNew => options.write(true).create_new(true),
            Open::Create => options.write(true).create(true).truncate(false),
        };
        let file = options.open(path)?;
        let file_type = file.metadata()?.file_type();
        if file_type.is_file() {
            Ok(Arc::new(file))
        } else if file_type.is_dir() {
            Err(io::ErrorKind::IsADirectory.into())
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
        }
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        fs::symlink_metadata(path).map(|metadata| stat(&metadata))
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // Opening a named pipe would wait here too.
        let flags = OFlags::DIRECTORY.bits().cast_signed();
        OpenOptions::new().read(true).custom_flags(flags).open(path)?.sync_all()
    }

    fn user(&self) -> u32 {
        rustix::process::geteuid().as_raw()
    }

    fn file_system(&self, path: &Path) -> io::Result<FileSystem> {
        let read_only = rustix::fs::statvfs(path)?.f_flag.contains(StatVfsMountFlags::RDONLY);
        Ok(FileSystem { read_only, network: file_system::network(path)? })
    }

    /// Only Linux tells.
    fn boot(&self) -> Option<String> {
        let name = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(name.trim_end().to_owned())
    }
}

impl DiskFile for File {
    fn stat(&self) -> io::Result<Stat> {
        self.metadata().map(|metadata| stat(&metadata))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        retry_interrupted(|| std::os::unix::fs::FileExt::read_at(self, &mut *buffer, offset))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        retry_interrupted(|| std::os::unix::fs::FileExt::write_at(self, bytes, offset))
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn try_lock(&self, lock: Lock) -> io::Result<bool> {
        let taken = match lock {
            Lock::Shared => self.try_lock_shared(),
            Lock::Exclusive => File::try_lock(self),
        };
        match taken {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn unlock(&self) -> io::Result<()> {
        File::unlock(self)
    }
}

fn retry_interrupted(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

fn stat(metadata: &fs::Metadata) -> Stat {
    let file_type = metadata.file_type();
    let kind = if file_type.is_file() {
        FileKind::File
    } else if file_type.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Other
    };
    let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    Stat {
        kind,
        length: metadata.len(),
        mode: metadata.mode() & 0o777,
        user: metadata.uid(),
        device: metadata.dev(),
        inode: metadata.ino(),
        modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
    }
}
