//! Reopening: a new window, with a word on every finding that was open.

use harn_ledger::text;

use super::attempt::exhausted;
use super::governance::refuse_grant;
use super::{Draft, checked_reason};
use crate::work::bounds;
use crate::work::command::{Carry, Reopen, Verb};
use crate::work::event::Event;
use crate::work::finding::{FindingId, Findings, OpenFinding};
use crate::work::lifecycle::ItemState;
use crate::work::refusal::Refusal;

pub(super) fn reopen(draft: &mut Draft<'_>, request: &Reopen) -> Result<(), Refusal> {
    draft.refuse_child(Verb::Reopen)?;
    draft.refuse_held(Verb::Reopen)?;
    draft.settle();
    let again = draft.state.is_freshly_reopened();
    let standing = draft.standing();
    let state = standing.state;
    let reopenable = matches!(state, ItemState::Blocked | ItemState::InReview) || state.is_finished();
    if !reopenable && !again {
        return Err(draft.wrong_state(Verb::Reopen, &standing, "`blocked`, `in_review` or a finished item"));
    }
    let reason = checked_reason(request.reason.as_deref())?;
    let grant = grant(draft, request, reason.as_deref())?;
    let new = new_findings(draft, request)?;
    let set = Replacement::of(&draft.state.findings, request, new)?;
    draft.close_open();
    if grant.is_none() && draft.state.budget().remaining() == 0 {
        return Err(exhausted(draft, Verb::Reopen));
    }
    if !again || set.differs(&draft.state.findings.open) {
        draft.record(set.into_event(&draft.state.findings.open, reason));
    } else if draft.state.grants_of_window().iter().any(|it| grant == Some((it.attempts, it.reason.clone())))
    {
        return Ok(());
    }
    if let Some((attempts, reason)) = grant {
        draft.record(Event::Granted { attempts, reason });
    }
    Ok(())
}

fn grant(
    draft: &Draft<'_>,
    request: &Reopen,
    reason: Option<&str>,
) -> Result<Option<(u32, String)>, Refusal> {
    let Some(attempts) = request.grant else { return Ok(None) };
    refuse_grant(draft, Verb::Reopen, attempts)?;
    let reason = reason.ok_or(Refusal::GrantWithoutReason)?;
    Ok(Some((attempts, reason.to_owned())))
}

fn new_findings(draft: &Draft<'_>, request: &Reopen) -> Result<Vec<OpenFinding>, Refusal> {
    let actor = &draft.facts.caller.actor;
    let ids = draft.state.findings.fresh_ids();
    let raised = request.findings.iter().zip(ids).map(|(statement, id)| {
        let statement = text::block("finding", statement, bounds::FINDING)?;
        Ok(OpenFinding { id, actor: actor.clone(), statement })
    });
    raised.collect()
}

/// The set of open findings after a reopen.
struct Replacement {
    carried: Vec<OpenFinding>,
    new: Vec<OpenFinding>,
}

impl Replacement {
    fn of(findings: &Findings, request: &Reopen, new: Vec<OpenFinding>) -> Result<Self, Refusal> {
        if request.supersede_all && request.carry != Carry::Unsaid {
            return Err(Refusal::CarryAndSupersede);
        }
        let carried = match &request.carry {
            Carry::Unsaid if new.is_empty() && !request.supersede_all => findings.open.clone(),
            Carry::Unsaid => Vec::new(),
            Carry::All => findings.open.clone(),
            Carry::These(ids) => carried(findings, ids)?,
        };
        let count = carried.len() + new.len();
        if count > bounds::FINDINGS {
            return Err(Refusal::TooManyFindings { count });
        }
        Ok(Self { carried, new })
    }

    /// Whether other corrections are asked for than those that are open. Who asks and under which id does not matter.
    fn differs(&self, open: &[OpenFinding]) -> bool {
        let sorted = |findings: &mut dyn Iterator<Item = &OpenFinding>| {
            let mut statements: Vec<_> = findings.map(|finding| finding.statement.clone()).collect();
            statements.sort_unstable();
            statements
        };
        sorted(&mut self.carried.iter().chain(&self.new)) != sorted(&mut open.iter())
    }

    fn into_event(self, open: &[OpenFinding], reason: Option<String>) -> Event {
        let superseded: Vec<_> =
            open.iter().filter(|finding| !self.carried.contains(finding)).map(|finding| finding.id).collect();
        let findings = if superseded.is_empty() && self.new.is_empty() {
            Vec::new()
        } else {
            self.carried.into_iter().chain(self.new).collect()
        };
        Event::Reopened { reason, findings, superseded }
    }
}

fn carried(findings: &Findings, ids: &[FindingId]) -> Result<Vec<OpenFinding>, Refusal> {
    for (index, id) in ids.iter().enumerate() {
        if findings.get_open(*id).is_none() {
            let open = findings.open.iter().map(|finding| finding.id).collect();
            return Err(Refusal::UnknownFinding { finding: *id, open });
        }
        if ids[..index].contains(id) {
            return Err(Refusal::FindingTwice { finding: *id });
        }
    }
    Ok(findings.open.iter().filter(|finding| ids.contains(&finding.id)).cloned().collect())
}
