//! Building things out of sight: in `<root>/.new`, locked while they are built, renamed into place when complete.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::{Disk, DiskFile, FileKind, Lock, Open};
use crate::log::{EVENTS_FILE, INTENT_FILE};
use crate::place::{self, UnsafePlace};

pub(crate) const STAGING: &str = ".new";

/// How many names are tried before giving up: more than there can be sweepers at work or left-over names in the way.
const TRIES: u32 = 1000;

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

/// Checks that nobody else can reach what is being built, and put something else in its place before it is renamed.
pub(crate) fn check_place(disk: &dyn Disk, root: &Path) -> Result<(), UnsafePlace> {
    place::check(disk, &root.join(STAGING), FileKind::Directory)
}

/// Makes a directory unless it is there; says whether it was missing.
pub(crate) fn make_directory(disk: &dyn Disk, path: &Path) -> io::Result<bool> {
    match disk.create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        made => made.map(|()| true),
    }
}

/// Brings the entry of `path` to stable storage.
pub(crate) fn sync_parent(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => disk.sync_dir(Path::new(".")),
        Some(parent) => disk.sync_dir(parent),
        None => Ok(()),
    }
}

/// Starts a stream's directory with an empty, locked log in it.
pub(crate) fn directory(disk: &dyn Disk, root: &Path) -> io::Result<Staged> {
    start(disk, root, |path| {
        disk.create_dir(path)?;
        let log = path.join(EVENTS_FILE);
        Ok((disk.open(&log, Open::CreateNew)?, log))
    })
}

/// Starts a file, empty and locked.
pub(crate) fn file(disk: &dyn Disk, root: &Path) -> io::Result<Staged> {
    start(disk, root, |path| Ok((disk.open(path, Open::CreateNew)?, path.to_owned())))
}

/// Finds a free name. A sweeper that came in before the lock was taken makes this one try the next name.
fn start(
    disk: &dyn Disk,
    root: &Path,
    create: impl Fn(&Path) -> io::Result<(Arc<dyn DiskFile>, PathBuf)>,
) -> io::Result<Staged> {
    let staging = root.join(STAGING);
    make_directory(disk, &staging)?;
    sweep(disk, &staging);
    for _ in 0..TRIES {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = staging.join(format!("{}-{number}", std::process::id()));
        match create(&path) {
            Ok((file, at)) => {
                if locks_what_is_at(disk, &*file, &at)? {
                    return Ok(Staged { path, file });
                }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "no place to build in: it is removed again and again"))
}

/// Takes the lock of the open file; false if it is somebody else's or no longer the file at `path`.
fn locks_what_is_at(disk: &dyn Disk, file: &dyn DiskFile, path: &Path) -> io::Result<bool> {
    if !file.try_lock(Lock::Exclusive)? {
        return Ok(false);
    }
    let open = file.stat()?;
    match disk.stat(path) {
        Ok(found) => Ok((found.device, found.inode) == (open.device, open.inode)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes what dead builders left. Nothing here was ever acknowledged, so a failure only leaves it for the next time.
fn sweep(disk: &dyn Disk, staging: &Path) {
    for name in disk.read_dir(staging).unwrap_or_default() {
        let path = staging.join(name);
        let is_directory = disk.stat(&path).is_ok_and(|stat| stat.kind == FileKind::Directory);
        // A log that is missing, because its builder had none yet or a power loss took it, is made here, so that a
        // builder about to make it finds its name taken and tries the next.
        let (locked, how) =
            if is_directory { (path.join(EVENTS_FILE), Open::Create) } else { (path.clone(), Open::Read) };
        // The lock is kept until all is removed. A builder that has made its file but not locked it yet then finds
        // that the file is no longer where it made it.
        let file = disk.open(&locked, how);
        if file.as_ref().is_ok_and(|file| locks_what_is_at(disk, &**file, &locked).unwrap_or(false)) {
            drop(disk.unlink(&path.join(INTENT_FILE)));
            drop(disk.unlink(&locked));
        }
        // Only an empty directory can be removed, so this does no harm to one that is being built.
        if is_directory {
            drop(disk.remove_dir(&path));
        }
    }
}
