//! What is seen around a work item: its dependencies, its lease, and the run of an attempt that has no end.

use std::io;

use harn_ledger::{BlobRef, Decider, LeaseError, LeaseStatus, ReadError, Stream, StreamError, StreamId};

use super::ownership::check_owner;
use super::{WorkLedger, proof};
use crate::run::{Phase, Run};
use crate::work::dependencies::{Evaluation, Found};
use crate::work::{Attempt, Caller, Command, Dependency, Facts, Observed, RunShows, State, Work, own};

/// Where the ledger keeps proofs, for messages.
const BLOBS: &str = "blobs";

/// For whom it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// To be shown to somebody.
    Shown,
    /// For a decision: all that it rests on must be on stable storage.
    Decision,
    /// For what a runner decides, who does not see the lease that it holds itself.
    Runner,
}

impl WorkLedger {
    /// What a decision about the item rests on.
    pub(super) fn facts(
        &self,
        stream: &Stream<Work>,
        state: &State,
        caller: &Caller,
        view: View,
    ) -> Result<Facts, ReadError> {
        let observed = self.observe(stream, state, view)?;
        let cited = match &observed.run {
            Some(RunShows::Ended(end)) => end.proof(),
            _ => state
                .attempts()
                .last()
                .and_then(|latest| latest.end.as_ref())
                .and_then(crate::work::End::proof),
        };
        // Reading the blob checks its bytes against the digest; what does not match is not there.
        let stored = |cited: &BlobRef| self.blobs().get(cited).is_ok();
        if matches!(observed.run, Some(RunShows::Ended(_))) && !cited.as_ref().is_some_and(stored) {
            // The run ended after the command began. Its end must not be recorded before its proof is there.
            self.store_proof_of_open_attempt(stream)
                .map_err(|error| ReadError::Io { path: BLOBS.into(), source: io::Error::other(error) })?;
        }
        let proof = cited.filter(stored);
        Ok(Facts { observed, caller: caller.clone(), now: self.now(), proof, unproven: None })
    }

    /// What is seen around one item.
    pub(super) fn observe(
        &self,
        stream: &Stream<Work>,
        state: &State,
        view: View,
    ) -> Result<Observed, ReadError> {
        let mut evaluation = Evaluation::new(|id: &StreamId| self.look_up(id, view));
        self.observe_with(stream, state, evaluation.of(state.dependencies()), view)
    }

    /// What is seen around one item whose dependencies were looked at before.
    pub(super) fn observe_with(
        &self,
        stream: &Stream<Work>,
        state: &State,
        dependencies: Vec<Dependency>,
        view: View,
    ) -> Result<Observed, ReadError> {
        let mut observed = Observed { dependencies, ..Observed::default() };
        if let Some(open) = state.open_attempt() {
            observed.held_by_other = is_held(stream, view)?;
            observed.run = Some(self.run_shows(stream.id(), open, view));
        }
        Ok(observed)
    }

    /// One item as its dependents see it.
    pub(super) fn look_up(&self, id: &StreamId, view: View) -> Found {
        let look = || -> Result<_, StreamError> {
            let stream = self.ledger.stream::<Work>(id.as_str())?;
            let state = view.state(&stream)?;
            let observed = self.observe_with(&stream, &state, Vec::new(), view)?;
            Ok(own(&state, &observed))
        };
        match look() {
            Ok(own) => Found::Item(own),
            Err(StreamError::Read(ReadError::NotFound { .. })) => Found::Missing,
            Err(error) => Found::Unreadable { why: error.to_string() },
        }
    }

    /// What the run's own stream shows about an attempt whose end the item's log lacks.
    fn run_shows(&self, item: &StreamId, open: &Attempt, view: View) -> RunShows {
        let look = || -> Result<_, StreamError> {
            let run = self.ledger.stream::<Run>(open.run_id.as_str())?;
            if let Err(foreign) = check_owner(&run, item, open.number) {
                return Ok(RunShows::Unreadable { why: foreign.to_string() });
            }
            let state = view.state(&run)?;
            Ok(match state.phase() {
                Phase::Ended { .. } => match proof::of(&run)? {
                    Some(proof) => RunShows::Ended(proof::end(&proof)),
                    None => RunShows::Open { worked: state.worked() },
                },
                Phase::Parked { approval_id } => {
                    RunShows::Parked { approval_id: approval_id.clone(), worked: state.worked() }
                }
                Phase::Created | Phase::Running | Phase::Blocked { .. } => {
                    RunShows::Open { worked: state.worked() }
                }
            })
        };
        match look() {
            Ok(shows) => shows,
            Err(StreamError::Read(ReadError::NotFound { .. })) => RunShows::Absent,
            Err(error) => RunShows::Unreadable { why: error.to_string() },
        }
    }
}

impl View {
    /// For whom a command is decided.
    pub(super) const fn of(command: &Command) -> Self {
        match command {
            Command::Begin { .. } | Command::Park { .. } | Command::Resume | Command::End { .. } => {
                Self::Runner
            }
            _ => Self::Decision,
        }
    }

    fn state<D: Decider>(self, stream: &Stream<D>) -> Result<D::State, ReadError> {
        match self {
            Self::Shown => stream.state(),
            Self::Decision | Self::Runner => stream.settled_state(),
        }
    }
}

/// Whether somebody runs the item: another process, or this one in another place than where it is looked from.
fn is_held(stream: &Stream<Work>, view: View) -> Result<bool, ReadError> {
    match stream.lease_status() {
        Ok(LeaseStatus::HeldByOther(_)) => Ok(true),
        Ok(LeaseStatus::HeldByMe) => Ok(view != View::Runner),
        Err(LeaseError::Io { path, source }) => Err(ReadError::Io { path, source }),
        // Nobody can hold what cannot be taken.
        Ok(LeaseStatus::Free) | Err(_) => Ok(false),
    }
}
