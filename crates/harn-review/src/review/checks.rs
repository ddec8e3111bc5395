//! What follows from checks: recording, waiving, and giving a failed one back to its owner.

use harn_ledger::Digest;

use super::Refusal;
use crate::check::{Check, CheckResult, Scope};
use crate::event::Event;
use crate::state::State;

/// Records a result, if it is of a check that there is and in a scope that is due.
pub(super) fn record(state: &State, mut result: Box<CheckResult>) -> Result<Event, Refusal> {
    let name = &result.check.name;
    match result.scope {
        Scope::Combined => is_planned(&result.check, &state.plan().combined)?,
        Scope::Task => {
            let id = result.task.as_deref().unwrap_or_default();
            let Some(task) = state.plan().task(id) else {
                let known = state.plan().tasks.iter().map(|task| task.id.clone()).collect();
                return Err(Refusal::UnknownTask { task: id.to_owned(), known });
            };
            is_planned(&result.check, &task.checks)?;
        }
        Scope::Baseline | Scope::Final => {
            let id = result
                .finding
                .ok_or_else(|| Refusal::UnknownCheck { name: name.clone(), known: Vec::new() })?;
            let finding = state.finding(id).ok_or(Refusal::UnknownFinding { id })?;
            let is = || format!("{} and {}", finding.kind.as_str(), finding.standing.as_str());
            if !finding.is_open() {
                return Err(Refusal::NotDecidable { id, is: is(), expected: "an open finding" });
            }
            if (result.scope == Scope::Final) != finding.was_attempted() {
                return Err(Refusal::WrongScope { id, scope: result.scope });
            }
        }
    }
    result.attempt = state.next_attempt(result.scope, name, result.finding, result.task.as_deref());
    Ok(Event::CheckRecorded { result })
}

fn is_planned(check: &Check, planned: &[Check]) -> Result<(), Refusal> {
    match planned.iter().find(|planned| planned.name == check.name) {
        None => Err(unknown(&check.name, planned)),
        Some(planned) if planned != check => Err(Refusal::OtherCheck { name: check.name.clone() }),
        Some(_) => Ok(()),
    }
}

fn unknown(name: &str, planned: &[Check]) -> Refusal {
    let known = planned.iter().map(|check| check.name.clone()).collect();
    Refusal::UnknownCheck { name: name.to_owned(), known }
}

fn combined<'a>(state: &'a State, name: &str) -> Result<&'a Check, Refusal> {
    let planned = &state.plan().combined;
    planned.iter().find(|check| check.name == name).ok_or_else(|| unknown(name, planned))
}

/// Whether a combined check failed, so that a person may let it pass.
pub(super) fn waivable(state: &State, name: &str) -> Result<(), Refusal> {
    let check = combined(state, name)?;
    let is_it = |result: &&CheckResult| result.scope == Scope::Combined && result.check == *check;
    match state.checks.iter().rfind(is_it) {
        Some(result) if !result.passed() => Ok(()),
        result => Err(Refusal::CheckDidNotFail { name: name.to_owned(), ran: result.is_some() }),
    }
}

/// The task that a failed combined check goes back to.
pub(super) fn fixable(state: &State, name: &str, fingerprint: &Digest) -> Result<String, Refusal> {
    let check = combined(state, name)?;
    match state.combined(name, fingerprint) {
        // A failure of another command of this name is none of this check.
        Some(result) if result.check == *check && !result.passed() => {}
        result => return Err(Refusal::CheckDidNotFail { name: name.to_owned(), ran: result.is_some() }),
    }
    let owns = |planned: &Check| {
        planned.name == check.name && planned.argv == check.argv && planned.cwd == check.cwd
    };
    let mut owners = state.plan().tasks.iter().filter(|task| task.checks.iter().any(owns));
    let owner = owners.next().map(|task| task.id.clone());
    owner.ok_or_else(|| Refusal::CheckUnowned { name: name.to_owned() })
}
