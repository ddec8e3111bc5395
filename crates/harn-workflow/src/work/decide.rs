//! The work item as a state machine: a command looks at state and facts and gives events or a refusal.

mod accept;
mod attempt;
mod governance;
mod recharge;
mod reconcile;
mod reopen;

use std::borrow::Cow;

use harn_ledger::text::{self, TextError};
use harn_ledger::{Decider, Limits, Recorded};

use super::bounds;
use super::budget;
use super::command::{Command, Verb};
use super::end::Class;
use super::event::Event;
use super::facts::{Facts, Role};
use super::intent::Intent;
use super::lifecycle::ItemState;
use super::precedence::{self, Standing};
use super::refusal::Refusal;
use super::settle;
use super::state::State;

/// The domain of work items: streams of kind `work`.
#[derive(Debug, Clone, Copy)]
pub enum Work {}

impl Decider for Work {
    const KIND: &'static str = "work";
    const LIMITS: Limits = bounds::LIMITS;
    type Intent = Intent;
    type Event = Event;
    type State = State;
    type Command = Command;
    type Facts = Facts;
    type Refusal = Refusal;

    fn init(intent: &Intent) -> State {
        State::new(intent)
    }

    fn decide(state: &State, command: Command, facts: &Facts) -> Result<Vec<Event>, Refusal> {
        let mut draft = Draft::new(state, facts);
        match command {
            Command::Note { text } => governance::note(&mut draft, &text)?,
            Command::Grant { attempts, reason } => governance::grant(&mut draft, attempts, &reason)?,
            Command::Recharge { attempt, class, reason } => {
                recharge::recharge(&mut draft, attempt, class, &reason)?;
            }
            Command::Cancel { reason } => governance::cancel(&mut draft, reason.as_deref())?,
            Command::Accept(request) => accept::accept(&mut draft, &request)?,
            Command::Reopen(request) => reopen::reopen(&mut draft, &request)?,
            Command::Begin { run_id, trigger } => attempt::begin(&mut draft, run_id, trigger)?,
            Command::Park { run_id, approval_id } => attempt::park(&mut draft, &run_id, approval_id)?,
            Command::Resume => attempt::resume(&mut draft)?,
            Command::End { run_id, end } => attempt::end(&mut draft, &run_id, end)?,
            Command::Reconcile => reconcile::reconcile(&mut draft),
        }
        Ok(draft.events)
    }

    fn evolve(state: &mut State, recorded: &Recorded<Event>) {
        state.apply(&recorded.event, &recorded.actor, recorded.ts);
    }

    /// The events that end an attempt or the item fit even into a full stream.
    fn closes(event: &Event) -> bool {
        matches!(event, Event::AttemptEnded { .. } | Event::Accepted { .. } | Event::Cancelled { .. })
    }
}

/// The events of one command so far, and the state after them.
struct Draft<'a> {
    state: Cow<'a, State>,
    facts: &'a Facts,
    events: Vec<Event>,
}

impl<'a> Draft<'a> {
    fn new(state: &'a State, facts: &'a Facts) -> Self {
        Self { state: Cow::Borrowed(state), facts, events: Vec::new() }
    }

    fn record(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Records an event on which the rest of the decision builds.
    fn build_on(&mut self, event: Event) {
        self.state.to_mut().apply(&event, &self.facts.caller.actor, self.facts.now);
        self.record(event);
    }

    /// Takes in what the run's stream proves and the log lacks, so that no decision rests on less than is known.
    fn settle(&mut self) {
        if let Some(event) = settle::proven(&self.state, &self.facts.observed) {
            self.build_on(self.with_pause(event));
        }
    }

    /// Closes an open attempt that nobody runs.
    fn close_open(&mut self) {
        if let Some(open) = self.state.open_attempt() {
            self.build_on(settle::lost(open, &self.facts.observed));
        }
    }

    /// Adds to the end of the open attempt when programs may try again, where an outside service refused it.
    fn with_pause(&self, mut event: Event) -> Event {
        if let Event::AttemptEnded { class: Some(Class::Upstream), next_eligible_at, .. } = &mut event {
            let before = self.state.uncharged_before_latest();
            *next_eligible_at = Some(budget::next_eligible_at(self.facts.now, before));
        }
        event
    }

    fn standing(&self) -> Standing {
        precedence::standing(&self.state, &self.facts.observed)
    }

    /// Refuses a judgement by a process that the workflow itself started.
    fn refuse_child(&self, verb: Verb) -> Result<(), Refusal> {
        if self.facts.caller.role == Role::WorkflowChild {
            Err(Refusal::WorkflowChild { verb })
        } else {
            Ok(())
        }
    }

    /// Refuses what only a person may allow.
    fn refuse_program(&self, verb: Verb) -> Result<(), Refusal> {
        self.refuse_child(verb)?;
        if self.facts.caller.role == Role::Person { Ok(()) } else { Err(Refusal::NotAPerson { verb }) }
    }

    /// Refuses while somebody else holds the lease.
    fn refuse_held(&self, verb: Verb) -> Result<(), Refusal> {
        if self.facts.observed.held_by_other {
            Err(Refusal::Running { id: self.state.id.clone(), verb })
        } else {
            Ok(())
        }
    }

    /// The refusal of `verb` in the state where the item stands.
    fn wrong_state(&self, verb: Verb, standing: &Standing, expected: &'static str) -> Refusal {
        let id = self.state.id.clone();
        match standing.state {
            state @ (ItemState::Succeeded | ItemState::Cancelled) => Refusal::Finished { id, verb, state },
            ItemState::Running => Refusal::Running { id, verb },
            ItemState::Waiting => {
                let unresolved = precedence::unresolved(&self.state, &self.facts.observed);
                Refusal::Waiting { id, verb, unresolved }
            }
            state => self.awaiting_approval(verb, standing).unwrap_or(Refusal::WrongState {
                id,
                verb,
                state,
                expected,
            }),
        }
    }

    fn awaiting_approval(&self, verb: Verb, standing: &Standing) -> Option<Refusal> {
        let open = self.state.open_attempt()?;
        Some(Refusal::AwaitingApproval {
            id: self.state.id.clone(),
            verb,
            attempt: open.number,
            approval_id: open.parked_for.clone()?,
            decided: standing.next_action == super::NextAction::Resume,
        })
    }
}

/// Trims and checks a reason, if there is one.
fn checked_reason(reason: Option<&str>) -> Result<Option<String>, TextError> {
    reason.map(|reason| text::block("reason", reason, bounds::REASON)).transpose()
}
