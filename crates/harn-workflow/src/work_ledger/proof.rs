//! The proof of a run: computed from its stream, stored as a blob, and read as the end of an attempt.

use harn_ledger::{BlobError, BlobRef, Entry, ReadError, Stream, StreamError, StreamId};

use super::WorkLedger;
use super::ownership::{ForeignRun, check_owner};
use crate::run::proof::ReadProofError;
use crate::run::{self, Proof, Run};
use crate::work::{Class, End, Outcome, Work};

/// Why a proof could not be computed, stored or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The run could not be read.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The run has not ended.
    #[error("run `{run_id}` has not ended, so it has no proof")]
    NotEnded {
        /// The run.
        run_id: StreamId,
    },
    /// The proof could not be stored, or what is stored is not what was cited.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The run is no attempt of the item that names it.
    #[error(transparent)]
    Foreign(#[from] ForeignRun),
    /// The stored bytes are not a proof.
    #[error("the proof of run `{run_id}` is not one")]
    Unreadable {
        /// The run.
        run_id: StreamId,
        /// What is wrong with it.
        source: ReadProofError,
    },
}

impl ProofError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stream(error) => error.code(),
            Self::NotEnded { .. } => "run_not_ended",
            Self::Blob(error) => error.code(),
            Self::Foreign(_) => "run_foreign",
            Self::Unreadable { .. } => "proof_unreadable",
        }
    }
}

/// The proof that the run's stream gives, if the run has ended.
pub(super) fn of(run: &Stream<Run>) -> Result<Option<Proof>, ReadError> {
    let history = run.history()?;
    Ok(Proof::of(run.intent(), history.iter().filter_map(Entry::domain)).ok())
}

/// The end of an attempt that the proof of its run shows.
pub(super) fn end(proof: &Proof) -> End {
    let cited = proof.blob_ref();
    if proof.passes() {
        return End::passed(cited);
    }
    let run = &proof.run;
    let class = run.class.map(|class| match class {
        run::Class::Environment => Class::Environment,
        run::Class::Upstream => Class::Upstream,
        run::Class::Decision => Class::Decision,
        run::Class::Interrupted => Class::Interrupted,
    });
    let error = run.error.as_ref().map(run::Reason::as_str);
    let decision = run.decision_id.as_ref().map(run::Line::as_str);
    End::new(Outcome::Failed, class, Some(cited), error, decision)
        .expect("a failed run has a proof, and names a decision only in that class")
}

impl WorkLedger {
    /// The proof of a run, computed from its manifest and transcript.
    pub fn compute_proof(&self, run_id: &StreamId) -> Result<Proof, ProofError> {
        let run = self.ledger.stream::<Run>(run_id.as_str())?;
        let proof = of(&run).map_err(StreamError::from)?;
        proof.ok_or_else(|| ProofError::NotEnded { run_id: run_id.clone() })
    }

    /// The proof of an attempt, computed from its run, which must have been created for it.
    pub(super) fn proof_of_attempt(
        &self,
        item: &StreamId,
        attempt: u32,
        run_id: &StreamId,
    ) -> Result<Proof, ProofError> {
        let run = self.ledger.stream::<Run>(run_id.as_str())?;
        check_owner(&run, item, attempt)?;
        let proof = of(&run).map_err(StreamError::from)?;
        proof.ok_or_else(|| ProofError::NotEnded { run_id: run_id.clone() })
    }

    /// The stored proof that an attempt cites.
    pub fn stored_proof(&self, run_id: &StreamId, cited: &BlobRef) -> Result<Proof, ProofError> {
        let bytes = self.blobs().get(cited)?;
        Proof::from_bytes(&bytes).map_err(|source| ProofError::Unreadable { run_id: run_id.clone(), source })
    }

    /// Stores the proof of an attempt whose run has ended although the item's log does not say so, so that whatever
    /// records that end cites a blob that exists.
    pub(super) fn store_proof_of_open_attempt(&self, stream: &Stream<Work>) -> Result<(), ProofError> {
        let state = stream.state().map_err(StreamError::from)?;
        let Some(open) = state.open_attempt() else {
            return Ok(());
        };
        match self.proof_of_attempt(stream.id(), open.number, &open.run_id) {
            Ok(proof) => {
                self.blobs().put(&proof.to_bytes())?;
                Ok(())
            }
            // Not ended, not readable, or not its own: then there is no end to be recorded either.
            Err(ProofError::NotEnded { .. } | ProofError::Stream(_) | ProofError::Foreign(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
