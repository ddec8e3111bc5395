//! Taking a checkpoint of a ledger: what goes into it is verified, and there for good.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::ControlFlow;

use super::{CHECKPOINT_STREAMS_MAX, Checkpoint};
use crate::decider::Head;
use crate::disk::FileKind;
use crate::id::{StreamId, StreamName, check_kind};
use crate::ledger::{Ledger, StreamError};
use crate::limits::Limits;
use crate::log::{Log, ReadError};
use crate::parallel;
use crate::scan::Position;
use crate::verify::VerifyOptions;

/// Why no checkpoint was taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// A stream does not verify, may not survive a power loss, or cannot be read.
    #[error(transparent)]
    Stream(#[from] ReadError),
    /// There are too many streams.
    #[error("the ledger has more than {limit} streams, which is the most that a checkpoint holds")]
    TooManyStreams {
        /// The limit.
        limit: usize,
    },
}

impl CheckpointError {
    /// A stable name for the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Stream(error) => error.code(),
            Self::TooManyStreams { .. } => "too_many_streams",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Stream(error) => error.hint(),
            Self::TooManyStreams { .. } => None,
        }
    }
}

impl Ledger {
    /// Verifies every stream, brings it to stable storage, and tells where it ends; an unfinished tail stands behind
    /// that. The first stream in order that is damaged, that may not survive a power loss, that this build does not know
    /// or that cannot be read is the error. Blobs are not looked at: the events that cite them hold their digests.
    ///
    /// Nothing is locked meanwhile. A stream that is being written is in the checkpoint as it was when it was read, so the
    /// heads of two streams need not be of the same instant.
    ///
    /// Streams are read without limits on events and bytes; see [`checkpoint_with`](Self::checkpoint_with).
    pub fn checkpoint(&self) -> Result<Checkpoint, CheckpointError> {
        self.checkpoint_with(&VerifyOptions::default())
    }

    /// The same, holding streams to the limits of their kinds, as [`verify`](Self::verify) does: so a log that is longer
    /// than any of its kind is damaged, and not read on.
    pub fn checkpoint_with(&self, options: &VerifyOptions) -> Result<Checkpoint, CheckpointError> {
        let ts = self.now();
        let mut heads = BTreeMap::new();
        for kind in self.kinds()? {
            let ids = self.ids(&kind).map_err(|error| match error {
                StreamError::Read(error) => error,
                StreamError::Id(_) | StreamError::Kind(_) => unreachable!("the kind was checked"),
            })?;
            if heads.len() + ids.len() > CHECKPOINT_STREAMS_MAX {
                return Err(CheckpointError::TooManyStreams { limit: CHECKPOINT_STREAMS_MAX });
            }
            let all_threads = options.threads.unwrap_or_else(|| self.threads());
            let threads = parallel::for_each_of(ids.len(), all_threads);
            let limits = options.limits_of(&kind);
            let head = |id: &StreamId| self.settled_head(&kind, id, threads, limits);
            for head in parallel::flat_map(&ids, all_threads, head) {
                let (name, head) = head?;
                heads.insert(name, head);
            }
        }
        Ok(Checkpoint { ts, heads })
    }

    /// The kinds of which there may be streams, sorted.
    fn kinds(&self) -> Result<Vec<String>, ReadError> {
        let root = self.root();
        let names =
            self.disk().read_dir(root).map_err(|source| ReadError::Io { path: root.to_owned(), source })?;
        let is_file =
            |kind: &String| self.disk().stat(&root.join(kind)).is_ok_and(|stat| stat.kind == FileKind::File);
        let mut kinds: Vec<String> = names
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .filter(|kind| check_kind(kind).is_ok() && !is_file(kind))
            .collect();
        kinds.sort();
        Ok(kinds)
    }

    /// Where a stream ends, once that is on stable storage; nothing if the directory holds no stream.
    fn settled_head(
        &self,
        kind: &str,
        id: &StreamId,
        threads: NonZero<usize>,
        limits: Limits,
    ) -> Option<Result<(StreamName, Head), ReadError>> {
        let name = StreamName::new(kind, id.clone()).expect("the kind was checked");
        match settled_end(&self.log_for(threads, name.clone(), limits)) {
            Ok(Position { seq, hash, .. }) => Some(Ok((name, Head { seq, hash }))),
            Err(ReadError::NotFound { .. }) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

fn settled_end(log: &Log) -> Result<Position, ReadError> {
    let (_, digest) = log.intent()?;
    let mut end = Position::start(digest);
    log.read(&mut end, &mut |_| ControlFlow::Continue(()))?;
    log.settle(end.offset)?;
    Ok(end)
}
