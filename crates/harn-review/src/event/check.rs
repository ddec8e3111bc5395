//! The bounds of an event. Writer and reader both use them.

use harn_ledger::text::{TextError, check_block, check_line};

use super::{Change, Event};
use crate::bounds;
use crate::check::InvalidCheck;
use crate::finding::Evidence;
use crate::intent::{InvalidIntent, check_commit};
use crate::plan::InvalidPlan;

/// Longest line of a problem or of a refusal, in characters.
const LINE: usize = 4_000;
/// Most lines of problems.
const LINES: usize = 4_096;
/// Most files that nobody read that are named.
pub(crate) const UNREAD: usize = 500;

/// Why an event breaks its own bounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidEvent {
    /// A text is blank, too long, untrimmed or holds control characters.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A check is out of its bounds.
    #[error(transparent)]
    Check(#[from] InvalidCheck),
    /// A plan is out of its bounds.
    #[error(transparent)]
    Plan(#[from] InvalidPlan),
    /// A commit is not one.
    #[error(transparent)]
    Commit(#[from] InvalidIntent),
    /// A list is too long.
    #[error("there are {count} {what}, expected at most {max}")]
    TooMany {
        /// What.
        what: &'static str,
        /// How many.
        count: usize,
        /// The most allowed.
        max: usize,
    },
}

impl InvalidEvent {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Text(error) => error.code(),
            Self::Check(error) => error.code(),
            Self::Plan(error) => error.code(),
            Self::Commit(error) => error.code(),
            Self::TooMany { .. } => "too_many",
        }
    }
}

impl Event {
    /// Checks the event's own bounds.
    pub fn check(&self) -> Result<(), InvalidEvent> {
        match self {
            Self::Opened {} | Self::FixCheckEnded { .. } => Ok(()),
            Self::TurnBegun { reviewer, .. } => match reviewer {
                Some(reviewer) => Ok(check_line("reviewer", reviewer, bounds::NAME)?),
                None => Ok(()),
            },
            Self::ReportAccepted { summary, changes, unread, .. } => {
                check_block("summary", summary, bounds::TEXT)?;
                at_most("unread files", unread.len(), UNREAD)?;
                changes.iter().try_for_each(change)
            }
            Self::ReportStale { summary, .. } => Ok(check_block("summary", summary, bounds::TEXT)?),
            Self::ReportRejected { problems, .. } => {
                at_most("problems", problems.len(), LINES)?;
                problems.iter().try_for_each(|problem| Ok(check_block("problem", problem, LINE)?))
            }
            Self::FindingsImported { tool, changes, .. } => {
                check_line("tool", tool, bounds::NAME)?;
                changes.iter().try_for_each(change)
            }
            Self::RepairBegun { findings, owners, rechecks, .. } => {
                at_most("findings", findings.len(), bounds::FINDINGS)?;
                at_most("tasks", owners.len() + rechecks.len(), bounds::TASKS)
            }
            Self::RepairAttempted { note, .. } => match note {
                Some(note) => Ok(check_block("note", note, bounds::TEXT)?),
                None => Ok(()),
            },
            Self::CheckRecorded { result } => Ok(result.check()?),
            Self::FindingDecided { reason, evidence: found, .. } => {
                check_block("reason", reason, bounds::TEXT)?;
                found.as_ref().map_or(Ok(()), evidence)
            }
            Self::CheckWaived { reason, .. } => Ok(check_block("reason", reason, bounds::TEXT)?),
            Self::PlanAccepted { plan, reason } => {
                check_block("reason", reason, bounds::TEXT)?;
                Ok(plan.check()?)
            }
            Self::FixCheckBegun { name, .. } => Ok(check_line("name of a check", name, bounds::NAME)?),
            Self::DraftWritten { title, summary, refused, .. } => {
                check_line("title", title, bounds::PUBLICATION_TITLE)?;
                check_block("summary", summary, bounds::PUBLICATION_SUMMARY)?;
                at_most("refusals", refused.len(), 2)?;
                refused.iter().try_for_each(|line| Ok(check_block("refusal", line, LINE)?))
            }
            Self::PublicationBegun { publication } => {
                for commit in [&publication.commit, &publication.tree, &publication.base_commit] {
                    check_commit(commit)?;
                }
                publication.replaces.as_deref().map_or(Ok(()), check_commit)?;
                Ok(check_line("title", &publication.title, bounds::PUBLICATION_TITLE)?)
            }
            Self::PublicationPushed { commit, .. } | Self::PublicationDone { commit, .. } => {
                Ok(check_commit(commit)?)
            }
            Self::PublicationFailed { reason } => Ok(check_block("reason", reason, LINE)?),
        }
    }
}

fn change(change: &Change) -> Result<(), InvalidEvent> {
    match change {
        Change::Opened { finding, .. } => {
            check_line("title", &finding.title, bounds::TITLE)?;
            if let Some(fix) = &finding.fix {
                check_block("fix", fix, bounds::TEXT)?;
            }
            evidence(&finding.evidence)
        }
        Change::Seen { evidence: seen, .. } => evidence(seen),
        Change::Dismissed { reason, evidence: against, .. } => {
            check_block("reason", reason, bounds::TEXT)?;
            evidence(against)
        }
        Change::Merged { reason, .. } => Ok(check_block("reason", reason, bounds::TEXT)?),
        Change::SeenAgain { .. } | Change::Fixed { .. } | Change::Reprioritised { .. } => Ok(()),
    }
}

fn evidence(evidence: &Evidence) -> Result<(), InvalidEvent> {
    check_block("evidence", &evidence.text, bounds::TEXT)?;
    at_most("citations", evidence.cites.len(), bounds::CITES)
}

fn at_most(what: &'static str, count: usize, max: usize) -> Result<(), InvalidEvent> {
    if count <= max { Ok(()) } else { Err(InvalidEvent::TooMany { what, count, max }) }
}
