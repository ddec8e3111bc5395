//! The JSON Schema of a report, ready to be handed to a model as the form of its answer.

use serde_json::{Value, json};

use crate::bounds;
use crate::plan::Plan;

/// The schema (draft 2020-12). With a plan, an owner is one of its tasks.
#[must_use]
pub fn schema(plan: Option<&Plan>) -> Value {
    let text = json!({"type": "string", "minLength": 1, "maxLength": bounds::TEXT});
    let path = json!({"type": "string", "minLength": 1, "maxLength": bounds::PATH});
    let line = json!({"type": "integer", "minimum": 1});
    let name = json!({"type": "string", "minLength": 1, "maxLength": bounds::NAME});
    let finding = json!({"type": "string", "pattern": "^R[1-9][0-9]*$"});
    let priority = json!({"enum": ["P0", "P1", "P2"]});
    let owner = plan.map_or_else(
        || name.clone(),
        |plan| json!({"enum": plan.tasks.iter().map(|task| &task.id).collect::<Vec<_>>()}),
    );
    let cites = json!({
        "description": "what the evidence rests on: a recorded check by its name, or a line of a file",
        "type": "array",
        "maxItems": bounds::CITES,
        "items": {
            "type": "object",
            "additionalProperties": false,
            "properties": {"check": name, "file": path, "line": line},
            "anyOf": [{"required": ["check"]}, {"required": ["file", "line"]}],
        },
    });
    let account = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["id", "verdict"],
        "properties": {
            "id": finding,
            "verdict": {"enum": ["open", "confirmed", "uncertain", "fixed", "dismissed", "merged"]},
            "evidence": text,
            "reason": text,
            "cites": cites,
            "checks": {"type": "array", "items": name},
            "into": finding,
            "priority": priority,
        },
    });
    let new = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["kind", "priority", "title", "evidence"],
        "properties": {
            "kind": {"enum": ["defect", "uncertain", "note"]},
            "owner": owner,
            "file": path,
            "line": line,
            "priority": priority,
            "title": {"type": "string", "minLength": 1, "maxLength": bounds::TITLE},
            "evidence": text,
            "cites": cites,
            "fix": text,
        },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "review-report.v1",
        "type": "object",
        "additionalProperties": false,
        "required": ["schema", "turn", "fingerprint", "status", "summary", "accounts", "new"],
        "properties": {
            "schema": {"const": "review-report.v1"},
            "turn": {"type": "string", "pattern": "^t[1-9][0-9]*$"},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "status": {"enum": ["clean", "findings", "blocked"]},
            "summary": text,
            "accounts": {"type": "array", "items": account},
            "new": {"type": "array", "maxItems": bounds::NEW, "items": new},
            "read": {"type": "array", "maxItems": bounds::READ, "items": path},
        },
    })
}
