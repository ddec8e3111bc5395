//! `harn work list`

use std::cmp::Reverse;
use std::io::{self, Write};

use harn_workflow::ListedItem;
use serde_json::{Value, json};

use super::super::Context;
use crate::args::{ListArgs, SortKey};
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::render;

pub(super) fn run(context: &mut Context<'_, '_>, args: &ListArgs) -> Result<Exit, Failure> {
    let mut listing = context.session.works.list()?;
    sort(&mut listing.items, args);
    let mut warnings = Vec::new();
    for unreadable in &listing.unreadable {
        let reason = with_causes(&unreadable.error);
        context.warn(&format!("{} cannot be read: {reason}", unreadable.id));
        warnings.push(json!({ "id": unreadable.id, "reason": reason }));
    }
    for item in &listing.items {
        let Some(tail) = item.tail else { continue };
        let reason = context.warn_of_tail("work", item.id(), item.events, tail);
        warnings.push(json!({ "id": item.id(), "reason": reason }));
    }
    let is_wanted = |item: &&ListedItem| args.state.is_empty() || args.state.contains(&item.state);
    let mut shown: Vec<&ListedItem> = listing.items.iter().filter(is_wanted).collect();
    let total = shown.len();
    shown.truncate(args.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)));
    let left_out = total - shown.len();
    if context.output.is_document() {
        let written = write_document(context, &shown, total, warnings);
        context.output.written(written);
    } else if shown.is_empty() {
        context.output.text(match (args.state.len(), listing.unreadable.is_empty()) {
            (0, true) => "no work items\n",
            (0, false) => "no work items that can be read\n",
            (1, _) => "no work items in this state\n",
            _ => "no work items in these states\n",
        });
    } else {
        context.output.text(&render::listed_rows(&shown, context.io.width()));
    }
    if left_out > 0 {
        context.note(&format!("{left_out} more are not shown"));
    }
    Ok(Exit::Done)
}

/// Writes the document item by item: only one of them is ever held whole. One that has become unreadable meanwhile is
/// warned of.
fn write_document(
    context: &mut Context<'_, '_>,
    shown: &[&ListedItem],
    total: usize,
    mut warnings: Vec<Value>,
) -> io::Result<()> {
    let works = context.session.works.clone();
    let mut first = true;
    let mut buffer = Vec::new();
    buffer.extend_from_slice(b"{\"items\":[");
    for item in shown {
        match works.projection_of(item) {
            Ok(projection) => {
                if !std::mem::take(&mut first) {
                    buffer.push(b',');
                }
                // As a value first, so that the members stand in the order in which every document has them.
                serde_json::to_writer(&mut buffer, &serde_json::to_value(&projection)?)?;
            }
            Err(error) => {
                let reason = with_causes(&error);
                context.warn(&format!("{} cannot be read: {reason}", item.id()));
                warnings.push(json!({ "id": item.id(), "reason": reason }));
            }
        }
        if buffer.len() >= 64 << 10 {
            context.io.stdout.writer.write_all(&buffer)?;
            buffer.clear();
        }
    }
    let rest =
        json!({ "schema_version": 1, "total": total, "verified": true, "warnings": warnings }).to_string();
    writeln!(buffer, "],{}", &rest[1..])?;
    context.io.stdout.writer.write_all(&buffer)
}

/// Puts the items into the order that is asked for. They come with the newest first.
fn sort(items: &mut [ListedItem], args: &ListArgs) {
    match args.sort {
        SortKey::Created => {}
        SortKey::Updated => items.sort_by_key(|item| Reverse(item.updated_at())),
        SortKey::State => items.sort_by_key(|item| item.state),
        SortKey::Id => items.sort_by(|a, b| a.id().cmp(b.id())),
    }
    if args.reverse {
        items.reverse();
    }
}
