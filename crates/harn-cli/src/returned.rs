//! What the script of a run returned: the value itself, which the proof has only by its digest.

use harn_ledger::Entry;
use harn_workflow::WorkLedger;
use harn_workflow::run::{Event, Payload, PayloadKind, Run};
use serde_json::Value;

use crate::text::cut;

/// Largest stored value that is read for display, in bytes.
const VALUE_MAX: u64 = 1 << 20;
/// Most columns of it that are shown to people.
const SHOWN: usize = 400;

/// The value that the run's script returned: text as text, JSON as JSON. None if it returned nothing, has not ended, or
/// its value is too large to be shown or not there any more; the transcript tells which.
pub(crate) fn returned(works: &WorkLedger, run_id: &str) -> Option<Value> {
    let run = works.ledger().stream::<Run>(run_id).ok()?;
    let history = run.history().ok()?;
    let ended = history.iter().rev().filter_map(Entry::domain).find_map(|recorded| match &recorded.event {
        Event::RunEnded { result, .. } => result.clone(),
        _ => None,
    });
    value(works, &ended?)
}

fn value(works: &WorkLedger, payload: &Payload) -> Option<Value> {
    let text = match (payload.content.text(), payload.content.blob()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(blob)) if blob.bytes <= VALUE_MAX => {
            String::from_utf8(works.blobs().get(&blob).ok()?).ok()?
        }
        _ => return None,
    };
    match payload.kind {
        PayloadKind::Json => serde_json::from_str(&text).ok(),
        _ => Some(text.into()),
    }
}

/// The value in one short text; `harn run log` has all of it.
pub(crate) fn in_words(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    cut(text.trim(), SHOWN)
}
