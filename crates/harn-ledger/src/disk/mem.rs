//! A disk in memory, for tests and for trying things out.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Disk, DiskFile, FileKind, Lock, Open, Stat, tick};

/// Files and directories in memory. Clones share the content; the root directory `/` exists from the start.
#[derive(Debug, Clone)]
pub struct MemDisk {
    nodes: Arc<Mutex<BTreeMap<PathBuf, Node>>>,
}

#[derive(Debug, Clone)]
enum Node {
    Directory { mode: u32, inode: u64 },
    File(Arc<MemFile>),
}

#[derive(Debug)]
struct MemFile {
    inode: u64,
    content: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    mode: u32,
    /// When it last changed.
    changes: i128,
    exclusive: Option<u64>,
    shared: BTreeSet<u64>,
}

/// One open file; locks belong to it.
#[derive(Debug)]
struct Handle {
    number: u64,
    writable: bool,
    file: Arc<MemFile>,
}

const USER: u32 = 0;

/// Numbers inodes and handles.
static NEXT: AtomicU64 = AtomicU64::new(1);

fn next() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A panic while a lock was held cannot leave a map or a byte vector half-changed, so poison means nothing here.
fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for MemDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl MemDisk {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        let root = Node::Directory { mode: 0o700, inode: next() };
        Self { nodes: Arc::new(Mutex::new(BTreeMap::from([(PathBuf::from("/"), root)]))) }
    }
}

fn parent_exists(nodes: &BTreeMap<PathBuf, Node>, path: &Path) -> io::Result<()> {
    match path.parent().map(|parent| nodes.get(parent)) {
        Some(Some(Node::Directory { .. })) => Ok(()),
        _ => Err(missing(nodes, path)),
    }
}

/// Why there is nothing at `path`.
fn missing(nodes: &BTreeMap<PathBuf, Node>, path: &Path) -> io::Error {
    let below_a_file = path.ancestors().skip(1).any(|above| matches!(nodes.get(above), Some(Node::File(_))));
    if below_a_file { io::ErrorKind::NotADirectory.into() } else { io::ErrorKind::NotFound.into() }
}

/// What lies in the directory `path`. All that is below it stands behind it in the map.
fn entries<'a>(nodes: &'a BTreeMap<PathBuf, Node>, path: &'a Path) -> impl Iterator<Item = &'a Path> {
    let below = nodes.range::<Path, _>((Bound::Excluded(path), Bound::Unbounded)).map(|(key, _)| &**key);
    below.take_while(move |key| key.starts_with(path)).filter(move |key| key.parent() == Some(path))
}

fn has_entries(nodes: &BTreeMap<PathBuf, Node>, path: &Path) -> bool {
    entries(nodes, path).next().is_some()
}

impl Disk for MemDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let mut nodes = hold(&self.nodes);
        let file = match (nodes.get(path), how) {
            (Some(Node::File(_)), Open::CreateNew) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(Node::File(file)), _) => Arc::clone(file),
            (Some(Node::Directory { .. }), _) => return Err(io::ErrorKind::IsADirectory.into()),
            (None, Open::Read | Open::Write) => return Err(missing(&nodes, path)),
            (None, Open::CreateNew | Open::Create) => {
                parent_exists(&nodes, path)?;
                let content = Mutex::new(Content { mode: 0o600, changes: tick(), ..Content::default() });
                let file = Arc::new(MemFile { inode: next(), content });
                nodes.insert(path.to_owned(), Node::File(Arc::clone(&file)));
                file
            }
        };
        Ok(Arc::new(Handle { number: next(), writable: how != Open::Read, file }))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let nodes = hold(&self.nodes);
        match nodes.get(path) {
            None => Err(missing(&nodes, path)),
            Some(Node::File(file)) => Ok(file.stat()),
            Some(&Node::Directory { mode, inode }) => Ok(Stat {
                kind: FileKind::Directory,
                length: 0,
                mode,
                user: USER,
                device: 0,
                inode,
                modified: 0,
                changed: 0,
            }),
        }
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let nodes = hold(&self.nodes);
        match nodes.get(path) {
            None => Err(missing(&nodes, path)),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            Some(Node::Directory { .. }) => {
                Ok(entries(&nodes, path).filter_map(Path::file_name).map(ToOwned::to_owned).collect())
            }
        }
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut nodes = hold(&self.nodes);
        if nodes.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        parent_exists(&nodes, path)?;
        nodes.insert(path.to_owned(), Node::Directory { mode: 0o700, inode: next() });
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut nodes = hold(&self.nodes);
        parent_exists(&nodes, to)?;
        match (nodes.get(from), nodes.get(to)) {
            (None, _) => return Err(missing(&nodes, from)),
            (Some(Node::Directory { .. }), Some(Node::File(_))) => {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            (Some(Node::File(_)), Some(Node::Directory { .. })) => {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            (Some(Node::Directory { .. }), Some(Node::Directory { .. })) if has_entries(&nodes, to) => {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            _ => {}
        }
        let moved: Vec<PathBuf> = nodes.keys().filter(|key| key.starts_with(from)).cloned().collect();
        for path in moved {
            let rest = path.strip_prefix(from).expect("the key was chosen by this prefix");
            let target = if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) };
            let node = nodes.remove(&path).expect("the key was just listed");
            nodes.insert(target, node);
        }
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut nodes = hold(&self.nodes);
        let file = match (nodes.get(from), nodes.get(to)) {
            (None, _) => return Err(missing(&nodes, from)),
            (Some(Node::Directory { .. }), _) => return Err(io::ErrorKind::IsADirectory.into()),
            (Some(Node::File(_)), Some(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(Node::File(file)), None) => Arc::clone(file),
        };
        parent_exists(&nodes, to)?;
        nodes.insert(to.to_owned(), Node::File(file));
        Ok(())
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        let mut nodes = hold(&self.nodes);
        match nodes.get(path) {
            None => Err(io::ErrorKind::NotFound.into()),
            Some(Node::Directory { .. }) => Err(io::ErrorKind::IsADirectory.into()),
            Some(Node::File(_)) => {
                nodes.remove(path);
                Ok(())
            }
        }
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut nodes = hold(&self.nodes);
        match nodes.get(path) {
            None => Err(io::ErrorKind::NotFound.into()),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            Some(Node::Directory { .. }) if has_entries(&nodes, path) => {
                Err(io::ErrorKind::DirectoryNotEmpty.into())
            }
            Some(Node::Directory { .. }) => {
                nodes.remove(path);
                Ok(())
            }
        }
    }

    fn set_mode(&self, path: &Path, new: u32) -> io::Result<()> {
        match hold(&self.nodes).get_mut(path) {
            None => Err(io::ErrorKind::NotFound.into()),
            Some(Node::Directory { mode, .. }) => {
                *mode = new & 0o777;
                Ok(())
            }
            Some(Node::File(file)) => {
                hold(&file.content).mode = new & 0o777;
                Ok(())
            }
        }
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        match hold(&self.nodes).get(path) {
            None => Err(io::ErrorKind::NotFound.into()),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            Some(Node::Directory { .. }) => Ok(()),
        }
    }

    fn user(&self) -> u32 {
        USER
    }
}

impl MemFile {
    fn stat(&self) -> Stat {
        let content = hold(&self.content);
        Stat {
            kind: FileKind::File,
            length: content.bytes.len() as u64,
            mode: content.mode,
            user: USER,
            device: 0,
            inode: self.inode,
            modified: content.changes,
            changed: content.changes,
        }
    }
}

impl Handle {
    /// The content, for a change.
    fn change(&self) -> io::Result<MutexGuard<'_, Content>> {
        if !self.writable {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        let mut content = hold(&self.file.content);
        content.changes = tick();
        Ok(content)
    }
}

/// An offset as an index; no file in memory is longer than the address space.
fn index(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge.into())
}

impl DiskFile for Handle {
    fn stat(&self) -> io::Result<Stat> {
        Ok(self.file.stat())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let content = hold(&self.file.content);
        let rest = content.bytes.get(index(offset)?..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let start = index(offset)?;
        let mut content = self.change()?;
        let end = start + bytes.len();
        if content.bytes.len() < end {
            content.bytes.resize(end, 0);
        }
        content.bytes[start..end].copy_from_slice(bytes);
        Ok(bytes.len())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let length = index(length)?;
        self.change()?.bytes.resize(length, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn try_lock(&self, lock: Lock) -> io::Result<bool> {
        let mut content = hold(&self.file.content);
        let others_exclusive = content.exclusive.is_some_and(|holder| holder != self.number);
        let others_shared = content.shared.iter().any(|&holder| holder != self.number);
        if others_exclusive || (lock == Lock::Exclusive && others_shared) {
            return Ok(false);
        }
        content.exclusive = (lock == Lock::Exclusive).then_some(self.number);
        match lock {
            Lock::Shared => content.shared.insert(self.number),
            Lock::Exclusive => content.shared.remove(&self.number),
        };
        Ok(true)
    }

    fn unlock(&self) -> io::Result<()> {
        let mut content = hold(&self.file.content);
        content.exclusive = content.exclusive.filter(|&holder| holder != self.number);
        content.shared.remove(&self.number);
        Ok(())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Unlocking memory cannot fail.
        let _ = self.unlock();
    }
}
