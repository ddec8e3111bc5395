//! The publication gate: open only on passing checks and a clean review of exactly the present source.

use harn_ledger::Digest;
use serde::Serialize;

use crate::id::{FindingId, TurnId};
use crate::path::SourcePath;
use crate::source::Source;
use crate::state::State;
use crate::turn::TurnOutcome;

/// What the outside says to the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside<'a> {
    /// The present source.
    pub source: &'a Source,
    /// Where the branch is now that the work is to be merged into; none when it is gone or nobody can tell.
    pub base: Option<&'a str>,
    /// What is asked for now, if it can be told apart from what was asked when the review was opened.
    pub request: Option<&'a str>,
    /// Where the published branch is now on the remote, if it was asked.
    pub published: Published<'a>,
    /// Every file that changed has to be read, also where the review does not say so.
    pub require_coverage: bool,
}

/// What is known of what was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published<'a> {
    /// Nobody asked.
    NotAsked,
    /// The branch is not there.
    Absent,
    /// The branch is at this commit.
    At(&'a str),
}

/// The gate's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// This may be published.
    Open {
        /// The turn in which the source was found clean.
        turn: TurnId,
        /// The source.
        fingerprint: Digest,
        /// The combined checks that do not pass and that a person waived.
        waived: Vec<String>,
    },
    /// It may not.
    Closed {
        /// Every reason.
        reasons: Vec<Reason>,
    },
}

/// Why the gate is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// No report was ever taken in.
    NotReviewed {},
    /// A turn is under way.
    ReviewRunning {
        /// The turn.
        turn: TurnId,
    },
    /// The last review is of another source.
    ReviewOfOtherSource {
        /// The turn.
        turn: TurnId,
        /// The source that it is of.
        reviewed: Digest,
        /// The present source.
        now: Digest,
    },
    /// The last review is of another plan.
    ReviewOfOtherPlan {
        /// The turn.
        turn: TurnId,
    },
    /// The last review did not find the source clean.
    NotClean {
        /// The turn.
        turn: TurnId,
        /// What it came to.
        status: &'static str,
    },
    /// Findings came up since that review, by an import or a person, so it does not speak of them.
    RaisedSince {
        /// The turn.
        turn: TurnId,
    },
    /// Findings are open.
    FindingsOpen {
        /// Them.
        findings: Vec<FindingId>,
    },
    /// The plan names no combined check, so nothing shows that the whole works.
    NoCombinedChecks {},
    /// A combined check was not run on this source.
    CheckNotRun {
        /// The check.
        name: String,
    },
    /// A combined check does not pass on this source.
    CheckNotPassed {
        /// The check.
        name: String,
        /// How it ended.
        outcome: &'static str,
    },
    /// The branch moved that the work is to be merged into.
    BaseMoved {
        /// The branch.
        branch: String,
        /// Where it was.
        from: String,
        /// Where it is; absent if it is gone.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// Another thing is asked for than was reviewed.
    RequestChanged {},
    /// Something waits for the agents.
    Queued {
        /// What, each in a line.
        what: Vec<String>,
    },
    /// Nothing differs from the base, and nothing is published that could be brought up to date.
    NothingToPublish {},
    /// Files changed that the reviewer does not say were read.
    Unread {
        /// The files.
        files: Vec<SourcePath>,
        /// How many more there are.
        more: u32,
    },
    /// A repair pass is under way.
    Repairing {
        /// The task whose turn it is.
        owner: String,
    },
    /// A failed check is being repaired.
    FixingCheck {
        /// The check.
        name: String,
    },
    /// What was published was changed by somebody else.
    PublishedMoved {
        /// Where it was left.
        from: String,
        /// Where it is; absent if it is gone.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
}

/// Whether the present source may be published. It is the only function that says so, and every path asks it.
#[must_use]
pub fn gate(state: &State, outside: &Outside<'_>) -> Gate {
    let source = outside.source;
    let mut reasons = Vec::new();
    let turn = reviewed(state, source, &mut reasons);
    let open: Vec<FindingId> = state.open().map(|finding| finding.id).collect();
    if !open.is_empty() {
        reasons.push(Reason::FindingsOpen { findings: open });
    }
    let waived = checks(state, &source.fingerprint, &mut reasons);
    if let Some(base) = state.base().filter(|base| outside.base != Some(&*base.commit)) {
        reasons.push(Reason::BaseMoved {
            branch: base.branch.clone(),
            from: base.commit.clone(),
            to: outside.base.map(str::to_owned),
        });
    }
    if outside.request.is_some_and(|request| request != state.request()) {
        reasons.push(Reason::RequestChanged {});
    }
    if !source.queued.is_empty() {
        reasons.push(Reason::Queued { what: source.queued.clone() });
    }
    if let Some((_, owner)) = state.pass_under_way() {
        reasons.push(Reason::Repairing { owner: owner.to_owned() });
    }
    if let Some(fix) = state.fix_check() {
        reasons.push(Reason::FixingCheck { name: fix.name.clone() });
    }
    let published = state.published();
    if source.changed.is_empty() && published.is_none() {
        reasons.push(Reason::NothingToPublish {});
    }
    if let Some((publication, _)) = published {
        let to = match outside.published {
            Published::NotAsked => Some(&*publication.commit),
            Published::Absent => None,
            Published::At(commit) => Some(commit),
        };
        if to != Some(&*publication.commit) {
            let from = publication.commit.clone();
            reasons.push(Reason::PublishedMoved { from, to: to.map(str::to_owned) });
        }
    }
    if let Some(TurnOutcome::Accepted(report)) = turn.map(|turn| &turn.outcome)
        && (outside.require_coverage || state.require_coverage)
        && !report.unread.is_empty()
    {
        reasons.push(Reason::Unread { files: report.unread.clone(), more: report.unread_more });
    }
    match turn {
        Some(turn) if reasons.is_empty() => {
            Gate::Open { turn: turn.id, fingerprint: source.fingerprint, waived }
        }
        _ => Gate::Closed { reasons },
    }
}

/// The turn that found exactly this source clean, if the last one did.
fn reviewed<'a>(
    state: &'a State,
    source: &Source,
    reasons: &mut Vec<Reason>,
) -> Option<&'a crate::turn::Turn> {
    let Some(last) = state.turns().last() else {
        reasons.push(Reason::NotReviewed {});
        return None;
    };
    let turn = last.id;
    if last.is_live() {
        reasons.push(Reason::ReviewRunning { turn });
    } else if !last.is_clean() {
        reasons.push(Reason::NotClean { turn, status: last.word() });
    }
    if state.raised_since {
        reasons.push(Reason::RaisedSince { turn });
    }
    if last.fingerprint != source.fingerprint {
        let (reviewed, now) = (last.fingerprint, source.fingerprint);
        reasons.push(Reason::ReviewOfOtherSource { turn, reviewed, now });
    }
    if last.plan != *state.plan_digest() {
        reasons.push(Reason::ReviewOfOtherPlan { turn });
    }
    Some(last)
}

/// Looks at every combined check on this source; those that a person waived are returned.
fn checks(state: &State, fingerprint: &Digest, reasons: &mut Vec<Reason>) -> Vec<String> {
    let mut waived = Vec::new();
    if state.plan().combined.is_empty() {
        reasons.push(Reason::NoCombinedChecks {});
    }
    for check in &state.plan().combined {
        let name = check.name.clone();
        match state.combined(&name, fingerprint) {
            None => reasons.push(Reason::CheckNotRun { name }),
            // Another command of the same name shows nothing of this one.
            Some(result) if result.check != *check => reasons.push(Reason::CheckNotRun { name }),
            Some(result) if result.passed() => {}
            Some(_) if state.waiver(&name).is_some() => waived.push(name),
            Some(result) => {
                reasons.push(Reason::CheckNotPassed { name, outcome: result.outcome.as_str() });
            }
        }
    }
    waived
}

impl Gate {
    /// Whether it is open.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. })
    }

    /// Every reason why it is closed.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        match self {
            Self::Open { .. } => &[],
            Self::Closed { reasons } => reasons,
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotReviewed {} => f.write_str("the source was never reviewed"),
            Self::ReviewRunning { turn } => write!(f, "the report of {turn} is waited for"),
            Self::ReviewOfOtherSource { turn, .. } => {
                write!(f, "the source was edited since {turn}, so nobody reviewed what is there")
            }
            Self::ReviewOfOtherPlan { turn } => write!(f, "another plan was accepted since {turn}"),
            Self::NotClean { turn, status } => write!(f, "{turn} did not find the source clean: {status}"),
            Self::RaisedSince { turn } => write!(f, "findings came up since {turn}"),
            Self::FindingsOpen { findings } => {
                let list: Vec<_> = findings.iter().map(ToString::to_string).collect();
                write!(f, "open: {}", list.join(", "))
            }
            Self::NoCombinedChecks {} => {
                f.write_str("the plan names no combined check, so nothing shows that the whole works")
            }
            Self::CheckNotRun { name } => write!(f, "the combined check `{name}` was not run on this source"),
            Self::CheckNotPassed { name, outcome } => {
                write!(
                    f,
                    "the combined check `{name}` does not pass on this source: {}",
                    outcome.replace('_', " ")
                )
            }
            Self::BaseMoved { branch, to: Some(_), .. } => {
                write!(
                    f,
                    "`{branch}` moved since the review was opened: update the work, and open another review"
                )
            }
            Self::BaseMoved { branch, to: None, .. } => write!(f, "`{branch}` cannot be found any more"),
            Self::RequestChanged {} => f.write_str("another thing is asked for than was reviewed"),
            Self::Queued { what } => write!(f, "waiting for the agents: {}", what.join(", ")),
            Self::NothingToPublish {} => f.write_str("nothing differs from the base"),
            Self::Unread { files, more } => {
                let named: Vec<_> = files.iter().take(5).map(|file| format!("`{file}`")).collect();
                let count = files.len() - named.len() + usize::try_from(*more).unwrap_or(0);
                let and = if count > 0 { format!(" and {count} more") } else { String::new() };
                write!(f, "changed and not read by the reviewer: {}{and}", named.join(", "))
            }
            Self::Repairing { owner } => write!(f, "a repair pass is under way: it is the turn of {owner}"),
            Self::FixingCheck { name } => write!(f, "the failed check `{name}` is being repaired"),
            Self::PublishedMoved { to: Some(_), .. } => {
                f.write_str("what was published was changed by somebody else")
            }
            Self::PublishedMoved { to: None, .. } => f.write_str("what was published is gone"),
        }
    }
}
