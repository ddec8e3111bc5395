//! Judging anew whether an attempt counts against the budget.

use harn_ledger::text;

use super::Draft;
use crate::work::bounds;
use crate::work::command::Verb;
use crate::work::end::{Class, Outcome};
use crate::work::event::Event;
use crate::work::refusal::Refusal;

/// The word of a person stands above what was recorded with the end, and the budget follows. An open attempt that nobody
/// runs is closed first: whoever judges it says that it is over.
pub(super) fn recharge(
    draft: &mut Draft<'_>,
    number: u32,
    class: Option<Class>,
    reason: &str,
) -> Result<(), Refusal> {
    draft.refuse_program(Verb::Recharge)?;
    let reason = text::block("reason", reason, bounds::REASON)?;
    draft.settle();
    let standing = draft.standing();
    let id = || draft.state.id.clone();
    if draft.state.is_finished() {
        return Err(draft.wrong_state(Verb::Recharge, &standing, "an unfinished item"));
    }
    let used = draft.state.budget().used;
    let attempt = draft.state.attempt_numbered(number).ok_or_else(|| Refusal::NoSuchAttempt {
        id: id(),
        attempt: number,
        used,
    })?;
    if attempt.outcome() == Some(Outcome::Passed) {
        return Err(Refusal::PassedCounts { id: id(), attempt: number });
    }
    let (run_id, was_open) = (attempt.run_id.clone(), attempt.is_open());
    if was_open {
        draft.refuse_held(Verb::Recharge)?;
        if attempt.parked_for.is_some() {
            return Err(draft.wrong_state(Verb::Recharge, &standing, "an attempt that ended"));
        }
        draft.close_open();
    }
    let Some(judged) = draft.state.attempt_numbered(number).filter(|it| was_open || it.class() != class)
    else {
        return Ok(());
    };
    let budget = draft.state.budget();
    if class.is_none() && !judged.is_charged() && budget.remaining() == 0 {
        let (charged, ceiling) = (budget.charged, budget.ceiling());
        return Err(Refusal::Overdrawn { id: draft.state.id.clone(), attempt: number, charged, ceiling });
    }
    draft.record(Event::AttemptRecharged { run_id, attempt: number, class, reason });
    Ok(())
}
