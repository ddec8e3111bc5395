//! The ledger: a directory of streams and blobs.

use std::any::Any;
use std::collections::HashMap;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::append::Batch;
use crate::blobs::Blobs;
use crate::clock::Clock;
use crate::create::{self, CreateError};
use crate::decider::Decider;
use crate::disk::{Disk, FileKind, FileSystem, OsDisk};
use crate::durability::Refusals;
use crate::ground::Ground;
use crate::id::{InvalidId, InvalidKind, StreamId, StreamName, check_kind};
use crate::limits::Limits;
use crate::log::{Log, ReadError};
use crate::place::{READ_ONLY_HINT, UnsafePlace, is_read_only};
use crate::raw::RawStream;
use crate::staging::sync_parent;
use crate::stream::{Inner, Stream, encode};
use crate::system::SystemClock;

/// A directory of streams. Clones share everything; there are no type parameters, and any number of domains may use
/// one ledger, each with its own kind.
#[derive(Debug, Clone)]
pub struct Ledger {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    clock: Arc<dyn Clock>,
    refusals: Arc<Refusals>,
    threads: Option<NonZeroUsize>,
    /// Handles of this process, so that all users of one stream share what was read and who holds the lease.
    handles: Mutex<HashMap<StreamName, Weak<dyn Any + Send + Sync>>>,
}

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

/// Why a stream could not be named or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The id is not one.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// The kind is not one.
    #[error(transparent)]
    Kind(#[from] InvalidKind),
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl StreamError {
    /// A stable name for the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Id(_) => "invalid_id",
            Self::Kind(_) => "invalid_kind",
            Self::Read(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Read(error) => error.hint(),
            Self::Id(_) | Self::Kind(_) => None,
        }
    }
}

impl LedgerBuilder {
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

    /// How many threads may read a log of more than 1 MiB at once; as many as the machine has, but no more than 4, unless
    /// said otherwise. One reads in order and runs the domain's code; the others check lines ahead of it.
    pub const fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Accept a network file system such as NFS or SMB. Otherwise every write to a ledger on one is refused, because what
    /// the ledger promises rests on the locks and syncs of a local disk. What counts as one, the disk says; see
    /// [`FileSystem`].
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
            FileKind::Directory | FileKind::Other => {}
            FileKind::File => return Err(OpenError::NotADirectory { path: root }),
        }
        let shared = Shared {
            disk,
            root,
            clock,
            refusals: Arc::new(Refusals::new(read_only, Ground::new(network_file_system))),
            threads,
            handles: Mutex::default(),
        };
        Ok(Ledger { shared: Arc::new(shared) })
    }
}

impl Ledger {
    /// Opens the ledger in the directory `root`, which is created if it is missing; its parent must exist.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::builder(root).open()
    }

    /// Opens a ledger on another disk, with another clock, or for reading only.
    pub fn builder(root: impl AsRef<Path>) -> LedgerBuilder {
        LedgerBuilder {
            disk: Arc::new(OsDisk),
            root: root.as_ref().to_owned(),
            clock: Arc::new(SystemClock),
            read_only: false,
            threads: None,
            network_file_system: false,
        }
    }

    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.shared.root
    }

    /// Creates a stream with its intent and its first events, all of it or nothing. When this returns, it is on stable
    /// storage.
    pub fn create<D: Decider>(
        &self,
        id: &str,
        actor: &str,
        intent: &D::Intent,
        events: &[D::Event],
    ) -> Result<Stream<D>, CreateError> {
        let new = self.prepare::<D>(id, actor, intent, events)?;
        create::create(&new.log, &new.intent, &new.batch, self.shared.clock.now())?;
        let name = new.log.name.clone();
        self.handle(name).map_err(|error| CreateError::Append(error.into()))
    }

    /// Refuses what [`create`](Self::create) would refuse, and writes nothing: for a domain that has to store blobs
    /// first, and must not store them for a stream that will not exist.
    pub fn check_new<D: Decider>(
        &self,
        id: &str,
        actor: &str,
        intent: &D::Intent,
        events: &[D::Event],
    ) -> Result<(), CreateError> {
        let new = self.prepare::<D>(id, actor, intent, events)?;
        create::check(&new.log, &new.intent, &new.batch, self.shared.clock.now()).map(drop)
    }

    /// Encodes a stream that is to be created.
    fn prepare<D: Decider>(
        &self,
        id: &str,
        actor: &str,
        intent: &D::Intent,
        events: &[D::Event],
    ) -> Result<NewStream, CreateError> {
        let shared = &*self.shared;
        if shared.refusals.read_only() {
            return Err(CreateError::Append(crate::append::AppendError::ReadOnly));
        }
        let log = shared.log(StreamName::new(D::KIND, StreamId::new(id)?)?, D::LIMITS);
        let batch = encode::<D>(actor, events)?;
        let intent = create::encode_intent(intent, &log)?;
        Ok(NewStream { log, intent, batch })
    }

    /// The stream `id` of the domain. Reads and verifies its whole history, once per process.
    pub fn stream<D: Decider>(&self, id: &str) -> Result<Stream<D>, StreamError> {
        let name = StreamName::new(D::KIND, StreamId::new(id)?)?;
        Ok(self.handle(name)?)
    }

    /// The shared handle to a stream of the domain.
    fn handle<D: Decider>(&self, name: StreamName) -> Result<Stream<D>, ReadError> {
        let shared = &*self.shared;
        let known = shared.handles().get(&name).and_then(Weak::upgrade);
        if let Some(inner) = known.and_then(|handle| handle.downcast::<Inner<D>>().ok()) {
            return Ok(Stream::new(inner));
        }
        // Reading a long history must not keep others from their streams, so the map is not locked meanwhile. Two
        // threads may both read; the one that is later takes the other's handle.
        let log = shared.log(name.clone(), D::LIMITS);
        let opened = Arc::new(Inner::<D>::open(log, Arc::clone(&shared.clock))?);
        let mut handles = shared.handles();
        let known = handles.get(&name).and_then(Weak::upgrade);
        if let Some(inner) = known.and_then(|handle| handle.downcast::<Inner<D>>().ok()) {
            return Ok(Stream::new(inner));
        }
        handles.retain(|_, handle| handle.strong_count() > 0);
        let handle: Arc<dyn Any + Send + Sync> = opened.clone();
        handles.insert(name, Arc::downgrade(&handle));
        Ok(Stream::new(opened))
    }

    /// The stream without its domain.
    pub fn raw(&self, kind: &str, id: &str) -> Result<RawStream, StreamError> {
        let name = StreamName::new(kind, StreamId::new(id)?)?;
        Ok(RawStream::new(self.shared.log(name, Limits::WIDEST)))
    }

    /// The ids of all streams of a kind, sorted. What has no legal name, or is a file, is left out.
    pub fn ids(&self, kind: &str) -> Result<Vec<StreamId>, StreamError> {
        check_kind(kind)?;
        let directory = self.shared.root.join(kind);
        let names = match self.shared.disk.read_dir(&directory) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                return Err(ReadError::Io { path: directory, source }.into());
            }
        };
        let is_file = |id: &StreamId| {
            self.shared.disk.stat(&directory.join(id.as_str())).is_ok_and(|stat| stat.kind == FileKind::File)
        };
        let mut ids: Vec<StreamId> = names
            .iter()
            .filter_map(|name| StreamId::new(name.to_str()?).ok())
            .filter(|id| !is_file(id))
            .collect();
        ids.sort();
        Ok(ids)
    }

    /// The blobs.
    #[must_use]
    pub fn blobs(&self) -> Blobs {
        let shared = &*self.shared;
        Blobs::new(Arc::clone(&shared.disk), &shared.root, Arc::clone(&shared.refusals))
    }

    /// Facts about the file system that the ledger is on, as they are now.
    pub fn file_system(&self) -> io::Result<FileSystem> {
        self.disk().file_system(self.root())
    }

    /// Whether the ledger refuses writes because of where it is.
    pub(crate) fn check_ground(&self) -> Result<(), UnsafePlace> {
        self.shared.refusals.ground.check(self.disk(), self.root())
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.shared.disk
    }

    pub(crate) fn log(&self, name: StreamName, limits: Limits) -> Log {
        self.shared.log(name, limits)
    }
}

/// A stream that is to be created, encoded.
struct NewStream {
    log: Log,
    intent: Vec<u8>,
    batch: Batch,
}

impl Shared {
    fn log(&self, name: StreamName, limits: Limits) -> Log {
        Log::new(Arc::clone(&self.disk), &self.root, name, limits, Arc::clone(&self.refusals), self.threads)
    }

    /// A panic cannot leave the map half changed.
    fn handles(&self) -> std::sync::MutexGuard<'_, HashMap<StreamName, Weak<dyn Any + Send + Sync>>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
