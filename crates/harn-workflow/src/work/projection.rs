//! Everything that is shown about one work item.

use harn_ledger::{BlobRef, StreamId, Timestamp};
use serde::Serialize;

use super::attempt::{Attempt, AttemptStatus, Judgement, Trigger};
use super::budget::Budget;
use super::dependencies::Dependency;
use super::end::{Class, End, Outcome};
use super::facts::Observed;
use super::finding::Findings;
use super::lifecycle::{ItemState, NextAction};
use super::precedence;
use super::settle::shown;
use super::state::{Grant, Note, State};
use super::suggest;

/// A work item as it is shown. Optional members are left out of the JSON when absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Projection {
    /// 1.
    pub schema_version: u32,
    /// The item.
    pub id: StreamId,
    /// Its title.
    pub title: String,
    /// Where it stands.
    pub state: ItemState,
    /// What comes next without a person's say.
    pub next_action: NextAction,
    /// Why, up to 2,000 characters. Unchanged evidence gives an unchanged reason.
    pub reason: String,
    /// The decision that a person must make, empty when it has no name. Only where the item is blocked on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_on_decision: Option<String>,
    /// Command lines that a person can type next.
    #[serde(rename = "try")]
    pub suggestions: Vec<String>,
    /// The dependencies that are not accepted, in any state.
    pub unresolved_dependencies: Vec<Dependency>,
    /// All attempts, in order.
    pub attempts: Vec<AttemptRow>,
    /// Attempts, counted over the item's whole life.
    pub attempts_used: u32,
    /// Those that count against the ceiling.
    pub charged_attempts: u32,
    /// Charged attempts left.
    pub attempts_remaining: u32,
    /// The frozen ceiling.
    pub max_attempts: u32,
    /// What persons allowed beside it.
    pub granted_attempts: u32,
    /// Uncharged attempts in a row, up to the latest attempt of this window.
    pub uncharged_in_a_row: u32,
    /// How many of them stop automation.
    pub max_uncharged_attempts: u32,
    /// Whether an acceptance needs a clean review of the work's source. Left out of the JSON when not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub review_required: bool,
    /// Before then no program retries; a person may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_eligible_at: Option<Timestamp>,
    /// Who allowed how many more attempts, and why.
    pub grants: Vec<Grant>,
    /// Findings, open and past.
    pub findings: Findings,
    /// Remarks.
    pub notes: Vec<Note>,
    /// The latest run of this window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_run_id: Option<StreamId>,
    /// The approval that it is parked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<StreamId>,
    /// Its proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<BlobRef>,
    /// When the item's log last grew.
    pub updated_at: Timestamp,
}

/// One attempt as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttemptRow {
    /// Counted from 1 over the item's life.
    pub number: u32,
    /// Its run.
    pub run_id: StreamId,
    /// When it was recorded.
    pub started_at: Timestamp,
    /// When its end was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Why it was started.
    pub trigger: Trigger,
    /// How it stands.
    pub status: AttemptStatus,
    /// Why it is not charged: what a person judged, else what was recorded with its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Whether it counts against the ceiling.
    pub charged: bool,
    /// Why it counts or does not, in words.
    pub charge_reason: String,
    /// What a person judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// The class that was recorded with its end, where a person judged otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_class: Option<Class>,
    /// The approval that it is parked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<StreamId>,
    /// Its proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<BlobRef>,
    /// Its error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The decision that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Whether another program made it.
    pub imported: bool,
}

impl Projection {
    /// What `state` shows, given what is seen around it.
    #[must_use]
    pub fn of(state: &State, observed: &Observed) -> Self {
        let standing = precedence::standing(state, observed);
        let unresolved = precedence::unresolved(state, observed);
        let suggestions = suggest::suggestions(state, observed, &standing, &unresolved);
        let shown = shown(state, observed);
        let Budget { used, charged, max_attempts, granted } = shown.budget();
        let latest = shown.window().last();
        let streak = shown.uncharged_in_a_row();
        Self {
            schema_version: 1,
            id: shown.id.clone(),
            title: shown.title.clone(),
            state: standing.state,
            next_action: standing.next_action,
            reason: standing.reason,
            blocked_on_decision: standing.blocked_on_decision,
            suggestions,
            unresolved_dependencies: unresolved,
            attempts: shown.attempts.iter().map(|attempt| AttemptRow::of(attempt, observed)).collect(),
            attempts_used: used,
            charged_attempts: charged,
            attempts_remaining: shown.budget().remaining(),
            max_attempts,
            granted_attempts: granted,
            uncharged_in_a_row: streak,
            max_uncharged_attempts: shown.max_uncharged_attempts,
            review_required: shown.require_review,
            next_eligible_at: latest
                .filter(|_| standing.next_action == NextAction::Retry)
                .and_then(Attempt::not_before),
            grants: shown.grants.clone(),
            findings: shown.findings.clone(),
            notes: shown.notes.clone(),
            latest_run_id: latest.map(|latest| latest.run_id.clone()),
            approval_id: latest.and_then(|latest| latest.parked_for.clone()),
            proof: latest.and_then(|latest| latest.end.as_ref()).and_then(End::proof),
            updated_at: shown.updated_at,
        }
    }

    /// What `state` showed once: its dependencies are left out of account, and nothing is suggested.
    #[must_use]
    pub(crate) fn past(state: &State, observed: &Observed) -> Self {
        let mut alone = state.clone();
        alone.dependencies.clear();
        Self { suggestions: Vec::new(), next_eligible_at: None, ..Self::of(&alone, observed) }
    }

    /// Attempts as they are written after `attempts:`, such as `1/3 (+2 uncharged)`.
    #[must_use]
    pub fn attempts_text(&self) -> String {
        let budget = Budget {
            used: self.attempts_used,
            charged: self.charged_attempts,
            max_attempts: self.max_attempts,
            granted: self.granted_attempts,
        };
        budget.to_string()
    }
}

impl AttemptRow {
    fn of(attempt: &Attempt, observed: &Observed) -> Self {
        let status = match attempt.outcome() {
            Some(Outcome::Passed) => AttemptStatus::Passed,
            Some(Outcome::Failed) => AttemptStatus::Failed,
            None if observed.held_by_other => AttemptStatus::Running,
            None if attempt.parked_for.is_some() => AttemptStatus::Parked,
            Some(Outcome::Lost) | None => AttemptStatus::Lost,
        };
        let end = attempt.end.as_ref();
        Self {
            number: attempt.number,
            run_id: attempt.run_id.clone(),
            started_at: attempt.started_at,
            ended_at: attempt.ended_at,
            trigger: attempt.trigger,
            status,
            class: attempt.class(),
            charged: attempt.is_charged(),
            charge_reason: attempt.charge_reason(),
            judgement: attempt.judgement.clone(),
            recorded_class: attempt.judgement.as_ref().and(end).and_then(End::class),
            approval_id: attempt.parked_for.clone(),
            proof: end.and_then(End::proof),
            error: end.and_then(End::error).map(str::to_owned),
            decision: end.and_then(End::decision).map(str::to_owned),
            imported: attempt.imported,
        }
    }
}
