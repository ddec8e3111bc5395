//! Whether a place on disk is private enough to write to.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, FileKind, Stat};

/// What to do about a file system that is mounted for reading only.
pub(crate) const READ_ONLY_HINT: &str = "mount it writable, or copy the ledger to a disk that is";

/// Whether the machine says that the file system is mounted for reading only.
pub(crate) fn is_read_only(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ReadOnlyFilesystem
}

/// A file or directory that others could read, change or redirect. Writes are refused; reads go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` {problem}", path.display())]
pub struct UnsafePlace {
    /// Where.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: PlaceProblem,
}

/// What makes a place unsafe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceProblem {
    /// It is a symbolic link or something else in place of a file or directory.
    #[error("is a symbolic link or special file, expected a regular {expected}")]
    Kind {
        /// `file` or `directory`.
        expected: &'static str,
    },
    /// It belongs to somebody else.
    #[error("belongs to user {user}, expected {expected}")]
    Owner {
        /// The user who should own it: the one who runs the program.
        expected: u32,
        /// The owner found.
        user: u32,
    },
    /// Other users may read or write it.
    #[error("has mode {mode:04o}, expected no access for group and others")]
    Mode {
        /// The permission bits found.
        mode: u32,
    },
    /// It is on another machine, whose locks and syncs may promise less than those of this one.
    #[error("is on a network file system (`{name}`), expected a local one")]
    NetworkFileSystem {
        /// Its kind, such as `nfs`.
        name: &'static str,
    },
}

impl UnsafePlace {
    /// What mends it: a command, where one does.
    #[must_use]
    pub fn mend(&self) -> Option<String> {
        // As one word for the shell, whatever the path holds.
        let path = self.path.display().to_string().replace('\'', r"'\''");
        match self.problem {
            PlaceProblem::Kind { .. } => None,
            PlaceProblem::Owner { expected, .. } => Some(format!("chown {expected} '{path}'")),
            PlaceProblem::Mode { .. } => Some(format!("chmod go= '{path}'")),
            PlaceProblem::NetworkFileSystem { .. } => Some(
                "keep the ledger on a local disk, or accept the network file system explicitly".to_owned(),
            ),
        }
    }
}

/// Checks what stands at `path` against what should stand there. A missing file is not this check's concern.
pub(crate) fn check(disk: &dyn Disk, path: &Path, expected: FileKind) -> Result<(), UnsafePlace> {
    match disk.stat(path) {
        Ok(stat) => check_stat(&stat, expected, disk.user())
            .map_err(|problem| UnsafePlace { path: path.to_owned(), problem }),
        Err(_) => Ok(()),
    }
}

fn check_stat(stat: &Stat, expected: FileKind, user: u32) -> Result<(), PlaceProblem> {
    if stat.kind != expected {
        let expected = if expected == FileKind::Directory { "directory" } else { "file" };
        Err(PlaceProblem::Kind { expected })
    } else if stat.user != user {
        Err(PlaceProblem::Owner { expected: user, user: stat.user })
    } else if stat.mode & 0o077 != 0 {
        Err(PlaceProblem::Mode { mode: stat.mode })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mend_is_one_command() {
        let problem = PlaceProblem::Mode { mode: 0o644 };
        let place = UnsafePlace { path: PathBuf::from("/it's; rm -rf $HOME/a"), problem };
        assert_eq!(place.mend().unwrap(), r"chmod go= '/it'\''s; rm -rf $HOME/a'");
    }

    #[test]
    fn only_private_files_of_the_right_kind_are_safe() {
        let stat = |kind, mode, user| Stat {
            kind,
            length: 0,
            mode,
            user,
            device: 0,
            inode: 0,
            modified: 0,
            changed: 0,
        };
        let cases = [
            (stat(FileKind::File, 0o600, 7), None),
            (stat(FileKind::File, 0o400, 7), None),
            (stat(FileKind::Other, 0o600, 7), Some(PlaceProblem::Kind { expected: "file" })),
            (stat(FileKind::Directory, 0o700, 7), Some(PlaceProblem::Kind { expected: "file" })),
            (stat(FileKind::File, 0o600, 0), Some(PlaceProblem::Owner { expected: 7, user: 0 })),
            (stat(FileKind::File, 0o640, 7), Some(PlaceProblem::Mode { mode: 0o640 })),
            (stat(FileKind::File, 0o602, 7), Some(PlaceProblem::Mode { mode: 0o602 })),
        ];
        for (stat, expected) in cases {
            assert_eq!(check_stat(&stat, FileKind::File, 7).err(), expected, "{stat:?}");
        }
    }
}
