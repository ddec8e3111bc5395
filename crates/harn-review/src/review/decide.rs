//! What follows from a command.

use harn_ledger::BlobRef;

use super::{Command, Refusal, checks, publication};
use crate::bounds;
use crate::event::{Change, Decision, Event, UNREAD_NAMED};
use crate::finding::{Finding, Kind, Standing};
use crate::id::{FindingId, TurnId};
use crate::import;
use crate::repair::{self, Offer};
use crate::source::Source;
use crate::state::State;
use crate::validate::{Judgement, validate};

/// The events that a command adds, or why it may not.
pub(super) fn decide(state: &State, command: Command) -> Result<Vec<Event>, Refusal> {
    if matches!(command, Command::Open {}) {
        return if state.opened { Err(Refusal::AlreadyOpen) } else { Ok(vec![Event::Opened {}]) };
    }
    if !state.opened {
        return Err(Refusal::NotOpen);
    }
    let event = match command {
        Command::Submit { bytes, raw, source } => return submit(state, &bytes, raw, &source),
        Command::Open {} => Event::Opened {},
        Command::Begin { fingerprint, instructions, manifest, reviewer, queued } => {
            idle(state)?;
            if !queued.is_empty() {
                return Err(Refusal::Queued { what: queued });
            }
            let turn = TurnId::after(state.turns.len());
            Event::TurnBegun { turn, fingerprint, plan: state.plan_digest, instructions, manifest, reviewer }
        }
        Command::Import { imported, raw, source } => {
            let changes = import::changes(state, &source, imported.findings);
            room(state, &changes)?;
            let (tool, skipped) = (imported.tool, imported.skipped);
            Event::FindingsImported { tool, raw, fingerprint: source.fingerprint, changes, skipped }
        }
        Command::BeginRepair { fingerprint } => {
            idle(state)?;
            match repair::next(state, &fingerprint) {
                Offer::Pass { number, findings, owners, rechecks } => {
                    Event::RepairBegun { pass: number, findings, owners, rechecks, fingerprint }
                }
                offer => return Err(Refusal::RepairNotOffered { offer: Box::new(offer) }),
            }
        }
        Command::Attempted { before, after, note } => {
            let (pass, task) = state.pass_under_way().ok_or(Refusal::NoPass)?;
            Event::RepairAttempted { pass: pass.number, task: task.to_owned(), before, after, note }
        }
        Command::RecordCheck { result } => checks::record(state, result)?,
        Command::Decide { id, decision, reason, evidence } => {
            decidable(state, id, &decision)?;
            Event::FindingDecided { id, decision, reason, evidence }
        }
        Command::Waive { name, reason } => {
            checks::waivable(state, &name)?;
            Event::CheckWaived { name, reason }
        }
        Command::AcceptPlan { plan, reason } => {
            if plan.digest() == state.plan_digest {
                return Err(Refusal::SamePlan);
            }
            Event::PlanAccepted { plan, reason }
        }
        Command::BeginFixCheck { name, fingerprint } => {
            idle(state)?;
            let task = checks::fixable(state, &name, &fingerprint)?;
            Event::FixCheckBegun { name, task, fingerprint }
        }
        Command::EndFixCheck { repaired, fingerprint } => {
            let fix = state.fix_check().ok_or(Refusal::NoFixCheck)?;
            Event::FixCheckEnded { name: fix.name.clone(), repaired, fingerprint }
        }
        Command::WriteDraft { key, title, summary, by, refused } => {
            Event::DraftWritten { key, title, summary, by, refused }
        }
        Command::BeginPublication { publication, source, base, require_coverage } => {
            publication::begin(state, publication, &source, base.as_deref(), require_coverage)?
        }
        Command::Pushed { adopted } => publication::pushed(state, adopted)?,
        Command::Published { url, adopted } => publication::published(state, url, adopted)?,
        Command::PublicationFailed { reason } => publication::failed(state, reason)?,
    };
    Ok(vec![event])
}

/// Whether nothing is under way that works on the source.
fn idle(state: &State) -> Result<(), Refusal> {
    let what = if let Some((pass, owner)) = state.pass_under_way() {
        format!("repair pass {}: it is the turn of {owner}", pass.number)
    } else if let Some(fix) = state.fix_check() {
        format!("the repair of the failed check `{}` by {}", fix.name, fix.task)
    } else if let Some(publication) = state.publication_under_way() {
        format!("the publication of {}", publication.publication.branch)
    } else {
        return Ok(());
    };
    Err(Refusal::Busy { what })
}

fn submit(state: &State, bytes: &[u8], raw: BlobRef, source: &Source) -> Result<Vec<Event>, Refusal> {
    let Some(turn) = state.live_turn().map(|turn| turn.id) else { return Ok(Vec::new()) };
    let event = match validate(bytes, state, source) {
        Ok(Judgement::Ignored { .. }) => return Ok(Vec::new()),
        Ok(Judgement::Stale { report, moved }) => Event::ReportStale {
            turn,
            raw,
            status: report.status,
            summary: report.summary.trim().to_owned(),
            moved,
        },
        Ok(Judgement::Accepted { report, changes, mut unread }) => {
            room(state, &changes)?;
            let unread_more = u32::try_from(unread.len().saturating_sub(UNREAD_NAMED)).unwrap_or(u32::MAX);
            unread.truncate(UNREAD_NAMED);
            let read = report.read.map(|read| u32::try_from(read.len()).unwrap_or(u32::MAX));
            let summary = report.summary.trim().to_owned();
            let status = report.status;
            Event::ReportAccepted { turn, raw, status, summary, changes, read, unread, unread_more }
        }
        Err(rejection) => Event::ReportRejected {
            turn,
            raw,
            step: rejection.step.to_string(),
            code: rejection.code().to_owned(),
            problems: rejection.lines(),
        },
    };
    Ok(vec![event])
}

fn room(state: &State, changes: &[Change]) -> Result<(), Refusal> {
    let opened = changes.iter().filter(|change| matches!(change, Change::Opened { .. })).count();
    if state.findings.len() + opened > bounds::FINDINGS { Err(Refusal::TooManyFindings) } else { Ok(()) }
}

/// Whether a person may decide this about a finding.
fn decidable(state: &State, id: FindingId, decision: &Decision) -> Result<(), Refusal> {
    let finding = state.finding(id).ok_or(Refusal::UnknownFinding { id })?;
    let expected = match decision {
        Decision::Close {} => (!finding.is_open()).then_some("an open finding"),
        Decision::Confirm {} => {
            (!is_open(finding, Kind::Uncertain)).then_some("an open finding that is uncertain")
        }
        Decision::NotReproduced {} => (!is_open(finding, Kind::Defect)).then_some("an open defect"),
        Decision::Reopen {} => {
            let closed = matches!(finding.standing, Standing::Fixed | Standing::Dismissed | Standing::Merged);
            (!closed).then_some("a closed finding")
        }
        Decision::Priority { to } => (*to == finding.priority).then_some("another priority than it has"),
        Decision::Owner { to } => {
            if let Some(task) = to.as_deref().filter(|task| state.plan().task(task).is_none()) {
                let known = state.plan().tasks.iter().map(|task| task.id.clone()).collect();
                return Err(Refusal::UnknownTask { task: task.to_owned(), known });
            }
            (*to == finding.owner).then_some("another owner than it has")
        }
    };
    match expected {
        None => Ok(()),
        Some(expected) => {
            let is = format!("{} and {}", finding.kind.as_str(), finding.standing.as_str());
            Err(Refusal::NotDecidable { id, is, expected })
        }
    }
}

fn is_open(finding: &Finding, kind: Kind) -> bool {
    finding.is_open() && finding.kind == kind
}
