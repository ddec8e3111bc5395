//! What came of an attempt.

use harn_engine::attempt::AttemptReport;
use serde_json::{Value, json};

use super::evidence::{acceptance_line, criteria, environment};
use super::page::Page;
use super::run::{SHARED_NOTE, fell_back};
use crate::returned::in_words;
use crate::text::Palette;

/// The report in words: what was done, what it proves, and where the item stands now.
pub(crate) fn report(
    report: &AttemptReport,
    result: Option<&Value>,
    width: usize,
    palette: Palette,
) -> String {
    let (proof, shown) = (&report.proof, &report.item.projection);
    let number = shown.attempts.last().map_or(0, |attempt| attempt.number);
    let verdict = if proof.passes() { "passed" } else { "did not pass" };
    let mut page = Page::new(width, palette);
    page.title(shown.id.as_str(), &format!("attempt {number} {verdict}"));
    if let Some(error) = &proof.run.error {
        page.field("error", error.as_str());
    }
    if let Some(result) = result {
        page.field("result", &in_words(result));
    }
    page.line("run", report.run_id.as_str());
    page.line("proof", &proof.blob_ref().blob.to_string());
    if fell_back(proof) {
        page.line("note", SHARED_NOTE);
    }
    environment(&mut page, proof);
    page.line("acceptance", &acceptance_line(proof));
    criteria(&mut page, proof);
    page.line("state", shown.state.as_str());
    page.field("reason", &shown.reason);
    page.line("next", shown.next_action.as_str());
    for suggestion in &shown.suggestions {
        page.line("try", suggestion);
    }
    page.line("attempts", &shown.attempts_text());
    page.into_text()
}

/// The report as a document.
pub(crate) fn report_document(report: &AttemptReport, result: Option<&Value>) -> Value {
    let (proof, shown) = (&report.proof, &report.item.projection);
    let note = fell_back(proof).then_some(SHARED_NOTE);
    json!({
        "schema_version": 1,
        "status": if proof.passes() { "finished" } else { "failed" },
        "work_item_id": shown.id,
        "run_id": report.run_id,
        "attempt": shown.attempts.last().map(|attempt| attempt.number),
        "run_status": proof.run.status,
        "class": proof.run.class,
        "error": proof.run.error,
        "result": result,
        "result_digest": proof.run.result,
        "environment": proof.environment,
        "acceptance": proof.acceptance.summary,
        "proof": proof.blob_ref(),
        "isolation": {
            "requested": proof.execution.requested_isolation,
            "effective": proof.execution.effective_isolation,
            "note": note,
        },
        "state": shown.state,
        "next_action": shown.next_action,
        "reason": shown.reason,
        "projection": shown,
    })
}
