//! The proof of a run: what it did and what that shows, computed from manifest and transcript and from nothing else.

mod children;
mod collect;
mod fit;
mod parts;
mod read;
mod unknowns;

use harn_ledger::{BlobRef, Recorded};
use serde::{Deserialize, Serialize};

use super::ending::Status;
use super::environment::EnvironmentRecord;
use super::event::Event;
use super::evidence::Evidence;
use super::manifest::Manifest;
use super::repository::RepositoryRecord;
use super::rollup::Acceptance;
use super::version::Version;

pub use fit::PROOF_MAX;
pub use parts::{
    AgentRecord, AgentStatus, CheckRecord, ExecutionRecord, Integrity, Part, ResultDigest, RunRecord,
    TranscriptHead, Truncation, Unknown, UnknownCode,
};
pub use read::{ReadProofError, VerifyProofError};

/// The proof of a run that has ended.
///
/// Its written form is JSON, indented by two spaces and ended by a line feed, at most 512 KiB. The digest of these bytes
/// is what an attempt and an acceptance are bound to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The version of the document.
    pub schema_version: Version<1>,
    /// The run and how it ended.
    pub run: RunRecord,
    /// How its criteria came out. Always complete, whatever else was left out for size.
    pub acceptance: Acceptance,
    /// Every call of an agent, in order.
    pub agents: Vec<AgentRecord>,
    /// Every check, in order.
    pub checks: Vec<CheckRecord>,
    /// Every record of evidence, in order.
    pub evidence: Vec<Evidence>,
    /// Where the run took place.
    pub execution: ExecutionRecord,
    /// The environment; absent where there was no recipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentRecord>,
    /// The repository before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<RepositoryRecord>,
    /// What the proof cannot vouch for.
    pub unknowns: Vec<Unknown>,
    /// What was left out or shortened so that the proof keeps its bound.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truncated: Vec<Truncation>,
    /// What the proof was computed from.
    pub integrity: Integrity,
}

/// The run has no proof yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the transcript has no `run.ended`, so there is nothing to prove yet")]
pub struct NotEnded;

impl Proof {
    /// Computes the proof of a run from its manifest and its transcript. Whatever was recorded can be proved, once the
    /// run has ended; computing it again gives the same bytes.
    pub fn of<'a>(
        manifest: &Manifest,
        transcript: impl IntoIterator<Item = &'a Recorded<Event>>,
    ) -> Result<Self, NotEnded> {
        collect::collect(manifest, transcript).map(fit::fit)
    }

    /// The written form.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a proof has only string keys");
        bytes.push(b'\n');
        bytes
    }

    /// Reads a proof in its written form, whose parts must agree with each other.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadProofError> {
        read::read(bytes)
    }

    /// The blob that the written form is.
    #[must_use]
    pub fn blob_ref(&self) -> BlobRef {
        BlobRef::of(&self.to_bytes())
    }

    /// Whether the attempt passed: the run succeeded, and no criterion is unsatisfied or unknown. A run without criteria
    /// passes; its proof says so among the unknowns.
    #[must_use]
    pub fn passes(&self) -> bool {
        let summary = Acceptance::count(&self.acceptance.criteria);
        self.run.status == Status::Succeeded && summary.unsatisfied == 0 && summary.unknown == 0
    }

    /// Computes the proof again and compares.
    pub fn verify<'a>(
        &self,
        manifest: &Manifest,
        transcript: impl IntoIterator<Item = &'a Recorded<Event>>,
    ) -> Result<(), VerifyProofError> {
        read::verify(self, manifest, transcript)
    }
}
