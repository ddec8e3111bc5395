//! `harn work list`

use harn_workflow::work::{ItemState, Projection};
use serde_json::json;

use super::super::Context;
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::render;

pub(super) fn run(context: &mut Context<'_, '_>, wanted: Option<ItemState>) -> Result<Exit, Failure> {
    let listing = context.session.works.list()?;
    let shown: Vec<&Projection> = listing
        .items
        .iter()
        .map(|item| &item.projection)
        .filter(|projection| wanted.is_none_or(|state| projection.state == state))
        .collect();
    let mut warnings = Vec::new();
    for unreadable in &listing.unreadable {
        let reason = with_causes(&unreadable.error);
        context.warn(&format!("{} cannot be read: {reason}", unreadable.id));
        warnings.push(json!({ "id": unreadable.id, "reason": reason }));
    }
    for item in &listing.items {
        let Some(tail) = item.tail else { continue };
        let reason = context.warn_of_tail("work", &item.projection.id, item.events, tail);
        warnings.push(json!({ "id": item.projection.id, "reason": reason }));
    }
    if shown.is_empty() {
        context.output.text(match (wanted, listing.unreadable.is_empty()) {
            (Some(_), _) => "no work items in this state\n",
            (None, true) => "no work items\n",
            (None, false) => "no work items that can be read\n",
        });
    }
    let rows = render::rows(shown.iter().copied(), context.io.width());
    context.output.text(&rows);
    context
        .output
        .document(json!({ "schema_version": 1, "items": shown, "warnings": warnings, "verified": true }));
    Ok(Exit::Done)
}
