//! What the outside world has to say about a work item.

use harn_ledger::{Actor, BlobRef, StreamId, Timestamp};

use super::dependencies::Dependency;
use super::end::End;

/// What a decision rests on. All of it must be settled: nothing may rest on an event that a power cut could take back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What is seen around the item.
    pub observed: Observed,
    /// Who asks.
    pub caller: Caller,
    /// The present moment.
    pub now: Timestamp,
    /// The proof that the latest attempt's end cites, in the log or in the run's own stream, recomputed from its stored
    /// bytes; none when they are not there. Only an accept looks at it.
    pub proof: Option<BlobRef>,
    /// Why that proof does not follow from the manifest and transcript of its run any more; none when it does. Only an
    /// accept looks at it.
    pub unproven: Option<String>,
}

/// What is seen around an item. The default sees nothing: dependencies count as unresolved, runs as unproven.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// Where each dependency stands.
    pub dependencies: Vec<Dependency>,
    /// Whether somebody else holds the item's lease. A runner does not see its own.
    pub held_by_other: bool,
    /// The approval that the open attempt is parked for; none when it cannot be read.
    pub approval: Option<ApprovalStatus>,
    /// What the run's own stream shows about the open attempt; none when nobody looked. It is not asked for otherwise,
    /// so a finished attempt never depends on old run files.
    pub run: Option<RunShows>,
}

/// Who asks for a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The name that the event will carry.
    pub actor: Actor,
    /// What the caller is.
    pub role: Role,
}

/// What a caller is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A person, or a program that a person started for this.
    Person,
    /// A mission or another program that acts by itself. Bounds and pauses stop it; it grants nothing.
    Automation,
    /// A process started by a workflow. It may neither judge the team's work nor allow it more.
    WorkflowChild,
}

/// Where an approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApprovalStatus {
    /// Nobody has decided.
    Pending,
    /// The action is allowed.
    Approved,
    /// The action is refused; the attempt may go on without it.
    Denied,
}

/// What the stream of a run shows about an attempt whose end the item's log lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunShows {
    /// There is no such stream.
    Absent,
    /// The run neither ended nor is parked.
    Open {
        /// Whether an agent or a check was started.
        worked: bool,
    },
    /// The run is parked.
    Parked {
        /// For which approval.
        approval_id: StreamId,
        /// Whether an agent or a check was started.
        worked: bool,
    },
    /// The run ended.
    Ended(End),
    /// The stream cannot be read.
    Unreadable {
        /// Why; it must not change while the stream does not.
        why: String,
    },
}

impl RunShows {
    /// Whether the stream proves that neither an agent nor a check was started.
    #[must_use]
    pub const fn is_untouched(&self) -> bool {
        matches!(self, Self::Absent | Self::Open { worked: false } | Self::Parked { worked: false, .. })
    }
}
