//! The fold of a work item's log.

use harn_ledger::{Actor, StreamId, Timestamp};
use serde::{Deserialize, Serialize};

use super::attempt::{Attempt, Judgement};
use super::brief::LeftOut;
use super::budget::Budget;
use super::event::Event;
use super::finding::Findings;
use super::intent::Intent;
use super::lifecycle::{ItemState, NextAction};
use super::review::AcceptedReview;

/// What a work item's intent and events say, before the outside world is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    pub(super) id: StreamId,
    pub(super) title: String,
    pub(super) dependencies: Vec<StreamId>,
    pub(super) max_attempts: u32,
    pub(super) max_uncharged_attempts: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) require_review: bool,
    pub(super) attempts: Vec<Attempt>,
    /// Index of the first attempt after the last reopen.
    pub(super) window: usize,
    pub(super) governance: Option<Governance>,
    pub(super) findings: Findings,
    pub(super) grants: Vec<Grant>,
    /// Index of the first grant after the last reopen.
    pub(super) window_grants: usize,
    pub(super) notes: Vec<Note>,
    pub(super) receipt: Option<Receipt>,
    pub(super) updated_at: Timestamp,
    /// What a brief state leaves out.
    #[serde(default, skip_serializing_if = "LeftOut::is_nothing")]
    pub(super) left_out: LeftOut,
}

/// The last explicit decision about the item as a whole. Each may have a reason of up to 2,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Governance {
    /// The objective is complete.
    Accepted {
        /// Why.
        reason: Option<String>,
        /// The clean review that it rests on, where the item requires one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        review: Option<AcceptedReview>,
    },
    /// The objective is given up.
    Cancelled {
        /// Why.
        reason: Option<String>,
    },
    /// A new window is open.
    Reopened {
        /// Why.
        reason: Option<String>,
    },
}

/// Attempts that a person allowed beside the frozen ceiling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// How many.
    pub attempts: u32,
    /// Why.
    pub reason: String,
    /// Who allowed them.
    pub actor: Actor,
    /// When.
    pub granted_at: Timestamp,
}

/// A remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// 1 to 2,000 characters.
    pub text: String,
    /// Who made it.
    pub actor: Actor,
    /// When.
    pub noted_at: Timestamp,
}

/// Where the item stood at the last `work.reconciled`. It tells whether another is due, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The state then.
    pub state: ItemState,
    /// What came next.
    pub next_action: NextAction,
    /// Why.
    pub reason: String,
}

impl State {
    pub(super) fn new(intent: &Intent) -> Self {
        Self {
            id: intent.id.clone(),
            title: intent.title.clone(),
            dependencies: intent.dependencies.clone(),
            max_attempts: intent.max_attempts,
            max_uncharged_attempts: intent.max_uncharged_attempts,
            require_review: intent.require_review,
            attempts: Vec::new(),
            window: 0,
            governance: None,
            findings: Findings::default(),
            grants: Vec::new(),
            window_grants: 0,
            notes: Vec::new(),
            receipt: None,
            updated_at: intent.created_at,
            left_out: LeftOut::default(),
        }
    }

    /// Folds one event. Total: an event that fits nothing changes nothing.
    pub(super) fn apply(&mut self, event: &Event, actor: &Actor, at: Timestamp) {
        self.updated_at = at;
        match event {
            Event::Created {} => {}
            Event::AttemptStarted { run_id, attempt, trigger } => self.attempts.push(Attempt {
                number: *attempt,
                run_id: run_id.clone(),
                trigger: *trigger,
                started_at: at,
                parked_for: None,
                end: None,
                ended_at: None,
                next_eligible_at: None,
                judgement: None,
                imported: false,
            }),
            Event::AttemptParked { run_id, approval_id, .. } => {
                if let Some(attempt) = self.attempt_of_mut(run_id) {
                    attempt.parked_for = Some(approval_id.clone());
                }
            }
            Event::AttemptResumed { run_id, .. } => {
                if let Some(attempt) = self.attempt_of_mut(run_id) {
                    attempt.parked_for = None;
                }
            }
            Event::AttemptEnded { run_id, next_eligible_at, .. } => {
                if let Some(attempt) = self.attempt_of_mut(run_id) {
                    attempt.parked_for = None;
                    attempt.end = event.end();
                    attempt.ended_at = Some(at);
                    attempt.next_eligible_at = *next_eligible_at;
                }
            }
            Event::AttemptRecharged { run_id, class, reason, .. } => {
                if let Some(attempt) = self.attempt_of_mut(run_id) {
                    let (class, reason, actor) = (*class, reason.clone(), actor.clone());
                    attempt.judgement = Some(Judgement { class, reason, actor, judged_at: at });
                }
            }
            Event::Reconciled { state, next_action, reason } => {
                self.receipt =
                    Some(Receipt { state: *state, next_action: *next_action, reason: reason.clone() });
            }
            Event::Reopened { reason, findings, superseded } => {
                self.window = self.attempts.len();
                self.window_grants = self.grants.len();
                self.findings.replace(findings, superseded, actor, at);
                self.governance = Some(Governance::Reopened { reason: reason.clone() });
            }
            Event::Accepted { reason, dispositions, review, .. } => {
                self.findings.dispose(dispositions, actor, at);
                self.governance =
                    Some(Governance::Accepted { reason: reason.clone(), review: review.clone() });
            }
            Event::Cancelled { reason } => {
                self.governance = Some(Governance::Cancelled { reason: reason.clone() });
            }
            Event::Noted { text } => {
                self.notes.push(Note { text: text.clone(), actor: actor.clone(), noted_at: at });
            }
            Event::Granted { attempts, reason } => self.grants.push(Grant {
                attempts: *attempts,
                reason: reason.clone(),
                actor: actor.clone(),
                granted_at: at,
            }),
            Event::Imported { origin, event } => {
                self.apply(event, &origin.actor, origin.at);
                if let (Event::AttemptStarted { .. }, Some(started)) = (&**event, self.attempts.last_mut()) {
                    started.imported = true;
                }
            }
        }
    }

    fn attempt_of_mut(&mut self, run_id: &StreamId) -> Option<&mut Attempt> {
        self.attempts.iter_mut().rfind(|attempt| attempt.run_id == *run_id)
    }

    /// The item's id.
    #[must_use]
    pub const fn id(&self) -> &StreamId {
        &self.id
    }

    /// The item's title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// When the log last grew.
    #[must_use]
    pub const fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// The items that must be accepted first.
    #[must_use]
    pub fn dependencies(&self) -> &[StreamId] {
        &self.dependencies
    }

    /// Whether an acceptance needs a clean review of the work's source.
    #[must_use]
    pub const fn requires_review(&self) -> bool {
        self.require_review
    }

    /// All attempts, in order.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// The attempts since the last reopen, or all when there was none.
    #[must_use]
    pub fn window(&self) -> &[Attempt] {
        &self.attempts[self.window..]
    }

    /// The last attempt, if its end is not recorded.
    #[must_use]
    pub fn open_attempt(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|attempt| attempt.is_open())
    }

    /// The attempt whose run has that id.
    #[must_use]
    pub fn attempt_of(&self, run_id: &StreamId) -> Option<&Attempt> {
        self.attempts.iter().rfind(|attempt| attempt.run_id == *run_id)
    }

    /// The attempt with that number.
    #[must_use]
    pub fn attempt_numbered(&self, number: u32) -> Option<&Attempt> {
        self.attempts.iter().find(|attempt| attempt.number == number)
    }

    /// The last decision to accept, cancel or reopen the item.
    #[must_use]
    pub const fn governance(&self) -> Option<&Governance> {
        self.governance.as_ref()
    }

    /// Whether the item is accepted or cancelled.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        matches!(self.governance, Some(Governance::Accepted { .. } | Governance::Cancelled { .. }))
    }

    /// Findings, open and past.
    #[must_use]
    pub const fn findings(&self) -> &Findings {
        &self.findings
    }

    /// All grants, in order.
    #[must_use]
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// All notes, in order.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Where the item stood when that was last recorded.
    #[must_use]
    pub const fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref()
    }

    /// Attempts used and allowed, as far as the log goes.
    #[must_use]
    pub fn budget(&self) -> Budget {
        Budget::of(self)
    }

    /// Uncharged attempts since the last charged one or the last reopen.
    #[must_use]
    pub fn uncharged_in_a_row(&self) -> u32 {
        match self.window().last() {
            Some(latest) if latest.is_charged() => 0,
            Some(_) => self.uncharged_before_latest().saturating_add(1),
            None => 0,
        }
    }

    /// The same, without the latest attempt.
    pub(super) fn uncharged_before_latest(&self) -> u32 {
        let earlier = self.window().split_last().map_or(&[][..], |(_, earlier)| earlier);
        let streak = earlier.iter().rev().take_while(|attempt| !attempt.is_charged()).count();
        let kept = u32::try_from(streak).unwrap_or(u32::MAX);
        if streak == earlier.len() { kept.saturating_add(self.left_out.streak) } else { kept }
    }

    /// Whether the item was reopened and nothing was attempted since.
    pub(super) fn is_freshly_reopened(&self) -> bool {
        matches!(self.governance, Some(Governance::Reopened { .. })) && self.window().is_empty()
    }

    /// Grants since the last reopen.
    pub(super) fn grants_of_window(&self) -> &[Grant] {
        &self.grants[self.window_grants..]
    }
}
