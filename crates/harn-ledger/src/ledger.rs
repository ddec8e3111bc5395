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
use crate::disk::{Disk, FileKind, FileSystem};
use crate::durability::Refusals;
use crate::id::{InvalidId, InvalidKind, StreamId, StreamName, check_kind};
use crate::limits::Limits;
use crate::log::{Log, ReadError};
use crate::open::{LedgerBuilder, OpenError};
use crate::parallel;
use crate::place::UnsafePlace;
use crate::raw::RawStream;
use crate::stream::{Inner, Stream, encode};
use crate::time::Timestamp;

/// A directory of streams. Clones share everything; there are no type parameters, and any number of domains may use
/// one ledger, each with its own kind.
#[derive(Debug, Clone)]
pub struct Ledger {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) root: PathBuf,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) refusals: Arc<Refusals>,
    pub(crate) threads: Option<NonZeroUsize>,
    /// Handles of this process, so that all users of one stream share what was read and who holds the lease.
    pub(crate) handles: Mutex<HashMap<StreamName, Weak<dyn Any + Send + Sync>>>,
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

impl Ledger {
    pub(crate) fn new(shared: Shared) -> Self {
        Self { shared: Arc::new(shared) }
    }

    /// Opens the ledger in the directory `root`, which is created if it is missing; its parent must exist.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::builder(root).open()
    }

    /// Opens a ledger on another disk, with another clock, or for reading only.
    pub fn builder(root: impl AsRef<Path>) -> LedgerBuilder {
        LedgerBuilder::new(root.as_ref())
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
        // The dead are swept when the map would grow, so that many living ones cost no more than they are worth.
        if handles.len() == handles.capacity() {
            handles.retain(|_, handle| handle.strong_count() > 0);
        }
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

    pub(crate) fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.shared.disk
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.shared.refusals.read_only()
    }

    pub(crate) fn log(&self, name: StreamName, limits: Limits) -> Log {
        self.shared.log(name, limits)
    }

    /// A log that `threads` may read at once.
    pub(crate) fn log_for(&self, threads: NonZeroUsize, name: StreamName, limits: Limits) -> Log {
        self.shared.log_for(Some(threads), name, limits)
    }

    /// How many threads may read the whole ledger at once.
    pub(crate) fn threads(&self) -> NonZeroUsize {
        self.shared.threads.unwrap_or_else(parallel::threads)
    }

    /// Lets the next handle to the stream be a new one.
    pub(crate) fn forget_handle(&self, name: &StreamName) {
        self.shared.handles().remove(name);
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
        self.log_for(self.threads, name, limits)
    }

    fn log_for(&self, threads: Option<NonZeroUsize>, name: StreamName, limits: Limits) -> Log {
        Log::new(Arc::clone(&self.disk), &self.root, name, limits, Arc::clone(&self.refusals), threads)
    }

    /// A panic cannot leave the map half changed.
    fn handles(&self) -> std::sync::MutexGuard<'_, HashMap<StreamName, Weak<dyn Any + Send + Sync>>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
