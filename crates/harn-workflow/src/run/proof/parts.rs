//! The parts of a proof.

use harn_ledger::{Digest, StreamId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::context::{AttemptContext, OBJECTIVE_MAX, WorkContext};
use crate::run::captured::{ContentDigest, Payload, PayloadKind};
use crate::run::check::{Argv, CheckOutcome};
use crate::run::class::{Class, FailureClass};
use crate::run::ending::{Failure, Status};
use crate::run::event::{DecisionId, Label, Reason};
use crate::run::execution::Isolation;
use crate::run::id::{AgentId, CheckId, EvidenceId};
use crate::run::path::AbsolutePath;
use crate::run::text::{Block, Line};

/// The run and how it ended. Times in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// The run.
    pub id: StreamId,
    /// The work item that it advances, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_item_id: Option<StreamId>,
    /// What it is called.
    pub name: Label,
    /// Whether the script returned.
    pub status: Status,
    /// What ended it otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Why it failed, when that is not about the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// What a person is to decide, if the script named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<DecisionId>,
    /// When the manifest was written.
    pub started_at: Timestamp,
    /// When the end was recorded.
    pub ended_at: Timestamp,
    /// The time between, parked time included.
    pub duration_ms: u64,
    /// What the script was told about the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_context: Option<WorkContext>,
    /// What the script was told about the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_context: Option<AttemptContext>,
    /// What the script says the run is to achieve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Block<OBJECTIVE_MAX>>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Reason>,
    /// What the script returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultDigest>,
}

/// A value by its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultDigest {
    /// What it is.
    pub kind: PayloadKind,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// Their number.
    pub bytes: u64,
}

impl ResultDigest {
    /// The digest of `payload`.
    #[must_use]
    pub fn of(payload: &Payload) -> Self {
        let ContentDigest { sha256, bytes } = payload.content.digest();
        Self { kind: payload.kind, sha256, bytes }
    }
}

/// How a call of an agent stands at the end of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentStatus {
    /// It answered.
    Succeeded,
    /// Its answer was taken over from an earlier attempt.
    Cached,
    /// No try was accepted.
    Failed,
    /// The run ended first.
    Unfinished,
}

/// One call of an agent. Prompt and answer stand in the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentRecord {
    /// The call.
    pub id: AgentId,
    /// What it is called.
    pub label: Label,
    /// The stage in which it was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Label>,
    /// The adapter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<Line<100>>,
    /// The model, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Label>,
    /// The effort, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Label>,
    /// How it stands.
    pub status: AgentStatus,
    /// Why it failed, when that is not about the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<FailureClass>,
    /// How many tries were recorded.
    pub tries: u32,
    /// How long the call took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultDigest>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Reason>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRecord {
    /// The check.
    pub id: CheckId,
    /// What it is called.
    pub name: Label,
    /// The stage in which it was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Label>,
    /// The command; left out only when the proof is truncated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argv: Option<Argv>,
    /// Where it ran.
    pub cwd: AbsolutePath,
    /// How it came out; absent when the run ended first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CheckOutcome>,
    /// What it exited with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// How long it took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// What it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<ContentDigest>,
    /// What it printed on standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<ContentDigest>,
    /// Why it could not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Reason>,
    /// The record of evidence that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_id: Option<EvidenceId>,
}

/// Where the run took place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutionRecord {
    /// The isolation that was asked for.
    pub requested_isolation: Isolation,
    /// The isolation that the run had.
    pub effective_isolation: Isolation,
}

/// What sort of thing the proof cannot vouch for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnknownCode {
    /// Nothing says what the run had to achieve.
    NoAcceptanceCriteria,
    /// The run succeeded although agents failed.
    AgentsFailed,
    /// The run succeeded although agents or checks were cut off by its end.
    WorkUnfinished,
    /// There is a recipe, and the caller did without it.
    EnvironmentSkipped,
    /// What commands of the baseline say is not certain.
    EnvironmentUncertain,
    /// What changed in the repository cannot be told in full.
    RepositoryDriftIncomplete,
    /// The proof does not hold everything.
    ProofTruncated,
}

/// Something that the proof cannot vouch for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unknown {
    /// What sort of thing.
    pub code: UnknownCode,
    /// The same in words.
    pub message: Line<200>,
}

/// What can be left out of a proof or shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Errors of agents and checks, commands, summaries, references and notes of evidence, and names of broken tests.
    Details,
    /// Calls of agents.
    Agents,
    /// Checks.
    Checks,
    /// Records of evidence.
    Evidence,
    /// The repository.
    Repository,
    /// The objective of the script.
    Objective,
    /// Statements of criteria: shortened.
    Statements,
    /// Evidence ids of criteria.
    EvidenceIds,
}

/// What was left out of a proof or shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truncation {
    /// What.
    pub part: Part,
    /// How many are there whole.
    pub kept: usize,
    /// How many there were.
    pub total: usize,
}

/// What the proof was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Integrity {
    /// The transcript.
    pub transcript: TranscriptHead,
}

/// The head of the transcript: sequence number and hash of its `run.ended`. The hash covers every line before it and the
/// manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranscriptHead {
    /// The line.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}
