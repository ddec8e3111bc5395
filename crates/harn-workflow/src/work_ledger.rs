//! Work items in a ledger: what the pure state machine needs from the outside is gathered here, and nothing is decided.
//!
//! ```
//! use harn_ledger::disk::MemDisk;
//! use harn_ledger::{FixedClock, Ledger, CountingIds, Timestamp};
//! use harn_workflow::work::{Caller, ItemState, Role};
//! use harn_workflow::{Draft, ScriptText, WorkLedger};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = FixedClock(Timestamp::UNIX_EPOCH);
//! let ledger = Ledger::builder("/state").disk(MemDisk::new()).clock(clock).open()?;
//! let works = WorkLedger::new(ledger, clock, CountingIds::from_seed(1));
//! let operator = Caller { actor: "ann".parse()?, role: Role::Person };
//!
//! let script = ScriptText { path: "/project/release.mjs".to_owned(), bytes: b"export default () => 1".to_vec() };
//! let item = works.create(&operator, Draft::new("Release", "Publish a verified release", script))?;
//! assert_eq!(item.projection.state, ItemState::Ready);
//! # Ok(())
//! # }
//! ```

mod attempt;
mod create;
mod explain;
mod import;
mod list;
mod observe;
mod ownership;
mod proof;
mod verify;

use std::sync::Arc;

use harn_ledger::{
    Blobs, Clock, Committed, ExecuteError, IdSource, Ledger, Recorded, Stream, StreamError, StreamId,
    Timestamp,
};

use crate::work::{Accept, Caller, Class, Command, Event, Intent, Projection, Refusal, Reopen, State, Work};

pub use attempt::{BeginError, Begun, EndError};
pub use create::{CreateWorkError, Draft, ScriptText};
pub use explain::{PastError, PastItem};
pub use import::{Arrival, ImportError};
pub use list::{ListedItem, Listing, Unreadable};
pub use ownership::ForeignRun;
pub use proof::ProofError;
pub use verify::{Unproven, UnprovenKind};

use observe::View;

/// The work items of a ledger. Clones share everything.
#[derive(Debug, Clone)]
pub struct WorkLedger {
    ledger: Ledger,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

/// A work item as it stands.
#[derive(Debug, Clone)]
pub struct WorkItem {
    /// Its stream.
    pub stream: Stream<Work>,
    /// Where it stands.
    pub projection: Projection,
}

/// What a command did.
#[derive(Debug, Clone)]
pub struct Changed {
    /// What was recorded; nothing if there was nothing to do.
    pub events: Vec<Recorded<Event>>,
    /// The item afterwards.
    pub item: WorkItem,
}

/// Why a command recorded nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkError {
    /// The item could not be read.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The command is not allowed, or could not be recorded.
    #[error(transparent)]
    Execute(#[from] ExecuteError<Refusal>),
    /// The proof of a run that has ended could not be stored.
    #[error(transparent)]
    Proof(#[from] ProofError),
}

impl WorkError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stream(error) => error.code(),
            Self::Execute(ExecuteError::Refused(refusal)) => refusal.code(),
            Self::Execute(ExecuteError::Facts(error)) => error.code(),
            Self::Execute(ExecuteError::Append(error)) => error.code(),
            Self::Proof(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Stream(error) => error.hint(),
            Self::Execute(ExecuteError::Refused(refusal)) => refusal.hint(),
            Self::Execute(ExecuteError::Facts(error)) => error.hint(),
            Self::Execute(ExecuteError::Append(error)) => error.hint(),
            Self::Proof(_) => None,
        }
    }
}

impl WorkItem {
    /// What the item is for.
    #[must_use]
    pub fn intent(&self) -> &Intent {
        self.stream.intent()
    }
}

impl WorkLedger {
    /// The work items of `ledger`. Clock and ids come in, so that tests are exact; the clock should be the ledger's.
    #[must_use]
    pub fn new(ledger: Ledger, clock: impl Clock + 'static, ids: impl IdSource + 'static) -> Self {
        Self { ledger, clock: Arc::new(clock), ids: Arc::new(ids) }
    }

    /// The ledger.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The ledger's blobs.
    #[must_use]
    pub fn blobs(&self) -> Blobs {
        self.ledger.blobs()
    }

    /// The item `id` as it stands.
    pub fn get(&self, id: &StreamId) -> Result<WorkItem, StreamError> {
        let stream = self.ledger.stream::<Work>(id.as_str())?;
        self.item(stream)
    }

    /// Accepts the attempt in review.
    pub fn accept(&self, caller: &Caller, id: &StreamId, accept: Accept) -> Result<Changed, WorkError> {
        self.change(caller, id, Command::Accept(accept))
    }

    /// Opens a new window.
    pub fn reopen(&self, caller: &Caller, id: &StreamId, reopen: Reopen) -> Result<Changed, WorkError> {
        self.change(caller, id, Command::Reopen(reopen))
    }

    /// Gives the objective up.
    pub fn cancel(
        &self,
        caller: &Caller,
        id: &StreamId,
        reason: Option<String>,
    ) -> Result<Changed, WorkError> {
        self.change(caller, id, Command::Cancel { reason })
    }

    /// Leaves a remark.
    pub fn note(&self, caller: &Caller, id: &StreamId, text: String) -> Result<Changed, WorkError> {
        self.change(caller, id, Command::Note { text })
    }

    /// Allows more attempts.
    pub fn grant(
        &self,
        caller: &Caller,
        id: &StreamId,
        attempts: u32,
        reason: String,
    ) -> Result<Changed, WorkError> {
        self.change(caller, id, Command::Grant { attempts, reason })
    }

    /// Judges anew whether an attempt that did not pass counts against the budget: not, for a `class`; else it does.
    pub fn recharge(
        &self,
        caller: &Caller,
        id: &StreamId,
        attempt: u32,
        class: Option<Class>,
        reason: String,
    ) -> Result<Changed, WorkError> {
        self.change(caller, id, Command::Recharge { attempt, class, reason })
    }

    /// Records that the open attempt's run is parked. The caller holds the item's lease.
    pub fn park(
        &self,
        caller: &Caller,
        id: &StreamId,
        run_id: StreamId,
        approval_id: StreamId,
    ) -> Result<Changed, WorkError> {
        self.change(caller, id, Command::Park { run_id, approval_id })
    }

    /// Records that the open attempt goes on: a parked one whose approval is decided, or a lost one whose run left a
    /// transcript. The attempt is the same and is not counted again. The caller holds the item's lease.
    pub fn resume(&self, caller: &Caller, id: &StreamId) -> Result<Changed, WorkError> {
        self.change(caller, id, Command::Resume)
    }

    /// Records what an unfinished attempt's own stream proves, and where the item stands if that changed. Never acts.
    pub fn reconcile(&self, caller: &Caller, id: &StreamId) -> Result<Changed, WorkError> {
        self.change(caller, id, Command::Reconcile)
    }

    fn change(&self, caller: &Caller, id: &StreamId, command: Command) -> Result<Changed, WorkError> {
        let stream = self.ledger.stream::<Work>(id.as_str())?;
        let committed = self.execute(&stream, caller, command)?;
        Ok(Changed { events: committed.events, item: self.item(stream)? })
    }

    /// Decides a command on settled facts and records what it adds.
    fn execute(
        &self,
        stream: &Stream<Work>,
        caller: &Caller,
        command: Command,
    ) -> Result<Committed<Event>, WorkError> {
        self.store_proof_of_open_attempt(stream)?;
        let view = View::of(&command);
        let actor = caller.actor.as_str();
        let judges = matches!(command, Command::Accept(_));
        let facts = |state: &State| {
            let mut facts = self.facts(stream, state, caller, view)?;
            if judges {
                facts.unproven = self.check_review(stream.id(), state);
            }
            Ok(facts)
        };
        Ok(stream.execute_with(actor, command, facts)?)
    }

    fn item(&self, stream: Stream<Work>) -> Result<WorkItem, StreamError> {
        let state = stream.state()?;
        let projection = Projection::of(&state, &self.observe(&stream, &state, View::Shown)?);
        Ok(WorkItem { stream, projection })
    }

    /// The present moment, by the clock that was given.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// An id for a new stream that no stream of that kind has: the kind, the time, and six random digits.
    #[must_use]
    pub fn new_id(&self, kind: &str) -> StreamId {
        self.new_id_at(kind, self.now())
    }

    fn new_id_at(&self, kind: &str, now: Timestamp) -> StreamId {
        let time: String = now.to_string().replace([':', '.'], "-");
        // To the millisecond is enough for people: the last three digits go, and the `Z` stays.
        let time = format!("{}Z", &time[..time.len() - 4]);
        loop {
            let [a, b, c] = self.ids.next_bytes();
            let id = StreamId::new(&format!("{kind}-{time}-{a:02x}{b:02x}{c:02x}"))
                .expect("it has only letters, digits and dashes");
            let taken = self.ledger.raw(kind, id.as_str()).is_ok_and(|stream| stream.intent().is_ok());
            if !taken {
                return id;
            }
        }
    }
}
