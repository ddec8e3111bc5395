//! Starts the program of a command, or says why it cannot be started.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::fs::{Access, access};
use thiserror::Error;

use super::group::Group;
use super::keeper::Keeper;
use super::pump::Pipes;
use super::{CommandSpec, Outcome};

/// Why a command did not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The operating system found no such program, or not the interpreter that its first line names. The
    /// directory was there.
    #[error("`{}` was not found", program.display())]
    ToolNotFound {
        /// The program as given.
        program: OsString,
        /// `ENOENT`.
        source: io::Error,
    },
    /// The program is there but may not be executed: a directory, or a file without that permission.
    #[error("`{}` is not an executable file", program.display())]
    NotExecutable {
        /// The program as given.
        program: OsString,
        /// `EACCES`.
        source: io::Error,
    },
    /// The directory to start in does not exist.
    #[error("the directory `{}` does not exist", cwd.display())]
    DirectoryMissing {
        /// The directory as given.
        cwd: PathBuf,
    },
    /// The directory to start in is not a directory, or cannot be entered.
    #[error("`{}` cannot be entered as a directory", cwd.display())]
    DirectoryUnusable {
        /// The directory as given.
        cwd: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// The operating system refused for another reason: arguments that are too long or hold a zero byte, no
    /// memory, too many processes.
    #[error("`{}` could not be started", program.display())]
    Refused {
        /// The program as given.
        program: OsString,
        /// What the operating system says.
        source: io::Error,
    },
    /// The keeper of a guarded command could not be started.
    #[error("the keeper `/bin/sh` could not be started")]
    NoKeeper {
        /// What the operating system says.
        source: io::Error,
    },
    /// A pipe or thread to watch over the command could not be made.
    #[error("no pipe or thread left to watch over `{}`", program.display())]
    NoResources {
        /// The program as given.
        program: OsString,
        /// What the operating system says.
        source: io::Error,
    },
}

impl StartError {
    /// A stable name of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ToolNotFound { .. } => "tool_not_found",
            Self::NotExecutable { .. } => "not_executable",
            Self::DirectoryMissing { .. } => "directory_missing",
            Self::DirectoryUnusable { .. } => "directory_unusable",
            Self::Refused { .. } => "refused",
            Self::NoKeeper { .. } => "no_keeper",
            Self::NoResources { .. } => "no_resources",
        }
    }

    /// What to do about it, if that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::ToolNotFound { program, .. } => Some(format!(
                "install `{0}`, or name the directory that holds it in `PATH`",
                program.display()
            )),
            Self::NotExecutable { program, .. } => {
                Some(format!("name a file and make it executable with `chmod +x {}`", program.display()))
            }
            Self::DirectoryMissing { cwd } => Some(format!("create `{}` first", cwd.display())),
            Self::NoKeeper { .. } => Some("provide a POSIX shell as `/bin/sh`".to_owned()),
            Self::DirectoryUnusable { .. } | Self::Refused { .. } | Self::NoResources { .. } => None,
        }
    }

    pub(super) const fn outcome(&self) -> Outcome {
        match self {
            Self::ToolNotFound { .. } | Self::NotExecutable { .. } => Outcome::MissingTool,
            _ => Outcome::CouldNotStart,
        }
    }
}

/// Starts the program, in a process group of its own.
pub(super) fn start(spec: &CommandSpec) -> Result<(Group, Pipes), StartError> {
    let keeper = if spec.guarded {
        Some(Keeper::start().map_err(|source| StartError::NoKeeper { source })?)
    } else {
        None
    };
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.args)
        .current_dir(&spec.cwd)
        .stdin(if spec.stdin.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    spec.environment.apply(&mut command);
    let mut group = Group::start(&mut command, keeper).map_err(|error| refusal(spec, error))?;
    let pipes = group.take_pipes().map_err(|source| no_resources(spec, source))?;
    Ok((group, pipes))
}

pub(super) fn no_resources(spec: &CommandSpec, source: io::Error) -> StartError {
    StartError::NoResources { program: spec.program.clone(), source }
}

/// Whether the command can start in its directory. The operating system reports a missing directory and a
/// missing program with one code.
fn check_directory(spec: &CommandSpec) -> Result<(), StartError> {
    let unusable = |source| StartError::DirectoryUnusable { cwd: spec.cwd.clone(), source };
    match fs::metadata(&spec.cwd) {
        Ok(found) if found.is_dir() => {
            access(&spec.cwd, Access::EXEC_OK).map_err(|errno| unusable(errno.into()))
        }
        Ok(_) => Err(unusable(io::ErrorKind::NotADirectory.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(StartError::DirectoryMissing { cwd: spec.cwd.clone() })
        }
        Err(error) => Err(unusable(error)),
    }
}

fn refusal(spec: &CommandSpec, source: io::Error) -> StartError {
    // A missing directory never makes a tool missing, so it is looked at first.
    if let Err(error) = check_directory(spec) {
        return error;
    }
    let program = spec.program.clone();
    match source.kind() {
        io::ErrorKind::NotFound => StartError::ToolNotFound { program, source },
        io::ErrorKind::PermissionDenied => StartError::NotExecutable { program, source },
        _ => StartError::Refused { program, source },
    }
}
