//! Why an item stands where it stands, for people.

use harn_workflow::WorkItem;
use harn_workflow::work::Explanation;

use super::item::{state_style, to_the_second};
use super::page::Page;
use crate::text::{Palette, columns, safe_line};

/// The explanation in sections: what decided, what it rests on, what was ruled out, what would move it.
pub(crate) fn explanation(
    item: &WorkItem,
    explanation: &Explanation,
    width: usize,
    palette: Palette,
) -> String {
    let Explanation { state, next_action, reason, rule, ruled_out, because, seen, moves, .. } = explanation;
    let mut page = Page::new(width, palette);
    page.title(item.projection.id.as_str(), &item.projection.title);
    page.word("state", state.as_str(), state_style(*state, palette));
    page.line("next", next_action.as_str());
    page.field("reason", reason);
    page.field("rule", &format!("{rule}: {}", rule.statement()));
    if !because.is_empty() {
        page.section("because");
        for event in because {
            let head =
                format!("{}. {}, {}, {}", event.seq, event.event, event.actor, to_the_second(event.ts));
            page.item("  ", &head);
            if !event.says.is_empty() {
                page.item("     ", &event.says);
            }
        }
    }
    if !seen.is_empty() {
        page.section("seen around it");
        for fact in seen {
            page.item("  - ", fact);
        }
    }
    if !ruled_out.is_empty() {
        page.section("ruled out");
        let rows: Vec<[String; 2]> =
            ruled_out.iter().map(|it| [format!("  {}", it.rule), it.why.clone()]).collect();
        page.rows(&columns(&rows, Some(width)));
    }
    if !moves.is_empty() {
        page.section("what would move it");
        for it in moves {
            page.token("  ", &it.command);
            let needs = it.needs.map_or(String::new(), |needs| format!("; it needs {needs}"));
            page.item("     ", &format!("then it is {}, next {}{needs}", it.state, it.next_action));
        }
    }
    page.into_text()
}

/// A state in the past: what the log alone does not say is said.
pub(super) fn past_note(seq: u64, last: u64) -> String {
    safe_line(&format!(
        "after event {seq} of {last}; where its dependencies, its lease and its approval stood is not on record: \
         dependencies count as accepted, and an open attempt as running unless it was parked"
    ))
    .into_owned()
}
