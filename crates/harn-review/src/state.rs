//! A review, as far as its log goes.

mod fold;

use std::collections::BTreeMap;
use std::sync::Arc;

use harn_ledger::{Digest, StreamId, Timestamp};

use crate::check::{CheckResult, Scope};
use crate::event::{Publication, Writer};
use crate::finding::{Finding, Kind};
use crate::id::{FindingId, TurnId};
use crate::intent::{Base, Intent};
use crate::plan::Plan;
use crate::turn::Turn;

/// A review, as far as its log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub(crate) id: StreamId,
    pub(crate) opened: bool,
    pub(crate) request: Arc<str>,
    pub(crate) base: Option<Base>,
    pub(crate) require_coverage: bool,
    pub(crate) plan: Arc<Plan>,
    pub(crate) plan_digest: Digest,
    pub(crate) findings: BTreeMap<FindingId, Finding>,
    pub(crate) turns: Vec<Turn>,
    /// The repair passes of the plan that governs.
    pub(crate) passes: Vec<Pass>,
    pub(crate) checks: Vec<CheckResult>,
    /// How many results there were when a failed check went back to a task: combined ones of before do not count any more,
    /// nor do those of that task.
    pub(crate) dropped: Vec<(usize, String)>,
    pub(crate) waivers: Vec<Waiver>,
    pub(crate) fix_checks: Vec<FixCheck>,
    pub(crate) draft: Option<WrittenDraft>,
    pub(crate) publications: Vec<PublicationState>,
    /// Whether a finding came up since the last report that was taken in, by an import or a person.
    pub(crate) raised_since: bool,
}

/// A repair pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// 1 or 2.
    pub number: u32,
    /// The defects that are to be repaired.
    pub findings: Vec<FindingId>,
    /// The tasks that repair them, in order.
    pub owners: Vec<String>,
    /// The tasks that are checked again.
    pub rechecks: Vec<String>,
    /// How many owners attempted their repairs.
    pub attempted: usize,
    /// The source before the repairs of the owner whose turn it is.
    pub source: Digest,
    /// How many turns there were before it.
    pub turns_before: usize,
    /// The findings that were known before it.
    pub known: usize,
}

/// A failed combined check that a person lets pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    /// The check.
    pub name: String,
    /// Why.
    pub reason: String,
    /// Who.
    pub actor: String,
    /// The plan that it is about. Another plan has other checks.
    pub plan: Digest,
    /// When.
    pub at: Timestamp,
}

/// A failed combined check that went back to the task that owns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixCheck {
    /// The check.
    pub name: String,
    /// The task.
    pub task: String,
    /// Whether the task says that it is repaired; none while it is at it.
    pub repaired: Option<bool>,
}

/// A title and a summary that were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenDraft {
    /// What they were written for.
    pub key: Digest,
    /// The title.
    pub title: String,
    /// The summary.
    pub summary: String,
    /// Who wrote them.
    pub by: Writer,
}

/// A publication, and how far it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicationState {
    /// What it publishes.
    pub publication: Publication,
    /// How far it came.
    pub phase: Phase,
}

/// How far a publication came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// It was confirmed; nothing is known to be on the remote.
    Begun,
    /// The branch is there.
    Pushed,
    /// It is complete.
    Done {
        /// The address of the pull request.
        url: Option<String>,
    },
    /// It was given up.
    Failed {
        /// Why.
        reason: String,
    },
}

impl State {
    pub(crate) fn new(intent: &Intent) -> Self {
        Self {
            id: intent.id.clone(),
            opened: false,
            request: intent.request.as_str().into(),
            base: intent.base.clone(),
            require_coverage: intent.require_coverage,
            plan_digest: intent.plan.digest(),
            plan: Arc::new(intent.plan.clone()),
            findings: BTreeMap::new(),
            turns: Vec::new(),
            passes: Vec::new(),
            checks: Vec::new(),
            dropped: Vec::new(),
            waivers: Vec::new(),
            fix_checks: Vec::new(),
            draft: None,
            publications: Vec::new(),
            raised_since: false,
        }
    }

    /// The review's id.
    #[must_use]
    pub const fn id(&self) -> &StreamId {
        &self.id
    }

    /// The plan that governs.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Its digest.
    #[must_use]
    pub const fn plan_digest(&self) -> &Digest {
        &self.plan_digest
    }

    /// Every finding, by number.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.values()
    }

    /// The finding with this number.
    #[must_use]
    pub fn finding(&self, id: FindingId) -> Option<&Finding> {
        self.findings.get(&id)
    }

    /// The findings that nobody has dealt with.
    pub fn open(&self) -> impl Iterator<Item = &Finding> {
        self.findings.values().filter(|finding| finding.is_open())
    }

    /// The findings of a kind that nobody has dealt with.
    #[must_use]
    pub fn open_of(&self, kind: Kind) -> Vec<FindingId> {
        self.open().filter(|finding| finding.kind == kind).map(|finding| finding.id).collect()
    }

    /// The turns, in order.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The turn with this number.
    #[must_use]
    pub fn turn(&self, id: TurnId) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.id == id)
    }

    /// The turn whose report is waited for.
    #[must_use]
    pub fn live_turn(&self) -> Option<&Turn> {
        self.turns.last().filter(|turn| turn.is_live())
    }

    /// The last turn whose report was taken in.
    #[must_use]
    pub fn last_report(&self) -> Option<&Turn> {
        self.turns.iter().rev().find(|turn| matches!(turn.outcome, crate::turn::TurnOutcome::Accepted(_)))
    }

    /// The repair passes of the plan that governs.
    #[must_use]
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// The pass that is under way, and the task whose turn it is.
    #[must_use]
    pub fn pass_under_way(&self) -> Option<(&Pass, &str)> {
        let pass = self.passes.last()?;
        Some((pass, pass.owners.get(pass.attempted)?))
    }

    /// Every result of a check, in order.
    #[must_use]
    pub fn checks(&self) -> &[CheckResult] {
        &self.checks
    }

    /// The results of a finding's regression checks, in order.
    pub fn checks_of(&self, id: FindingId) -> impl Iterator<Item = &CheckResult> {
        self.checks.iter().filter(move |result| result.finding == Some(id))
    }

    /// The last result of a combined check on this source.
    #[must_use]
    pub fn combined(&self, name: &str, fingerprint: &Digest) -> Option<&CheckResult> {
        let from = self.dropped.last().map_or(0, |(count, _)| *count);
        let is_it = |result: &&CheckResult| {
            result.scope == Scope::Combined && result.check.name == name && result.fingerprint == *fingerprint
        };
        self.checks.iter().skip(from).rfind(is_it)
    }

    /// The last result of a task's check on this source.
    #[must_use]
    pub fn of_task(&self, task: &str, name: &str, fingerprint: &Digest) -> Option<&CheckResult> {
        let from =
            self.dropped.iter().rev().find(|(_, dropped)| dropped == task).map_or(0, |(count, _)| *count);
        let is_it = |result: &&CheckResult| {
            let of_task = result.task.as_deref() == Some(task) && result.check.name == name;
            of_task && result.fingerprint == *fingerprint
        };
        self.checks.iter().skip(from).rfind(is_it)
    }

    /// The waiver of a combined check of the plan that governs.
    #[must_use]
    pub fn waiver(&self, name: &str) -> Option<&Waiver> {
        self.waivers.iter().rev().find(|waiver| waiver.name == name && waiver.plan == self.plan_digest)
    }

    /// The failed combined check that is being repaired.
    #[must_use]
    pub fn fix_check(&self) -> Option<&FixCheck> {
        self.fix_checks.last().filter(|fix| fix.repaired.is_none())
    }

    /// The title and summary that were written last.
    #[must_use]
    pub const fn draft(&self) -> Option<&WrittenDraft> {
        self.draft.as_ref()
    }

    /// The publications, in order.
    #[must_use]
    pub fn publications(&self) -> &[PublicationState] {
        &self.publications
    }

    /// The publication that was begun and neither completed nor given up.
    #[must_use]
    pub fn publication_under_way(&self) -> Option<&PublicationState> {
        self.publications.last().filter(|it| matches!(it.phase, Phase::Begun | Phase::Pushed))
    }

    /// What was published last, and the address of its pull request.
    #[must_use]
    pub fn published(&self) -> Option<(&Publication, Option<&str>)> {
        self.publications.iter().rev().find_map(|it| match &it.phase {
            Phase::Done { url } => Some((&it.publication, url.as_deref())),
            _ => None,
        })
    }

    /// What was asked for.
    #[must_use]
    pub fn request(&self) -> &str {
        &self.request
    }

    /// What the work is to be merged into, as it was when the review was opened.
    #[must_use]
    pub const fn base(&self) -> Option<&Base> {
        self.base.as_ref()
    }

    /// How often a check was run for this, plus 1.
    #[must_use]
    pub fn next_attempt(
        &self,
        scope: Scope,
        name: &str,
        finding: Option<FindingId>,
        task: Option<&str>,
    ) -> u32 {
        let same = self.checks.iter().filter(|it| {
            it.scope == scope && it.check.name == name && it.finding == finding && it.task.as_deref() == task
        });
        u32::try_from(same.count()).map_or(u32::MAX, |count| count.saturating_add(1))
    }
}
