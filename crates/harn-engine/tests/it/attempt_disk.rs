//! The real disk, watched: what was written, synced and renamed, in order. Blobs can be made to find it full, and
//! something can be made to happen at the moment in which somebody looks at a lease.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use harn_ledger::disk::{Disk, DiskFile, Lock, Open, OsDisk, Stat};

#[derive(Debug, Clone)]
pub(crate) struct WatchedDisk {
    disk: OsDisk,
    watch: Watch,
}

/// What is seen of a disk, and what it is told.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    seen: Arc<Mutex<Vec<String>>>,
    full: Arc<AtomicBool>,
    at_lease: Arc<Mutex<Option<Deed>>>,
}

type Deed = Box<dyn FnOnce() + Send>;

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

impl Watch {
    pub(crate) fn disk(&self) -> WatchedDisk {
        WatchedDisk { disk: OsDisk, watch: self.clone() }
    }

    /// What happened: `write PATH NAMES`, `sync PATH` and `rename PATH`, the paths without what is above the kind.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// From here on there is no room for blobs, or there is again.
    pub(crate) fn set_full(&self, full: bool) {
        self.full.store(full, Ordering::SeqCst);
    }

    /// Does this once, just before somebody opens a lease.
    pub(crate) fn at_lease(&self, deed: impl FnOnce() + Send + 'static) {
        *self.at_lease.lock().unwrap() = Some(Box::new(deed));
    }

    fn note(&self, what: &str, path: &Path, more: &str) {
        let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
        let from = parts.iter().rposition(|part| ["work", "run", "blobs", ".new"].contains(part));
        let path = from.map(|from| parts[from..].join("/"));
        if let Some(path) = path {
            self.seen.lock().unwrap().push(format!("{what} {path}{more}"));
        }
    }
}

impl Disk for WatchedDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        if path.ends_with("lease") {
            let deed = self.watch.at_lease.lock().unwrap().take();
            if let Some(deed) = deed {
                deed();
            }
        }
        let file = self.disk.open(path, how)?;
        Ok(Arc::new(WatchedFile { file, path: path.to_owned(), watch: self.watch.clone() }))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.disk.stat(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>> {
        self.disk.read_dir(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)?;
        self.watch.note("rename", to, "");
        Ok(())
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.disk.unlink(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_dir(path)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.disk.set_mode(path, mode)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_dir(path)?;
        self.watch.note("sync", path, "");
        Ok(())
    }

    fn user(&self) -> u32 {
        self.disk.user()
    }
}

#[derive(Debug)]
struct WatchedFile {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    watch: Watch,
}

impl DiskFile for WatchedFile {
    fn stat(&self) -> io::Result<Stat> {
        self.file.stat()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        // A blob is built as a file of its own; a stream as a directory.
        let is_blob = self.path.parent().and_then(Path::file_name).is_some_and(|name| name == ".new");
        if is_blob && self.watch.full.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let text = String::from_utf8_lossy(bytes);
        let names = text.split("\"event\":\"").skip(1).filter_map(|rest| rest.split('"').next());
        let names: String = names.flat_map(|name| [" ", name]).collect();
        let written = self.file.write_at(offset, bytes)?;
        self.watch.note("write", &self.path, &names);
        Ok(written)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.truncate(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()?;
        self.watch.note("sync", &self.path, "");
        Ok(())
    }

    fn try_lock(&self, lock: Lock) -> io::Result<bool> {
        self.file.try_lock(lock)
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }
}
