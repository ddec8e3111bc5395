//! Makes a proof fit its bound, and says in it what that took.

use crate::run::text::Block;

use super::Proof;
use super::parts::{Part, Truncation};
use super::unknowns::truncated;

/// Longest written form of a proof, in bytes.
pub const PROOF_MAX: usize = 512 << 10;

/// Agents and checks that stay in a long list.
const LIST_KEPT: usize = 100;
/// Characters that stay of a statement.
const STATEMENT_KEPT: usize = 40;
/// Evidence ids that stay with a criterion.
const CITED_KEPT: usize = 2;

/// What is left out, in this order, until the rest fits. The contexts, the status and class of the run, the status of
/// every criterion and the head of the transcript always stay; they alone fit.
const STEPS: [fn(&mut Proof); 5] = [drop_details, cut_lists, drop_repository, shorten_criteria, drop_lists];

pub(super) fn fit(mut proof: Proof) -> Proof {
    for step in STEPS {
        if proof.to_bytes().len() <= PROOF_MAX {
            break;
        }
        step(&mut proof);
        let said = truncated();
        if !proof.truncated.is_empty() && !proof.unknowns.contains(&said) {
            proof.unknowns.push(said);
        }
    }
    proof
}

fn drop_details(proof: &mut Proof) {
    let mut total = 0;
    let mut drop = |there: bool| total += usize::from(there);
    for agent in &mut proof.agents {
        drop(agent.error.take().is_some());
    }
    for check in &mut proof.checks {
        drop(check.error.take().is_some());
        drop(check.argv.take().is_some());
    }
    for record in &mut proof.evidence {
        drop(record.summary.take().is_some());
        drop(record.reference.take().is_some());
        drop(record.note.take().is_some());
    }
    let compared = proof.environment.iter_mut().flat_map(|environment| &mut environment.after);
    for command in compared.flat_map(|after| &mut after.comparisons) {
        drop(!std::mem::take(&mut command.broken).is_empty());
    }
    note(proof, Part::Details, 0, total);
}

fn cut_lists(proof: &mut Proof) {
    cut(proof, Part::Agents, LIST_KEPT, |proof| &mut proof.agents);
    cut(proof, Part::Checks, LIST_KEPT, |proof| &mut proof.checks);
}

fn drop_lists(proof: &mut Proof) {
    cut(proof, Part::Agents, 0, |proof| &mut proof.agents);
    cut(proof, Part::Checks, 0, |proof| &mut proof.checks);
    cut(proof, Part::Evidence, 0, |proof| &mut proof.evidence);
}

fn drop_repository(proof: &mut Proof) {
    let there = usize::from(proof.repository.take().is_some());
    note(proof, Part::Repository, 0, there);
}

fn shorten_criteria(proof: &mut Proof) {
    let there = usize::from(proof.run.objective.take().is_some());
    note(proof, Part::Objective, 0, there);

    let total = proof.acceptance.criteria.len();
    let (mut whole, mut kept, mut cited) = (0, 0, 0);
    for criterion in &mut proof.acceptance.criteria {
        if let Some(short) = Block::clip_to(criterion.statement.as_str(), STATEMENT_KEPT) {
            whole += usize::from(short == criterion.statement);
            criterion.statement = short;
        }
        cited += criterion.evidence_ids.len();
        criterion.evidence_ids.truncate(CITED_KEPT);
        kept += criterion.evidence_ids.len();
    }
    note(proof, Part::Statements, whole, total);
    note(proof, Part::EvidenceIds, kept, cited);
}

fn cut<T>(proof: &mut Proof, part: Part, keep: usize, list: fn(&mut Proof) -> &mut Vec<T>) {
    let total = list(proof).len();
    list(proof).truncate(keep);
    note(proof, part, keep, total);
}

/// Records what is left of a part. A part that was shortened before keeps its first total.
fn note(proof: &mut Proof, part: Part, kept: usize, total: usize) {
    if kept >= total {
        return;
    }
    match proof.truncated.iter_mut().find(|truncation| truncation.part == part) {
        Some(truncation) => truncation.kept = kept,
        None => proof.truncated.push(Truncation { part, kept, total }),
    }
}
