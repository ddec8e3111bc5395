//! The lines of a log: for people, for programs, and as progress while they are written.

use std::fmt::Write as _;

use harn_ledger::{RawEvent, Recorded};
use harn_workflow::run::Event;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::text::{cut, rows, safe_line};

/// The lines of a log: number, time, actor, event, data. With `chain`, the hash of each below it.
///
/// Without a `width`, as in a pipe, an event is one line. With one, data that does not fit stands below, cut to one line.
pub(crate) fn log(events: &[RawEvent<'_>], chain: bool, width: Option<usize>) -> String {
    let cells: Vec<[String; 5]> =
        events.iter().map(|event| imported(event).unwrap_or_else(|| cells(event))).collect();
    let mut lines = rows(&cells, None);
    if let Some(width) = width.filter(|width| lines.iter().any(|line| line.width() > *width)) {
        let heads: Vec<[String; 4]> =
            cells.iter().map(|[a, b, c, d, _]| [a, b, c, d].map(Clone::clone)).collect();
        lines = rows(&heads, Some(width));
        for (line, [.., data]) in lines.iter_mut().zip(&cells).filter(|(_, [.., data])| !data.is_empty()) {
            *line = format!("{line}\n    {}", cut(data, width.saturating_sub(4)));
        }
    }
    let mut out = String::new();
    for (line, event) in lines.iter().zip(events) {
        // Writing to memory cannot fail.
        let _ = writeln!(out, "{line}");
        if chain {
            let _ = writeln!(out, "    prev {}\n    hash {}", event.prev, event.hash);
        }
    }
    out
}

fn cells(event: &RawEvent<'_>) -> [String; 5] {
    let data = if event.data == "{}" { String::new() } else { safe_line(&event.data).into_owned() };
    let actor = safe_line(&event.actor).into_owned();
    [event.seq.to_string(), event.ts.to_string(), actor, event.event.clone().into_owned(), data]
}

/// An event that another program recorded, as what it was, when it was, and by whom it was.
fn imported(event: &RawEvent<'_>) -> Option<[String; 5]> {
    if event.event != "event.imported" {
        return None;
    }
    let data: Value = serde_json::from_str(&event.data).ok()?;
    let origin = &data["origin"];
    let (name, inner) = data["event"].as_object()?.iter().next()?;
    let inner = if inner.as_object()?.is_empty() { String::new() } else { inner.to_string() };
    Some([
        event.seq.to_string(),
        origin["at"].as_str()?.to_owned(),
        safe_line(origin["actor"].as_str()?).into_owned(),
        format!("{name} (imported)"),
        safe_line(&inner).into_owned(),
    ])
}

/// A line of a log as a document, member for member as it is stored.
pub(crate) fn event_document(event: &RawEvent<'_>) -> Value {
    let data: Value = serde_json::from_str(&event.data).unwrap_or(Value::Null);
    let mut document = json!({
        "seq": event.seq,
        "ts": event.ts,
        "actor": event.actor,
        "event": event.event,
        "data": data,
        "prev": event.prev,
        "hash": event.hash,
    });
    if event.more {
        document["more"] = true.into();
    }
    document
}

/// What a person who waits is told of an event, if anything.
pub(crate) fn progress(recorded: &Recorded<Event>) -> Option<String> {
    let line = match &recorded.event {
        Event::Stage { title } => format!("stage: {title}"),
        Event::Log { message } => message.text().unwrap_or("(a long text, see `harn run log`)").to_owned(),
        Event::AgentStarted { id, label, .. } => format!("{id} started: {label}"),
        Event::AgentEnded { id, outcome, duration_ms, .. } => {
            let word = if outcome.answered() { "answered" } else { "failed" };
            format!("{id} {word} after {}", seconds(*duration_ms))
        }
        Event::CheckStarted { id, name, .. } => format!("{id} started: {name}"),
        Event::CheckEnded { id, outcome, duration_ms, .. } => {
            format!("{id} {} after {}", word(*outcome), seconds(*duration_ms))
        }
        _ => return None,
    };
    Some(cut(&safe_line(&line), 100))
}

/// A closed word as it is written in JSON.
pub(super) fn word(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

pub(super) fn seconds(milliseconds: u64) -> String {
    format!("{}.{:01} s", milliseconds / 1000, milliseconds % 1000 / 100)
}
