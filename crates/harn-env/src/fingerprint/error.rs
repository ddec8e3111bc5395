//! Why a tree could not be looked at.

use std::io;
use std::path::PathBuf;

/// Why a tree could not be looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FingerprintError {
    /// Git is needed for a repository.
    #[error("`{}` is a Git repository, and `git` was not found", root.display())]
    NoGit {
        /// The tree.
        root: PathBuf,
    },
    /// There is a `.git` that Git does not take for a repository; it would go on to the one around it.
    #[error("`.git` in `{}` is no repository", root.display())]
    BrokenGit {
        /// The tree.
        root: PathBuf,
    },
    /// A call of Git failed.
    #[error("`git {command}` failed in `{}`: {why}", root.display())]
    Git {
        /// The tree.
        root: PathBuf,
        /// Its arguments.
        command: String,
        /// Its last lines, or how it ended.
        why: String,
    },
    /// Git answered in a form that is not known.
    #[error("`git {command}` answered in an unexpected form")]
    Answer {
        /// Its arguments.
        command: String,
    },
    /// Something is neither a file, a directory nor a link.
    #[error("`{path}` is neither a file nor a link")]
    Special {
        /// Where it is.
        path: String,
    },
    /// The tree is not the one any more that the fingerprint is of.
    #[error("the source in `{}` was edited meanwhile", root.display())]
    Moved {
        /// The tree.
        root: PathBuf,
    },
    /// A file went on changing while it was read.
    #[error("`{path}` changed again and again while it was read")]
    Unstable {
        /// Where it is.
        path: String,
    },
    /// A file could not be read.
    #[error("cannot read `{path}`")]
    Read {
        /// Where it is.
        path: String,
        /// What the machine said.
        source: io::Error,
    },
}

impl FingerprintError {
    /// A stable name for the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoGit { .. } => "git_missing",
            Self::BrokenGit { .. } => "git_broken",
            Self::Git { .. } => "git_failed",
            Self::Answer { .. } => "git_answer",
            Self::Special { .. } => "special_file",
            Self::Moved { .. } => "source_moved",
            Self::Unstable { .. } => "file_unstable",
            Self::Read { .. } => "file_unreadable",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoGit { .. } => Some("install Git 2.25 or later".to_owned()),
            Self::BrokenGit { .. } => Some("repair the repository, or remove `.git`".to_owned()),
            Self::Special { .. } => Some("remove it, or have it ignored".to_owned()),
            Self::Moved { .. } | Self::Unstable { .. } => Some("stop what writes to it".to_owned()),
            _ => None,
        }
    }
}
