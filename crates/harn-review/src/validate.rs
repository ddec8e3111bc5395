//! Whether a report is taken in, and what becomes of findings by it.
//!
//! The tests have an order, V1 to V15. Each lists every problem that it finds, and the first that finds one decides; so the
//! answer does not depend on the order of what the report says, and can be sent back to the reviewer as it is.

mod accounts;
mod change;
mod closing;
mod shape;

use std::fmt;

use crate::bounds;
use crate::event::{Change, Moved};
use crate::finding::{Finding, Kind};
use crate::id::{FindingId, TurnId};
use crate::identity::{Anchor, normal_title};
use crate::path::SourcePath;
use crate::report::{Account, Cite, NewFinding, Report, Status};
use crate::source::Source;
use crate::state::State;
use crate::turn::Turn;

pub(crate) use change::{Candidate, brings_news, known};

/// What becomes of a report that is not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// V1: it answers no turn that is waited for. Nothing is recorded.
    Ignored {
        /// The turn that it names, if it names one.
        turn: Option<String>,
        /// The turn that is waited for.
        live: Option<TurnId>,
    },
    /// V15: what it judges is not there any more. It is stored, and nothing follows from it.
    Stale {
        /// The report.
        report: Report,
        /// What moved.
        moved: Vec<Moved>,
    },
    /// It is taken in.
    Accepted {
        /// The report.
        report: Report,
        /// What becomes of findings, in order.
        changes: Vec<Change>,
        /// Files that changed and that it does not say were read.
        unread: Vec<SourcePath>,
    },
}

/// Why a report is refused: the first test that it failed, and every problem of that test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the report is refused at {step}: {}", problems.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join("; "))]
pub struct Rejection {
    /// The test.
    pub step: Step,
    /// Its problems; at least one.
    pub problems: Vec<Problem>,
}

/// A test of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// It is a report at all.
    V2,
    /// Status, summary and lists agree and are bounded, and it answers what was asked.
    V3,
    /// Each owner is a task of the plan.
    V4,
    /// Texts, paths and lines are in bounds and in scope.
    V5,
    /// Every account is about a finding that is there, once.
    V6,
    /// Every open finding has an account.
    V7,
    /// No open finding becomes a note, no defect a suspicion.
    V8,
    /// A ruling has its reason and its evidence.
    V9,
    /// What is fixed was repaired.
    V10,
    /// What is fixed is shown by its regression checks: red before, green now.
    V11,
    /// A suspicion is not fixed.
    V12,
    /// Nothing is clean while anything is open.
    V13,
    /// Nothing is clean with new findings.
    V14,
}

/// What is wrong with a report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// A stable name.
    pub code: &'static str,
    /// In words that the reviewer can act on.
    pub text: String,
}

impl Rejection {
    /// A stable name for the refusal: that of its first problem.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.problems.first().map_or("report_rejected", |problem| problem.code)
    }

    /// Its problems as they are recorded: up to 4,096, each of up to 4,000 characters, none of which acts on a terminal.
    pub(crate) fn lines(&self) -> Vec<String> {
        let safe = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        let short = |problem: &Problem| {
            let short: String = problem.text.chars().map(safe).take(4_000).collect();
            short.trim().to_owned()
        };
        self.problems.iter().take(4_096).map(short).collect()
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        "a report may be corrected once: hand it in again for the same turn"
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A test: every problem that it finds.
type Test = fn(&Case<'_>) -> Vec<Problem>;

/// What the tests look at.
struct Case<'a> {
    report: &'a Report,
    state: &'a State,
    source: &'a Source,
    turn: &'a Turn,
    /// What moved since the turn was begun. Then nothing of the source can be asked, and nothing follows from the report.
    moved: Vec<Moved>,
}

/// Judges a report as it was handed in.
pub fn validate(raw: &[u8], state: &State, source: &Source) -> Result<Judgement, Rejection> {
    let live = state.live_turn();
    let named = turn_of(raw);
    let Some(turn) = live.filter(|live| named.as_ref().is_none_or(|named| *named == live.id.to_string()))
    else {
        return Ok(Judgement::Ignored { turn: named, live: live.map(|turn| turn.id) });
    };
    let report = read(raw)?;
    let case = Case { report: &report, state, source, turn, moved: moved(state, source, turn) };
    let tests: [(Step, Test); 12] = [
        (Step::V3, shape::form),
        (Step::V4, shape::owners),
        (Step::V5, shape::places),
        (Step::V6, accounts::known),
        (Step::V7, accounts::omitted),
        (Step::V8, accounts::degraded),
        (Step::V9, closing::rulings),
        (Step::V10, closing::unattempted),
        (Step::V11, closing::unproven),
        (Step::V12, closing::uncertain),
        (Step::V13, accounts::clean_while_open),
        (Step::V14, accounts::clean_with_new),
    ];
    for (step, test) in tests {
        let mut problems = test(&case);
        if !problems.is_empty() {
            problems.sort();
            problems.dedup();
            return Err(Rejection { step, problems });
        }
    }
    if !case.moved.is_empty() {
        let moved = case.moved;
        return Ok(Judgement::Stale { report, moved });
    }
    let changes = change::changes(&case);
    let unread = unread(&report, source);
    Ok(Judgement::Accepted { report, changes, unread })
}

/// The turn that a report names, if it can be told.
fn turn_of(raw: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(raw).ok()?;
    value.get("turn")?.as_str().map(str::to_owned)
}

fn read(raw: &[u8]) -> Result<Report, Rejection> {
    let refused = |code, text| Rejection { step: Step::V2, problems: vec![Problem { code, text }] };
    if raw.len() > bounds::REPORT {
        let text = format!("the report has {} bytes, expected at most {}", raw.len(), bounds::REPORT);
        return Err(refused("report_too_large", text));
    }
    serde_json::from_slice(raw).map_err(|error| {
        refused("report_invalid", format!("the report is not a valid `review-report.v1`: {error}"))
    })
}

fn moved(state: &State, source: &Source, turn: &Turn) -> Vec<Moved> {
    let mut moved = Vec::new();
    if source.fingerprint != turn.fingerprint {
        moved.push(Moved::Source { now: source.fingerprint });
    }
    if state.plan_digest != turn.plan {
        moved.push(Moved::Plan { now: state.plan_digest });
    }
    if !source.queued.is_empty() {
        moved.push(Moved::Queued { count: u32::try_from(source.queued.len()).unwrap_or(u32::MAX) });
    }
    moved
}

/// The files that changed and that a report does not say were read.
fn unread(report: &Report, source: &Source) -> Vec<SourcePath> {
    let read: std::collections::BTreeSet<&str> = report.read.iter().flatten().map(String::as_str).collect();
    source.changed.iter().filter(|path| !read.contains(path.as_str())).cloned().collect()
}

impl Case<'_> {
    /// The finding that an account is about.
    fn finding(&self, account: &Account) -> Option<&Finding> {
        account.id.parse::<FindingId>().ok().and_then(|id| self.state.finding(id))
    }

    /// The accounts of findings that are there.
    fn accounts(&self) -> impl Iterator<Item = (&Account, &Finding)> {
        self.report.accounts.iter().filter_map(|it| Some((it, self.finding(it)?)))
    }

    /// Whether another plan was accepted since, so that its tasks are not those that the reviewer knew.
    fn is_of_other_plan(&self) -> bool {
        self.moved.iter().any(|moved| matches!(moved, Moved::Plan { .. }))
    }

    /// Whether nothing moved, so that the source can be asked.
    fn is_current(&self) -> bool {
        self.moved.is_empty()
    }
}

fn problem(code: &'static str, text: String) -> Problem {
    Problem { code, text }
}
