//! What a retry is told about an attempt that Harnery made.

use harn_ledger::StreamId;

use super::attempt::{ProofForm, StatusForm};
use crate::context::{AcceptanceSummary, Cause, Prior, Unresolved, UnresolvedStatus};
use crate::run::Reason;

/// The prior that follows from a proof of Harnery's; none when it is not one, or shows no failure.
pub(crate) fn prior_of(run_id: &StreamId, proof: &[u8]) -> Option<Prior> {
    let ProofForm { run, acceptance, .. } = serde_json::from_slice(proof).ok()?;
    let summary = acceptance.summary;
    let causes: Vec<Cause> = [
        (run.status == StatusForm::Failed, Cause::WorkflowError),
        (summary.unsatisfied > 0, Cause::AcceptanceUnsatisfied),
        (summary.unknown > 0, Cause::AcceptanceUnknown),
    ]
    .into_iter()
    .filter_map(|(holds, cause)| holds.then_some(cause))
    .collect();
    let unresolved = acceptance.criteria.into_iter().filter_map(|criterion| {
        let status = match criterion.status.as_str() {
            "unsatisfied" => UnresolvedStatus::Unsatisfied,
            "unknown" => UnresolvedStatus::Unknown,
            _ => return None,
        };
        Some(Unresolved { id: criterion.id, statement: criterion.statement.trim().to_owned(), status })
    });
    let prior = Prior {
        run_id: run_id.clone(),
        causes,
        error: run.error.as_deref().and_then(Reason::clip).map(|error| error.to_string()),
        acceptance: Some(AcceptanceSummary {
            satisfied: summary.satisfied,
            unsatisfied: summary.unsatisfied,
            unknown: summary.unknown,
            total: summary.total,
        }),
        unresolved: unresolved.collect(),
    };
    // Without a cause it is none.
    prior.check().is_ok().then_some(prior)
}
