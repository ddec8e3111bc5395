//! `harn work list`

use std::cmp::Reverse;

use harn_workflow::ListedItem;
use harn_workflow::work::Projection;
use serde_json::json;

use super::super::Context;
use crate::args::{ListArgs, SortKey};
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::render;

pub(super) fn run(context: &mut Context<'_, '_>, args: &ListArgs) -> Result<Exit, Failure> {
    let mut listing = context.session.works.list()?;
    sort(&mut listing.items, args);
    let is_wanted = |projection: &Projection| args.state.is_empty() || args.state.contains(&projection.state);
    let wanted = listing.items.iter().map(|item| &item.projection).filter(|it| is_wanted(it));
    let mut shown: Vec<&Projection> = wanted.collect();
    let total = shown.len();
    shown.truncate(args.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)));
    let left_out = total - shown.len();
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
        context.output.text(match (args.state.len(), listing.unreadable.is_empty()) {
            (0, true) => "no work items\n",
            (0, false) => "no work items that can be read\n",
            (1, _) => "no work items in this state\n",
            _ => "no work items in these states\n",
        });
    }
    let rows = render::rows(shown.iter().copied(), context.io.width());
    context.output.text(&rows);
    if left_out > 0 {
        context.note(&format!("{left_out} more are not shown"));
    }
    context.output.document(json!({
        "schema_version": 1,
        "items": shown,
        "total": total,
        "warnings": warnings,
        "verified": true,
    }));
    Ok(Exit::Done)
}

/// Puts the items into the order that is asked for. They come with the newest first.
fn sort(items: &mut [ListedItem], args: &ListArgs) {
    match args.sort {
        SortKey::Created => {}
        SortKey::Updated => items.sort_by_key(|item| Reverse(item.projection.updated_at)),
        SortKey::State => items.sort_by_key(|item| item.projection.state),
        SortKey::Id => items.sort_by(|a, b| a.projection.id.cmp(&b.projection.id)),
    }
    if args.reverse {
        items.reverse();
    }
}
