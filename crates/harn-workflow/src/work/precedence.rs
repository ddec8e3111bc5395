//! Where an item stands: the first rule that matches.

use super::attempt::Attempt;
use super::dependencies::{Dependency, Own};
use super::end::{Class, Outcome};
use super::facts::{ApprovalStatus, Observed};
use super::lifecycle::{ItemState, NextAction};
use super::reason::{self, bounded, with_budget, with_error};
use super::rule::Rule;
use super::settle::shown;
use super::state::{Governance, State};

/// Where an item stands, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The state.
    pub state: ItemState,
    /// What comes next.
    pub next_action: NextAction,
    /// The rule that decided.
    pub rule: Rule,
    /// Why, up to 2,000 characters.
    pub reason: String,
    /// The decision that a person must make, empty when it has no name. Only where the item is blocked on one.
    pub blocked_on_decision: Option<String>,
}

/// Where `state` stands, given what is seen around it.
pub(crate) fn standing(state: &State, observed: &Observed) -> Standing {
    judge(&shown(state, observed), observed, &unresolved(state, observed))
}

/// Where an item stands when its dependencies are left out of account: what its dependents need to know about it.
/// `observed.dependencies` is not looked at.
#[must_use]
pub fn own(state: &State, observed: &Observed) -> Own {
    let Standing { state: own, reason, .. } = judge(&shown(state, observed), observed, &[]);
    let reopened = matches!(state.governance, Some(Governance::Reopened { .. }));
    Own { dependencies: state.dependencies.clone(), state: own, reopened, reason }
}

/// The dependencies that are not accepted. One that nobody looked at counts.
pub(super) fn unresolved(state: &State, observed: &Observed) -> Vec<Dependency> {
    let all = state.dependencies.iter().map(|id| {
        let found = observed.dependencies.iter().find(|it| it.id == *id).cloned();
        found.unwrap_or_else(|| Dependency::unknown(id.clone(), "nobody looked at it".to_owned()))
    });
    all.filter(|it| it.state != Some(ItemState::Succeeded)).collect()
}

fn judge(state: &State, observed: &Observed, unresolved: &[Dependency]) -> Standing {
    match &state.governance {
        Some(Governance::Accepted { reason, review }) => {
            let reason = reason::accepted(reason.as_deref(), review.as_ref());
            return stands(Rule::Accepted, ItemState::Succeeded, NextAction::None, &reason);
        }
        Some(Governance::Cancelled { reason }) => {
            return stands(
                Rule::Cancelled,
                ItemState::Cancelled,
                NextAction::None,
                reason.as_deref().unwrap_or("cancelled"),
            );
        }
        Some(Governance::Reopened { .. }) | None => {}
    }
    let latest = state.window().last();
    if let Some(standing) = latest.and_then(|latest| under_way(state, latest, observed)) {
        return standing;
    }
    if !unresolved.is_empty() {
        let reason = reason::waits_for(unresolved);
        return stands(Rule::Dependency, ItemState::Waiting, NextAction::WaitForDependencies, &reason);
    }
    match latest {
        Some(latest) => blocked(state, latest),
        None => untried(state),
    }
}

/// An attempt that is running, parked or in review is not hidden by anything else.
fn under_way(state: &State, latest: &Attempt, observed: &Observed) -> Option<Standing> {
    let number = latest.number;
    if latest.is_open() && observed.held_by_other {
        let reason = format!("attempt {number} is running");
        return Some(stands(Rule::Running, ItemState::Running, NextAction::WaitForRun, &reason));
    }
    if let Some(approval) = &latest.parked_for {
        let (next, reason) = match observed.approval {
            Some(ApprovalStatus::Approved) => {
                (NextAction::Resume, format!("approval `{approval}` is given; attempt {number} can go on"))
            }
            Some(ApprovalStatus::Denied) => (
                NextAction::Resume,
                format!("approval `{approval}` is denied; attempt {number} can go on without it"),
            ),
            Some(ApprovalStatus::Pending) => {
                (NextAction::ResolveApproval, format!("attempt {number} waits for approval `{approval}`"))
            }
            None => (
                NextAction::ResolveApproval,
                format!("attempt {number} waits for approval `{approval}`, which cannot be read"),
            ),
        };
        return Some(stands(Rule::Parked, ItemState::AwaitingApproval, next, &reason));
    }
    (latest.outcome() == Some(Outcome::Passed)).then(|| {
        let needs = if state.require_review { ", which needs a clean review" } else { "" };
        let reason = format!("attempt {number} passed and waits for a person to accept it{needs}");
        stands(Rule::Passed, ItemState::InReview, NextAction::Review, &reason)
    })
}

/// No attempt in this window.
fn untried(state: &State) -> Standing {
    let reopened = matches!(state.governance, Some(Governance::Reopened { .. }));
    let budget = state.budget();
    let text = if reopened { "reopened" } else { "nothing stands in its way" };
    let reason = with_budget(text, &budget);
    if budget.remaining() == 0 {
        stands(Rule::Untried, ItemState::Blocked, NextAction::None, &reason)
    } else {
        stands(Rule::Untried, ItemState::Ready, NextAction::Run, &reason)
    }
}

/// The latest attempt did not pass.
fn blocked(state: &State, latest: &Attempt) -> Standing {
    let number = latest.number;
    let budget = state.budget();
    let streak = state.uncharged_in_a_row();
    let retry = if budget.remaining() > 0 { NextAction::Retry } else { NextAction::None };
    let stopped = |rule, text: String| stands(rule, ItemState::Blocked, NextAction::None, &bounded(&text));
    let goes_on = |rule, text: &str| stands(rule, ItemState::Blocked, retry, &with_budget(text, &budget));
    let at_bound = streak >= state.max_uncharged_attempts;
    match latest.class() {
        Some(Class::Environment) => stopped(
            Rule::Environment,
            with_error(&format!("attempt {number} stopped at a missing precondition"), latest),
        ),
        Some(Class::Decision) => {
            let id = latest.end.as_ref().and_then(|end| end.decision());
            Standing {
                blocked_on_decision: Some(id.unwrap_or_default().to_owned()),
                ..stopped(Rule::Decision, reason::decision(latest, id))
            }
        }
        Some(Class::Upstream) if at_bound => {
            let text =
                format!("blocked waiting on an outside service after {streak} uncharged attempts in a row");
            stopped(Rule::Upstream, with_error(&text, latest))
        }
        Some(Class::Upstream) => goes_on(
            Rule::Upstream,
            &with_error(&format!("an outside service refused attempt {number}"), latest),
        ),
        Some(Class::Interrupted) if at_bound => stopped(
            Rule::Interrupted,
            format!(
                "{streak} uncharged attempts in a row, the last one cut short before any agent or check started"
            ),
        ),
        Some(Class::Interrupted) => goes_on(
            Rule::Interrupted,
            &with_error(&format!("attempt {number} was cut short before any agent or check started"), latest),
        ),
        None if latest.outcome() == Some(Outcome::Failed) => {
            goes_on(Rule::Failed, &with_error(&format!("attempt {number} failed"), latest))
        }
        None => goes_on(
            Rule::Lost,
            &with_error(&format!("attempt {number} ended without terminal evidence"), latest),
        ),
    }
}

fn stands(rule: Rule, state: ItemState, next_action: NextAction, reason: &str) -> Standing {
    Standing { state, next_action, rule, reason: reason.to_owned(), blocked_on_decision: None }
}
