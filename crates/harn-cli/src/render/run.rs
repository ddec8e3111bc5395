//! A run and its proof.

use harn_ledger::{StreamId, Timestamp};
use harn_workflow::run::{Isolation, Manifest, Phase, Proof, State, Status};
use serde::Serialize;
use serde_json::Value;

use super::evidence::{acceptance_line, criteria, environment};
use super::log::{seconds, word};
use super::page::Page;
use crate::returned::in_words;
use crate::text::{Palette, columns, safe_line};

/// The words that the command line promises for a run that asked for isolation and got none.
pub(super) const SHARED_NOTE: &str =
    "ran shared; worktree isolation was requested but not allocated (no --workspace-root given)";

/// Whether isolation was asked for and not given.
pub(super) fn fell_back(proof: &Proof) -> bool {
    let execution = &proof.execution;
    execution.requested_isolation == Isolation::Worktree && execution.effective_isolation == Isolation::Shared
}

/// A run on one line.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RunRow {
    pub(crate) id: StreamId,
    pub(crate) phase: &'static str,
    pub(crate) started_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) work_item_id: Option<StreamId>,
    pub(crate) name: String,
}

impl RunRow {
    pub(crate) fn new(manifest: &Manifest, state: &State) -> Self {
        let parts = manifest.parts();
        let phase = match state.phase() {
            Phase::Ended { status: Status::Succeeded, .. } => "succeeded",
            Phase::Ended { .. } => "failed",
            Phase::Parked { .. } => "parked",
            Phase::Blocked { .. } => "blocked",
            _ => "open",
        };
        Self {
            id: parts.run_id.clone(),
            phase,
            started_at: parts.started_at,
            work_item_id: parts.work_item_id.clone(),
            name: parts.name.to_string(),
        }
    }
}

/// One row for each run.
pub(crate) fn run_rows(runs: &[RunRow], width: Option<usize>) -> String {
    let rows: Vec<[String; 4]> = runs
        .iter()
        .map(|run| {
            let item = run.work_item_id.as_ref().map(ToString::to_string).unwrap_or_default();
            [run.id.to_string(), run.phase.to_owned(), item, safe_line(&run.name).into_owned()]
        })
        .collect();
    columns(&rows, width)
}

/// What is shown of a run.
pub(crate) struct ShownRun<'a> {
    pub(crate) row: &'a RunRow,
    pub(crate) manifest: &'a Manifest,
    pub(crate) proof: Option<&'a Proof>,
    pub(crate) result: Option<&'a Value>,
}

/// A run: what it was, and what its proof says if it has ended.
pub(crate) fn run(shown: &ShownRun<'_>, width: usize, palette: Palette) -> String {
    let ShownRun { row, manifest, proof, result } = *shown;
    let parts = manifest.parts();
    let mut page = Page::new(width, palette);
    page.title(row.id.as_str(), &row.name);
    page.line("phase", row.phase);
    if let Some(id) = &row.work_item_id {
        page.line("work item", id.as_str());
    }
    if let Some(attempt) = &parts.attempt_context {
        page.line("attempt", &attempt.number().to_string());
    }
    page.line("started", &row.started_at.to_string());
    page.line("script", parts.script.path.as_str());
    page.line("cwd", parts.execution.cwd.as_str());
    if let Some(adapter) = &parts.execution.adapter {
        page.line("adapter", adapter.as_str());
    }
    if let Some(result) = result {
        page.field("result", &in_words(result));
    }
    match proof {
        Some(proof) => proof_into(&mut page, proof, palette),
        None => page.item("", "it has not ended, so it has no proof"),
    }
    page.into_text()
}

/// A proof in words.
pub(crate) fn proof(proof: &Proof, width: usize, palette: Palette) -> String {
    let mut page = Page::new(width, palette);
    proof_into(&mut page, proof, palette);
    page.into_text()
}

fn proof_into(page: &mut Page, proof: &Proof, palette: Palette) {
    let run = &proof.run;
    let (verdict, style) =
        if proof.passes() { ("passed", palette.good) } else { ("did not pass", palette.waiting) };
    page.word("verdict", verdict, style);
    let class = run.class.map(|class| format!(", {}", word(class))).unwrap_or_default();
    page.line("run", &format!("{}{class} after {}", word(run.status), seconds(run.duration_ms)));
    if let Some(error) = &run.error {
        page.field("error", error.as_str());
    }
    if fell_back(proof) {
        page.line("note", SHARED_NOTE);
    }
    page.line("proof", &proof.blob_ref().blob.to_string());
    environment(page, proof);
    page.section("acceptance");
    page.item("  ", &acceptance_line(proof));
    criteria(page, proof);
    if !proof.agents.is_empty() {
        page.section("agents");
    }
    for agent in &proof.agents {
        let time = agent.duration_ms.map(|time| format!(" after {}", seconds(time))).unwrap_or_default();
        page.item("  ", &format!("{} {}: {}{time}", agent.id, agent.label.as_str(), word(agent.status)));
    }
    if !proof.checks.is_empty() {
        page.section("checks");
    }
    for check in &proof.checks {
        let outcome = check.outcome.map_or_else(|| "unfinished".to_owned(), word);
        let time = check.duration_ms.map(|time| format!(" after {}", seconds(time))).unwrap_or_default();
        page.item("  ", &format!("{} {}: {outcome}{time}", check.id, check.name.as_str()));
    }
    let transcript = &proof.integrity.transcript;
    page.section("transcript");
    page.item("  ", &format!("{} events, ending in", transcript.seq));
    page.token("  ", &transcript.hash.to_string());
}
