//! One file or link in a tree.

use serde::{Deserialize, Serialize};

/// A file or link in a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Where it is.
    pub path: String,
    /// What it is.
    pub mode: Mode,
    /// Git's id of its content, or SHA-256 where every file was read.
    pub id: String,
}

/// What stands at a path, written as Git writes it. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mode {
    /// A file.
    #[serde(rename = "100644")]
    File,
    /// A file that may be executed.
    #[serde(rename = "100755")]
    Executable,
    /// A link.
    #[serde(rename = "120000")]
    Link,
    /// A repository inside of the tree.
    #[serde(rename = "160000")]
    Repository,
}

impl Mode {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Repository => "160000",
        }
    }

    /// What Git means. Old trees have files that a group may write; Git takes them for plain ones.
    pub(super) fn of_git(text: &str) -> Option<Self> {
        Some(match text {
            "100644" | "100664" => Self::File,
            "100755" => Self::Executable,
            "120000" => Self::Link,
            "160000" => Self::Repository,
            _ => return None,
        })
    }
}
