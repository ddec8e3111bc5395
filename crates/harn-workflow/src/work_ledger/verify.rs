//! Whether the proofs that attempts cite follow from what is recorded.

use harn_ledger::{BlobRef, Digest, StreamError, StreamId};

use super::WorkLedger;
use super::proof::ProofError;
use crate::run::Run;
use crate::work::{End, State, Work};

/// A proof that does not hold.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnprovenKind {
    /// Manifest and transcript give another proof.
    #[error("attempt {attempt} cites the proof {cited}, but its run `{run_id}` gives {computed}")]
    OtherProof {
        /// The attempt.
        attempt: u32,
        /// Its run.
        run_id: StreamId,
        /// The digest cited.
        cited: Digest,
        /// The digest that the run gives.
        computed: Digest,
    },
    /// The run cannot be proved.
    #[error("the proof of attempt {attempt} cannot be computed again")]
    NotComputable {
        /// The attempt.
        attempt: u32,
        /// Why.
        source: ProofError,
    },
}

/// An attempt whose proof does not hold.
#[derive(Debug)]
pub struct Unproven {
    /// The work item.
    pub id: StreamId,
    /// What is wrong.
    pub kind: UnprovenKind,
}

impl Unproven {
    /// A stable name.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            UnprovenKind::OtherProof { .. } => "other_proof",
            UnprovenKind::NotComputable { .. } => "proof_not_computable",
        }
    }
}

impl std::fmt::Display for Unproven {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            UnprovenKind::NotComputable { source, .. } => write!(f, "{}: {source}", self.kind),
            UnprovenKind::OtherProof { .. } => self.kind.fmt(f),
        }
    }
}

impl WorkLedger {
    /// Computes every proof that an attempt cites again, and returns those that do not hold. Items that cannot be read are
    /// left to the verification of the ledger.
    #[must_use]
    pub fn verify_proofs(&self) -> Vec<Unproven> {
        let ids = self.ledger.ids("work").unwrap_or_default();
        ids.iter().flat_map(|id| self.verify_proofs_of(id).unwrap_or_default()).collect()
    }

    /// The same for one run: what its work item cites, against what its own stream gives.
    pub fn verify_proof(&self, run_id: &StreamId) -> Result<Option<Unproven>, StreamError> {
        let run = self.ledger.stream::<Run>(run_id.as_str())?;
        let Some(id) = &run.intent().parts().work_item_id else {
            return Ok(None);
        };
        let state = self.ledger.stream::<Work>(id.as_str())?.state()?;
        let attempt = state.attempt_of(run_id);
        let cited =
            attempt.and_then(|it| it.end.as_ref().and_then(End::proof).map(|cited| (it.number, cited)));
        Ok(cited.and_then(|(number, cited)| self.check_proof(id, number, run_id, cited)))
    }

    fn verify_proofs_of(&self, id: &StreamId) -> Result<Vec<Unproven>, StreamError> {
        let state = self.ledger.stream::<Work>(id.as_str())?.state()?;
        // What another program proved is kept as it was, and there is nothing here to compute it from.
        let ours = state.attempts().iter().filter(|attempt| !attempt.imported);
        let cited = ours.filter_map(|attempt| {
            let cited = attempt.end.as_ref().and_then(End::proof)?;
            self.check_proof(id, attempt.number, &attempt.run_id, cited)
        });
        Ok(cited.collect())
    }

    /// Why the proof of the attempt in review does not follow from its run, if it does not. Whoever accepts relies on the
    /// run as much as on the proof, so both are computed again.
    pub(super) fn check_review(&self, id: &StreamId, state: &State) -> Option<String> {
        let latest = state.window().last().filter(|latest| !latest.imported)?;
        let cited = latest.end.as_ref().and_then(End::proof)?;
        self.check_proof(id, latest.number, &latest.run_id, cited).map(|unproven| match unproven.kind {
            UnprovenKind::OtherProof { computed, .. } => format!("it gives the proof {computed}"),
            UnprovenKind::NotComputable { source, .. } => source.to_string(),
        })
    }

    fn check_proof(
        &self,
        id: &StreamId,
        attempt: u32,
        run_id: &StreamId,
        cited: BlobRef,
    ) -> Option<Unproven> {
        let kind = match self.proof_of_attempt(id, attempt, run_id).map(|proof| proof.blob_ref()) {
            Ok(computed) if computed == cited => return None,
            Ok(computed) => UnprovenKind::OtherProof {
                attempt,
                run_id: run_id.clone(),
                cited: cited.blob,
                computed: computed.blob,
            },
            Err(source) => UnprovenKind::NotComputable { attempt, source },
        };
        Some(Unproven { id: id.clone(), kind })
    }
}
