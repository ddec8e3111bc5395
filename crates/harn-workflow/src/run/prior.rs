//! What a retry is told about the attempt before it: derived from that attempt's proof and from nothing else.

use harn_ledger::StreamId;

use crate::context::{Cause, Prior, Unresolved, UnresolvedStatus};

use super::ending::Status;
use super::proof::Proof;
use super::rollup::CriterionStatus;

/// Why no prior could be derived.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PriorError {
    /// The proof is of another run.
    #[error("the proof is of the run `{found}`, expected `{expected}`")]
    OtherRun {
        /// The run of the proof.
        found: StreamId,
        /// The run of the attempt.
        expected: StreamId,
    },
    /// The attempt passed, so there is nothing to retry.
    #[error("the proof of the run `{run_id}` passes, expected one that does not")]
    Passed {
        /// The run.
        run_id: StreamId,
    },
}

impl PriorError {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OtherRun { .. } => "prior_other_run",
            Self::Passed { .. } => "prior_passed",
        }
    }

    /// What to do about it, where something can be done.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Passed { .. } => {
                Some("reopen the work item to send it back after an attempt that passed".to_owned())
            }
            Self::OtherRun { .. } => None,
        }
    }
}

/// The prior of a retry that follows the run `run_id`.
///
/// It follows from the proof whenever there is one, whether or not the attempt was charged. Only without a proof is the
/// attempt lost, and then no cause is guessed.
pub fn prior_from(run_id: &StreamId, proof: Option<&Proof>) -> Result<Prior, PriorError> {
    let Some(proof) = proof else {
        return Ok(Prior::lost(run_id.clone()));
    };
    if proof.run.id != *run_id {
        return Err(PriorError::OtherRun { found: proof.run.id.clone(), expected: run_id.clone() });
    }
    let summary = proof.acceptance.summary;
    let causes: Vec<Cause> = [
        (proof.run.status == Status::Failed, Cause::WorkflowError),
        (summary.unsatisfied > 0, Cause::AcceptanceUnsatisfied),
        (summary.unknown > 0, Cause::AcceptanceUnknown),
    ]
    .into_iter()
    .filter_map(|(holds, cause)| holds.then_some(cause))
    .collect();
    if causes.is_empty() {
        return Err(PriorError::Passed { run_id: run_id.clone() });
    }
    let unresolved = proof.acceptance.criteria.iter().filter_map(|criterion| {
        let status = match criterion.status {
            CriterionStatus::Satisfied => return None,
            CriterionStatus::Unsatisfied => UnresolvedStatus::Unsatisfied,
            CriterionStatus::Unknown => UnresolvedStatus::Unknown,
        };
        Some(Unresolved { id: criterion.id.to_string(), statement: criterion.statement.to_string(), status })
    });
    Ok(Prior {
        run_id: run_id.clone(),
        causes,
        error: proof.run.error.as_ref().map(ToString::to_string),
        acceptance: Some(summary),
        unresolved: unresolved.collect(),
    })
}
