//! What a reviewer is given: what to do, what was found before, and the form of the answer.

mod excerpts;

use harn_ledger::Digest;
use serde_json::{Value, json};

use crate::bounds;
use crate::finding::{Decided, Finding, Standing};
use crate::path::SourcePath;
use crate::report::schema;
use crate::source::Source;
use crate::state::State;
use crate::turn::Turn;

pub use excerpts::{DIFF_MAX, excerpts};

/// Most changed files that are named.
const CHANGED: usize = bounds::READ;

/// What a reviewer is told to do. It is pinned: a turn records the digest of it.
#[must_use]
pub const fn instructions() -> &'static str {
    include_str!("brief/reviewer.md")
}

/// The digest of [`instructions`].
#[must_use]
pub fn instructions_digest() -> Digest {
    Digest::of(instructions().as_bytes())
}

/// The data for the reviewer of a turn. `diff` is the change as text, if there is one.
///
/// Members: `review`, `turn`, `fingerprint`, `plan`, `request`, `base` or null, `tasks`, `findings` (open ones whole, closed
/// ones with their ruling), `checks` on this source, `changed` (up to 5,000 paths) and `changed_more`, `diff` or null, and
/// `report_schema`.
#[must_use]
pub fn brief(state: &State, turn: &Turn, source: &Source, diff: Option<&str>) -> Value {
    let changed: Vec<&SourcePath> = source.changed.iter().take(CHANGED).collect();
    let checks = state.checks().iter().filter(|result| result.fingerprint == turn.fingerprint);
    let checks: Vec<Value> = checks
        .map(|result| {
            json!({
                "name": result.check.name,
                "scope": result.scope,
                "finding": result.finding,
                "task": result.task,
                "outcome": result.outcome,
                "code": result.code,
                "tail": result.tail,
            })
        })
        .collect();
    let tasks: Vec<Value> =
        state.plan().tasks.iter().map(|task| json!({"id": task.id, "files": task.files})).collect();
    json!({
        "review": state.id(),
        "turn": turn.id,
        "fingerprint": turn.fingerprint,
        "plan": turn.plan,
        "request": state.request(),
        "base": state.base(),
        "tasks": tasks,
        "findings": state.findings().map(|it| finding(state, turn, it)).collect::<Vec<_>>(),
        "checks": checks,
        "changed": changed,
        "changed_more": source.changed.len() - changed.len(),
        "diff": diff,
        "report_schema": schema(Some(state.plan())),
    })
}

/// The whole prompt: instructions, then the data in a fence that nothing in it can close.
#[must_use]
pub fn prompt(brief: &Value) -> String {
    // JSON holds no line feed within its texts, so no line of it is a fence.
    format!("{}\n```json\n{brief:#}\n```\n", instructions())
}

fn finding(state: &State, turn: &Turn, finding: &Finding) -> Value {
    let mut value = json!({
        "id": finding.id,
        "kind": finding.kind,
        "standing": finding.standing,
        "priority": finding.priority,
        "owner": finding.owner,
        "file": finding.place.as_ref().map(|place| &place.file),
        "line": finding.place.as_ref().map(|place| place.line),
        "title": finding.title,
    });
    let more = match finding.standing {
        Standing::Open => {
            let checks = state.checks_of(finding.id).map(|result| {
                json!({
                    "name": result.check.name,
                    "scope": result.scope,
                    "outcome": result.outcome,
                    "on_this_source": result.fingerprint == turn.fingerprint,
                })
            });
            json!({
                "evidence": finding.evidence.last().map(|it| &it.what),
                "fix": finding.fix,
                "repairs_attempted": finding.attempts.len() - finding.attempts_before,
                "regression_checks": checks.collect::<Vec<_>>(),
                "not_reproduced": finding.not_reproduced,
            })
        }
        Standing::Dismissed | Standing::Fixed | Standing::Merged | Standing::Noted => {
            let ruling = finding.decisions.iter().rev().find_map(|it| match &it.what {
                Decided::Dismissed { reason, evidence } => {
                    Some(json!({"reason": reason, "evidence": evidence}))
                }
                Decided::Closed { reason } => Some(json!({"reason": reason, "closed_by_a_person": true})),
                Decided::Fixed { checks } => Some(json!({"checks": checks})),
                Decided::Merged { into, reason } => Some(json!({"into": into, "reason": reason})),
                _ => None,
            });
            json!({"ruling": ruling})
        }
    };
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}
