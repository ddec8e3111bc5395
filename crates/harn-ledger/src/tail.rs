//! Moving the end of a log out of it: into a file beside it, never away.

use std::collections::BTreeSet;
use std::io;

use crate::append::{AppendError, Torn};
use crate::digest::{Digest, Hasher};
use crate::disk::{DiskFile, FileKind, Open, write_all_at};
use crate::entry::LedgerEvent;
use crate::log::{CUT_PREFIX, Log, TORN_PREFIX};
use crate::scan::UnfinishedTail;
use crate::time::Timestamp;

const CHUNK: usize = 64 << 10;

/// Why the end of a log is moved into a file beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aside {
    /// A crash left it unfinished.
    Torn,
    /// It is damaged, and a person wants the log cut there.
    Cut,
}

impl Aside {
    /// How the names of the files begin.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Torn => TORN_PREFIX,
            Self::Cut => CUT_PREFIX,
        }
    }

    fn of(name: &str) -> Option<Self> {
        [Self::Torn, Self::Cut].into_iter().find(|aside| name.starts_with(aside.prefix()))
    }

    /// What the log says of it.
    pub(crate) const fn event(self, file: String, bytes: u64, sha256: Digest) -> LedgerEvent {
        match self {
            Self::Torn => LedgerEvent::TailMoved { file, bytes, sha256 },
            Self::Cut => LedgerEvent::Cut { file, bytes, sha256 },
        }
    }
}

impl Log {
    /// Moves `tail` aside and tells of it, and of files that an earlier writer moved without living to record it.
    /// Called under the exclusive lock.
    pub(crate) fn move_tails_aside(
        &self,
        file: &dyn DiskFile,
        tail: Option<UnfinishedTail>,
        torn: Torn<'_>,
        now: Timestamp,
    ) -> Result<Vec<LedgerEvent>, AppendError> {
        let mut events = Vec::new();
        if let Torn::Told(told) = torn {
            for name in self.untold_files(told)? {
                self.sync_moved(&name)?;
                events.push(self.describe(name)?);
            }
        }
        if let Some(tail) = tail {
            events.push(self.move_aside(Aside::Torn, file, tail.offset, now)?);
        }
        Ok(events)
    }

    /// Moves everything from `offset` on into a file beside the log. Called under the exclusive lock.
    pub(crate) fn move_aside(
        &self,
        aside: Aside,
        file: &dyn DiskFile,
        offset: u64,
        now: Timestamp,
    ) -> Result<LedgerEvent, AppendError> {
        let (name, moved) = self.new_file(aside, now)?;
        let path = self.path(&name);
        let copied = copy(file, offset, &*moved)
            .and_then(|copied| self.disk.sync_dir(&self.directory).map(|()| copied));
        let (bytes, sha256) = copied.map_err(|source| {
            // The bytes still stand in the log, so half a copy of them is worth nothing.
            drop(self.disk.unlink(&path));
            self.write_failed(source)
        })?;
        file.truncate(offset).map_err(|source| self.write_failed(source))?;
        self.settle_cut(file)?;
        Ok(aside.event(name, bytes, sha256))
    }

    /// Names of files that hold what was moved out of the log, and that the log does not tell of; sorted.
    pub(crate) fn untold_files(&self, known: &BTreeSet<String>) -> Result<Vec<String>, AppendError> {
        let names = self.disk.read_dir(&self.directory).map_err(|source| self.write_failed(source))?;
        let mut names: Vec<String> = names
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .filter(|name| Aside::of(name).is_some() && !known.contains(name) && self.is_file(name))
            .collect();
        names.sort();
        Ok(names)
    }

    fn is_file(&self, name: &str) -> bool {
        self.disk.stat(&self.path(name)).is_ok_and(|stat| stat.kind == FileKind::File)
    }

    /// The names that a file moved aside at this time may have: `events.torn-<utc>-<n>`, or `cut` in place of `torn`.
    pub(crate) fn names(aside: Aside, now: Timestamp) -> impl Iterator<Item = String> {
        let utc: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
        (1_u64..).map(move |number| format!("{}{utc}-{number}", aside.prefix()))
    }

    /// Creates a file under the first name that is free.
    fn new_file(
        &self,
        aside: Aside,
        now: Timestamp,
    ) -> Result<(String, std::sync::Arc<dyn DiskFile>), AppendError> {
        for name in Self::names(aside, now) {
            match self.disk.open(&self.path(&name), Open::CreateNew) {
                Ok(file) => return Ok((name, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(AppendError::at(self.path(&name), source)),
            }
        }
        unreachable!("the names do not end")
    }

    /// Makes sure that a power loss cannot change a file that was found. Its name needs no sync: if its writer did not
    /// live to sync it, the bytes still stand in the log, and moving them syncs the directory.
    fn sync_moved(&self, name: &str) -> Result<(), AppendError> {
        let path = self.path(name);
        let synced = self.disk.open(&path, Open::Read).and_then(|file| file.sync());
        synced.map_err(|source| AppendError::at(path, source))
    }

    /// What the log says of a file that was found.
    pub(crate) fn describe(&self, name: String) -> Result<LedgerEvent, AppendError> {
        let path = self.path(&name);
        let aside = Aside::of(&name).expect("only files with such names are looked for");
        match self.disk.open(&path, Open::Read).and_then(|file| hash_file(&*file)) {
            Ok((bytes, sha256)) => Ok(aside.event(name, bytes, sha256)),
            Err(source) => Err(AppendError::at(path, source)),
        }
    }
}

/// Copies everything from `offset` on, brings the copy to stable storage, and returns its length and digest.
fn copy(from: &dyn DiskFile, offset: u64, to: &dyn DiskFile) -> io::Result<(u64, Digest)> {
    let mut copied = 0;
    let found = read_from(from, offset, |bytes| {
        write_all_at(to, copied, bytes)?;
        copied += bytes.len() as u64;
        Ok(())
    })?;
    to.sync()?;
    Ok(found)
}

/// Length and digest of a whole file.
pub(crate) fn hash_file(file: &dyn DiskFile) -> io::Result<(u64, Digest)> {
    read_from(file, 0, |_| Ok(()))
}

/// Shows a file from `offset` on to `visit`, piece by piece, and returns the length and digest of it all.
pub(crate) fn read_from(
    file: &dyn DiskFile,
    offset: u64,
    mut visit: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<(u64, Digest)> {
    let mut hasher = Hasher::default();
    let mut length = 0;
    let mut buffer = vec![0; CHUNK];
    loop {
        match file.read_at(offset + length, &mut buffer)? {
            0 => return Ok((length, hasher.finish())),
            read => {
                visit(&buffer[..read])?;
                hasher.update(&buffer[..read]);
                length += read as u64;
            }
        }
    }
}
