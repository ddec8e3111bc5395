//! The state behind a faulty disk: files and directories by number, the operations so far, and what goes wrong when.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::dice::Dice;
use super::file::File;
use super::names::{self, Names};
use super::{Fault, Moment, Operation};
use crate::disk::{FileKind, Lock, Open, Stat};

pub(super) const USER: u32 = 0;
const ROOT: u64 = 0;

#[derive(Debug)]
pub(super) struct Machine {
    directories: BTreeMap<u64, Names>,
    files: BTreeMap<u64, File>,
    modes: BTreeMap<u64, u32>,
    /// Numbers files, directories and handles.
    next: u64,
    /// How often the power was lost before.
    pub(super) boot: u64,
    pub(super) operations: Vec<(Operation, PathBuf)>,
    pub(super) cut: Option<(usize, Moment)>,
    pub(super) faults: BTreeMap<usize, Fault>,
    stopped: bool,
}

/// How far an operation gets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Whole,
    /// It does its first half, and nobody learns of it.
    Half,
    Fails(Fault),
}

fn dead() -> io::Error {
    io::Error::other("the machine has stopped")
}

fn failed() -> io::Error {
    io::Error::other("the device reports an error")
}

impl Machine {
    pub(super) fn new() -> Self {
        Self::of(
            BTreeMap::from([(ROOT, Names::default())]),
            BTreeMap::new(),
            BTreeMap::from([(ROOT, 0o700)]),
            (1, 0),
        )
    }

    fn of(
        directories: BTreeMap<u64, Names>,
        files: BTreeMap<u64, File>,
        modes: BTreeMap<u64, u32>,
        (next, boot): (u64, u64),
    ) -> Self {
        let (operations, faults) = (Vec::new(), BTreeMap::new());
        Self { directories, files, modes, next, boot, operations, cut: None, faults, stopped: false }
    }

    pub(super) fn power_loss(&self, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let found = names::power_loss(&self.directories, &mut dice);
        let mut next =
            Self::of(BTreeMap::new(), BTreeMap::new(), self.modes.clone(), (self.next, self.boot + 1));
        // Only what has a name in a directory that has one is found again.
        let mut reached = vec![ROOT];
        while let Some(number) = reached.pop() {
            if let Some(file) = self.files.get(&number) {
                next.files.entry(number).or_insert_with(|| file.power_loss(&mut dice));
            } else {
                let entries = found.get(&number).cloned().unwrap_or_default();
                reached.extend(entries.values());
                next.directories.insert(number, Names { live: entries.clone(), durable: entries });
            }
        }
        next
    }

    pub(super) fn process_death(&self) -> Self {
        let files = self.files.iter().map(|(&number, file)| (number, file.process_death()));
        Self::of(self.directories.clone(), files.collect(), self.modes.clone(), (self.next, self.boot))
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn alive(&self) -> io::Result<()> {
        if self.stopped { Err(dead()) } else { Ok(()) }
    }

    /// Counts an operation and does it, as far as it gets.
    fn change<T>(
        &mut self,
        operation: Operation,
        path: &Path,
        change: impl FnOnce(&mut Self, Course) -> io::Result<T>,
    ) -> io::Result<T> {
        self.alive()?;
        let number = self.operations.len();
        self.operations.push((operation, path.to_owned()));
        let moment = self.cut.filter(|(at, _)| *at == number).map(|(_, moment)| moment);
        self.stopped = moment.is_some();
        match moment {
            Some(Moment::Before) => Err(dead()),
            Some(Moment::Inside) => change(self, Course::Half).and_then(|_| Err(dead())),
            Some(Moment::After) => change(self, Course::Whole),
            None => {
                change(self, self.faults.get(&number).map_or(Course::Whole, |&fault| Course::Fails(fault)))
            }
        }
    }

    /// What stands at `path`.
    fn find(&self, path: &Path) -> io::Result<u64> {
        let mut found = ROOT;
        for component in path.components() {
            if let Component::Normal(name) = component {
                let names = self.directories.get(&found).ok_or(io::ErrorKind::NotADirectory)?;
                found = *names.live.get(name).ok_or(io::ErrorKind::NotFound)?;
            }
        }
        Ok(found)
    }

    /// The directory that holds `path`, and its name there.
    fn place(&self, path: &Path) -> io::Result<(u64, OsString)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let parent = self.find(path.parent().unwrap_or(path))?;
        if !self.directories.contains_key(&parent) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok((parent, name.to_owned()))
    }

    fn names(&mut self, directory: u64) -> &mut Names {
        self.directories.get_mut(&directory).expect("directories are never forgotten")
    }

    fn file(&mut self, file: u64) -> &mut File {
        self.files.get_mut(&file).expect("files are never forgotten")
    }

    pub(super) fn open(&mut self, path: &Path, how: Open) -> io::Result<(u64, u64)> {
        self.alive()?;
        let file = match self.find(path) {
            Ok(_) if how == Open::CreateNew => return Err(io::ErrorKind::AlreadyExists.into()),
            Ok(found) if self.directories.contains_key(&found) => {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            Ok(found) => found,
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && matches!(how, Open::Create | Open::CreateNew) =>
            {
                let (parent, name) = self.place(path)?;
                self.change(Operation::CreateFile, path, |machine, course| {
                    let file = machine.add(parent, name, 0o600, course)?;
                    machine.files.insert(file, File::new());
                    Ok(file)
                })?
            }
            Err(error) => return Err(error),
        };
        let handle = self.number();
        self.file(file).open(handle);
        Ok((file, handle))
    }

    /// Gives something new a number and a name.
    fn add(&mut self, parent: u64, name: OsString, mode: u32, course: Course) -> io::Result<u64> {
        if course == Course::Fails(Fault::StorageFull) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let number = self.number();
        self.modes.insert(number, mode);
        self.names(parent).live.insert(name, number);
        Ok(number)
    }

    pub(super) fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.alive()?;
        let number = self.find(path)?;
        if self.files.contains_key(&number) {
            return self.stat_file(number);
        }
        Ok(self.stat_as(number, FileKind::Directory, 0, 0))
    }

    pub(super) fn stat_file(&self, number: u64) -> io::Result<Stat> {
        self.alive()?;
        let file = &self.files[&number];
        Ok(self.stat_as(number, FileKind::File, file.pages.live().len() as u64, file.changes))
    }

    fn stat_as(&self, inode: u64, kind: FileKind, length: u64, changes: i128) -> Stat {
        let mode = self.modes[&inode];
        Stat { kind, length, mode, user: USER, device: 0, inode, modified: changes, changed: changes }
    }

    pub(super) fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>> {
        self.alive()?;
        let names = self.directories.get(&self.find(path)?).ok_or(io::ErrorKind::NotADirectory)?;
        Ok(names.live.keys().cloned().collect())
    }

    pub(super) fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        self.alive()?;
        if self.find(path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let (parent, name) = self.place(path)?;
        self.change(Operation::CreateDir, path, |machine, course| {
            let directory = machine.add(parent, name, 0o700, course)?;
            machine.directories.insert(directory, Names::default());
            Ok(())
        })
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.alive()?;
        let moved = self.find(from)?;
        let (from_parent, from_name) = self.place(from)?;
        let (to_parent, to_name) = self.place(to)?;
        if let Ok(replaced) = self.find(to) {
            match (self.directories.contains_key(&moved), self.directories.get(&replaced)) {
                (true, None) => return Err(io::ErrorKind::NotADirectory.into()),
                (false, Some(_)) => return Err(io::ErrorKind::IsADirectory.into()),
                (true, Some(names)) if !names.live.is_empty() => {
                    return Err(io::ErrorKind::DirectoryNotEmpty.into());
                }
                _ => {}
            }
        }
        self.change(Operation::Rename, to, |machine, course| {
            if course == Course::Fails(Fault::StorageFull) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            machine.names(from_parent).live.remove(&from_name);
            machine.names(to_parent).live.insert(to_name, moved);
            Ok(())
        })
    }

    pub(super) fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.alive()?;
        let file = self.find(from)?;
        if self.directories.contains_key(&file) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if self.find(to).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let (parent, name) = self.place(to)?;
        self.change(Operation::Link, to, |machine, course| {
            if course == Course::Fails(Fault::StorageFull) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            machine.names(parent).live.insert(name, file);
            Ok(())
        })
    }

    pub(super) fn unlink(&mut self, path: &Path) -> io::Result<()> {
        self.alive()?;
        if self.directories.contains_key(&self.find(path)?) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.remove(Operation::Unlink, path)
    }

    pub(super) fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        self.alive()?;
        match self.directories.get(&self.find(path)?) {
            None => Err(io::ErrorKind::NotADirectory.into()),
            Some(names) if !names.live.is_empty() => Err(io::ErrorKind::DirectoryNotEmpty.into()),
            Some(_) => self.remove(Operation::RemoveDir, path),
        }
    }

    fn remove(&mut self, operation: Operation, path: &Path) -> io::Result<()> {
        let (parent, name) = self.place(path)?;
        self.change(operation, path, |machine, _| {
            machine.names(parent).live.remove(&name);
            Ok(())
        })
    }

    pub(super) fn set_mode(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.alive()?;
        let number = self.find(path)?;
        self.change(Operation::SetMode, path, |machine, _| {
            machine.modes.insert(number, mode & 0o777);
            Ok(())
        })
    }

    pub(super) fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        self.alive()?;
        let number = self.find(path)?;
        if !self.directories.contains_key(&number) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        self.change(Operation::SyncDir, path, |machine, course| {
            match course {
                Course::Half => machine.names(number).sync_half(),
                Course::Fails(Fault::SyncError) => return Err(failed()),
                Course::Whole | Course::Fails(_) => machine.names(number).sync(),
            }
            Ok(())
        })
    }

    pub(super) fn read(&self, file: u64, offset: usize, buffer: &mut [u8]) -> io::Result<usize> {
        self.alive()?;
        let rest = self.files[&file].pages.live().get(offset..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    pub(super) fn write(&mut self, file: u64, path: &Path, offset: usize, bytes: &[u8]) -> io::Result<usize> {
        self.change(Operation::Write, path, |machine, course| {
            let taken = match course {
                Course::Fails(Fault::StorageFull) => return Err(io::ErrorKind::StorageFull.into()),
                Course::Half | Course::Fails(Fault::ShortWrite | Fault::WriteError) => bytes.len() / 2,
                Course::Whole | Course::Fails(Fault::SyncError) => bytes.len(),
            };
            machine.file(file).write(offset, &bytes[..taken]);
            if course == Course::Fails(Fault::WriteError) { Err(failed()) } else { Ok(taken) }
        })
    }

    pub(super) fn truncate(&mut self, file: u64, path: &Path, length: usize) -> io::Result<()> {
        self.change(Operation::Truncate, path, |machine, _| {
            machine.file(file).truncate(length);
            Ok(())
        })
    }

    pub(super) fn sync(&mut self, file: u64, handle: u64, path: &Path) -> io::Result<()> {
        self.change(Operation::Sync, path, |machine, course| {
            let file = machine.file(file);
            match course {
                Course::Half => file.pages.sync_half(),
                Course::Fails(Fault::SyncError) => file.fail_to_sync(),
                Course::Whole | Course::Fails(_) => file.pages.sync(),
            }
            if file.has_failed(handle) { Err(failed()) } else { Ok(()) }
        })
    }

    pub(super) fn try_lock(&mut self, file: u64, handle: u64, lock: Lock) -> io::Result<bool> {
        self.alive()?;
        Ok(self.file(file).try_lock(handle, lock))
    }

    pub(super) fn unlock(&mut self, file: u64, handle: u64) -> io::Result<()> {
        self.alive()?;
        self.file(file).unlock(handle);
        Ok(())
    }

    pub(super) fn close(&mut self, file: u64, handle: u64) {
        self.file(file).close(handle);
    }
}
