//! A review as a log that other programs read.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::read::title_of;
use super::{VERSION, uri};
use crate::finding::{Decided, Finding, Kind, Standing};
use crate::id::FindingId;
use crate::state::State;

/// The fingerprint that names a finding and its review.
pub(super) const FINDING: &str = "harnFinding/v1";
/// The fingerprint of what stands around a finding. It is no identity: findings of one place share it.
pub(super) const CONTEXT: &str = "harnContext/v1";

/// The review as a SARIF 2.1.0 log: one run, and one result for each finding, whatever its standing.
///
/// - What is dismissed or merged has an accepted suppression: somebody decided that it needs no repair, and why.
/// - What is fixed has `baselineState` `absent`: it was found in an earlier state of the source and is not there any more. It is
///   not suppressed, which would say that it is still there; and it does not `pass`, which says nothing of a failure of
///   before. The baseline is what the review found, so the run names none by a GUID, and other results have no such state.
/// - A note has the level `note`.
#[must_use]
pub fn write(state: &State) -> Value {
    let mut indices = BTreeMap::new();
    let mut rules: Vec<Value> = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    for finding in state.findings() {
        let id = rule_of(finding);
        let index = *indices.entry(id).or_insert_with(|| {
            rules.push(descriptor(id));
            rules.len() - 1
        });
        results.push(result(state, finding, id, index));
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": VERSION,
        "runs": [{
            "tool": {
                "driver": { "name": "harn-review", "version": env!("CARGO_PKG_VERSION"), "rules": rules },
            },
            "automationDetails": { "id": format!("harn-review/{}", state.id()) },
            "results": results,
        }],
    })
}

/// The fingerprint that names a finding and its review.
pub(super) fn fingerprint(state: &State, id: FindingId) -> String {
    format!("{}/{id}", state.id())
}

fn rule_of(finding: &Finding) -> &str {
    finding.rule.as_deref().unwrap_or(match finding.kind {
        Kind::Defect => "harn/defect",
        Kind::Uncertain => "harn/uncertain",
        Kind::Note => "harn/note",
    })
}

fn descriptor(id: &str) -> Value {
    let (kind, text) = match id {
        "harn/defect" => (Kind::Defect, "A failing case is shown."),
        "harn/uncertain" => (Kind::Uncertain, "A suspicion without proof."),
        "harn/note" => (Kind::Note, "Information only."),
        id => return json!({ "id": id }),
    };
    json!({
        "id": id,
        "shortDescription": { "text": text },
        "defaultConfiguration": { "level": level(kind) },
    })
}

const fn level(kind: Kind) -> &'static str {
    match kind {
        Kind::Defect => "error",
        Kind::Uncertain => "warning",
        Kind::Note => "note",
    }
}

fn result(state: &State, finding: &Finding, rule: &str, index: usize) -> Value {
    let mut prints = finding.partial_fingerprints.clone();
    prints.insert(FINDING.to_owned(), fingerprint(state, finding.id));
    let mut properties = json!({
        "id": finding.id,
        "standing": finding.standing.as_str(),
        "priority": finding.priority.as_str(),
    });
    if let Some(owner) = &finding.owner {
        properties["owner"] = json!(owner);
    }
    let mut result = json!({
        "ruleId": rule,
        "ruleIndex": index,
        "level": level(finding.kind),
        "message": { "text": message(finding) },
        "properties": properties,
    });
    if let Some(place) = &finding.place {
        prints.insert(CONTEXT.to_owned(), place.anchor.context.to_string());
        result["locations"] = json!([{
            "physicalLocation": {
                "artifactLocation": { "uri": uri::encode(&place.file) },
                "region": { "startLine": place.line },
            },
        }]);
    }
    result["partialFingerprints"] = json!(prints);
    match finding.standing {
        Standing::Open | Standing::Noted => {}
        Standing::Fixed => result["baselineState"] = json!("absent"),
        Standing::Dismissed | Standing::Merged => {
            let justification = justification(finding);
            result["suppressions"] =
                json!([{ "kind": "external", "status": "accepted", "justification": justification }]);
        }
    }
    result
}

/// The title, and what was seen last; a text that begins with the title says it once.
fn message(finding: &Finding) -> String {
    match finding.evidence.last().map(|moment| moment.what.text.as_str()) {
        None => finding.title.clone(),
        Some(text) if title_of(text).as_ref() == Some(&finding.title) => text.to_owned(),
        Some(text) => format!("{}\n\n{text}", finding.title),
    }
}

/// Why it was closed last.
fn justification(finding: &Finding) -> String {
    let reason = finding.decisions.iter().rev().find_map(|moment| match &moment.what {
        Decided::Dismissed { reason, .. } | Decided::Closed { reason } => Some(reason.clone()),
        Decided::Merged { into, reason } => Some(format!("the same as {into}: {reason}")),
        _ => None,
    });
    reason.unwrap_or_default()
}
