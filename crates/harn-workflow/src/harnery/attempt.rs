//! The files of a run: how an attempt stands by them.

use std::collections::BTreeMap;

use harn_ledger::{BlobRef, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::damage::{Damage, DamageKind};
use super::intent::OldIntent;
use super::member::{document, same, version};
use super::tree::{File, Tree, find};
use crate::work::{Class, End, Outcome, Trigger};

const MANIFEST_MAX: u64 = 262_144;
const PROOF_MAX: u64 = 524_288;
const TRANSCRIPT_MAX: u64 = 4_194_304;
const RECORDS_MAX: usize = 1_000;
const RECORD_MAX: usize = 16_384;
const APPROVAL_MAX: u64 = 131_072;

/// How an attempt stands, and the files that say so.
#[derive(Debug)]
pub(super) struct OldAttempt {
    pub(super) status: Status,
    /// The file that the status follows from, if one does.
    pub(super) source: Option<String>,
    pub(super) files: Vec<File>,
}

/// How an attempt stands.
#[derive(Debug)]
pub(super) enum Status {
    Ended { at: Timestamp, end: End },
    Parked { at: Timestamp, approval_id: String },
    Lost,
}

/// What a proof has to say about its run.
#[derive(Debug, Deserialize)]
pub(super) struct ProofForm {
    pub(super) schema_version: u64,
    pub(super) run: RunForm,
    pub(super) acceptance: AcceptanceForm,
}

#[derive(Debug, Deserialize)]
pub(super) struct RunForm {
    pub(super) id: String,
    work_item_id: Option<String>,
    pub(super) status: StatusForm,
    ended_at: String,
    work_context: Option<Value>,
    attempt_context: Option<Value>,
    class: Option<ClassForm>,
    pub(super) error: Option<String>,
    decision_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StatusForm {
    Succeeded,
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ClassForm {
    Environment,
    Upstream,
    Decision,
}

#[derive(Debug, Deserialize)]
pub(super) struct AcceptanceForm {
    #[serde(default)]
    pub(super) criteria: Vec<CriterionForm>,
    pub(super) summary: SummaryForm,
}

#[derive(Debug, Deserialize)]
pub(super) struct CriterionForm {
    pub(super) id: String,
    pub(super) statement: String,
    pub(super) status: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct SummaryForm {
    pub(super) satisfied: u32,
    pub(super) unsatisfied: u32,
    pub(super) unknown: u32,
    pub(super) total: u32,
}

#[derive(Deserialize)]
struct ManifestForm {
    schema_version: u64,
    run_id: String,
    work_item_id: Option<String>,
    work_context: Option<Value>,
    attempt_context: Option<Value>,
}

#[derive(Deserialize)]
struct RecordForm {
    event: String,
    ts: String,
    approval_id: Option<String>,
}

/// Which attempt it is, by the log.
pub(super) struct Expected<'a> {
    pub(super) item: &'a str,
    pub(super) intent: &'a OldIntent,
    pub(super) run_id: &'a str,
    pub(super) number: u32,
    pub(super) trigger: Option<Trigger>,
    /// The run of the attempt before it.
    pub(super) before: Option<&'a str>,
}

/// Reads the files of a run. The first thing that is known decides, as it does for Harnery.
pub(super) fn read(tree: &dyn Tree, expected: &Expected<'_>) -> Result<OldAttempt, Damage> {
    let place = |name: &str| format!("workflows/{}/{name}", expected.run_id);
    let manifest = find(tree, place("run.json"), MANIFEST_MAX)?;
    let proof = find(tree, place("proof.json"), PROOF_MAX)?;
    // A transcript that Harnery would not read makes the attempt lost, not the item damaged.
    let transcript = tree.read(&place("transcript.jsonl"), TRANSCRIPT_MAX).ok().flatten();
    let transcript = transcript.map(|bytes| File { path: place("transcript.jsonl"), bytes });

    let contexts = match &manifest {
        Some(file) => check_manifest(&file.bytes, expected).map_err(|kind| Damage::of(&file.path, kind))?,
        None => BTreeMap::new(),
    };
    let (status, source) = match (&proof, &transcript) {
        (Some(file), _) if manifest.is_none() => {
            let other = "run.json, which is missing,";
            let kind = DamageKind::Contradiction { member: "run", other };
            return Err(Damage::of(&file.path, kind));
        }
        (Some(file), _) => {
            let ended =
                ended(&file.bytes, expected, &contexts).map_err(|kind| Damage::of(&file.path, kind))?;
            (ended, Some(file.path.clone()))
        }
        (None, Some(file)) => (parked(&file.bytes).unwrap_or(Status::Lost), Some(file.path.clone())),
        (None, None) => (Status::Lost, None),
    };
    let mut files: Vec<File> = manifest.into_iter().chain(transcript).chain(proof).collect();
    if let Status::Parked { approval_id, .. } = &status {
        for name in ["request.json", "decision.json"] {
            files.extend(find(tree, format!("approvals/{approval_id}/{name}"), APPROVAL_MAX)?);
        }
    }
    Ok(OldAttempt { status, source, files })
}

/// Checks that the manifest is that of the attempt, and returns the contexts that a proof must repeat.
fn check_manifest(
    bytes: &[u8],
    expected: &Expected<'_>,
) -> Result<BTreeMap<&'static str, Option<Value>>, DamageKind> {
    let form: ManifestForm = document(bytes)?;
    version(form.schema_version, 1)?;
    same("run_id", &form.run_id, expected.run_id)?;
    same("work_item_id", form.work_item_id.as_deref().unwrap_or(""), expected.item)?;
    let differs = |member| Err(DamageKind::Contradiction { member, other: "the item" });
    if form.work_context.as_ref().is_some_and(|context| *context != expected.intent.work_context) {
        return differs("work_context");
    }
    if let Some(context) = &form.attempt_context {
        let trigger = match expected.trigger {
            Some(Trigger::Initial) => Some("initial"),
            Some(Trigger::Retry) => Some("retry"),
            None => None,
        };
        let agrees = context["number"].as_u64() == Some(expected.number.into())
            && (trigger.is_none() || context["trigger"].as_str() == trigger)
            && (context["trigger"] != "retry" || context["prior"]["run_id"].as_str() == expected.before);
        if !agrees {
            return differs("attempt_context");
        }
    }
    Ok([("work_context", form.work_context), ("attempt_context", form.attempt_context)].into())
}

/// The end that a proof shows.
fn ended(
    bytes: &[u8],
    expected: &Expected<'_>,
    contexts: &BTreeMap<&'static str, Option<Value>>,
) -> Result<Status, DamageKind> {
    let ProofForm { schema_version, run, acceptance } = document(bytes)?;
    version(schema_version, 1)?;
    same("run.id", &run.id, expected.run_id)?;
    same("run.work_item_id", run.work_item_id.as_deref().unwrap_or(""), expected.item)?;
    for (member, context) in [("work_context", &run.work_context), ("attempt_context", &run.attempt_context)]
    {
        if contexts.get(member) != Some(context) {
            return Err(DamageKind::Contradiction { member, other: "run.json" });
        }
    }
    let at = super::member::time("run.ended_at", &run.ended_at)?;
    let cited = BlobRef::of(bytes);
    let summary = &acceptance.summary;
    if run.status == StatusForm::Succeeded && summary.unsatisfied == 0 && summary.unknown == 0 {
        return Ok(Status::Ended { at, end: End::passed(cited) });
    }
    let class = run.class.map(|class| match class {
        ClassForm::Environment => Class::Environment,
        ClassForm::Upstream => Class::Upstream,
        ClassForm::Decision => Class::Decision,
    });
    let decision = run.decision_id.as_deref().filter(|_| class == Some(Class::Decision));
    let end = End::new(Outcome::Failed, class, Some(cited), run.error.as_deref(), decision);
    let end = end.map_err(|error| DamageKind::Untold { why: error.to_string() })?;
    Ok(Status::Ended { at, end })
}

/// The approval that a run waits for, if its transcript ends so. None too when Harnery would not read it.
fn parked(bytes: &[u8]) -> Option<Status> {
    if !bytes.ends_with(b"\n") {
        return None;
    }
    let mut parked = None;
    for (count, line) in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).enumerate() {
        if count >= RECORDS_MAX || line.len() > RECORD_MAX {
            return None;
        }
        let record: RecordForm = document(line).ok()?;
        match record.event.as_str() {
            "run.parked" => {
                let at = super::member::time("ts", &record.ts).ok()?;
                parked = record.approval_id.map(|approval_id| Status::Parked { at, approval_id });
            }
            "run.resume" => parked = None,
            _ => {}
        }
    }
    parked
}
