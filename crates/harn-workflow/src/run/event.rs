//! What can happen in a run: the lines of its transcript.

use std::num::{NonZeroU32, NonZeroU64};

use harn_ledger::{Digest, StreamId};
use serde::{Deserialize, Serialize};

use crate::context::ERROR_MAX;

use super::agent::{AgentOutcome, TryOutcome};
use super::captured::{Captured, Payload};
use super::check::{Argv, CheckOutcome};
use super::class::{Class, FailureClass};
use super::criterion::AcceptanceIds;
use super::ending::{Failure, Status};
use super::environment::{FinalCheck, Preparation};
use super::evidence::{EvidenceKind, EvidenceStatus, Source};
use super::id::{AgentId, CheckId, EvidenceId};
use super::meta::Meta;
use super::path::AbsolutePath;
use super::repository::Snapshot;
use super::text::{Block, Line};

/// A name or a title.
pub type Label = Line<200>;

/// An error or a reason, as far as it is kept.
pub type Reason = Block<ERROR_MAX>;

/// What a person is to decide, by a name that the script chose.
pub type DecisionId = Line<1000>;

/// An event of a run. Times in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub enum Event {
    /// The stream was created. First and only once.
    #[serde(rename = "run.started")]
    RunStarted {},
    /// The environment was prepared, or must not be worked in. At most once, before the script.
    #[serde(rename = "environment.prepared")]
    EnvironmentPrepared {
        /// What it came to.
        preparation: Box<Preparation>,
    },
    /// There is a recipe, and the caller did without it. At most once, before the script.
    #[serde(rename = "environment.skipped")]
    EnvironmentSkipped {},
    /// The commands of the baseline were run again after the script. At most once.
    #[serde(rename = "environment.checked")]
    EnvironmentChecked {
        /// What they came to.
        check: Box<FinalCheck>,
    },
    /// The script was loaded. Once; a resumed run loads the same bytes without recording it again.
    #[serde(rename = "script.loaded")]
    ScriptLoaded {
        /// What the script says about itself.
        meta: Meta,
    },
    /// The script enters a stage.
    #[serde(rename = "stage")]
    Stage {
        /// Its title.
        title: Label,
    },
    /// The script has something to say.
    #[serde(rename = "log")]
    Log {
        /// What it says.
        message: Captured,
    },
    /// The script called an agent.
    #[serde(rename = "agent.started")]
    AgentStarted {
        /// The call, numbered in order.
        id: AgentId,
        /// What it is called.
        label: Label,
        /// The stage in which it was called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stage: Option<Label>,
        /// Digest of everything that makes one call like another.
        key: Digest,
        /// Which of the calls with this key it is, counted from 1.
        occurrence: NonZeroU32,
        /// The adapter; absent when there is none to choose.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        adapter: Option<Line<100>>,
        /// The model, if one was named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<Label>,
        /// The effort, if one was named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effort: Option<Label>,
        /// What the agent reads.
        prompt: Captured,
    },
    /// One try within a call is over. A try that was cut off by the end of the process leaves no event; a resumed run
    /// goes on with the next try of the same call.
    #[serde(rename = "agent.try")]
    AgentTry {
        /// The call.
        id: AgentId,
        /// Which try it was, counted from 1.
        number: NonZeroU32,
        /// How it came out.
        outcome: TryOutcome,
        /// Why it failed, when that is not about the work.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        class: Option<FailureClass>,
        /// What went wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Reason>,
        /// An answer that was not accepted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<Captured>,
        /// What it printed on standard error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stderr: Option<Captured>,
        /// How long it took.
        duration_ms: u64,
    },
    /// A call is over.
    #[serde(rename = "agent.ended")]
    AgentEnded {
        /// The call.
        id: AgentId,
        /// How it came out.
        outcome: AgentOutcome,
        /// Why it failed, when that is not about the work.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        class: Option<FailureClass>,
        /// The answer; there unless the call failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<Payload>,
        /// What went wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Reason>,
        /// How many tries were recorded.
        tries: u32,
        /// How long the call took.
        duration_ms: u64,
    },
    /// One of several thunks that run side by side was rejected; the script goes on without its result.
    #[serde(rename = "parallel.item_failed")]
    ParallelItemFailed {
        /// Its place, counted from 0.
        index: u32,
        /// What it was rejected with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Reason>,
    },
    /// The engine starts a command.
    #[serde(rename = "check.started")]
    CheckStarted {
        /// The check, numbered in order.
        id: CheckId,
        /// What it is called.
        name: Label,
        /// The stage in which it was called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stage: Option<Label>,
        /// The command.
        argv: Argv,
        /// Where it runs.
        cwd: AbsolutePath,
        /// How long it may take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<NonZeroU64>,
        /// The criteria that its result speaks about.
        acceptance_ids: AcceptanceIds,
    },
    /// A check is over. The record of evidence that it is follows in the same batch.
    #[serde(rename = "check.ended")]
    CheckEnded {
        /// The check.
        id: CheckId,
        /// How it came out.
        outcome: CheckOutcome,
        /// What it exited with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The signal that ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
        /// Why it could not run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Reason>,
        /// How long it took.
        duration_ms: u64,
        /// What it printed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdout: Option<Captured>,
        /// What it printed on standard error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stderr: Option<Captured>,
        /// The record that follows.
        evidence: EvidenceId,
    },
    /// A record of evidence.
    #[serde(rename = "evidence.recorded")]
    EvidenceRecorded {
        /// The record, numbered in order.
        id: EvidenceId,
        /// Who vouches for it.
        source: Source,
        /// What it is about.
        kind: EvidenceKind,
        /// What it says.
        status: EvidenceStatus,
        /// What it is called.
        label: Label,
        /// The stage in which it was recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stage: Option<Label>,
        /// The check that it is the result of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        check: Option<CheckId>,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Block<2000>>,
        /// Where to look.
        #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
        reference: Option<Block<1000>>,
        /// The criteria it speaks about.
        acceptance_ids: AcceptanceIds,
        /// What the engine has to say about the record itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Block<1000>>,
    },
    /// The run waits for a person's approval. Nothing is running.
    #[serde(rename = "run.parked")]
    RunParked {
        /// What it waits for.
        approval_id: StreamId,
    },
    /// The run goes on: after a park, or after the process that ran it was gone.
    #[serde(rename = "run.resumed")]
    RunResumed {},
    /// The script said that a person must rule. Only the end follows.
    #[serde(rename = "run.blocked")]
    RunBlocked {
        /// Why.
        reason: Reason,
        /// What is to be decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<DecisionId>,
    },
    /// The run is over. Nothing follows.
    #[serde(rename = "run.ended")]
    RunEnded {
        /// Whether the script returned.
        status: Status,
        /// What ended it otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        /// Why it failed, when that is not about the work.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        class: Option<Class>,
        /// What went wrong. Absent when there is nothing to say, as after `throw null`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Reason>,
        /// What the script returned; absent for `undefined`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Payload>,
        /// The repository at the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repository_after: Option<Snapshot>,
    },
}

impl Event {
    /// Its name in the transcript.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run.started",
            Self::EnvironmentPrepared { .. } => "environment.prepared",
            Self::EnvironmentSkipped { .. } => "environment.skipped",
            Self::EnvironmentChecked { .. } => "environment.checked",
            Self::ScriptLoaded { .. } => "script.loaded",
            Self::Stage { .. } => "stage",
            Self::Log { .. } => "log",
            Self::AgentStarted { .. } => "agent.started",
            Self::AgentTry { .. } => "agent.try",
            Self::AgentEnded { .. } => "agent.ended",
            Self::ParallelItemFailed { .. } => "parallel.item_failed",
            Self::CheckStarted { .. } => "check.started",
            Self::CheckEnded { .. } => "check.ended",
            Self::EvidenceRecorded { .. } => "evidence.recorded",
            Self::RunParked { .. } => "run.parked",
            Self::RunResumed { .. } => "run.resumed",
            Self::RunBlocked { .. } => "run.blocked",
            Self::RunEnded { .. } => "run.ended",
        }
    }
}
