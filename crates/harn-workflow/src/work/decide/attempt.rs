//! Starting, parking, resuming and ending an attempt: what a runner records.

use harn_ledger::StreamId;

use super::Draft;
use crate::work::attempt::{Attempt, Trigger};
use crate::work::command::Verb;
use crate::work::end::{Class, End};
use crate::work::event::Event;
use crate::work::facts::{Role, RunShows};
use crate::work::lifecycle::{ItemState, NextAction};
use crate::work::precedence::Standing;
use crate::work::refusal::Refusal;
use crate::work::settle;

pub(super) fn begin(draft: &mut Draft<'_>, run_id: StreamId, trigger: Trigger) -> Result<(), Refusal> {
    let (verb, from, expected) = match trigger {
        Trigger::Initial => (Verb::Run, ItemState::Ready, "`ready`"),
        Trigger::Retry => (Verb::Retry, ItemState::Blocked, "`blocked`"),
    };
    draft.refuse_held(verb)?;
    draft.settle();
    let standing = draft.standing();
    if standing.state != from {
        let id = draft.state.id.clone();
        return Err(match (verb, standing.state) {
            (Verb::Run, ItemState::Blocked) if draft.state.window().is_empty() => exhausted(draft, verb),
            (Verb::Run, ItemState::Blocked) => Refusal::NeedsRetry { id, reason: standing.reason },
            _ => draft.wrong_state(verb, &standing, expected),
        });
    }
    if trigger == Trigger::Retry && draft.facts.caller.role != Role::Person {
        refuse_automation(draft, &standing)?;
    }
    if let Some(attempt) = draft.state.attempt_of(&run_id) {
        return Err(Refusal::RunIdUsed { run_id, attempt: attempt.number });
    }
    draft.close_open();
    let budget = draft.state.budget();
    if budget.remaining() == 0 {
        return Err(exhausted(draft, verb));
    }
    draft.record(Event::AttemptStarted { run_id, attempt: budget.used + 1, trigger });
    Ok(())
}

/// Bound and pause stop programs; a person may go on.
fn refuse_automation(draft: &Draft<'_>, standing: &Standing) -> Result<(), Refusal> {
    let id = draft.state.id.clone();
    if standing.next_action != NextAction::Retry {
        return Err(Refusal::NeedsPerson { id, reason: standing.reason.clone() });
    }
    // An end that is recorded only with this command leaves no time to count from.
    let latest = draft.state.window().last().filter(|_| draft.events.is_empty());
    let at = latest.and_then(Attempt::not_before);
    match at.filter(|at| draft.facts.now < *at) {
        Some(at) => Err(Refusal::TooEarly { id, at }),
        None => Ok(()),
    }
}

pub(super) fn exhausted(draft: &Draft<'_>, verb: Verb) -> Refusal {
    let budget = draft.state.budget();
    let (charged, ceiling) = (budget.charged, budget.ceiling());
    Refusal::Exhausted { id: draft.state.id.clone(), verb, charged, ceiling }
}

pub(super) fn park(draft: &mut Draft<'_>, run_id: &StreamId, approval_id: StreamId) -> Result<(), Refusal> {
    draft.refuse_held(Verb::Park)?;
    draft.settle();
    if draft.state.is_finished() {
        return Err(draft.wrong_state(Verb::Park, &draft.standing(), "an attempt under way"));
    }
    let open = open_attempt(draft, run_id, Verb::Park)?;
    if open.parked_for.as_ref() == Some(&approval_id) {
        return Ok(());
    }
    if open.parked_for.is_some() {
        return Err(Refusal::ContradictsRun { run_id: run_id.clone() });
    }
    let attempt = open.number;
    draft.record(Event::AttemptParked { run_id: run_id.clone(), attempt, approval_id });
    Ok(())
}

pub(super) fn resume(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    draft.refuse_held(Verb::Resume)?;
    draft.settle();
    let standing = draft.standing();
    let allowed = match standing.state {
        ItemState::AwaitingApproval => standing.next_action == NextAction::Resume,
        ItemState::Blocked => settle::is_resumable(&draft.state, &draft.facts.observed),
        _ => false,
    };
    let id = || draft.state.id.clone();
    let Some(open) = draft.state.open_attempt() else {
        return Err(match standing.state {
            ItemState::Blocked => Refusal::NoOpenAttempt { id: id(), verb: Verb::Resume },
            _ => draft.wrong_state(Verb::Resume, &standing, "a parked or lost attempt"),
        });
    };
    let (run_id, attempt) = (open.run_id.clone(), open.number);
    if !allowed {
        return Err(match standing.state {
            ItemState::Blocked => Refusal::NothingToResume { id: id(), attempt },
            _ => draft.wrong_state(Verb::Resume, &standing, "a parked or lost attempt"),
        });
    }
    draft.record(Event::AttemptResumed { run_id, attempt });
    Ok(())
}

/// Also legal when the item was cancelled meanwhile: the runner that was told to stop says how it ended.
pub(super) fn end(draft: &mut Draft<'_>, run_id: &StreamId, end: End) -> Result<(), Refusal> {
    draft.refuse_held(Verb::End)?;
    draft.settle();
    if let Some(recorded) = draft.state.attempt_of(run_id).and_then(|attempt| attempt.end.as_ref()) {
        return match recorded {
            same if *same == end => Ok(()),
            _ if !draft.events.is_empty() => Err(Refusal::ContradictsRun { run_id: run_id.clone() }),
            other => Err(Refusal::AlreadyEnded { run_id: run_id.clone(), outcome: other.outcome }),
        };
    }
    let attempt = open_attempt(draft, run_id, Verb::End)?.number;
    let touched = draft.facts.observed.run.as_ref().is_some_and(has_worked);
    if touched && end.class == Some(Class::Interrupted) {
        return Err(Refusal::ContradictsRun { run_id: run_id.clone() });
    }
    let ended = draft.with_pause(Event::ended(run_id.clone(), attempt, end));
    draft.record(ended);
    Ok(())
}

fn has_worked(run: &RunShows) -> bool {
    matches!(run, RunShows::Open { worked: true } | RunShows::Parked { worked: true, .. })
}

fn open_attempt<'d>(draft: &'d Draft<'_>, run_id: &StreamId, verb: Verb) -> Result<&'d Attempt, Refusal> {
    let open = draft.state.open_attempt().filter(|open| open.run_id == *run_id);
    open.ok_or_else(|| match draft.state.attempt_of(run_id).and_then(Attempt::outcome) {
        Some(outcome) => Refusal::AlreadyEnded { run_id: run_id.clone(), outcome },
        None => Refusal::NoOpenAttempt { id: draft.state.id.clone(), verb },
    })
}
