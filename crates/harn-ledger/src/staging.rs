//! Building things out of sight: in `<root>/.new`, locked while they are built, renamed into place when complete.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::{Disk, DiskFile, FileKind, Lock, Open};
use crate::log::{EVENTS_FILE, INTENT_FILE};

const STAGING: &str = ".new";

/// Distinguishes what one process builds.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Something being built. Its file is locked, which is how others know that its builder lives.
#[derive(Debug)]
pub(crate) struct Staged {
    /// Where it is being built.
    pub(crate) path: PathBuf,
    /// The locked file: the blob itself, or the log of a stream.
    pub(crate) file: Arc<dyn DiskFile>,
}

/// Makes a directory if it is missing and brings its entry to stable storage.
pub(crate) fn ensure_directory(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.create_dir(path) {
        Ok(()) => path.parent().map_or(Ok(()), |parent| disk.sync_dir(parent)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Starts a stream's directory with an empty, locked log in it.
pub(crate) fn directory(disk: &dyn Disk, root: &Path) -> io::Result<Staged> {
    start(disk, root, |path| {
        disk.create_dir(path)?;
        disk.open(&path.join(EVENTS_FILE), Open::CreateNew)
    })
}

/// Starts a file, empty and locked.
pub(crate) fn file(disk: &dyn Disk, root: &Path) -> io::Result<Staged> {
    start(disk, root, |path| disk.open(path, Open::CreateNew))
}

/// Finds a free name. A sweeper that came in between two steps makes this one try the next name.
fn start(
    disk: &dyn Disk,
    root: &Path,
    create: impl Fn(&Path) -> io::Result<Arc<dyn DiskFile>>,
) -> io::Result<Staged> {
    let staging = root.join(STAGING);
    ensure_directory(disk, &staging)?;
    sweep(disk, &staging);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = staging.join(format!("{}-{number}", std::process::id()));
        match create(&path) {
            Ok(file) => {
                if file.try_lock(Lock::Exclusive)? {
                    return Ok(Staged { path, file });
                }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes what dead builders left. Nothing here was ever acknowledged, so a failure only leaves it for the next time.
fn sweep(disk: &dyn Disk, staging: &Path) {
    for name in disk.read_dir(staging).unwrap_or_default() {
        let path = staging.join(name);
        match disk.stat(&path).map(|stat| stat.kind) {
            Ok(FileKind::File) if is_abandoned(disk, &path) => drop(disk.unlink(&path)),
            Ok(FileKind::Directory) => {
                let log = path.join(EVENTS_FILE);
                let has_log = disk.stat(&log).is_ok();
                if !has_log || is_abandoned(disk, &log) {
                    drop(disk.unlink(&path.join(INTENT_FILE)));
                    drop(disk.unlink(&log));
                    drop(disk.remove_dir(&path));
                }
            }
            _ => {}
        }
    }
}

fn is_abandoned(disk: &dyn Disk, path: &Path) -> bool {
    disk.open(path, Open::Read).and_then(|file| file.try_lock(Lock::Exclusive)).unwrap_or(false)
}
