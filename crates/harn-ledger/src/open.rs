//! Opening a ledger.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::clock::Clock;
use crate::disk::{Disk, FileKind, OsDisk};
use crate::durability::Refusals;
use crate::ground::Ground;
use crate::ledger::{Ledger, Shared};
use crate::place::{READ_ONLY_HINT, is_read_only};
use crate::staging::sync_parent;
use crate::system::SystemClock;

/// How to open a ledger; see [`Ledger::builder`].
#[derive(Debug)]
#[must_use = "nothing is opened before `open` is called"]
pub struct LedgerBuilder {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    clock: Arc<dyn Clock>,
    read_only: bool,
    threads: Option<NonZeroUsize>,
    network_file_system: bool,
}

/// Why a ledger was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// What stands there is not a directory.
    #[error("`{}` is not a directory", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// It is missing, and cannot be made on a file system that is mounted for reading only.
    #[error("cannot make the ledger `{}` on a read-only file system", path.display())]
    ReadOnlyFileSystem {
        /// The path.
        path: PathBuf,
    },
    /// The machine said no.
    #[error("cannot open the ledger `{}`", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the machine said.
        source: io::Error,
    },
}

impl OpenError {
    /// A stable name for the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotADirectory { .. } => "not_a_directory",
            Self::ReadOnlyFileSystem { .. } => "read_only_file_system",
            Self::Io { .. } => "open_failed",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::ReadOnlyFileSystem { .. } => Some(READ_ONLY_HINT.to_owned()),
            Self::NotADirectory { .. } | Self::Io { .. } => None,
        }
    }
}

impl LedgerBuilder {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            disk: Arc::new(OsDisk),
            root: root.to_owned(),
            clock: Arc::new(SystemClock),
            read_only: false,
            threads: None,
            network_file_system: false,
        }
    }

    /// Where the files are; [`OsDisk`] unless said otherwise.
    pub fn disk(mut self, disk: impl Disk + 'static) -> Self {
        self.disk = Arc::new(disk);
        self
    }

    /// Who tells the time; [`SystemClock`] unless said otherwise.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Refuse every write and create nothing.
    pub const fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// How many threads may read at once, many streams or one log of more than 1 MiB; as many as the machine has, but no
    /// more than 4, unless said otherwise. Of those that read one log, at most 4, one reads in order and runs the domain's
    /// code, and the others check lines ahead of it.
    pub const fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Accept a network file system such as NFS or SMB. Otherwise every write to a ledger on one is refused, because what
    /// the ledger promises rests on the locks and syncs of a local disk. What counts as one, the disk says; see
    /// [`FileSystem`](crate::disk::FileSystem).
    pub const fn network_file_system(mut self, accepted: bool) -> Self {
        self.network_file_system = accepted;
        self
    }

    /// Opens the ledger; a missing directory is created, privately, unless it is for reading only.
    pub fn open(self) -> Result<Ledger, OpenError> {
        let Self { disk, root, clock, read_only, threads, network_file_system } = self;
        let failed = |source| OpenError::Io { path: root.clone(), source };
        if !read_only {
            // Whoever made it may not have lived to bring its entry to stable storage. But whoever put something into
            // it had opened it before.
            match disk.create_dir(&root) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let in_use = disk.read_dir(&root).map_or(true, |names| !names.is_empty());
                    if in_use { Ok(()) } else { sync_parent(&*disk, &root) }
                }
                // Some systems say this even of a directory that is there.
                Err(error) if is_read_only(&error) && disk.stat(&root).is_ok() => Ok(()),
                Err(error) if is_read_only(&error) => {
                    return Err(OpenError::ReadOnlyFileSystem { path: root });
                }
                made => made.and_then(|()| sync_parent(&*disk, &root)),
            }
            .map_err(failed)?;
        }
        // A symbolic link is followed here and refused at the first write, so that reading goes on.
        match disk.stat(&root).map_err(failed)?.kind {
            FileKind::Directory => {}
            FileKind::File => return Err(OpenError::NotADirectory { path: root }),
            FileKind::Other => match disk.read_dir(&root) {
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                    return Err(OpenError::NotADirectory { path: root });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(failed(error)),
                // A directory that can be used may still be one that cannot be listed.
                _ => {}
            },
        }
        let shared = Shared {
            disk,
            root,
            clock,
            refusals: Arc::new(Refusals::new(read_only, Ground::new(network_file_system))),
            threads,
            handles: Mutex::default(),
        };
        Ok(Ledger::new(shared))
    }
}
