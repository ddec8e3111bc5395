//! From the log to what is the case: what the run's own stream proves about an open attempt, and what its silence means.

use std::borrow::Cow;

use super::attempt::Attempt;
use super::end::{End, Outcome};
use super::event::Event;
use super::facts::{Observed, RunShows};
use super::state::State;
use super::{bounds, fit};

/// The event that the run's stream proves and the log lacks. While somebody runs the attempt, it is theirs to record. A
/// finished item takes in how its last attempt ended, but waits for no approval any more.
pub(super) fn proven(state: &State, observed: &Observed) -> Option<Event> {
    let open = state.open_attempt().filter(|_| !observed.held_by_other)?;
    match observed.run.as_ref()? {
        RunShows::Ended(end) => Some(Event::ended(open.run_id.clone(), open.number, end.clone())),
        RunShows::Parked { approval_id, .. }
            if open.parked_for.as_ref() != Some(approval_id) && !state.is_finished() =>
        {
            Some(Event::AttemptParked {
                run_id: open.run_id.clone(),
                attempt: open.number,
                approval_id: approval_id.clone(),
            })
        }
        _ => None,
    }
}

/// The event that closes an open attempt for which there is no terminal evidence.
pub(super) fn lost(open: &Attempt, observed: &Observed) -> Event {
    // That an imported run has no stream here says nothing about what it did.
    let untouched = !open.imported && observed.run.as_ref().is_some_and(RunShows::is_untouched);
    let mut end = End::lost(untouched);
    if let Some(RunShows::Unreadable { why }) = &observed.run {
        end.error = fit::block(&format!("its run cannot be read: {why}"), bounds::ERROR);
    }
    Event::ended(open.run_id.clone(), open.number, end)
}

/// The state as it is shown: with what is proven, and with an open attempt that nobody runs as lost. A parked one is not
/// lost as long as the item is unfinished.
pub(super) fn shown<'a>(state: &'a State, observed: &Observed) -> Cow<'a, State> {
    let mut shown = Cow::Borrowed(state);
    if let Some(event) = proven(&shown, observed) {
        derive(&mut shown, &event);
    }
    let waits = |open: &Attempt| open.parked_for.is_some() && !state.is_finished();
    let open = shown.open_attempt().filter(|open| !observed.held_by_other && !waits(open));
    if let Some(event) = open.map(|open| lost(open, observed)) {
        derive(&mut shown, &event);
    }
    shown
}

/// Folds an event that nobody recorded: it changes the open attempt and leaves no time behind.
fn derive(shown: &mut Cow<'_, State>, event: &Event) {
    let Some(open) = shown.to_mut().attempts.last_mut() else { return };
    if let Event::AttemptParked { approval_id, .. } = event {
        open.parked_for = Some(approval_id.clone());
    } else {
        open.parked_for = None;
        open.end = event.end();
    }
}

/// Whether the attempt is lost although nobody recorded that: it can still be resumed.
pub(super) fn is_resumable(state: &State, observed: &Observed) -> bool {
    let shown = shown(state, observed);
    let lost = shown.attempts.last().is_some_and(|latest| latest.outcome() == Some(Outcome::Lost));
    lost && state.open_attempt().is_some() && matches!(observed.run, Some(RunShows::Open { .. }))
}
