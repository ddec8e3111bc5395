//! What a proof says about the criteria of acceptance: the part of it that a reviewer reads first.

use harn_workflow::run::{CriterionStatus, Proof};

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
