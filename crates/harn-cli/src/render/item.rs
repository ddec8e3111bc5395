//! A work item: as a row, as sections of text, and as a document.

use std::ops::ControlFlow;

use harn_ledger::{Ledger, StreamError, Timestamp};
use harn_workflow::run::Proof;
use harn_workflow::work::{AttemptRow, Class, Findings, ItemState, PastOutcome, Projection};
use harn_workflow::{ListedItem, PastItem, ProofError, WorkItem};
use serde_json::{Value, json};

use super::evidence::{acceptance_line, criteria, environment};
use super::log::{event_document, word};
use super::page::Page;
use super::why::past_note;
use crate::text::{Palette, columns, safe_line};

/// One row for each item: id, state, attempts, next action, title.
pub(crate) fn rows<'a>(items: impl IntoIterator<Item = &'a Projection>, width: Option<usize>) -> String {
    let rows: Vec<[String; 5]> = items
        .into_iter()
        .map(|item| {
            [
                item.id.to_string(),
                item.state.as_str().to_owned(),
                item.attempts_text(),
                item.next_action.as_str().to_owned(),
                safe_line(&item.title).into_owned(),
            ]
        })
        .collect();
    columns(&rows, width)
}

/// The same for items of a list.
pub(crate) fn listed_rows(items: &[&ListedItem], width: Option<usize>) -> String {
    let row = |item: &&ListedItem| {
        [
            item.id().to_string(),
            item.state.as_str().to_owned(),
            item.budget().to_string(),
            item.next_action.as_str().to_owned(),
            safe_line(item.title()).into_owned(),
        ]
    };
    columns(&items.iter().map(row).collect::<Vec<_>>(), width)
}

/// The proof of the latest attempt that has one: which attempt, and the proof as it is stored.
pub(crate) type Evidence = (u32, Result<Proof, ProofError>);

/// The item in sections: what, state, why, acceptance, findings, attempts, evidence.
pub(crate) fn item(item: &WorkItem, evidence: Option<&Evidence>, width: usize, palette: Palette) -> String {
    page_of(item, evidence, None, width, palette)
}

/// The item as its log stood once.
pub(crate) fn past_item(past: &PastItem, width: usize, palette: Palette) -> String {
    let note = past_note(past.seq, past.last);
    page_of(&past.item, None, Some(&note), width, palette)
}

fn page_of(
    item: &WorkItem,
    evidence: Option<&Evidence>,
    past: Option<&str>,
    width: usize,
    palette: Palette,
) -> String {
    let (intent, shown) = (item.intent(), &item.projection);
    let mut page = Page::new(width, palette);
    page.title(shown.id.as_str(), &shown.title);
    if let Some(past) = past {
        page.field("as it was", past);
    }
    page.word("state", shown.state.as_str(), state_style(shown.state, palette));
    page.field("reason", &shown.reason);
    page.line("next", shown.next_action.as_str());
    for suggestion in &shown.suggestions {
        page.line("try", suggestion);
    }
    if let Some(at) = shown.next_eligible_at {
        page.line("not before", &format!("{} unless a person asks", to_the_second(at)));
    }
    page.line("attempts", &shown.attempts_text());
    for sent_back in shown.unresolved_dependencies.iter().filter(|it| it.reopened) {
        if shown.state != ItemState::Waiting {
            page.field("note", &format!("`{}`, on which it depends, was reopened", sent_back.id));
        }
    }
    for grant in &shown.grants {
        page.field("grant", &format!("{} by {}: {}", grant.attempts, grant.actor, grant.reason));
    }
    page.section("objective");
    page.item("  ", &intent.objective);
    if !intent.acceptance.is_empty() {
        page.section("acceptance");
        for (index, text) in intent.acceptance.iter().enumerate() {
            page.item("  - ", &format!("item.{}: {text}", index + 1));
        }
    }
    if !intent.dependencies.is_empty() {
        page.section("depends on");
        for id in &intent.dependencies {
            let unresolved = shown.unresolved_dependencies.iter().find(|it| it.id == *id);
            let accepted = || if past.is_some() { String::new() } else { "(succeeded)".to_owned() };
            let why = unresolved.map_or_else(accepted, |it| format!("({}): {}", it.state_words(), it.why));
            page.item("  - ", &format!("{id} {why}"));
        }
    }
    findings(&mut page, &shown.findings);
    if !shown.attempts.is_empty() {
        page.section("attempt history");
        for row in &shown.attempts {
            attempt(&mut page, row);
        }
    }
    if let Some((number, proof)) = evidence {
        page.section(&format!("evidence of attempt {number}"));
        match proof {
            Ok(proof) => {
                page.item("  ", &acceptance_line(proof));
                criteria(&mut page, proof);
                environment(&mut page, proof);
            }
            Err(error) => page.item("  ", &format!("its proof cannot be read: {error}")),
        }
    }
    if !shown.notes.is_empty() {
        page.section("notes");
        for note in &shown.notes {
            page.item("  - ", &format!("{}, {}: {}", note.actor, to_the_second(note.noted_at), note.text));
        }
    }
    record(&mut page, item);
    page.into_text()
}

fn record(page: &mut Page, item: &WorkItem) {
    let intent = item.intent();
    page.section("record");
    page.token("  workflow ", &intent.workflow.path);
    page.token("  sha256 ", &intent.workflow.sha256.to_string());
    for module in &intent.workflow.modules {
        page.token("  imports ", &module.path);
    }
    let reference =
        intent.source.reference.as_deref().map(|reference| format!(" {reference}")).unwrap_or_default();
    page.item("  ", &format!("source {}{reference}", intent.source.kind));
    page.item("  ", &format!("created {}", to_the_second(intent.created_at)));
    if let Some(imported) = &intent.imported {
        page.item("  ", &format!("imported from {}: {}", word(imported.program), imported.log.path));
    }
    page.item("  ", &format!("changed {}", to_the_second(item.projection.updated_at)));
}

fn findings(page: &mut Page, findings: &Findings) {
    if !findings.open.is_empty() {
        page.section("open findings");
        for finding in &findings.open {
            page.item("  - ", &format!("{} by {}: {}", finding.id, finding.actor, finding.statement));
        }
    }
    if !findings.past.is_empty() {
        page.section("past findings");
        for finding in &findings.past {
            let outcome = match finding.outcome {
                PastOutcome::Fixed => "fixed",
                PastOutcome::Deferred => "deferred",
                PastOutcome::Superseded => "superseded",
            };
            let reason = finding.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            page.item("  - ", &format!("{} by {}: {}", finding.id, finding.actor, finding.statement));
            page.item("    ", &format!("{outcome} by {}{reason}", finding.closed_by));
        }
    }
}

fn attempt(page: &mut Page, attempt: &AttemptRow) {
    let charge = match attempt.class {
        Some(class) => format!("not charged ({class})"),
        None => "charged".to_owned(),
    };
    let started = to_the_second(attempt.started_at);
    page.item(
        "  ",
        &format!("{}. {}, {}, {charge}, {started}", attempt.number, attempt.status, attempt.trigger),
    );
    page.token("     ", attempt.run_id.as_str());
    if attempt.imported {
        page.item("     ", "imported: its proof is kept as the other program wrote it");
    }
    page.item("     ", &format!("because: {}", attempt.charge_reason));
    if attempt.judgement.is_some() {
        let recorded = attempt.recorded_class.map_or("charged", Class::as_str);
        page.item("     ", &format!("recorded as: {recorded}"));
    }
    if let Some(error) = &attempt.error {
        page.item("     ", &format!("error: {error}"));
    }
    if let Some(decision) = &attempt.decision {
        page.item("     ", &format!("decision: {decision}"));
    }
    if let Some(proof) = &attempt.proof {
        page.token("     proof ", &proof.blob.to_string());
    }
}

/// A time as people read it; the log has it to the microsecond.
pub(super) fn to_the_second(at: Timestamp) -> String {
    let text = at.to_string();
    text.split_once('.').map_or_else(|| text.clone(), |(seconds, _)| format!("{seconds}Z"))
}

pub(super) const fn state_style(state: ItemState, palette: Palette) -> anstyle::Style {
    match state {
        ItemState::Succeeded => palette.good,
        ItemState::Blocked | ItemState::InReview | ItemState::AwaitingApproval => palette.waiting,
        ItemState::Waiting | ItemState::Ready | ItemState::Running | ItemState::Cancelled => {
            anstyle::Style::new()
        }
    }
}

/// `{schema_version, intent, events, projection}`, with the events up to `at` if only those count.
pub(crate) fn item_document(ledger: &Ledger, item: &WorkItem, at: Option<u64>) -> Result<Value, StreamError> {
    let mut events = Vec::new();
    ledger.raw("work", item.stream.id().as_str())?.visit(|event| {
        if at.is_none_or(|at| event.seq <= at) {
            events.push(event_document(&event));
        }
        ControlFlow::Continue(())
    })?;
    Ok(json!({
        "schema_version": 1,
        "intent": item.intent(),
        "events": events,
        "projection": item.projection,
    }))
}
