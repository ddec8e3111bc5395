//! What can happen in a review.

mod change;
mod check;

use harn_ledger::{BlobRef, Digest};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::check::CheckResult;
use crate::finding::{Evidence, Priority};
use crate::id::{FindingId, TurnId};
use crate::path::SourcePath;
use crate::plan::Plan;
use crate::report::Status;

pub use change::Change;
pub use check::InvalidEvent;
pub(crate) use check::UNREAD as UNREAD_NAMED;

/// An event of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
#[non_exhaustive]
pub enum Event {
    /// The review was opened. First and only once.
    #[serde(rename = "review.opened")]
    Opened {},
    /// A reviewer was asked. What an earlier turn has not answered is not waited for any more.
    #[serde(rename = "turn.begun")]
    TurnBegun {
        /// The turn.
        turn: TurnId,
        /// The source that the reviewer is given.
        fingerprint: Digest,
        /// The plan that governs.
        plan: Digest,
        /// What the reviewer is told to do.
        instructions: Digest,
        /// The fingerprint itself, as the controller keeps it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        manifest: Option<BlobRef>,
        /// Who reviews, one line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reviewer: Option<String>,
    },
    /// A report was taken in.
    #[serde(rename = "report.accepted")]
    ReportAccepted {
        /// The turn that it answers.
        turn: TurnId,
        /// The report as it was handed in.
        raw: BlobRef,
        /// What it comes to.
        status: Status,
        /// In words.
        summary: String,
        /// What becomes of findings, in order.
        changes: Vec<Change>,
        /// How many files it says were read, if it says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        read: Option<u32>,
        /// Files that changed and that it does not say were read; up to 500 are named.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unread: Vec<SourcePath>,
        /// How many more there are.
        #[serde(default, skip_serializing_if = "is_zero")]
        unread_more: u32,
    },
    /// A report was stored and nothing follows from it: what it judges is not there any more.
    #[serde(rename = "report.stale")]
    ReportStale {
        /// The turn that it answers.
        turn: TurnId,
        /// The report as it was handed in.
        raw: BlobRef,
        /// What it comes to.
        status: Status,
        /// In words.
        summary: String,
        /// What moved.
        moved: Vec<Moved>,
    },
    /// A report was stored and refused. It may be corrected once.
    #[serde(rename = "report.rejected")]
    ReportRejected {
        /// The turn that it answers.
        turn: TurnId,
        /// The report as it was handed in.
        raw: BlobRef,
        /// The first test that it failed, `V2` to `V14`.
        step: String,
        /// A stable name of what is wrong.
        code: String,
        /// Every problem of that test, each in a line.
        problems: Vec<String>,
    },
    /// The results of another program were taken in.
    #[serde(rename = "findings.imported")]
    FindingsImported {
        /// The program.
        tool: String,
        /// What it wrote.
        raw: BlobRef,
        /// The source that they were taken in on.
        fingerprint: Digest,
        /// What becomes of findings, in order.
        changes: Vec<Change>,
        /// How many results were left out, because they are suppressed or no findings.
        skipped: u32,
    },
    /// A person started a repair pass.
    #[serde(rename = "repair.begun")]
    RepairBegun {
        /// 1 or 2 within a plan.
        pass: u32,
        /// The defects that are to be repaired.
        findings: Vec<FindingId>,
        /// The tasks that repair them, one after the other.
        owners: Vec<String>,
        /// The tasks that depend on those: they are checked again, and have nothing to repair.
        rechecks: Vec<String>,
        /// The source before it.
        fingerprint: Digest,
    },
    /// A task attempted its repairs.
    #[serde(rename = "repair.attempted")]
    RepairAttempted {
        /// In which pass.
        pass: u32,
        /// The task.
        task: String,
        /// The source before.
        before: Digest,
        /// The source after.
        after: Digest,
        /// What it says of that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A check ended that the controller ran.
    #[serde(rename = "check.recorded")]
    CheckRecorded {
        /// What it came to.
        result: Box<CheckResult>,
    },
    /// A person decided about a finding.
    #[serde(rename = "finding.decided")]
    FindingDecided {
        /// The finding.
        id: FindingId,
        /// What.
        decision: Decision,
        /// Why.
        reason: String,
        /// What it rests on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<Evidence>,
    },
    /// A person allowed publication with a combined check that does not pass.
    #[serde(rename = "check.waived")]
    CheckWaived {
        /// The combined check.
        name: String,
        /// Why.
        reason: String,
    },
    /// A person accepted another plan.
    #[serde(rename = "plan.accepted")]
    PlanAccepted {
        /// The plan.
        plan: Box<Plan>,
        /// Why.
        reason: String,
    },
    /// A failed combined check went back to the task that owns it.
    #[serde(rename = "fix_check.begun")]
    FixCheckBegun {
        /// The check.
        name: String,
        /// The task.
        task: String,
        /// The source that it failed on.
        fingerprint: Digest,
    },
    /// That task is done with it.
    #[serde(rename = "fix_check.ended")]
    FixCheckEnded {
        /// The check.
        name: String,
        /// Whether the task says that it is repaired. Only a new run of every combined check tells.
        repaired: bool,
        /// The source after it.
        fingerprint: Digest,
    },
    /// A title and a summary for publication were written.
    #[serde(rename = "draft.written")]
    DraftWritten {
        /// What it was written for; it holds for nothing else.
        key: Digest,
        /// The title.
        title: String,
        /// The summary.
        summary: String,
        /// Who wrote it.
        by: Writer,
        /// Why earlier ones were refused, each in a line.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refused: Vec<String>,
    },
    /// A publication was confirmed and is about to be made.
    #[serde(rename = "publication.begun")]
    PublicationBegun {
        /// What it publishes.
        publication: Publication,
    },
    /// The remote branch is at the commit.
    #[serde(rename = "publication.pushed")]
    PublicationPushed {
        /// The commit.
        commit: String,
        /// Whether it was found there.
        adopted: bool,
    },
    /// The publication is complete.
    #[serde(rename = "publication.done")]
    PublicationDone {
        /// The commit.
        commit: String,
        /// The address of the pull request, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// Whether the pull request was found there.
        adopted: bool,
    },
    /// The publication was given up. What was published by it stays.
    #[serde(rename = "publication.failed")]
    PublicationFailed {
        /// Why.
        reason: String,
    },
}

/// What moved under a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Moved {
    /// The source was edited.
    Source {
        /// What it is now.
        now: Digest,
    },
    /// Another plan was accepted.
    Plan {
        /// What it is now.
        now: Digest,
    },
    /// Something waits for the agents.
    Queued {
        /// How much.
        count: u32,
    },
}

/// What a person decides about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Decision {
    /// It is closed, without evidence.
    Close {},
    /// A suspicion is a defect.
    Confirm {},
    /// What was closed is open again.
    Reopen {},
    /// Its regression check need not be shown to fail on the source of before.
    NotReproduced {},
    /// It matters more or less.
    Priority {
        /// How much.
        to: Priority,
    },
    /// It belongs to a task, or to none.
    Owner {
        /// The task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
}

/// Who wrote a title and a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writer {
    /// An agent.
    Agent,
    /// A person.
    Person,
    /// Nobody: both tries of the agent were refused, and it was made of the request.
    Fallback,
}

/// What is published where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// What was previewed: the digest of everything that was shown.
    pub preview: Digest,
    /// The source that was reviewed.
    pub fingerprint: Digest,
    /// The turn in which it was found clean.
    pub turn: TurnId,
    /// The commit that is pushed.
    pub commit: String,
    /// Its tree, which holds exactly the source that was reviewed.
    pub tree: String,
    /// The remote.
    pub remote: String,
    /// The branch on it.
    pub branch: String,
    /// What it is to be merged into.
    pub base: String,
    /// Where that was.
    pub base_commit: String,
    /// Where the branch on the remote was; absent if it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// Whether a pull request is made or brought up to date.
    pub pull_request: bool,
    /// The text of the pull request, as it was shown.
    pub body: BlobRef,
    /// Its title.
    pub title: String,
}

impl Event {
    /// Its name in the log.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Opened { .. } => "review.opened",
            Self::TurnBegun { .. } => "turn.begun",
            Self::ReportAccepted { .. } => "report.accepted",
            Self::ReportStale { .. } => "report.stale",
            Self::ReportRejected { .. } => "report.rejected",
            Self::FindingsImported { .. } => "findings.imported",
            Self::RepairBegun { .. } => "repair.begun",
            Self::RepairAttempted { .. } => "repair.attempted",
            Self::CheckRecorded { .. } => "check.recorded",
            Self::FindingDecided { .. } => "finding.decided",
            Self::CheckWaived { .. } => "check.waived",
            Self::PlanAccepted { .. } => "plan.accepted",
            Self::FixCheckBegun { .. } => "fix_check.begun",
            Self::FixCheckEnded { .. } => "fix_check.ended",
            Self::DraftWritten { .. } => "draft.written",
            Self::PublicationBegun { .. } => "publication.begun",
            Self::PublicationPushed { .. } => "publication.pushed",
            Self::PublicationDone { .. } => "publication.done",
            Self::PublicationFailed { .. } => "publication.failed",
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let event = Self::deserialize(deserializer)?;
        event.check().map_err(de::Error::custom)?;
        Ok(event)
    }
}
