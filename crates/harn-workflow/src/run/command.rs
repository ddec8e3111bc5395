//! Run streams as a domain of the ledger.

use harn_ledger::{Decider, Limits, Recorded};

use super::captured::{Captured, Payload};
use super::check::CheckOutcome;
use super::ending::{Failure, Status};
use super::event::{Event, Reason};
use super::evidence::{EvidenceKind, Source};
use super::id::CheckId;
use super::legal::{self, Refusal};
use super::manifest::Manifest;
use super::repository::Snapshot;
use super::state::State;

/// The domain of run streams.
#[derive(Debug, Clone, Copy)]
pub enum Run {}

/// What can be asked of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Record these events in one batch.
    Record(Vec<Event>),
    /// Record the end of a check and the evidence that it is.
    EndCheck(Box<EndedCheck>),
    /// Record the end of the run, with the class that follows.
    End(Box<Ending>),
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedCheck {
    /// The check.
    pub id: CheckId,
    /// How it came out.
    pub outcome: CheckOutcome,
    /// What it exited with.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it could not run.
    pub error: Option<Reason>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// What it printed.
    pub stdout: Option<Captured>,
    /// What it printed on standard error.
    pub stderr: Option<Captured>,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// What ended it; none when the script returned.
    pub failure: Option<Failure>,
    /// What went wrong.
    pub error: Option<Reason>,
    /// What the script returned.
    pub result: Option<Payload>,
    /// The repository at the end.
    pub repository_after: Option<Snapshot>,
}

impl Decider for Run {
    const KIND: &'static str = "run";

    const LIMITS: Limits =
        Limits { intent_bytes: 1 << 20, line_bytes: 128 << 10, events: 1_000_000, log_bytes: 1 << 30 };

    type Intent = Manifest;
    type Event = Event;
    type State = State;
    type Command = Command;
    type Facts = ();
    type Refusal = Refusal;

    fn init(manifest: &Manifest) -> State {
        State::new(manifest)
    }

    fn decide(state: &State, command: Command, (): &()) -> Result<Vec<Event>, Refusal> {
        let events = match command {
            Command::Record(events) => events,
            Command::EndCheck(check) => check.events(state)?,
            Command::End(ending) => vec![ending.event(state)],
        };
        let mut after = state.clone();
        for event in &events {
            legal::check(&after, event)?;
            after.apply(event);
        }
        legal::check_settled(&after)?;
        Ok(events)
    }

    fn evolve(state: &mut State, event: &Recorded<Event>) {
        state.apply(&event.event);
    }

    fn closes(event: &Event) -> bool {
        matches!(event, Event::RunEnded { .. })
    }
}

impl EndedCheck {
    /// The end and the record that follows it.
    fn events(self, state: &State) -> Result<Vec<Event>, Refusal> {
        let evidence = state.next_evidence();
        let open = state.open_checks().get(&self.id).cloned();
        let ended = Event::CheckEnded {
            id: self.id,
            outcome: self.outcome,
            exit_code: self.exit_code,
            signal: self.signal,
            error: self.error,
            duration_ms: self.duration_ms,
            stdout: self.stdout,
            stderr: self.stderr,
            evidence,
        };
        let Some(open) = open else {
            return Err(Refusal::NotOpen { event: ended.name(), id: self.id.to_string() });
        };
        let recorded = Event::EvidenceRecorded {
            id: evidence,
            source: Source::Engine,
            kind: EvidenceKind::Command,
            status: self.outcome.evidence(),
            label: open.name,
            stage: open.stage,
            check: Some(self.id),
            summary: None,
            reference: None,
            acceptance_ids: open.acceptance_ids,
            note: None,
        };
        Ok(vec![ended, recorded])
    }
}

impl Ending {
    fn event(self, state: &State) -> Event {
        Event::RunEnded {
            status: match self.failure {
                None => Status::Succeeded,
                Some(_) => Status::Failed,
            },
            failure: self.failure,
            class: state.class(self.failure),
            error: self.error,
            result: self.result,
            repository_after: self.repository_after,
        }
    }
}
