//! Why a review refuses a command.

use crate::check::Scope;
use crate::event::InvalidEvent;
use crate::gate::Reason;
use crate::id::FindingId;
use crate::repair::Offer;

/// Why a command is not allowed. Nothing was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is open already.
    #[error("the review is open already")]
    AlreadyOpen,
    /// Nothing was recorded of it yet.
    #[error("the review was never opened: what created it was interrupted")]
    NotOpen,
    /// Something works on the source.
    #[error("under way: {what}")]
    Busy {
        /// What.
        what: String,
    },
    /// Something waits for the agents.
    #[error("waiting for the agents: {}", what.join("; "))]
    Queued {
        /// What, each in a line.
        what: Vec<String>,
    },
    /// No such pass is offered.
    #[error("no repair pass can be started: {}", offer.words())]
    RepairNotOffered {
        /// What is offered.
        offer: Box<Offer>,
    },
    /// No pass is under way.
    #[error("no repair pass is under way")]
    NoPass,
    /// No such finding.
    #[error("the review has no finding {id}")]
    UnknownFinding {
        /// The finding.
        id: FindingId,
    },
    /// The finding is not one about which this can be decided.
    #[error("{id} is {is}, expected {expected}")]
    NotDecidable {
        /// The finding.
        id: FindingId,
        /// What it is.
        is: String,
        /// What it would have to be.
        expected: &'static str,
    },
    /// No such task.
    #[error("the plan has no task `{}`, it has {}", task.escape_debug(), list(known))]
    UnknownTask {
        /// The task.
        task: String,
        /// The tasks of the plan.
        known: Vec<String>,
    },
    /// No such check.
    #[error("the plan has no such check `{}`, it has {}", name.escape_debug(), list(known))]
    UnknownCheck {
        /// The check.
        name: String,
        /// The checks that there are.
        known: Vec<String>,
    },
    /// A check of this name has another command.
    #[error("the check `{name}` of the plan has another command")]
    OtherCheck {
        /// The check.
        name: String,
    },
    /// The regression check is not due in this scope.
    #[error("a regression check of {id} in the scope `{}` is not due: {}", scope.as_str(), due(*scope))]
    WrongScope {
        /// The finding.
        id: FindingId,
        /// The scope.
        scope: Scope,
    },
    /// The check did not fail.
    #[error("the combined check `{name}` {}", if *ran { "did not fail" } else { "was not run on this source" })]
    CheckDidNotFail {
        /// The check.
        name: String,
        /// Whether it was run.
        ran: bool,
    },
    /// No task has that check with that command.
    #[error("the check `{name}` belongs to no task: none has a check of this name with the same command")]
    CheckUnowned {
        /// The check.
        name: String,
    },
    /// No failed check is being repaired.
    #[error("no failed check is being repaired")]
    NoFixCheck,
    /// The plan is the one that governs already.
    #[error("this plan governs already")]
    SamePlan,
    /// The review is full.
    #[error("the review would have more than 2,000 findings")]
    TooManyFindings,
    /// The gate is closed.
    #[error("nothing may be published: {}", reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    GateClosed {
        /// Every reason.
        reasons: Vec<Reason>,
    },
    /// The publication is of another source or rests on another turn.
    #[error("the publication is of another source than was found clean")]
    OtherSource,
    /// No publication is in the phase before this one.
    #[error("no publication is under way that this could follow")]
    NoPublication,
    /// What would be recorded is out of its bounds.
    #[error(transparent)]
    Invalid(#[from] InvalidEvent),
}

impl Refusal {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::AlreadyOpen => "review_already_open",
            Self::NotOpen => "review_not_open",
            Self::Busy { .. } => "review_busy",
            Self::Queued { .. } => "review_queued",
            Self::RepairNotOffered { .. } => "repair_not_offered",
            Self::NoPass => "no_repair_pass",
            Self::UnknownFinding { .. } => "unknown_finding",
            Self::NotDecidable { .. } => "finding_not_decidable",
            Self::UnknownTask { .. } => "unknown_task",
            Self::UnknownCheck { .. } => "unknown_check",
            Self::OtherCheck { .. } => "other_check",
            Self::WrongScope { .. } => "check_not_due",
            Self::CheckDidNotFail { .. } => "check_did_not_fail",
            Self::CheckUnowned { .. } => "check_unowned",
            Self::NoFixCheck => "no_fix_check",
            Self::SamePlan => "same_plan",
            Self::TooManyFindings => "too_many_findings",
            Self::GateClosed { .. } => "gate_closed",
            Self::OtherSource => "other_source",
            Self::NoPublication => "no_publication",
            Self::Invalid(error) => error.code(),
        }
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

const fn due(scope: Scope) -> &'static str {
    match scope {
        Scope::Final => "no repair of it was attempted since it was opened",
        _ => "a repair of it was attempted already",
    }
}
