//! The files of Harnery on a disk. Only read, never followed through links, never beyond a bound.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use harn_ledger::Digest;
use harn_workflow::harnery::{Tree, Unreadable};

use crate::exit::Exit;
use crate::failure::Failure;

/// Longest script that is taken in, in bytes.
const SCRIPT_MAX: u64 = 4 << 20;

/// A `.harnery` directory.
pub(super) struct Directory {
    root: PathBuf,
}

impl Directory {
    /// The directory itself, or the `.harnery` in it.
    pub(super) fn find(given: &Path) -> Result<Self, Failure> {
        let inside = given.join(".harnery");
        let root = if inside.join("work").is_dir() { inside } else { given.to_owned() };
        if !root.join("work").is_dir() {
            let message = format!("`{}` has no work items of Harnery in it", given.display());
            return Err(Failure::new(Exit::Refused, "not_harnery", message)
                .hint("name the project that has a `.harnery` directory, or that directory"));
        }
        // Where it really is: scripts are looked for beside it.
        let root = root.canonicalize().unwrap_or(root);
        Ok(Self { root })
    }

    /// The names that an item may have, in order. Harnery does not look at others either.
    pub(super) fn items(&self) -> Result<Vec<String>, Failure> {
        let work = self.root.join("work");
        let read = || -> io::Result<Vec<String>> {
            let entries = fs::read_dir(&work)?;
            let names = entries.map(|entry| Ok(entry?.file_name().into_string().ok()));
            let mut names: Vec<String> = names.filter_map(Result::transpose).collect::<io::Result<_>>()?;
            names.retain(|name| harn_ledger::StreamId::new(name).is_ok());
            names.sort_unstable();
            Ok(names)
        };
        read().map_err(|error| {
            let message = format!("cannot list `{}`: {error}", work.display());
            Failure::new(Exit::Environment, "read_failed", message)
        })
    }
}

impl Tree for Directory {
    fn read(&self, path: &str, max: u64) -> Result<Option<Vec<u8>>, Unreadable> {
        let mut place = self.root.clone();
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            place.push(part);
            let found = match fs::symlink_metadata(&place) {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(Unreadable::Io { why: error.to_string() }),
            };
            let fits = if parts.peek().is_none() { found.is_file() } else { found.is_dir() };
            if !fits {
                return Err(Unreadable::NotAFile);
            }
        }
        match bounded(&place, max) {
            Ok(Some(bytes)) => Ok(Some(bytes)),
            Ok(None) => Err(Unreadable::TooLong { max }),
            Err(error) => Err(Unreadable::Io { why: error.to_string() }),
        }
    }

    fn script(&self, path: &str, sha256: Digest) -> Option<Vec<u8>> {
        let recorded = Path::new(path);
        // The project may lie elsewhere now: the longest end of the path that is found below it.
        let parts: Vec<_> = recorded.components().skip(1).collect();
        let beside = self.root.parent().into_iter().flat_map(|project| {
            (1..parts.len()).map(|from| project.join(parts[from..].iter().collect::<PathBuf>()))
        });
        std::iter::once(recorded.to_owned()).chain(beside).find_map(|place| {
            let is_file = fs::metadata(&place).is_ok_and(|found| found.is_file());
            let bytes = if is_file { bounded(&place, SCRIPT_MAX).ok()?? } else { return None };
            (Digest::of(&bytes) == sha256).then_some(bytes)
        })
    }
}

/// The bytes of a file; none when there are more than `max`.
fn bounded(path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= max).then_some(bytes))
}
