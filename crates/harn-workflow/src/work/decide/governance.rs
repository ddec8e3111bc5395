//! Notes, grants and cancellation.

use harn_ledger::text;

use super::{Draft, checked_reason};
use crate::work::bounds;
use crate::work::command::Verb;
use crate::work::event::{Event, check_grant};
use crate::work::refusal::Refusal;

pub(super) fn note(draft: &mut Draft<'_>, text: &str) -> Result<(), Refusal> {
    let text = text::block("note", text, bounds::NOTE)?;
    draft.record(Event::Noted { text });
    Ok(())
}

pub(super) fn grant(draft: &mut Draft<'_>, attempts: u32, reason: &str) -> Result<(), Refusal> {
    refuse_grant(draft, Verb::Grant, attempts)?;
    if draft.state.is_finished() {
        return Err(draft.wrong_state(Verb::Grant, &draft.standing(), "an unfinished item"));
    }
    let reason = text::block("reason", reason, bounds::REASON)?;
    draft.record(Event::Granted { attempts, reason });
    Ok(())
}

/// Only a person may grant, and only so much at once.
pub(super) fn refuse_grant(draft: &Draft<'_>, verb: Verb, attempts: u32) -> Result<(), Refusal> {
    draft.refuse_program(verb)?;
    check_grant(attempts).map_err(|_| Refusal::GrantOutOfRange { attempts })
}

/// A running attempt is left open: its runner sees the event, stops, and records the end itself.
pub(super) fn cancel(draft: &mut Draft<'_>, reason: Option<&str>) -> Result<(), Refusal> {
    if draft.state.is_finished() {
        return Err(draft.wrong_state(Verb::Cancel, &draft.standing(), "an unfinished item"));
    }
    let reason = checked_reason(reason)?;
    draft.settle();
    if !draft.facts.observed.held_by_other {
        draft.close_open();
    }
    draft.record(Event::Cancelled { reason });
    Ok(())
}
