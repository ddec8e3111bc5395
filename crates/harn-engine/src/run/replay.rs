//! What a run did before its process was gone, played back to the script: nothing is recorded twice, and no agent that
//! has answered is paid twice.

use std::collections::VecDeque;

use harn_ledger::{Decider as _, ReadError, Recorded, Stream};
use harn_workflow::run::{AgentId, CheckId, Command, Event, Run, State};

use super::recorder::RunError;

/// The part of a transcript that the script has not caught up with.
///
/// A script is deterministic: told the same, it does the same. So whatever it does again must be what stands next in the
/// transcript, and the completion that stands next is the one that it is told of next.
pub(super) struct Replay {
    events: VecDeque<Recorded<Event>>,
    /// Where the run stood when the script was at this point.
    state: State,
}

/// A call of the script's that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallOf {
    /// Of an agent.
    Agent(AgentId),
    /// Of a check.
    Check(CheckId),
}

/// The end of a call, as it was recorded.
pub(super) struct Completion {
    pub(super) of: CallOf,
    pub(super) recorded: Recorded<Event>,
}

impl Replay {
    /// The whole transcript of `stream`, but for what the script has no part in.
    pub(super) fn of(stream: &Stream<Run>) -> Result<Self, ReadError> {
        let mut state = Run::init(stream.intent());
        let mut events = VecDeque::new();
        for entry in stream.history()? {
            let Some(recorded) = entry.domain() else { continue };
            match recorded.event {
                Event::RunStarted {} | Event::EnvironmentPrepared { .. } | Event::EnvironmentSkipped {} => {
                    Run::evolve(&mut state, recorded);
                }
                Event::RunParked { .. } | Event::RunResumed {} | Event::EnvironmentChecked { .. } => {}
                _ => events.push_back(recorded.clone()),
            }
        }
        Ok(Self { events, state })
    }

    /// Whether the script has caught up.
    pub(super) fn is_over(&self) -> bool {
        self.events.is_empty()
    }

    /// Where the run stood at this point.
    pub(super) const fn state(&self) -> &State {
        &self.state
    }

    /// Takes what the script does again. What was refused the first time is not on record and is refused again.
    pub(super) fn again(&mut self, event: Event) -> Result<Recorded<Event>, RunError> {
        let decided = Run::decide(&self.state, Command::Record(vec![event]), &());
        for event in decided.map_err(RunError::Refused)? {
            if self.events.front().is_none_or(|next| next.event != event) {
                return Err(self.diverged(event.name()));
            }
        }
        self.take().ok_or_else(|| self.diverged("nothing"))
    }

    /// The end of a call that stands next, for a script that waits. None when nothing is left.
    pub(super) fn completion(&mut self) -> Result<Option<Completion>, RunError> {
        while let Some(next) = self.events.front() {
            let of = match &next.event {
                // The reply to a try stands in the end of its call. Without one the call goes on with another try.
                Event::AgentTry { .. } => None,
                Event::AgentEnded { id, .. } => Some(CallOf::Agent(*id)),
                Event::CheckEnded { id, .. } => Some(CallOf::Check(*id)),
                _ => return Err(self.diverged("a wait")),
            };
            let Some(recorded) = self.take() else { break };
            if let Some(of) = of {
                // The evidence that a check is was recorded with its end.
                if matches!(of, CallOf::Check(_)) {
                    self.take();
                }
                return Ok(Some(Completion { of, recorded }));
            }
        }
        Ok(None)
    }

    /// The script did something else than what stands next.
    pub(super) fn diverged(&self, found: &'static str) -> RunError {
        let next = self.events.front();
        RunError::Diverged {
            seq: next.map(|recorded| recorded.seq),
            recorded: next.map_or("nothing", |recorded| recorded.event.name()),
            found,
        }
    }

    fn take(&mut self) -> Option<Recorded<Event>> {
        let recorded = self.events.pop_front()?;
        Run::evolve(&mut self.state, &recorded);
        Some(recorded)
    }
}
