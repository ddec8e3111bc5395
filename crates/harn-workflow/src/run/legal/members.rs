//! Whether the members of an event agree with the state and with each other.

use crate::run::agent::{AgentOutcome, TryOutcome};
use crate::run::check::CheckOutcome;
use crate::run::criterion::AcceptanceIds;
use crate::run::ending::{Failure, Status};
use crate::run::environment::{COMMANDS_MAX, Compared, FinalCheck, Preparation, TESTS_MAX};
use crate::run::event::Event;
use crate::run::evidence::{EVIDENCE_MAX, Source};
use crate::run::state::{Environment, Phase, State};

use super::Refusal;

pub(super) fn check(state: &State, event: &Event) -> Result<(), Refusal> {
    match event {
        Event::EnvironmentPrepared { preparation } => check_preparation(event, preparation),
        Event::EnvironmentChecked { check } => check_final(state, event, check),
        Event::AgentStarted { id, .. } => in_order(event, id, &state.next_agent()),
        Event::AgentTry { .. } | Event::AgentEnded { .. } => check_agent(state, event),
        Event::CheckStarted { id, acceptance_ids, .. } => {
            in_order(event, id, &state.next_check())?;
            check_room(state)?;
            check_citations(state, acceptance_ids)
        }
        Event::CheckEnded { .. } => check_check(state, event),
        Event::EvidenceRecorded { .. } => check_evidence(state, event),
        Event::RunParked { .. } => check_park(state),
        Event::RunEnded { .. } => check_end(state, event),
        _ => Ok(()),
    }
}

fn check_preparation(event: &Event, preparation: &Preparation) -> Result<(), Refusal> {
    let held = preparation.hold.is_some();
    consistent(event, held == preparation.reason.is_some(), "a reason exactly when it is held")?;
    consistent(event, preparation.baseline.len() <= COMMANDS_MAX, "at most 32 commands")
}

fn check_final(state: &State, event: &Event, check: &FinalCheck) -> Result<(), Refusal> {
    let Environment::Prepared { commands, .. } = state.environment() else {
        return Err(Refusal::Environment { event: event.name() });
    };
    consistent(event, check.comparisons.len() <= *commands, "at most as many commands as the baseline has")?;
    let named = |compared: &Compared| {
        compared.broken.len() <= TESTS_MAX && compared.broken.len() <= compared.broken_total as usize
    };
    consistent(event, check.comparisons.iter().all(named), "at most three tests, and no more than there are")
}

fn check_agent(state: &State, event: &Event) -> Result<(), Refusal> {
    let (Event::AgentTry { id, .. } | Event::AgentEnded { id, .. }) = event else {
        return Ok(());
    };
    let Some(&recorded) = state.open_agents().get(id) else {
        return Err(not_open(event, id));
    };
    match event {
        Event::AgentTry { number, outcome, class, error, .. } => {
            in_order(event, &number.get(), &recorded.saturating_add(1))?;
            let clean = class.is_none() && error.is_none();
            consistent(
                event,
                *outcome != TryOutcome::Replied || clean,
                "neither a class nor an error beside an accepted reply",
            )
        }
        Event::AgentEnded { outcome, class, reply, error, tries, .. } => {
            in_order(event, tries, &recorded)?;
            consistent(event, outcome.answered() == reply.is_some(), "a reply unless the call failed")?;
            consistent(
                event,
                *outcome == AgentOutcome::Failed || (class.is_none() && error.is_none()),
                "neither a class nor an error beside a reply",
            )
        }
        _ => Ok(()),
    }
}

fn check_check(state: &State, event: &Event) -> Result<(), Refusal> {
    let Event::CheckEnded { id, outcome, exit_code, evidence, .. } = event else {
        return Ok(());
    };
    if !state.open_checks().contains_key(id) {
        return Err(not_open(event, id));
    }
    in_order(event, evidence, &state.next_evidence())?;
    consistent(
        event,
        (*outcome == CheckOutcome::Passed) == (*exit_code == Some(0)),
        "the exit code 0 exactly when the check passed",
    )
}

fn check_evidence(state: &State, event: &Event) -> Result<(), Refusal> {
    let Event::EvidenceRecorded { id, source, check, acceptance_ids, .. } = event else {
        return Ok(());
    };
    in_order(event, id, &state.next_evidence())?;
    consistent(
        event,
        check.is_some() == state.due().is_some() && (check.is_none() || *source == Source::Engine),
        "a check exactly when its end stands before, and then the source `engine`",
    )?;
    if state.due().is_none() {
        check_room(state)?;
    }
    check_citations(state, acceptance_ids)
}

fn check_park(state: &State) -> Result<(), Refusal> {
    let (agents, checks) = (state.open_agents().len(), state.open_checks().len());
    if agents + checks > 0 {
        return Err(Refusal::WorkOpen { agents, checks });
    }
    Ok(())
}

fn check_end(state: &State, event: &Event) -> Result<(), Refusal> {
    let Event::RunEnded { status, failure, class, error, result, .. } = event else {
        return Ok(());
    };
    let failed = *status == Status::Failed;
    consistent(event, failed == failure.is_some(), "a failure exactly when the run failed")?;
    consistent(event, failed || error.is_none(), "an error only when the run failed")?;
    consistent(event, !failed || result.is_none(), "a result only when the run succeeded")?;
    consistent(
        event,
        failed || (state.script_loaded() && matches!(state.phase(), Phase::Running)),
        "a failure unless the script was loaded and is running",
    )?;
    consistent(
        event,
        (*failure == Some(Failure::Decision)) == matches!(state.phase(), Phase::Blocked { .. }),
        "the failure `decision` exactly when the run is blocked",
    )?;
    consistent(
        event,
        *failure != Some(Failure::Environment) || !state.script_loaded(),
        "the failure `environment` only before the script is loaded",
    )?;
    let expected = state.class(*failure);
    if *class != expected {
        return Err(Refusal::WrongClass { found: *class, expected });
    }
    Ok(())
}

/// Whether there is room for one more record of evidence.
fn check_room(state: &State) -> Result<(), Refusal> {
    if state.evidence_reserved() >= EVIDENCE_MAX as usize {
        return Err(Refusal::TooMuchEvidence { max: EVIDENCE_MAX });
    }
    Ok(())
}

fn check_citations(state: &State, ids: &AcceptanceIds) -> Result<(), Refusal> {
    match ids.as_slice().iter().find(|id| !state.has_criterion(id)) {
        Some(id) => Err(Refusal::UnknownCriterion { id: id.clone() }),
        None => Ok(()),
    }
}

fn in_order<T: PartialEq + ToString>(event: &Event, found: &T, expected: &T) -> Result<(), Refusal> {
    if found == expected {
        return Ok(());
    }
    Err(Refusal::OutOfOrder { event: event.name(), found: found.to_string(), expected: expected.to_string() })
}

fn not_open(event: &Event, id: &impl ToString) -> Refusal {
    Refusal::NotOpen { event: event.name(), id: id.to_string() }
}

fn consistent(event: &Event, holds: bool, expected: &'static str) -> Result<(), Refusal> {
    if holds {
        return Ok(());
    }
    let event = event.name();
    Err(Refusal::Inconsistent { event, expected })
}
