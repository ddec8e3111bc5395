//! Puts back what preparation changed.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use harn_ledger::{Ledger, Stream};
use tempfile::Builder;

use super::ResolveError;
use crate::fingerprint::{Fingerprint, Mode, checked_out, place, take};
use crate::receipt::{Receipt, Snapshot};

/// What is to be done to one path.
enum Step {
    /// It was not there.
    Remove,
    /// It was a file.
    Write { bytes: Vec<u8>, mode: u32 },
    /// It was a link.
    Link { target: Vec<u8> },
}

/// Puts every path back that differs between the receipt's two fingerprints. Everything is looked at before the first file
/// is touched. What was put back already is left as it is.
pub(super) fn restore(
    ledger: &Ledger,
    root: &Path,
    receipt: &Stream<Receipt>,
    after: Snapshot,
) -> Result<Vec<String>, ResolveError> {
    let read = |snapshot: Snapshot| -> Result<Fingerprint, ResolveError> {
        let bytes = ledger.blobs().get(&snapshot.content)?;
        Fingerprint::from_bytes(&bytes).ok_or_else(|| ResolveError::Unreadable { id: receipt.id().clone() })
    };
    let (before, after) = (read(receipt.intent().source)?, read(after)?);
    let inputs = receipt.intent().recipe.as_ref().map_or(&[][..], |recipe| &recipe.inputs);
    let now = take(root, inputs)?;
    let mut steps = Vec::new();
    for (path, _) in after.difference(&before, usize::MAX).paths {
        if now.at(&path) == before.at(&path) {
            continue;
        }
        if now.at(&path) != after.at(&path) {
            return Err(ResolveError::ChangedSince { path });
        }
        let step = step(ledger, root, receipt, &before, &path)?;
        steps.push((path, step));
    }
    // What was added may be in the way of what was there.
    steps.sort_by_key(|(_, step)| !matches!(step, Step::Remove));
    for (path, step) in &steps {
        perform(&place(root, path), step)
            .map_err(|source| ResolveError::Write { path: path.clone(), source })?;
    }
    let mut paths: Vec<String> = steps.into_iter().map(|(path, _)| path).collect();
    paths.sort_unstable();
    Ok(paths)
}

fn step(
    ledger: &Ledger,
    root: &Path,
    receipt: &Stream<Receipt>,
    before: &Fingerprint,
    path: &str,
) -> Result<Step, ResolveError> {
    let (entry, extra) = before.at(path);
    if entry.is_none() && extra.is_none() {
        return Ok(Step::Remove);
    }
    let saved = receipt.intent().saved.files.iter().find(|file| file.path == path);
    let is_link = entry.is_some_and(|entry| entry.mode == Mode::Link);
    let (bytes, mode) = match saved {
        Some(saved) => (ledger.blobs().get(&saved.content)?, Some(saved.mode)),
        None => match checked_out(root, before, path)? {
            Some(bytes) => (bytes, None),
            None => return Err(ResolveError::NotKept { path: path.to_owned() }),
        },
    };
    if is_link {
        return Ok(Step::Link { target: bytes });
    }
    // Of a committed file Git knows only whether it can be executed.
    let executable = entry.is_some_and(|entry| entry.mode == Mode::Executable);
    let mode = mode.or(extra.map(|file| file.mode)).unwrap_or(if executable { 0o755 } else { 0o644 });
    Ok(Step::Write { bytes, mode })
}

fn perform(path: &Path, step: &Step) -> io::Result<()> {
    match step {
        Step::Remove => fs::remove_file(path),
        Step::Write { bytes, mode } => {
            let directory = make_way(path)?;
            let new = Builder::new().prefix(".harn-").tempfile_in(directory)?;
            fs::write(new.path(), bytes)?;
            fs::set_permissions(new.path(), Permissions::from_mode(*mode))?;
            new.persist(path).map(drop).map_err(|error| error.error)
        }
        Step::Link { target } => {
            let directory = make_way(path)?;
            let new = Builder::new().prefix(".harn-").tempdir_in(directory)?;
            let link = new.path().join("link");
            symlink(OsStr::from_bytes(target), &link)?;
            fs::rename(link, path)
        }
    }
}

/// Makes the directory of a file that is to be written, and takes directories away that stand in its place and hold no file.
fn make_way(path: &Path) -> io::Result<&Path> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        remove_empty(path)?;
    }
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory)?;
    Ok(directory)
}

fn remove_empty(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_empty(&entry.path())?;
        }
    }
    fs::remove_dir(directory)
}
