//! Reconciling: record what is known, never act.

use super::Draft;
use crate::work::event::Event;
use crate::work::precedence::Standing;

/// While somebody runs the item, it is theirs to record. Unchanged evidence gives no event.
pub(super) fn reconcile(draft: &mut Draft<'_>) {
    if draft.facts.observed.held_by_other {
        return;
    }
    draft.settle();
    let Standing { state, next_action, reason, .. } = draft.standing();
    let last = draft.state.receipt();
    let same =
        last.is_some_and(|it| it.state == state && it.next_action == next_action && it.reason == reason);
    if !same {
        draft.record(Event::Reconciled { state, next_action, reason });
    }
}
