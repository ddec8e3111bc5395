//! Why an item stands where it stands: the rule, the events and facts it rests on, and what would move it.
//!
//! What would move it is asked of the same function that decides, so it cannot promise what would be refused. Whether a
//! review is clean is not seen here; an acceptance that needs a clean one says so.

use harn_ledger::{Actor, Decider as _, Digest, Recorded, StreamId, Timestamp};
use serde::Serialize;

use super::attempt::{Attempt, Trigger};
use super::command::{Accept, Command, Reopen};
use super::decide::Work;
use super::dependencies::Dependency;
use super::event::Event;
use super::facts::{ApprovalStatus, Facts, Observed, RunShows};
use super::finding::{Disposition, Ruling};
use super::lifecycle::{ItemState, NextAction};
use super::precedence::{self, Standing};
use super::refusal::accept_line;
use super::review::ReviewFact;
use super::rule::Rule;
use super::settle;
use super::state::{Governance, State};
use super::transition::Move;

/// Why an item stands where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The state.
    pub state: ItemState,
    /// What comes next.
    pub next_action: NextAction,
    /// Why, in a sentence.
    pub reason: String,
    /// The rule that decided.
    pub rule: Rule,
    /// The rules that come before it, and why they do not hold.
    pub ruled_out: Vec<RuledOut>,
    /// The events that it rests on, in their order.
    pub because: Vec<Because>,
    /// What is seen around the item and counts, each in a sentence.
    pub seen: Vec<String>,
    /// What a person can do, and where the item stands then.
    pub moves: Vec<Possible>,
}

/// A rule that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuledOut {
    /// The rule.
    pub rule: Rule,
    /// Why it does not hold.
    pub why: String,
}

/// An event that counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Because {
    /// Its number in the item's log.
    pub seq: u64,
    /// When it happened; for an imported event, where it was recorded first.
    pub ts: Timestamp,
    /// Who caused it.
    pub actor: Actor,
    /// Its name.
    pub event: &'static str,
    /// What it says, as far as it counts.
    pub says: String,
}

/// Something that a person can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Possible {
    /// The command line.
    pub command: String,
    /// Where the item stands right after it.
    pub state: ItemState,
    /// What comes next then.
    pub next_action: NextAction,
    /// What must hold for it and cannot be seen from here, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<&'static str>,
}

impl Explanation {
    /// Explains `state`, whose log is `history`, for somebody who sees `facts`.
    #[must_use]
    pub fn of(state: &State, history: &[Recorded<Event>], facts: &Facts) -> Self {
        let observed = &facts.observed;
        let Standing { state: stands, next_action, rule, reason, .. } = precedence::standing(state, observed);
        let before =
            Rule::ALL.into_iter().take_while(|earlier| *earlier < rule && *earlier < Rule::Environment);
        Self {
            state: stands,
            next_action,
            reason,
            rule,
            ruled_out: before.map(|rule| RuledOut { rule, why: why_not(rule, state, observed) }).collect(),
            because: because(rule, state, history),
            seen: seen(rule, state, observed),
            moves: moves(state, facts),
        }
    }
}

fn why_not(rule: Rule, state: &State, observed: &Observed) -> String {
    let reopened = matches!(state.governance, Some(Governance::Reopened { .. }));
    let latest = state.window().last();
    let text = match rule {
        Rule::Accepted | Rule::Cancelled if reopened => "its last decision is a reopen",
        Rule::Accepted => "nobody has accepted it",
        Rule::Cancelled => "nobody has given it up",
        Rule::Running if state.open_attempt().is_none() => "no attempt is open",
        Rule::Running => "nobody holds its lease",
        Rule::Parked => "no attempt waits for an approval",
        Rule::Passed if latest.is_none() => "there is no attempt in this window",
        Rule::Passed => "the last attempt did not pass",
        Rule::Dependency if state.dependencies.is_empty() => "it depends on nothing",
        Rule::Dependency => "every dependency is accepted",
        _ => {
            let number = settle::shown(state, observed).window().last().map_or(0, |latest| latest.number);
            return format!("attempt {number} was made in this window");
        }
    };
    text.to_owned()
}

/// The events that decide by `rule`.
fn because(rule: Rule, state: &State, history: &[Recorded<Event>]) -> Vec<Because> {
    let latest = state.attempts().last().map(|latest| latest.number);
    let spent = state.budget().remaining() == 0;
    let streak = state.window().iter().rev().take_while(|attempt| !attempt.is_charged());
    let streak: Vec<u32> = streak.map(|attempt| attempt.number).collect();
    let last_decision = history.iter().rposition(|recorded| {
        matches!(
            inner(&recorded.event),
            Event::Accepted { .. } | Event::Cancelled { .. } | Event::Reopened { .. }
        )
    });
    let counts = |place: usize, event: &Event| match event {
        Event::Created {} => matches!(rule, Rule::Untried | Rule::Dependency) && last_decision.is_none(),
        Event::Accepted { .. } | Event::Cancelled { .. } | Event::Reopened { .. } => {
            Some(place) == last_decision
                && matches!(rule, Rule::Accepted | Rule::Cancelled | Rule::Untried | Rule::Dependency)
        }
        Event::Granted { .. } => spent,
        Event::AttemptStarted { attempt, .. }
        | Event::AttemptParked { attempt, .. }
        | Event::AttemptResumed { attempt, .. }
        | Event::AttemptEnded { attempt, .. }
        | Event::AttemptRecharged { attempt, .. } => {
            let about_latest = rule > Rule::Cancelled && !matches!(rule, Rule::Untried | Rule::Dependency);
            let in_streak = matches!(rule, Rule::Upstream | Rule::Interrupted) && streak.contains(attempt);
            let uses_budget = spent
                && matches!(event, Event::AttemptEnded { .. } | Event::AttemptRecharged { .. })
                && state.attempt_numbered(*attempt).is_some_and(Attempt::is_charged)
                && rule >= Rule::Untried;
            (about_latest && Some(*attempt) == latest) || in_streak || uses_budget
        }
        Event::Reconciled { .. } | Event::Noted { .. } | Event::Imported { .. } => false,
    };
    let counting = history.iter().enumerate().filter(|(place, it)| counts(*place, inner(&it.event)));
    counting.map(|(_, recorded)| told(recorded)).collect()
}

/// The event that counts: of an import, what it tells.
fn inner(event: &Event) -> &Event {
    match event {
        Event::Imported { event, .. } => event,
        event => event,
    }
}

fn told(recorded: &Recorded<Event>) -> Because {
    let (ts, actor) = match &recorded.event {
        Event::Imported { origin, .. } => (origin.at, origin.actor.clone()),
        _ => (recorded.ts, recorded.actor.clone()),
    };
    let (event, says) = match inner(&recorded.event) {
        Event::Created {} => ("work.created", String::new()),
        Event::AttemptStarted { attempt, trigger, .. } => {
            ("attempt.started", format!("attempt {attempt}, {trigger}"))
        }
        Event::AttemptParked { attempt, approval_id, .. } => {
            ("attempt.parked", format!("attempt {attempt} waits for approval `{approval_id}`"))
        }
        Event::AttemptResumed { attempt, .. } => ("attempt.resumed", format!("attempt {attempt} goes on")),
        Event::AttemptEnded { attempt, outcome, class, error, .. } => {
            let class = class.map(|class| format!(", not charged ({class})")).unwrap_or_default();
            let error = error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
            ("attempt.ended", format!("attempt {attempt} {outcome}{class}{error}"))
        }
        Event::AttemptRecharged { attempt, class, reason, .. } => {
            let counts =
                class.map_or_else(|| "counts".to_owned(), |class| format!("does not count ({class})"));
            ("attempt.recharged", format!("attempt {attempt} {counts}: {reason}"))
        }
        Event::Reopened { reason, findings, .. } => {
            let reason = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let open = match findings.len() {
                0 => "without a new finding".to_owned(),
                1 => "with 1 finding".to_owned(),
                count => format!("with {count} findings"),
            };
            ("work.reopened", format!("{open}{reason}"))
        }
        Event::Accepted { attempt, reason, review, .. } => {
            let reason = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let review = review.as_ref().map(|it| format!(", on {}", it.named())).unwrap_or_default();
            ("work.accepted", format!("attempt {attempt}{review}{reason}"))
        }
        Event::Cancelled { reason } => ("work.cancelled", reason.clone().unwrap_or_default()),
        Event::Granted { attempts, reason } => ("work.granted", format!("{attempts} more: {reason}")),
        Event::Reconciled { state, .. } => ("work.reconciled", state.to_string()),
        Event::Noted { text } => ("work.noted", text.clone()),
        Event::Imported { .. } => ("event.imported", String::new()),
    };
    Because { seq: recorded.seq, ts, actor, event, says }
}

/// What is seen around the item and counts by `rule`.
fn seen(rule: Rule, state: &State, observed: &Observed) -> Vec<String> {
    let mut seen = Vec::new();
    if let Some(open) = state.open_attempt().filter(|_| rule > Rule::Cancelled) {
        let lease = if observed.held_by_other { "somebody holds" } else { "nobody holds" };
        seen.push(format!("{lease} the item's lease"));
        let run = &open.run_id;
        seen.extend(observed.run.as_ref().map(|shows| match shows {
            RunShows::Absent => format!("its run `{run}` has no transcript"),
            RunShows::Open { worked: true } => {
                format!("its run `{run}` has not ended, and started an agent or a check")
            }
            RunShows::Open { worked: false } => format!("its run `{run}` has not ended, and started nothing"),
            RunShows::Parked { approval_id, .. } => format!("its run `{run}` waits for `{approval_id}`"),
            RunShows::Ended(end) => format!("its run `{run}` has ended: {}", end.outcome()),
            RunShows::Unreadable { why } => format!("its run `{run}` cannot be read: {why}"),
        }));
    }
    if rule == Rule::Parked {
        let approval = match observed.approval {
            Some(ApprovalStatus::Pending) => "nobody has decided on the approval",
            Some(ApprovalStatus::Approved) => "the approval is given",
            Some(ApprovalStatus::Denied) => "the approval is denied",
            None => "the approval cannot be read",
        };
        seen.push(approval.to_owned());
    }
    if rule == Rule::Dependency {
        let waits = |it: &Dependency| format!("`{}` is {}: {}", it.id, it.state_words(), it.why);
        seen.extend(precedence::unresolved(state, observed).iter().map(waits));
    }
    if rule >= Rule::Untried {
        let budget = settle::shown(state, observed).budget();
        seen.push(format!("{} of {} charged attempts are used", budget.charged, budget.ceiling()));
    }
    seen
}

/// What a person can do that changes where the item stands, as the decision itself says.
fn moves(state: &State, facts: &Facts) -> Vec<Possible> {
    let before = precedence::standing(state, &facts.observed);
    let unused = state.id();
    let id = &state.id;
    let open: Vec<_> = settle::shown(state, &facts.observed).findings.open.iter().map(|it| it.id).collect();
    let disposed = |id| Disposition { id, outcome: Ruling::Fixed, reason: None };
    let why = || "why".to_owned();
    let begin = |trigger| Command::Begin { run_id: unused.clone(), trigger };
    let reopen = |grant| Command::Reopen(Reopen { grant, reason: grant.map(|_| why()), ..Reopen::default() });
    let tried = [
        (Move::Run, begin(Trigger::Initial), format!("harn work run {id}")),
        (Move::Resume, Command::Resume, format!("harn work resume {id}")),
        (Move::Retry, begin(Trigger::Retry), format!("harn work retry {id}")),
        (
            Move::Accept,
            Command::Accept(Accept {
                dispositions: open.iter().copied().map(disposed).collect(),
                review: Some(supposed_review(unused)),
                ..Accept::default()
            }),
            accept_line(id, &open),
        ),
        (Move::Reopen, reopen(None), format!("harn work reopen {id} --finding \"what is wrong\"")),
        (
            Move::ReopenWithGrant,
            reopen(Some(1)),
            format!("harn work reopen {id} --finding \"what is wrong\" --grant 1 --reason \"why one more\""),
        ),
        (
            Move::Grant,
            Command::Grant { attempts: 1, reason: why() },
            format!("harn work grant {id} --attempts 1 --reason \"why one more\""),
        ),
        (Move::Cancel, Command::Cancel { reason: None }, format!("harn work cancel {id}")),
    ];
    let mut moves = Vec::new();
    let mut reopens = false;
    for (what, command, line) in tried {
        // A reopen with a grant is worth a line only where one without is refused.
        if what == Move::ReopenWithGrant && reopens {
            continue;
        }
        let needs = (what == Move::Accept && state.require_review).then_some("a clean review");
        let Some((state, next_action)) = after(state, command, facts) else { continue };
        reopens |= what == Move::Reopen;
        if (state, next_action) != (before.state, before.next_action) {
            moves.push(Possible { command: line, state, next_action, needs });
        }
    }
    moves
}

/// The clean review that an acceptance may need. An item that needs none does not look at it.
fn supposed_review(review: &StreamId) -> ReviewFact {
    ReviewFact::Clean { review: review.clone(), turn: "t1".to_owned(), fingerprint: Digest::of(b"") }
}

/// Where the item stands right after `command`, if that is allowed.
fn after(state: &State, command: Command, facts: &Facts) -> Option<(ItemState, NextAction)> {
    let runs = matches!(command, Command::Begin { .. } | Command::Resume);
    let events = Work::decide(state, command, facts).ok()?;
    if runs {
        return Some((ItemState::Running, NextAction::WaitForRun));
    }
    let mut state = state.clone();
    for event in &events {
        state.apply(event, &facts.caller.actor, facts.now);
    }
    let Standing { state, next_action, .. } = precedence::standing(&state, &facts.observed);
    Some((state, next_action))
}
