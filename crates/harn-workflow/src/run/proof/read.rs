//! Reads a proof, and holds one against what it was computed from.

use harn_ledger::Recorded;

use crate::run::class::Class;
use crate::run::ending::Status;
use crate::run::event::Event;
use crate::run::manifest::{Manifest, ManifestError, check_contexts};
use crate::run::rollup::Acceptance;

use super::fit::PROOF_MAX;
use super::{NotEnded, Proof};

/// Why bytes are not a proof.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadProofError {
    /// There are more bytes than a proof has.
    #[error("the proof has {bytes} bytes, expected at most {PROOF_MAX}")]
    TooLarge {
        /// Their number.
        bytes: usize,
    },
    /// The bytes are not JSON, or not of a proof.
    #[error("the proof cannot be decoded")]
    Decode {
        /// What the reader says.
        #[source]
        source: serde_json::Error,
    },
    /// The contexts do not belong to the run.
    #[error("the contexts of the proof do not belong together")]
    Contexts {
        /// Why.
        #[source]
        source: ManifestError,
    },
    /// Two parts contradict each other.
    #[error("`{member}` contradicts the rest of the proof, expected {expected}")]
    Contradiction {
        /// Which part.
        member: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// The bytes are not the written form of what they say.
    #[error("the proof is not in its written form, which differs from byte {offset} on")]
    NotCanonical {
        /// The first byte that differs, counted from 0.
        offset: usize,
    },
}

impl ReadProofError {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "proof_too_large",
            Self::Decode { .. } => "proof_decode",
            Self::Contexts { .. } => "proof_contexts",
            Self::Contradiction { .. } => "proof_contradiction",
            Self::NotCanonical { .. } => "proof_not_canonical",
        }
    }

    /// What to do about it, where something can be done.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        None
    }
}

/// Why a proof does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyProofError {
    /// The transcript proves nothing.
    #[error(transparent)]
    NotEnded(#[from] NotEnded),
    /// The proof is not the one that follows.
    #[error("`{member}` is not what manifest and transcript show")]
    Differs {
        /// The first part that differs.
        member: &'static str,
    },
}

impl VerifyProofError {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotEnded(_) => "proof_not_ended",
            Self::Differs { .. } => "proof_differs",
        }
    }

    /// What to do about it, where something can be done.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        None
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Proof, ReadProofError> {
    if bytes.len() > PROOF_MAX {
        return Err(ReadProofError::TooLarge { bytes: bytes.len() });
    }
    let proof: Proof = serde_json::from_slice(bytes).map_err(|source| ReadProofError::Decode { source })?;
    check(&proof)?;
    let written = proof.to_bytes();
    if written != bytes {
        let same = written.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        return Err(ReadProofError::NotCanonical { offset: same });
    }
    Ok(proof)
}

fn check(proof: &Proof) -> Result<(), ReadProofError> {
    let run = &proof.run;
    check_contexts(run.work_item_id.as_ref(), run.work_context.as_ref(), run.attempt_context.as_ref())
        .map_err(|source| ReadProofError::Contexts { source })?;
    let failed = run.status == Status::Failed;
    let rules = [
        ("run.failure", "one exactly when the run failed", failed == run.failure.is_some()),
        ("run.class", "none unless the run failed", failed || run.class.is_none()),
        (
            "run.decision_id",
            "none unless the class is `decision`",
            run.class == Some(Class::Decision) || run.decision_id.is_none(),
        ),
        (
            "environment.final",
            "a preparation before it",
            proof.environment.as_ref().is_none_or(|it| it.preparation.is_some() || it.after.is_none()),
        ),
        (
            "acceptance.summary",
            "the counts of the criteria",
            proof.acceptance.summary == Acceptance::count(&proof.acceptance.criteria),
        ),
    ];
    match rules.into_iter().find(|(.., holds)| !holds) {
        Some((member, expected, _)) => Err(ReadProofError::Contradiction { member, expected }),
        None => Ok(()),
    }
}

pub(super) fn verify<'a>(
    proof: &Proof,
    manifest: &Manifest,
    transcript: impl IntoIterator<Item = &'a Recorded<Event>>,
) -> Result<(), VerifyProofError> {
    let again = Proof::of(manifest, transcript)?;
    let parts = [
        ("integrity", proof.integrity == again.integrity),
        ("run", proof.run == again.run),
        ("acceptance", proof.acceptance == again.acceptance),
        ("agents", proof.agents == again.agents),
        ("checks", proof.checks == again.checks),
        ("evidence", proof.evidence == again.evidence),
        ("execution", proof.execution == again.execution),
        ("environment", proof.environment == again.environment),
        ("repository", proof.repository == again.repository),
        ("unknowns", proof.unknowns == again.unknowns),
        ("truncated", proof.truncated == again.truncated),
    ];
    match parts.into_iter().find(|(_, same)| !same) {
        Some((member, _)) => Err(VerifyProofError::Differs { member }),
        None => Ok(()),
    }
}
