//! What is seen around a work item: its dependencies, its lease, and the run of an attempt that has no end.

use harn_ledger::{LeaseError, LeaseStatus, ReadError, Stream, StreamError, StreamId};

use super::{WorkLedger, proof};
use crate::run::{Phase, Run};
use crate::work::dependencies::{Evaluation, Found};
use crate::work::{Caller, Dependency, Facts, Observed, RunShows, State, Work, own};

/// How firm what is seen must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Enough to show it.
    Shown,
    /// A decision rests on it: all of it must be on stable storage.
    Settled,
}

impl WorkLedger {
    /// What a decision about the item rests on.
    pub(super) fn facts(
        &self,
        stream: &Stream<Work>,
        state: &State,
        caller: &Caller,
    ) -> Result<Facts, ReadError> {
        let observed = self.observe(stream, state, Depth::Settled)?;
        let cited = match &observed.run {
            Some(RunShows::Ended(end)) => end.proof(),
            _ => state.attempts().last().and_then(|latest| latest.end.as_ref()).and_then(crate::work::End::proof),
        };
        // Reading the blob checks its bytes against the digest; what does not match is not there.
        let proof = cited.filter(|cited| self.blobs().get(cited).is_ok());
        Ok(Facts { observed, caller: caller.clone(), now: self.now(), proof })
    }

    /// What is seen around one item.
    pub(super) fn observe(
        &self,
        stream: &Stream<Work>,
        state: &State,
        depth: Depth,
    ) -> Result<Observed, ReadError> {
        let mut evaluation = Evaluation::new(|id: &StreamId| self.look_up(id, depth));
        self.observe_with(stream, state, evaluation.of(state.dependencies()), depth)
    }

    /// What is seen around one item whose dependencies were looked at before.
    pub(super) fn observe_with(
        &self,
        stream: &Stream<Work>,
        state: &State,
        dependencies: Vec<Dependency>,
        depth: Depth,
    ) -> Result<Observed, ReadError> {
        let mut observed = Observed { dependencies, ..Observed::default() };
        if let Some(open) = state.open_attempt() {
            observed.held_by_other = is_held_by_other(stream)?;
            observed.run = Some(self.run_shows(&open.run_id, depth));
        }
        Ok(observed)
    }

    /// One item as its dependents see it.
    pub(super) fn look_up(&self, id: &StreamId, depth: Depth) -> Found {
        let look = || -> Result<_, StreamError> {
            let stream = self.ledger.stream::<Work>(id.as_str())?;
            let state = match depth {
                Depth::Shown => stream.state()?,
                Depth::Settled => stream.settled_state()?,
            };
            let observed = self.observe_with(&stream, &state, Vec::new(), depth)?;
            Ok(own(&state, &observed))
        };
        match look() {
            Ok(own) => Found::Item(own),
            Err(StreamError::Read(ReadError::NotFound { .. })) => Found::Missing,
            Err(error) => Found::Unreadable { why: error.to_string() },
        }
    }

    /// What the run's own stream shows about an attempt whose end the item's log lacks.
    fn run_shows(&self, run_id: &StreamId, depth: Depth) -> RunShows {
        let look = || -> Result<_, StreamError> {
            let run = self.ledger.stream::<Run>(run_id.as_str())?;
            let state = match depth {
                Depth::Shown => run.state()?,
                Depth::Settled => run.settled_state()?,
            };
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

fn is_held_by_other(stream: &Stream<Work>) -> Result<bool, ReadError> {
    match stream.lease_status() {
        Ok(status) => Ok(matches!(status, LeaseStatus::HeldByOther(_))),
        Err(LeaseError::Io { path, source }) => Err(ReadError::Io { path, source }),
        // Nobody can hold what cannot be taken.
        Err(_) => Ok(false),
    }
}
