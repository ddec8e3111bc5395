//! Moving unfinished tails out of a log: into a file beside it, never away.

use std::io;

use crate::append::{AppendError, Torn};
use crate::digest::{Digest, Hasher};
use crate::disk::{DiskFile, FileKind, Open, write_all_at};
use crate::entry::LedgerEvent;
use crate::log::{Log, TORN_PREFIX};
use crate::scan::UnfinishedTail;
use crate::time::Timestamp;

const CHUNK: usize = 64 << 10;

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
            for name in self.torn_files()? {
                if !told.contains(&name) {
                    events.push(self.describe(name)?);
                }
            }
        }
        if let Some(tail) = tail {
            let (name, moved) = self.new_torn_file(now)?;
            let path = self.path(&name);
            let copied = copy(file, tail.offset, &*moved, name)
                .and_then(|event| self.disk.sync_dir(&self.directory).map(|()| event));
            events.push(copied.map_err(|source| {
                // The tail still stands in the log, so half a copy of it is worth nothing.
                drop(self.disk.unlink(&path));
                self.write_failed(source)
            })?);
            file.truncate(tail.offset).map_err(|source| self.write_failed(source))?;
            self.settle_cut(file)?;
        }
        Ok(events)
    }

    fn torn_files(&self) -> Result<Vec<String>, AppendError> {
        let names = self.disk.read_dir(&self.directory).map_err(|source| self.write_failed(source))?;
        let mut names: Vec<String> = names
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .filter(|name| name.starts_with(TORN_PREFIX) && self.is_file(name))
            .collect();
        names.sort();
        Ok(names)
    }

    fn is_file(&self, name: &str) -> bool {
        self.disk.stat(&self.path(name)).is_ok_and(|stat| stat.kind == FileKind::File)
    }

    /// Creates `events.torn-<utc>-<n>` under the first number that is free.
    fn new_torn_file(&self, now: Timestamp) -> Result<(String, std::sync::Arc<dyn DiskFile>), AppendError> {
        let utc: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
        let mut number = 1;
        loop {
            let name = format!("{TORN_PREFIX}{utc}-{number}");
            match self.disk.open(&self.path(&name), Open::CreateNew) {
                Ok(file) => return Ok((name, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(source) => return Err(AppendError::at(self.path(&name), source)),
            }
        }
    }

    /// What the log says of a file that was found, once a power loss cannot change it any more. Its name needs no sync:
    /// if its writer did not live to sync it, the tail still stands in the log, and moving it syncs the directory.
    fn describe(&self, name: String) -> Result<LedgerEvent, AppendError> {
        let path = self.path(&name);
        let describe = || {
            let file = self.disk.open(&path, Open::Read)?;
            file.sync()?;
            hash_file(&*file)
        };
        match describe() {
            Ok((bytes, sha256)) => Ok(LedgerEvent::TailMoved { file: name, bytes, sha256 }),
            Err(source) => Err(AppendError::at(path, source)),
        }
    }
}

/// Copies everything from `offset` on and brings the copy to stable storage.
fn copy(from: &dyn DiskFile, offset: u64, to: &dyn DiskFile, name: String) -> io::Result<LedgerEvent> {
    let mut hasher = Hasher::default();
    let mut copied = 0;
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = from.read_at(offset + copied, &mut buffer)?;
        if read == 0 {
            to.sync()?;
            return Ok(LedgerEvent::TailMoved { file: name, bytes: copied, sha256: hasher.finish() });
        }
        write_all_at(to, copied, &buffer[..read])?;
        hasher.update(&buffer[..read]);
        copied += read as u64;
    }
}

/// Length and digest of a whole file.
pub(crate) fn hash_file(file: &dyn DiskFile) -> io::Result<(u64, Digest)> {
    let mut hasher = Hasher::default();
    let mut length = 0;
    let mut buffer = vec![0; CHUNK];
    loop {
        match file.read_at(length, &mut buffer)? {
            0 => return Ok((length, hasher.finish())),
            read => {
                hasher.update(&buffer[..read]);
                length += read as u64;
            }
        }
    }
}
