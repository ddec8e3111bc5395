//! Typed handles to streams: read state, decide, append.

use std::any::Any;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread;

use crate::append::{AppendError, Batch, Torn};
use crate::clock::Clock;
use crate::decider::{Decider, Expect, Head};
use crate::entry::{Entry, LEDGER_PREFIX, Recorded};
use crate::fold::{Actors, Folded, told_of, typed};
use crate::id::{Actor, StreamId};
use crate::lease::{self, Lease, LeaseError, LeaseStatus};
use crate::log::{Log, ReadError};
use crate::payload::{self, Payload};
use crate::scan::{Position, UnfinishedTail};

/// How often a thread lets others run before it sleeps until a handle is free. Most hold it for the length of one write,
/// and to be woken takes longer than that.
const YIELDS: usize = 50;

/// How often a command is decided again because somebody else appended in between.
const TRIES: usize = 16;

/// A handle to one stream. Clones, and every other handle to the same stream in this process, share what was read.
///
/// Opening it reads and verifies the whole history; afterwards only what came since is read.
pub struct Stream<D: Decider> {
    inner: Arc<Inner<D>>,
}

pub(crate) struct Inner<D: Decider> {
    log: Log,
    clock: Arc<dyn Clock>,
    intent: D::Intent,
    lease: Arc<AtomicBool>,
    folded: Mutex<Folded<D::State>>,
}

/// What a command recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed<E> {
    /// The events, in order; empty if there was nothing to do.
    pub events: Vec<Recorded<E>>,
    /// The end of the stream afterwards.
    pub head: Head,
}

/// Why a command recorded nothing. The list is closed.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError<R: std::error::Error + 'static> {
    /// The domain refused it.
    #[error(transparent)]
    Refused(R),
    /// The facts that the decision needs could not be read.
    #[error(transparent)]
    Facts(ReadError),
    /// It could not be recorded.
    #[error(transparent)]
    Append(#[from] AppendError),
}

impl<R: std::error::Error + 'static> From<ReadError> for ExecuteError<R> {
    fn from(error: ReadError) -> Self {
        Self::Facts(error)
    }
}

impl<D: Decider> Clone for Stream<D> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<D: Decider> std::fmt::Debug for Stream<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Stream").field(&self.inner.log.name.to_string()).finish()
    }
}

impl<D: Decider> Inner<D> {
    /// Opens a stream: reads and verifies its intent and its whole history.
    pub(crate) fn open(log: Log, clock: Arc<dyn Clock>) -> Result<Self, ReadError> {
        let (bytes, digest) = log.intent()?;
        let mut start = Position::start(digest);
        let intent: D::Intent = match serde_json::from_slice(&bytes) {
            Ok(intent) => intent,
            Err(error) => {
                // Bytes that the log does not follow from are damage; bytes that it follows from are news.
                log.read(&mut start, &mut |_| ControlFlow::Continue(()))?;
                return Err(ReadError::Newer { stream: log.name.clone(), seq: 0, what: error.to_string() });
            }
        };
        let mut folded = Folded::new(D::init(&intent), start);
        folded.refresh::<D>(&log)?;
        Ok(Self { log, clock, intent, lease: Arc::default(), folded: Mutex::new(folded) })
    }

    /// What `look` makes of the stream as it was opened, up to which byte of the log, and the tail behind that.
    pub(crate) fn look<T>(
        self,
        look: impl FnOnce(&D::Intent, &D::State, Head) -> T,
    ) -> (T, u64, Option<UnfinishedTail>) {
        let folded = self.lock();
        (look(&self.intent, &folded.state, folded.head()), folded.position.offset, folded.tail)
    }
}

impl<D: Decider> Stream<D> {
    pub(crate) fn new(inner: Arc<Inner<D>>) -> Self {
        Self { inner }
    }

    /// The stream's id.
    #[must_use]
    pub fn id(&self) -> &StreamId {
        self.inner.log.name.id()
    }

    /// What the stream is for.
    #[must_use]
    pub fn intent(&self) -> &D::Intent {
        &self.inner.intent
    }

    /// The state after everything that is recorded now. It may include events whose append has not returned yet; see
    /// [`settled_state`](Self::settled_state) for facts that another decision rests on.
    pub fn state(&self) -> Result<D::State, ReadError> {
        Ok(self.refreshed()?.state.clone())
    }

    /// The state, after making sure that everything it follows from is on stable storage.
    pub fn settled_state(&self) -> Result<D::State, ReadError> {
        let (state, end) = {
            let folded = self.refreshed()?;
            (folded.state.clone(), folded.position.offset)
        };
        self.inner.log.settle(end)?;
        Ok(state)
    }

    /// The end of the stream as it is now.
    pub fn head(&self) -> Result<Head, ReadError> {
        Ok(self.refreshed()?.head())
    }

    /// What a crash left behind the last whole event, if anything. The next append moves it aside.
    pub fn unfinished_tail(&self) -> Result<Option<UnfinishedTail>, ReadError> {
        Ok(self.refreshed()?.tail)
    }

    /// All entries, from the first on.
    pub fn history(&self) -> Result<Vec<Entry<D::Event>>, ReadError> {
        self.events_after(0)
    }

    /// The entries whose sequence number is greater than `seq`.
    pub fn events_after(&self, seq: u64) -> Result<Vec<Entry<D::Event>>, ReadError> {
        let mut entries = Vec::new();
        self.visit(|entry| {
            if entry.seq() > seq {
                entries.push(entry);
            }
            ControlFlow::Continue(())
        })?;
        Ok(entries)
    }

    /// Shows every entry to `visitor`, from the first on, until it breaks. Nothing is kept in memory.
    pub fn visit(
        &self,
        mut visitor: impl FnMut(Entry<D::Event>) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        let log = &self.inner.log;
        let (_, digest) = log.intent()?;
        let mut unknown = None;
        let mut actors = Actors::default();
        log.read(&mut Position::start(digest), &mut |line| match typed::<D::Event>(line, &mut actors) {
            Ok(entry) => visitor(entry),
            Err(what) => {
                unknown = Some((line.seq(), what));
                ControlFlow::Break(())
            }
        })?;
        match unknown {
            Some((seq, what)) => Err(ReadError::Newer { stream: log.name.clone(), seq, what }),
            None => Ok(()),
        }
    }

    /// Decides `command` on the present state and appends what it adds. For domains that need no facts.
    pub fn execute(
        &self,
        actor: &str,
        command: D::Command,
    ) -> Result<Committed<D::Event>, ExecuteError<D::Refusal>>
    where
        D: Decider<Facts = ()>,
    {
        self.execute_with(actor, command, |_| Ok(()))
    }

    /// Decides `command` on the present state and on what `facts` says, and appends what it adds.
    ///
    /// No lock is held while `facts` and `decide` run, so they may use the ledger. If somebody else appended to the
    /// stream meanwhile, both run again on the new state, at most 16 times.
    #[expect(clippy::needless_pass_by_value, reason = "a command is spent by executing it")]
    pub fn execute_with(
        &self,
        actor: &str,
        command: D::Command,
        mut facts: impl FnMut(&D::State) -> Result<D::Facts, ExecuteError<D::Refusal>>,
    ) -> Result<Committed<D::Event>, ExecuteError<D::Refusal>> {
        for _ in 0..TRIES {
            let (state, head) = {
                let folded = self.refreshed()?;
                (folded.state.clone(), folded.head())
            };
            let facts = facts(&state)?;
            let events = D::decide(&state, command.clone(), &facts).map_err(ExecuteError::Refused)?;
            if events.is_empty() {
                return Ok(Committed { events: Vec::new(), head });
            }
            match self.append(Expect::Head(head), actor, events) {
                Err(AppendError::Conflict { .. }) => {}
                other => return Ok(other?),
            }
        }
        Err(AppendError::Conflict { stream: self.inner.log.name.clone() }.into())
    }

    /// Appends events below `decide`: for imports and tests. They become visible together or not at all.
    pub fn append(
        &self,
        expect: Expect,
        actor: &str,
        events: Vec<D::Event>,
    ) -> Result<Committed<D::Event>, AppendError> {
        let inner = &*self.inner;
        if inner.log.refusals.read_only() {
            return Err(AppendError::ReadOnly);
        }
        let batch = encode::<D>(actor, &events)?;
        let (committed, end) = {
            let mut folded = inner.lock();
            self.write(&mut folded, expect, &batch, events)?
        };
        inner.log.make_durable(end)?;
        Ok(committed)
    }

    /// Writes the batch where the log ends, and folds what others wrote before it.
    fn write(
        &self,
        folded: &mut Folded<D::State>,
        expect: Expect,
        batch: &Batch,
        events: Vec<D::Event>,
    ) -> Result<(Committed<D::Event>, u64), AppendError> {
        let log = &self.inner.log;
        let conflict = || AppendError::Conflict { stream: log.name.clone() };
        if !folded.place_checked {
            log.check_place()?;
            folded.place_checked = true;
        }
        // Read without the lock first, so that only what came in the last moment is left to read under it.
        folded.refresh::<D>(log)?;
        if !folded.meets(expect) {
            return Err(conflict());
        }
        let appending = log.start_append()?;
        let mut position = folded.position;
        let mut missed = Vec::new();
        let mut unknown = None;
        let mut actors = Actors::default();
        let tail =
            appending.catch_up(&mut position, &mut |line| match typed::<D::Event>(line, &mut actors) {
                Ok(entry) => {
                    missed.push(entry);
                    ControlFlow::Continue(())
                }
                Err(what) => {
                    unknown = Some((line.seq(), what));
                    ControlFlow::Break(())
                }
            })?;
        if let Some((seq, what)) = unknown {
            return Err(ReadError::Newer { stream: log.name.clone(), seq, what }.into());
        }
        if expect != Expect::Any && missed.iter().any(|entry| entry.domain().is_some()) {
            return Err(conflict());
        }
        let told;
        let torn = if folded.left.is_some_and(|left| appending.is_untouched_since(&left)) {
            Torn::AllTold
        } else {
            told = folded.torn.iter().cloned().chain(missed.iter().filter_map(told_of)).collect();
            Torn::Told(&told)
        };
        let written = appending.write(position, tail, torn, batch, self.inner.clock.now())?;
        folded.left = appending.leave();
        // The domain's code runs without the lock.
        drop(appending);
        for entry in &missed {
            folded.fold::<D>(entry);
        }
        let end = written.position.offset;
        let events = folded.fold_written::<D>(written, &batch.actor, events);
        Ok((Committed { events, head: folded.head() }, end))
    }

    /// Takes the stream's lease; it is held until the value is dropped or the process ends. `note` is one line that
    /// says who holds it, since when and for what, shown to others and never interpreted.
    pub fn lease(&self, note: &str) -> Result<Lease, LeaseError> {
        let handle: Arc<dyn Any + Send + Sync> = self.inner.clone();
        lease::take(&self.inner.log, &self.inner.lease, handle, note)
    }

    /// Asks who holds the lease, without taking it or creating anything.
    pub fn lease_status(&self) -> Result<LeaseStatus, LeaseError> {
        lease::status(&self.inner.log, &self.inner.lease)
    }

    fn refreshed(&self) -> Result<MutexGuard<'_, Folded<D::State>>, ReadError> {
        let mut folded = self.inner.lock();
        folded.refresh::<D>(&self.inner.log)?;
        Ok(folded)
    }
}

impl<D: Decider> Inner<D> {
    /// A panic in a domain's `evolve` can leave the fold half done, but every fold starts from what was recorded, so
    /// the poisoned value must not be used again: the panic goes on.
    fn lock(&self) -> MutexGuard<'_, Folded<D::State>> {
        for _ in 0..YIELDS {
            match self.folded.try_lock() {
                Ok(folded) => return folded,
                Err(TryLockError::WouldBlock) => thread::yield_now(),
                Err(TryLockError::Poisoned(_)) => break,
            }
        }
        match self.folded.lock() {
            Ok(folded) => folded,
            Err(poisoned) => std::panic::resume_unwind(Box::new(poisoned.to_string())),
        }
    }
}

/// Encodes a batch and proves that every event reads back.
pub(crate) fn encode<D: Decider>(actor: &str, events: &[D::Event]) -> Result<Batch, AppendError> {
    let actor = Actor::new(actor)?;
    let payloads = events.iter().map(payload::encode).collect::<Result<Vec<Payload>, _>>()?;
    if let Some(reserved) = payloads.iter().find(|payload| payload.name.starts_with(LEDGER_PREFIX)) {
        return Err(AppendError::ReservedName { name: reserved.name.clone() });
    }
    Ok(Batch { actor, payloads, closes: events.iter().any(D::closes) })
}
