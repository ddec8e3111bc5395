//! What a source tree holds, exactly: tracked and untracked files, and what is ignored but counts.
//!
//! [`take`] looks at a tree and changes nothing in it. In a Git repository the entries are those of the tree that a commit
//! of everything would have, without `.harn/state` and without other checkouts of the same repository; they are made with a
//! private index and private objects. (Git renews the times of objects that are there already.) Without Git, or before the first commit, every file is read. Two fingerprints can be compared by path.

mod digest;
mod entry;
mod error;
mod git;
mod hash;
mod names;
mod nested;
mod quick;
mod walk;

use std::cmp::Ordering;
use std::io;
use std::path::{Path, PathBuf};

use harn_ledger::Digest;
use serde::{Deserialize, Serialize};

pub use entry::{Entry, Mode};
pub use error::FingerprintError;

use crate::key::KeyFile;
use crate::recipe::ProjectPath;

/// Where a project keeps its state, which is no source.
const STATE: &str = ".harn/state";

/// What a tree holds. Paths are below the tree, joined by `/`, sorted by their bytes; what is not UTF-8 is escaped as
/// `\xNN`, and a backslash as `\\`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    schema_version: u32,
    source: Source,
    entries: Vec<Entry>,
    /// Submodules and nested repositories, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nested: Vec<Nested>,
    /// Declared inputs and known manifests, also when they are ignored, by path.
    extra: Vec<KeyFile>,
    /// Declared inputs that are not there, by path.
    absent: Vec<ProjectPath>,
}

/// How the entries were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// By Git: the tree that a commit of everything would have.
    Git {
        /// Its id.
        tree: String,
        /// The commit that is checked out.
        commit: String,
    },
    /// By reading every file that is not ignored.
    Walk,
}

/// A repository inside of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nested {
    /// Where it is.
    pub path: String,
    /// What it holds.
    pub fingerprint: Fingerprint,
}

/// How a path differs. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is there now.
    Added,
    /// It is gone.
    Removed,
    /// It has another content.
    Content,
    /// It is another kind of thing, or has other permissions.
    Mode,
}

/// The paths in which two trees differ.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Paths and how they differ, sorted by path.
    pub paths: Vec<(String, Change)>,
    /// How many more there are.
    pub left_out: u64,
}

/// The bytes of the file at `path` as they are in the commit that is checked out, at most `max`; as they are on the disk
/// where there is no commit. None when there is no such file.
pub fn at_commit(root: &Path, path: &str, max: u64) -> Result<Option<Vec<u8>>, FingerprintError> {
    if let Some(found) = git::at_commit(root, path, max)? {
        return Ok(found);
    }
    match hash::bounded(&root.join(path), max) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FingerprintError::Read { path: path.to_owned(), source }),
    }
}

/// The paths of what `source` holds and the repository does not, so that nothing but the disk has it: edited and untracked
/// files, and ignored ones that count. Every path where there is no commit.
pub(crate) fn not_committed(root: &Path, source: &Fingerprint) -> Result<Vec<String>, FingerprintError> {
    let committed = match &source.source {
        Source::Git { commit, .. } => git::committed(root, commit)?,
        Source::Walk => Vec::new(),
    };
    let mut paths = Vec::new();
    merge(
        &committed,
        &source.entries,
        |entry| &entry.path,
        |was, is| paths.extend(is.filter(|is| Some(*is) != was).map(|is| is.path.clone())),
    );
    let in_tree = |path: &str| source.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).is_ok();
    let extra = source.extra.iter().map(|file| file.path.as_str());
    paths.extend(extra.filter(|path| !in_tree(path)).map(str::to_owned));
    Ok(paths)
}

/// The paths in which `source` differs from a commit of its repository: what was added, removed or changed since. Every path
/// where the tree is in no repository.
pub fn changed_since(
    root: &Path,
    source: &Fingerprint,
    commit: &str,
) -> Result<Vec<String>, FingerprintError> {
    let committed = match &source.source {
        Source::Git { .. } => git::committed(root, commit)?,
        Source::Walk => Vec::new(),
    };
    let mut paths = Vec::new();
    merge(
        &committed,
        &source.entries,
        |entry| &entry.path,
        |was, is| {
            if was != is {
                paths.extend(is.or(was).map(|entry| entry.path.clone()));
            }
        },
    );
    Ok(paths)
}

/// Puts the tree that `source` is of into the objects of its repository, and returns its name, so that it can be committed.
/// Neither the index nor a branch is touched. None where the tree is in no repository.
pub fn store_tree(root: &Path, source: &Fingerprint) -> Result<Option<String>, FingerprintError> {
    let Source::Git { tree, .. } = &source.source else { return Ok(None) };
    let stored = git::store(root)?;
    if stored == *tree { Ok(Some(stored)) } else { Err(FingerprintError::Moved { root: root.to_owned() }) }
}

/// The bytes that the file at `path` had in the working tree when it was as in the commit of `source`. None where the
/// commit has no such file, or another content than `source`.
pub(crate) fn checked_out(
    root: &Path,
    source: &Fingerprint,
    path: &str,
) -> Result<Option<Vec<u8>>, FingerprintError> {
    let Source::Git { commit, .. } = &source.source else { return Ok(None) };
    let is_it = |entry: &&Entry| entry.path == path;
    let (committed, entry) = (git::committed(root, commit)?, source.entries.iter().find(is_it));
    match entry.filter(|entry| committed.iter().find(is_it).is_some_and(|it| it.id == entry.id)) {
        Some(entry) => git::checked_out(root, commit, entry).map(Some),
        None => Ok(None),
    }
}

/// Where the path of a fingerprint is on the disk.
pub(crate) fn place(root: &Path, path: &str) -> PathBuf {
    names::path(root, path)
}

/// Looks at the tree below `root`. Of what is ignored, `inputs` and the known manifests are looked at all the same.
pub fn take(root: &Path, inputs: &[ProjectPath]) -> Result<Fingerprint, FingerprintError> {
    let (source, entries, others) = if let Some(found) = git::look(root)? {
        (found.source, found.entries, found.ignored_files)
    } else {
        let found = walk::look(root)?;
        (Source::Walk, found.entries, found.manifests)
    };
    let nested = nested::look(root, &entries)?;
    let (extra, absent) = hash::extra(root, &entries, &others, inputs)?;
    Ok(Fingerprint { schema_version: 1, source, entries, nested, extra, absent })
}

impl Fingerprint {
    /// How the entries were found.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// Files and links, by path.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What stands at `path`: its kind and its content, as far as the fingerprint tells them.
    pub(crate) fn at(&self, path: &str) -> (Option<&Entry>, Option<&KeyFile>) {
        let entry = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok();
        (entry.map(|at| &self.entries[at]), self.extra.iter().find(|file| file.path.as_str() == path))
    }

    /// Repositories inside of the tree.
    #[must_use]
    pub fn nested(&self) -> &[Nested] {
        &self.nested
    }

    /// Declared inputs and known manifests that are there, and inputs that are not: what a set-up depends on.
    #[must_use]
    pub fn key_files(&self) -> (&[KeyFile], &[ProjectPath]) {
        (&self.extra, &self.absent)
    }

    /// The fingerprint in one form, to be kept as a blob.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("it has only string keys")
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok().filter(|it: &Self| it.schema_version == 1)
    }

    /// The digest of what the tree holds. Which commit is checked out makes no difference.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest::of(self)
    }

    /// The paths in which `self` differs from what was `before`; at most `max` are named.
    #[must_use]
    pub fn difference(&self, before: &Self, max: usize) -> Difference {
        let mut paths = Vec::new();
        self.collect(before, "", &mut paths);
        paths.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        paths.dedup_by(|one, other| one.0 == other.0);
        let left_out = paths.len().saturating_sub(max) as u64;
        paths.truncate(max);
        Difference { paths, left_out }
    }

    fn collect(&self, before: &Self, below: &str, paths: &mut Vec<(String, Change)>) {
        merge(
            &before.entries,
            &self.entries,
            |entry| &entry.path,
            |was, is| {
                let change = change(was.map(|it| (&it.id, &it.mode)), is.map(|it| (&it.id, &it.mode)));
                let path = is.or(was).map_or("", |it| &it.path);
                paths.extend(change.map(|change| (format!("{below}{path}"), change)));
            },
        );
        merge(
            &before.extra,
            &self.extra,
            |file| file.path.as_str(),
            |was, is| {
                let change =
                    change(was.map(|it| (&it.sha256, &it.mode)), is.map(|it| (&it.sha256, &it.mode)));
                let path = is.or(was).map_or("", |it| it.path.as_str());
                paths.extend(change.map(|change| (format!("{below}{path}"), change)));
            },
        );
        for nested in &self.nested {
            if let Some(was) = before.nested.iter().find(|was| was.path == nested.path) {
                let below = format!("{below}{}/", nested.path);
                nested.fingerprint.collect(&was.fingerprint, &below, paths);
            }
        }
    }
}

/// How something differs, told from its content and its kind.
fn change<C: PartialEq, M: PartialEq>(was: Option<(C, M)>, is: Option<(C, M)>) -> Option<Change> {
    match (was, is) {
        (None, Some(_)) => Some(Change::Added),
        (Some(_), None) => Some(Change::Removed),
        (Some(was), Some(is)) if was.0 != is.0 => Some(Change::Content),
        (Some(was), Some(is)) if was.1 != is.1 => Some(Change::Mode),
        _ => None,
    }
}

/// Goes through two sorted lists side by side.
fn merge<'a, T, K: Ord + ?Sized + 'a>(
    before: &'a [T],
    now: &'a [T],
    key: impl Fn(&'a T) -> &'a K,
    mut both: impl FnMut(Option<&'a T>, Option<&'a T>),
) {
    let (mut was, mut is) = (before.iter().peekable(), now.iter().peekable());
    loop {
        let order = match (was.peek(), is.peek()) {
            (Some(&was), Some(&is)) => key(was).cmp(key(is)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return,
        };
        let was = if order.is_le() { was.next() } else { None };
        let is = if order.is_ge() { is.next() } else { None };
        both(was, is);
    }
}
