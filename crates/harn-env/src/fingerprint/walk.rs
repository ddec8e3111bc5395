//! Every file of a tree without a commit, read on several threads.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ignore::WalkBuilder;

use super::{Entry, FingerprintError, Mode, STATE, hash, names};
use crate::key::is_manifest;

/// Most threads.
const THREADS_MAX: usize = 8;

/// What a walk finds.
pub(super) struct Found {
    /// Files and links that are not ignored, by path.
    pub(super) entries: Vec<Entry>,
    /// Manifests that do not lie in an ignored directory, whether or not they are ignored.
    pub(super) manifests: Vec<String>,
}

/// Looks at everything below `root`, but neither at Git's own files nor at our state.
pub(super) fn look(root: &Path) -> Result<Found, FingerprintError> {
    let (found, manifests) = list(root)?;
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS_MAX);
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<Entry>, FingerprintError> {
        let mut entries = Vec::new();
        while let Some((path, text)) = found.get(next.fetch_add(1, Ordering::Relaxed)) {
            entries.push(entry(path, text)?);
        }
        Ok(entries)
    };
    let parts = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("reading a file does not panic"))
            .collect::<Vec<_>>()
    });
    let mut entries = Vec::with_capacity(found.len());
    for part in parts {
        entries.extend(part?);
    }
    entries.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(Found { entries, manifests })
}

/// Files and links with the text of their path.
type Listed = Vec<(PathBuf, String)>;

/// Those that are not ignored, and manifests.
fn list(root: &Path) -> Result<(Listed, Vec<String>), FingerprintError> {
    let state = root.join(STATE);
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .ignore(false)
        .parents(false)
        .git_global(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(move |entry| entry.file_name() != ".git" && entry.path() != state)
        .build();
    let (mut found, mut manifests) = (Vec::new(), Vec::new());
    for entry in walk {
        let entry = entry.map_err(|error| {
            let source = error.into_io_error().unwrap_or_else(|| io::Error::other("a loop of links"));
            FingerprintError::Read { path: root.display().to_string(), source }
        })?;
        let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let text = names::text(below.as_os_str().as_bytes());
        match entry.file_type() {
            Some(kind) if kind.is_dir() => {
                let names = manifests_in(entry.path())
                    .map_err(|source| FingerprintError::Read { path: text.clone(), source })?;
                manifests
                    .extend(names.iter().map(|name| names::text(below.join(name).as_os_str().as_bytes())));
            }
            Some(kind) if kind.is_file() || kind.is_symlink() => found.push((entry.into_path(), text)),
            _ => return Err(FingerprintError::Special { path: text }),
        }
    }
    Ok((found, manifests))
}

/// The names of the manifests in a directory.
fn manifests_in(directory: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_manifest) && !entry.file_type()?.is_dir() {
            names.push(entry.file_name());
        }
    }
    Ok(names)
}

fn entry(path: &Path, text: &str) -> Result<Entry, FingerprintError> {
    let found = fs::symlink_metadata(path)
        .map_err(|source| FingerprintError::Read { path: text.to_owned(), source })?;
    let mode = if found.is_symlink() {
        Mode::Link
    } else if found.permissions().mode() & 0o100 != 0 {
        Mode::Executable
    } else {
        Mode::File
    };
    let id = hash::digest(path, text)?.to_string();
    Ok(Entry { path: text.to_owned(), mode, id })
}
