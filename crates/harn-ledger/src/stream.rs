//! Typed handles to streams: read state, decide, append.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::append::{AppendError, Appended, Batch};
use crate::clock::Clock;
use crate::decider::{Decider, Expect, Head};
use crate::entry::{Entry, LEDGER_PREFIX, LedgerEvent, Recorded};
use crate::id::{Actor, StreamId};
use crate::lease::{self, Lease, LeaseError, LeaseStatus};
use crate::line::Line;
use crate::log::{Log, Read, ReadError};
use crate::payload::{self, Payload};
use crate::scan::{Position, UnfinishedTail};

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
    read_only: bool,
    intent: D::Intent,
    lease: Arc<AtomicBool>,
    folded: Mutex<Folded<D::State>>,
}

/// What the handle knows of the log.
struct Folded<S> {
    state: S,
    position: Position,
    /// The last event of the domain and the ledger's lines after it: what an expectation may name.
    heads: Vec<Head>,
    tail: Option<UnfinishedTail>,
    /// Files of moved tails that the log tells of.
    torn: BTreeSet<String>,
    /// Whether this handle has looked for tails that were moved but not recorded, and at who may read its files.
    looked: bool,
}

/// What a command recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed<E> {
    /// The events, in order; empty if there was nothing to do.
    pub events: Vec<Recorded<E>>,
    /// The end of the stream afterwards.
    pub head: Head,
}

/// Why a command recorded nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
        f.debug_tuple("Stream").field(&self.inner.log.stream).finish()
    }
}

impl<D: Decider> Inner<D> {
    /// Opens a stream: reads and verifies its intent and its whole history.
    pub(crate) fn open(log: Log, clock: Arc<dyn Clock>, read_only: bool) -> Result<Self, ReadError> {
        let (bytes, digest) = log.intent()?;
        let start = Position::start(digest);
        let intent: D::Intent = match serde_json::from_slice(&bytes) {
            Ok(intent) => intent,
            Err(error) => {
                // Bytes that the log does not follow from are damage; bytes that it follows from are news.
                log.read(start, &mut |_| ControlFlow::Continue(()))?;
                return Err(ReadError::Newer { stream: log.name.clone(), seq: 0, what: error.to_string() });
            }
        };
        let mut folded = Folded {
            state: D::init(&intent),
            position: start,
            heads: Vec::new(),
            tail: None,
            torn: BTreeSet::new(),
            looked: false,
        };
        folded.refresh::<D>(&log)?;
        Ok(Self { log, clock, read_only, intent, lease: Arc::default(), folded: Mutex::new(folded) })
    }
}

impl<S> Folded<S> {
    /// Folds what came since the last look.
    fn refresh<D: Decider<State = S>>(&mut self, log: &Log) -> Result<(), ReadError> {
        let mut unknown = None;
        let read = log.read(self.position, &mut |line| match typed::<D::Event>(line) {
            Ok(entry) => {
                self.fold::<D>(&entry);
                ControlFlow::Continue(())
            }
            Err(what) => {
                unknown = Some((line.seq, what));
                ControlFlow::Break(())
            }
        })?;
        if let Some((seq, what)) = unknown {
            return Err(ReadError::Newer { stream: log.name.clone(), seq, what });
        }
        let Read { position, tail, .. } = read;
        self.position = position;
        self.tail = tail;
        Ok(())
    }

    fn fold<D: Decider<State = S>>(&mut self, entry: &Entry<D::Event>) {
        match entry {
            Entry::Domain(recorded) => {
                D::evolve(&mut self.state, recorded);
                self.heads.clear();
                self.heads.push(Head { seq: recorded.seq, hash: recorded.hash });
            }
            Entry::Ledger(recorded) => {
                let (LedgerEvent::TailMoved { file, .. } | LedgerEvent::Cut { file, .. }) = &recorded.event;
                self.torn.insert(file.clone());
                self.heads.push(Head { seq: recorded.seq, hash: recorded.hash });
            }
        }
    }

    const fn head(&self) -> Head {
        Head { seq: self.position.seq, hash: self.position.hash }
    }
}

/// The line as an entry, or what about it is not known.
fn typed<E: serde::de::DeserializeOwned>(line: &Line<'_>) -> Result<Entry<E>, String> {
    let what = |error: serde_json::Error| format!("`{}`: {error}", line.event);
    Ok(if line.event.starts_with(LEDGER_PREFIX) {
        Entry::Ledger(recorded(line, payload::decode(&line.event, &line.data).map_err(what)?))
    } else {
        Entry::Domain(recorded(line, payload::decode(&line.event, &line.data).map_err(what)?))
    })
}

fn recorded<E>(line: &Line<'_>, event: E) -> Recorded<E> {
    Recorded { seq: line.seq, ts: line.ts, actor: line.actor.clone(), hash: line.hash, event }
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
        log.read(Position::start(digest), &mut |line| match typed::<D::Event>(line) {
            Ok(entry) => visitor(entry),
            Err(what) => {
                unknown = Some((line.seq, what));
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
        if inner.read_only {
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

    /// Writes the batch where the log ends, folding what others wrote first.
    fn write(
        &self,
        folded: &mut Folded<D::State>,
        expect: Expect,
        batch: &Batch,
        events: Vec<D::Event>,
    ) -> Result<(Committed<D::Event>, u64), AppendError> {
        let log = &self.inner.log;
        if !folded.looked {
            log.check_place()?;
        }
        for _ in 0..TRIES {
            let met = match expect {
                Expect::Any => true,
                Expect::Head(head) => folded.heads.contains(&head),
            };
            if !met {
                folded.refresh::<D>(log)?;
                if let Expect::Head(head) = expect
                    && !folded.heads.contains(&head)
                {
                    break;
                }
            }
            let torn = (!folded.looked).then_some(&folded.torn);
            let written = match log.append(folded.position, torn, batch, self.inner.clock.now())? {
                Appended::Moved => {
                    folded.refresh::<D>(log)?;
                    continue;
                }
                Appended::Written(written) => written,
            };
            folded.looked = true;
            folded.tail = None;
            for recorded in written.ledger {
                folded.fold::<D>(&Entry::Ledger(recorded));
            }
            let mut committed = Vec::with_capacity(events.len());
            for (event, head) in events.into_iter().zip(written.heads) {
                let actor = batch.actor.clone();
                let recorded = Recorded { seq: head.seq, ts: written.ts, actor, hash: head.hash, event };
                let entry = Entry::Domain(recorded);
                folded.fold::<D>(&entry);
                if let Entry::Domain(recorded) = entry {
                    committed.push(recorded);
                }
            }
            folded.position = written.position;
            return Ok((Committed { events: committed, head: folded.head() }, written.position.offset));
        }
        Err(AppendError::Conflict { stream: log.name.clone() })
    }

    /// Takes the stream's lease; it is held until the value is dropped or the process ends. `note` is one line that
    /// says who holds it, since when and for what, shown to others and never interpreted.
    pub fn lease(&self, note: &str) -> Result<Lease, LeaseError> {
        lease::take(&self.inner.log, &self.inner.lease, note)
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
