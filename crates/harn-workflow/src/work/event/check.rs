//! The bounds of each event by itself.

use std::collections::HashSet;

use harn_ledger::text::{TextError, check_block, check_line};

use super::Event;
use crate::work::bounds;
use crate::work::end::{Class, InvalidEnd};
use crate::work::finding::{Disposition, FindingId, OpenFinding, Ruling};
use crate::work::origin::KEPT_MAX;
use crate::work::review::AcceptedReview;

/// Why an event breaks its own bounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidEvent {
    /// An attempt has the number 0.
    #[error("an attempt has the number 0, expected 1 or more")]
    AttemptZero,
    /// A text is blank, too long, untrimmed or holds control characters.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The parts of an attempt's end do not fit together.
    #[error(transparent)]
    End(#[from] InvalidEnd),
    /// A list is too long.
    #[error("there are {count} {field}, expected at most {max}")]
    TooMany {
        /// Which list.
        field: &'static str,
        /// How many entries it has.
        count: usize,
        /// How many it may have.
        max: usize,
    },
    /// A finding is named twice.
    #[error("the finding `{id}` is named twice")]
    FindingTwice {
        /// The finding.
        id: FindingId,
    },
    /// A deferral has no reason.
    #[error("the finding `{id}` is deferred without a reason")]
    DeferredWithoutReason {
        /// The finding.
        id: FindingId,
    },
    /// Programs are to wait after an end that no outside service caused.
    #[error("the attempt has a time before which no program retries, but its class is not `upstream`")]
    PauseWithoutUpstream,
    /// The accepted unknowns are not sorted, or one is named twice.
    #[error("the accepted unknowns are not in order, expected each once, sorted by their bytes")]
    UnknownsOutOfOrder,
    /// An import holds an import.
    #[error("an imported event is itself an import")]
    ImportOfImport,
    /// A grant is not of 1 to 100 attempts.
    #[error("{attempts} attempts are granted, expected 1 to {max}", max = bounds::ATTEMPTS)]
    Grant {
        /// The number found.
        attempts: u32,
    },
}

impl InvalidEvent {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::AttemptZero => "attempt_zero",
            Self::Text(error) => error.code(),
            Self::End(error) => error.code(),
            Self::TooMany { .. } => "too_many",
            Self::FindingTwice { .. } => "finding_twice",
            Self::DeferredWithoutReason { .. } => "deferred_without_reason",
            Self::PauseWithoutUpstream => "pause_without_upstream",
            Self::UnknownsOutOfOrder => "unknowns_out_of_order",
            Self::ImportOfImport => "import_of_import",
            Self::Grant { .. } => "grant_out_of_range",
        }
    }
}

impl Event {
    /// Checks the event's own bounds. Writer and reader both use it.
    pub fn check(&self) -> Result<(), InvalidEvent> {
        match self {
            Self::Created {} => Ok(()),
            Self::AttemptStarted { attempt, .. }
            | Self::AttemptParked { attempt, .. }
            | Self::AttemptResumed { attempt, .. } => numbered(*attempt),
            Self::AttemptEnded { attempt, class, next_eligible_at, .. } => {
                numbered(*attempt)?;
                if next_eligible_at.is_some() && *class != Some(Class::Upstream) {
                    return Err(InvalidEvent::PauseWithoutUpstream);
                }
                Ok(self.end().map_or(Ok(()), |end| end.check())?)
            }
            Self::AttemptRecharged { attempt, reason, .. } => {
                numbered(*attempt)?;
                check_reason(Some(reason))
            }
            Self::Reconciled { reason, .. } => Ok(check_block("reason", reason, bounds::REASON)?),
            Self::Reopened { reason, findings, superseded } => {
                check_reason(reason.as_deref())?;
                check_findings(findings, superseded)
            }
            Self::Accepted { attempt, reason, dispositions, accepted_unknowns, review, .. } => {
                numbered(*attempt)?;
                check_reason(reason.as_deref())?;
                check_dispositions(dispositions)?;
                check_unknowns(accepted_unknowns)?;
                Ok(review.as_ref().map_or(Ok(()), AcceptedReview::check)?)
            }
            Self::Cancelled { reason } => check_reason(reason.as_deref()),
            Self::Noted { text } => Ok(check_block("note", text, bounds::NOTE)?),
            Self::Granted { attempts, reason } => {
                check_grant(*attempts)?;
                check_reason(Some(reason))
            }
            Self::Imported { event, .. } if matches!(**event, Self::Imported { .. }) => {
                Err(InvalidEvent::ImportOfImport)
            }
            Self::Imported { origin, event } => {
                origin.check()?;
                at_most("files kept", origin.kept.len(), KEPT_MAX)?;
                at_most("renamed findings", origin.findings_were.len(), bounds::FINDINGS)?;
                event.check()
            }
        }
    }
}

pub(in crate::work) fn check_grant(attempts: u32) -> Result<(), InvalidEvent> {
    if (1..=bounds::ATTEMPTS).contains(&attempts) { Ok(()) } else { Err(InvalidEvent::Grant { attempts }) }
}

fn numbered(attempt: u32) -> Result<(), InvalidEvent> {
    if attempt == 0 { Err(InvalidEvent::AttemptZero) } else { Ok(()) }
}

fn check_reason(reason: Option<&str>) -> Result<(), InvalidEvent> {
    Ok(reason.map_or(Ok(()), |reason| check_block("reason", reason, bounds::REASON))?)
}

fn at_most(field: &'static str, count: usize, max: usize) -> Result<(), InvalidEvent> {
    if count > max { Err(InvalidEvent::TooMany { field, count, max }) } else { Ok(()) }
}

fn check_findings(findings: &[OpenFinding], superseded: &[FindingId]) -> Result<(), InvalidEvent> {
    at_most("findings", findings.len(), bounds::FINDINGS)?;
    at_most("superseded findings", superseded.len(), bounds::FINDINGS)?;
    each_once(findings.iter().map(|finding| finding.id).chain(superseded.iter().copied()))?;
    for finding in findings {
        check_block("finding", &finding.statement, bounds::FINDING)?;
    }
    Ok(())
}

fn check_dispositions(dispositions: &[Disposition]) -> Result<(), InvalidEvent> {
    at_most("dispositions", dispositions.len(), bounds::FINDINGS)?;
    each_once(dispositions.iter().map(|disposition| disposition.id))?;
    for Disposition { id, outcome, reason } in dispositions {
        if let Some(reason) = reason {
            check_block("reason of a disposition", reason, bounds::DISPOSITION_REASON)?;
        } else if *outcome == Ruling::Deferred {
            return Err(InvalidEvent::DeferredWithoutReason { id: *id });
        }
    }
    Ok(())
}

fn check_unknowns(unknowns: &[String]) -> Result<(), InvalidEvent> {
    at_most("accepted unknowns", unknowns.len(), bounds::UNKNOWNS)?;
    for unknown in unknowns {
        check_line("accepted unknown", unknown, bounds::UNKNOWN)?;
    }
    if unknowns.is_sorted_by(|a, b| a < b) { Ok(()) } else { Err(InvalidEvent::UnknownsOutOfOrder) }
}

fn each_once(ids: impl Iterator<Item = FindingId>) -> Result<(), InvalidEvent> {
    let mut seen = HashSet::new();
    for id in ids {
        if !seen.insert(id) {
            return Err(InvalidEvent::FindingTwice { id });
        }
    }
    Ok(())
}
