//! Whether a set-up that was done before still holds: everything that it depends on, in parts, so that a miss can be
//! explained.

mod manifests;

use std::fmt;

use harn_ledger::Digest;
use harn_ledger::text::{TextError, check_line};
use serde::{Deserialize, Serialize};

use crate::recipe::ProjectPath;

pub use manifests::is_manifest;

/// Most files in a key.
pub const FILES_MAX: usize = 10_000;
/// Longest statement of a sandbox or a home, in characters.
const STATEMENT_MAX: usize = 200;

/// What a set-up depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    schema_version: u32,
    /// Digest of the canonical recipe; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recipe: Option<Digest>,
    sandbox: String,
    home: String,
    /// By path, each once.
    files: Vec<KeyFile>,
    /// Declared inputs that are not there, by path.
    absent: Vec<ProjectPath>,
}

/// A file that a set-up depends on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyFile {
    /// Where it is.
    pub path: ProjectPath,
    /// Its permission bits.
    pub mode: u32,
    /// Digest of its content. The content itself is never stored.
    pub sha256: Digest,
}

/// Why a key cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidKey {
    /// A statement is blank, too long or has several lines.
    #[error(transparent)]
    Text(#[from] TextError),
    /// There are too many files.
    #[error("the set-up depends on {count} files, expected at most {FILES_MAX}")]
    TooManyFiles {
        /// How many there are.
        count: usize,
    },
}

/// Something in which two keys differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Miss {
    /// The recipe.
    Recipe,
    /// What is stated of the sandbox.
    Sandbox {
        /// As it was.
        was: String,
        /// As it is.
        is: String,
    },
    /// The home directory that the commands get.
    Home {
        /// As it was.
        was: String,
        /// As it is.
        is: String,
    },
    /// A file has another content.
    Content {
        /// The file.
        path: ProjectPath,
    },
    /// A file has other permissions.
    Mode {
        /// The file.
        path: ProjectPath,
    },
    /// A file is there that was not.
    Appeared {
        /// The file.
        path: ProjectPath,
    },
    /// A file is gone.
    Vanished {
        /// The file.
        path: ProjectPath,
    },
}

impl Key {
    /// The key of a recipe in a place. The order of the lists does not matter.
    ///
    /// `sandbox` is what the caller states of the machine, `home` what identifies the home directory of the commands: one
    /// line of 1 to 200 characters each. `files` are the declared inputs and the known manifests that are there, `absent`
    /// the declared inputs that are not.
    pub fn new(
        recipe: Option<Digest>,
        sandbox: &str,
        home: &str,
        mut files: Vec<KeyFile>,
        mut absent: Vec<ProjectPath>,
    ) -> Result<Self, InvalidKey> {
        check_line("sandbox version", sandbox, STATEMENT_MAX)?;
        check_line("home", home, STATEMENT_MAX)?;
        files.sort_unstable();
        files.dedup_by(|one, other| one.path == other.path);
        absent.sort_unstable();
        absent.dedup();
        let count = files.len() + absent.len();
        if count > FILES_MAX {
            return Err(InvalidKey::TooManyFiles { count });
        }
        let (sandbox, home) = (sandbox.to_owned(), home.to_owned());
        Ok(Self { schema_version: 1, recipe, sandbox, home, files, absent })
    }

    /// The digest of all parts.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(serde_json::to_string(self).expect("it has only string keys").as_bytes())
    }

    /// The files in it, by path.
    #[must_use]
    pub fn files(&self) -> &[KeyFile] {
        &self.files
    }

    /// In what this key differs from one of before; nothing when a set-up of then still holds.
    #[must_use]
    pub fn misses(&self, before: &Self) -> Vec<Miss> {
        let mut misses = Vec::new();
        if self.recipe != before.recipe {
            misses.push(Miss::Recipe);
        }
        let differs = |was: &str, is: &str| (was != is).then(|| (was.to_owned(), is.to_owned()));
        misses.extend(differs(&before.sandbox, &self.sandbox).map(|(was, is)| Miss::Sandbox { was, is }));
        misses.extend(differs(&before.home, &self.home).map(|(was, is)| Miss::Home { was, is }));
        let (mut was, mut is) = (before.files.iter().peekable(), self.files.iter().peekable());
        loop {
            let step = match (was.peek(), is.peek()) {
                (Some(was), Some(is)) => was.path.cmp(&is.path),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => return misses,
            };
            if step.is_lt() {
                misses.extend(was.next().map(|file| Miss::Vanished { path: file.path.clone() }));
            } else if step.is_gt() {
                misses.extend(is.next().map(|file| Miss::Appeared { path: file.path.clone() }));
            } else if let (Some(was), Some(is)) = (was.next(), is.next()) {
                let path = is.path.clone();
                if was.sha256 != is.sha256 {
                    misses.push(Miss::Content { path });
                } else if was.mode != is.mode {
                    misses.push(Miss::Mode { path });
                }
            }
        }
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recipe => f.write_str("the recipe changed"),
            Self::Sandbox { was, is } => write!(f, "the sandbox version changed from `{was}` to `{is}`"),
            Self::Home { was, is } => write!(f, "the home directory changed from `{was}` to `{is}`"),
            Self::Content { path } => write!(f, "`{path}` changed"),
            Self::Mode { path } => write!(f, "the permissions of `{path}` changed"),
            Self::Appeared { path } => write!(f, "`{path}` is there now"),
            Self::Vanished { path } => write!(f, "`{path}` is gone"),
        }
    }
}
