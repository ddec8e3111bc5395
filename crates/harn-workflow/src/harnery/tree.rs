//! The files that Harnery left, as the translation sees them.

use harn_ledger::Digest;

use super::damage::{Damage, DamageKind};

/// Reads what lies below a `.harnery` directory.
pub trait Tree {
    /// The bytes of the file at `path`, such as `work/release/intent.json`; none when there is none. At most `max` bytes.
    fn read(&self, path: &str, max: u64) -> Result<Option<Vec<u8>>, Unreadable>;

    /// The bytes of a script that had this path, from wherever they can still be had; none when what is found has
    /// another digest.
    fn script(&self, path: &str, sha256: Digest) -> Option<Vec<u8>>;
}

/// Why a file that is there was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// It is longer than Harnery itself would read.
    #[error("it has more than {max} bytes")]
    TooLong {
        /// The most allowed.
        max: u64,
    },
    /// It is a link, a directory or something else that is not a file.
    #[error("it is not a regular file")]
    NotAFile,
    /// The machine refuses.
    #[error("it cannot be read: {why}")]
    Io {
        /// What the machine said.
        why: String,
    },
}

/// A file that is there, with its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
}

/// Reads a file that may be missing.
pub(super) fn find(tree: &dyn Tree, path: String, max: u64) -> Result<Option<File>, Damage> {
    match tree.read(&path, max) {
        Ok(bytes) => Ok(bytes.map(|bytes| File { path, bytes })),
        Err(why) => Err(Damage::of(&path, DamageKind::Unreadable(why))),
    }
}

/// Reads a file that must be there and hold something.
pub(super) fn require(tree: &dyn Tree, path: &str, max: u64) -> Result<File, Damage> {
    match find(tree, path.to_owned(), max)? {
        Some(file) if !file.bytes.is_empty() => Ok(file),
        Some(_) => Err(Damage::of(path, DamageKind::Empty)),
        None => Err(Damage::of(path, DamageKind::Missing)),
    }
}
