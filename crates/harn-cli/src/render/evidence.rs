//! What a proof says about the criteria of acceptance: the part of it that a reviewer reads first.

use harn_workflow::run::{CriterionStatus, Preparation, Proof, Verdict};

use super::log::word;
use super::page::Page;

/// How the criteria came out, in one line.
pub(super) fn acceptance_line(proof: &Proof) -> String {
    let summary = &proof.acceptance.summary;
    let covered = format!(
        "{} satisfied, {} unsatisfied, {} unknown",
        summary.satisfied, summary.unsatisfied, summary.unknown
    );
    match proof.acceptance.not_covered.len() {
        0 => covered,
        count => format!("{covered}, {count} not covered"),
    }
}

/// Each criterion with its verdict, the acceptance texts that no criterion covers, and what the proof cannot vouch for.
pub(super) fn criteria(page: &mut Page, proof: &Proof) {
    for criterion in &proof.acceptance.criteria {
        let mark = match criterion.status {
            CriterionStatus::Satisfied => "  PASS ",
            CriterionStatus::Unsatisfied => "  FAIL ",
            CriterionStatus::Unknown => "  ?    ",
        };
        page.item(mark, &format!("{}: {}", criterion.id, criterion.statement.as_str()));
    }
    for id in &proof.acceptance.not_covered {
        page.item("  -    ", &format!("{id}: no evidence of this run covers it"));
    }
    for unknown in &proof.unknowns {
        page.item("  unknown: ", unknown.message.as_str());
    }
}

/// The receipts, and what they say where that is more than that all is well.
pub(super) fn environment(page: &mut Page, proof: &Proof) {
    let Some(environment) = &proof.environment else { return };
    let Some(preparation) = &environment.preparation else {
        page.line("environment", "not prepared, as was asked");
        return;
    };
    page.line("environment", &prepared(preparation));
    let Some(after) = &environment.after else { return };
    page.line("baseline again", after.receipt.id.as_str());
    for compared in after.comparisons.iter().filter(|compared| compared.verdict != Verdict::Holds) {
        let tests: Vec<_> = compared.broken.iter().map(AsRef::as_ref).collect();
        let more = compared.broken_total as usize - tests.len().min(compared.broken_total as usize);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let tests = if tests.is_empty() { String::new() } else { format!(": {}{more}", tests.join(", ")) };
        let verdict = compared.verdict.as_str().replace('_', " ");
        page.item("  ", &format!("{} {verdict}{tests}", compared.name));
    }
}

fn prepared(preparation: &Preparation) -> String {
    let receipt = &preparation.receipt.id;
    if let Some(hold) = preparation.hold {
        return format!("{receipt}, held: {}", word(hold));
    }
    let failed = preparation.baseline.iter().filter(|result| word(result.outcome) != "passed").count();
    let baseline = match (preparation.baseline.len(), failed) {
        (0, _) => "no baseline".to_owned(),
        (all, 0) => format!("baseline of {all} passed"),
        (all, failed) => format!("{failed} of {all} in its baseline did not pass"),
    };
    let reused = if preparation.reused_from.is_some() { ", set-up reused" } else { "" };
    format!("{receipt}, {baseline}{reused}")
}
