//! Repair passes: whether another one may be started, decided in one place.

use std::collections::BTreeSet;

use harn_ledger::Digest;

use crate::bounds;
use crate::finding::{Decided, Kind, Standing};
use crate::id::FindingId;
use crate::report::Status;
use crate::state::State;
use crate::turn::{Turn, TurnOutcome};

/// What is offered next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    /// A repair pass.
    Pass {
        /// 1 or 2 within the plan.
        number: u32,
        /// The confirmed defects, by number.
        findings: Vec<FindingId>,
        /// The tasks that repair them, one after the other, each after those that it depends on.
        owners: Vec<String>,
        /// The tasks that depend on those: they are checked again, and have nothing to repair.
        rechecks: Vec<String>,
    },
    /// Nothing is to be repaired.
    Nothing,
    /// A pass is under way, and it is this task's turn.
    UnderWay {
        /// The pass.
        number: u32,
        /// The task.
        owner: String,
    },
    /// The present source has to be reviewed first.
    Review {
        /// Why.
        why: NotReviewed,
    },
    /// Suspicions have to be confirmed or dismissed first.
    Investigate {
        /// Them.
        findings: Vec<FindingId>,
    },
    /// The repair plan has to be revised; a person accepts the new one.
    Revise {
        /// Why.
        why: Revision,
    },
}

/// Why the present source has to be reviewed before anything is repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotReviewed {
    /// No report was taken in.
    Never,
    /// The last report is of another source.
    OtherSource,
    /// The last report is of before the last pass.
    BeforePass,
    /// A turn is under way.
    Running,
}

/// Why the repair plan has to be revised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revision {
    /// Both passes of the plan were used.
    PassesUsed,
    /// The last pass brought no progress: too little was fixed for what came up.
    NoProgress {
        /// How many findings of before it were fixed since.
        fixed: usize,
        /// How many defects and suspicions came up since.
        came_up: usize,
    },
    /// These belong to no task.
    Unowned(Vec<FindingId>),
}

/// What is offered next for the source with this fingerprint.
///
/// A second pass needs progress: since the first one began, something of before was fixed (not merely dismissed), no more came
/// up than was fixed, and confirmed work is left.
#[must_use]
pub fn next(state: &State, fingerprint: &Digest) -> Offer {
    if let Some((pass, owner)) = state.pass_under_way() {
        return Offer::UnderWay { number: pass.number, owner: owner.to_owned() };
    }
    let (defects, uncertain) = (state.open_of(Kind::Defect), state.open_of(Kind::Uncertain));
    if defects.is_empty() && uncertain.is_empty() {
        return Offer::Nothing;
    }
    if let Some(why) = not_reviewed(state, fingerprint) {
        return Offer::Review { why };
    }
    if !uncertain.is_empty() {
        return Offer::Investigate { findings: uncertain };
    }
    let used = u32::try_from(state.passes.len()).unwrap_or(u32::MAX);
    if used >= bounds::PASSES {
        return Offer::Revise { why: Revision::PassesUsed };
    }
    if let Some((fixed, came_up)) =
        state.passes.last().map(|pass| progress(state, pass.known, pass.turns_before))
        && (fixed == 0 || came_up > fixed)
    {
        return Offer::Revise { why: Revision::NoProgress { fixed, came_up } };
    }
    let task_of = |id: &FindingId| {
        let owner = state.finding(*id)?.owner.as_deref()?;
        state.plan().task(owner)
    };
    let unowned: Vec<FindingId> = defects.iter().copied().filter(|id| task_of(id).is_none()).collect();
    if !unowned.is_empty() {
        return Offer::Revise { why: Revision::Unowned(unowned) };
    }
    let owners: BTreeSet<&str> = defects.iter().filter_map(task_of).map(|task| &*task.id).collect();
    let rechecks = state.plan().dependents(&owners).iter().map(|task| task.id.clone()).collect();
    Offer::Pass { number: used + 1, owners: in_order(state, &owners), findings: defects, rechecks }
}

fn not_reviewed(state: &State, fingerprint: &Digest) -> Option<NotReviewed> {
    if state.live_turn().is_some() {
        return Some(NotReviewed::Running);
    }
    let Some(last) = last_review(state) else { return Some(NotReviewed::Never) };
    let number = usize::try_from(last.id.number()).unwrap_or(usize::MAX);
    if state.passes.last().is_some_and(|pass| number <= pass.turns_before) {
        return Some(NotReviewed::BeforePass);
    }
    let is_current = last.fingerprint == *fingerprint && last.plan == state.plan_digest;
    (!is_current).then_some(NotReviewed::OtherSource)
}

/// The last turn whose inspection was completed.
fn last_review(state: &State) -> Option<&Turn> {
    let is_it = |turn: &&Turn| match &turn.outcome {
        TurnOutcome::Accepted(report) => report.status != Status::Blocked,
        _ => false,
    };
    state.turns().iter().rfind(is_it)
}

/// How many findings of before a pass were fixed since it began, and how many came up.
fn progress(state: &State, known: usize, turns_before: usize) -> (usize, usize) {
    let number = |id: FindingId| usize::try_from(id.number()).unwrap_or(usize::MAX);
    let in_later_turn = |by: &crate::finding::Raised| match by {
        crate::finding::Raised::Turn(turn) => {
            usize::try_from(turn.number()).unwrap_or(usize::MAX) > turns_before
        }
        _ => false,
    };
    let fixed = state.findings().filter(|finding| {
        let since = finding
            .decisions
            .iter()
            .any(|it| matches!(it.what, Decided::Fixed { .. }) && in_later_turn(&it.by));
        finding.standing == Standing::Fixed && number(finding.id) <= known && since
    });
    let came_up = state.findings().filter(|finding| {
        let reopened =
            finding.decisions.iter().any(|it| matches!(it.what, Decided::Reopened) && in_later_turn(&it.by));
        finding.is_open() && (number(finding.id) > known || reopened)
    });
    (fixed.count(), came_up.count())
}

/// Tasks in an order in which each comes after those that it depends on; as in the plan otherwise.
fn in_order(state: &State, tasks: &BTreeSet<&str>) -> Vec<String> {
    let mut left: Vec<&crate::plan::Task> = state.plan().tasks.iter().collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let waits = |task: &crate::plan::Task| left.iter().any(|other| task.depends_on.contains(&other.id));
        let at = left.iter().position(|task| !waits(task)).unwrap_or(0);
        order.push(left.remove(at).id.clone());
    }
    order.retain(|id| tasks.contains(&**id));
    order
}

impl Offer {
    /// A stable name for it.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Pass { .. } => "repair",
            Self::Nothing => "none",
            Self::UnderWay { .. } => "repairing",
            Self::Review { .. } => "review",
            Self::Investigate { .. } => "investigate",
            Self::Revise { .. } => "revise_plan",
        }
    }

    /// What it says, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Pass { number, findings, owners, .. } => {
                format!(
                    "repair pass {number} of {} for {} by {}",
                    bounds::PASSES,
                    list(findings),
                    owners.join(", then ")
                )
            }
            Self::Nothing => "nothing is to be repaired".to_owned(),
            Self::UnderWay { number, owner } => {
                format!("repair pass {number} is under way: it is the turn of {owner}")
            }
            Self::Review { why } => match why {
                NotReviewed::Never => "the source has to be reviewed first".to_owned(),
                NotReviewed::OtherSource => {
                    "the source or the plan moved since the last report, so it has to be reviewed again"
                        .to_owned()
                }
                NotReviewed::BeforePass => "the source has to be reviewed after the last pass".to_owned(),
                NotReviewed::Running => "a turn is under way: its report is waited for".to_owned(),
            },
            Self::Investigate { findings } => {
                format!("{} is uncertain: confirm or dismiss it before anything is repaired", list(findings))
            }
            Self::Revise { why } => format!("revise the repair plan: {}", why.words()),
        }
    }
}

impl Revision {
    /// Why, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::PassesUsed => format!("both of its {} passes were used", bounds::PASSES),
            Self::NoProgress { fixed, came_up } => {
                format!("the last pass brought no progress: {fixed} fixed, {came_up} came up")
            }
            Self::Unowned(findings) => format!("{} belongs to no task", list(findings)),
        }
    }
}

fn list(findings: &[FindingId]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
