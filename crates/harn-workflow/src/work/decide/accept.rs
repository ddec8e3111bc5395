//! Acceptance: the explicit decision, bound to the proof that was reviewed and to a word on every open finding, and to
//! a clean review where the item requires one.

use std::collections::{BTreeSet, HashSet};

use harn_ledger::text;
use harn_ledger::{BlobRef, StreamId};

use super::{Draft, checked_reason};
use crate::work::bounds;
use crate::work::command::{Accept, Verb};
use crate::work::event::Event;
use crate::work::finding::{Disposition, Ruling};
use crate::work::lifecycle::ItemState;
use crate::work::refusal::Refusal;
use crate::work::review::{AcceptedReview, ReviewFact, quoted};

pub(super) fn accept(draft: &mut Draft<'_>, request: &Accept) -> Result<(), Refusal> {
    draft.refuse_child(Verb::Accept)?;
    draft.settle();
    let standing = draft.standing();
    let passed = draft.state.window().last().filter(|_| standing.state == ItemState::InReview);
    let Some(passed) = passed else {
        return Err(draft.wrong_state(Verb::Accept, &standing, "`in_review`"));
    };
    let (run_id, attempt) = (passed.run_id.clone(), passed.number);
    let recorded = passed.end.as_ref().and_then(|end| end.proof);
    if let Some(why) = &draft.facts.unproven {
        return Err(Refusal::Unproven { id: draft.state.id.clone(), attempt, why: why.clone() });
    }
    let proof = reviewed_proof(&draft.state.id, attempt, recorded, draft.facts.proof, request)?;
    let review = required_review(draft, request.review.as_ref())?;
    let dispositions = dispositions(draft, request)?;
    let accepted_unknowns = unknowns(&request.accepted_unknowns)?;
    let reason = checked_reason(request.reason.as_deref())?;
    draft.record(Event::Accepted { run_id, attempt, proof, reason, dispositions, accepted_unknowns, review });
    Ok(())
}

fn reviewed_proof(
    id: &StreamId,
    attempt: u32,
    recorded: Option<BlobRef>,
    found: Option<BlobRef>,
    request: &Accept,
) -> Result<BlobRef, Refusal> {
    let (Some(recorded), Some(found)) = (recorded, found) else {
        return Err(Refusal::ProofMissing { id: id.clone(), attempt });
    };
    if found != recorded {
        return Err(Refusal::ProofChanged { recorded, found });
    }
    match request.expect_proof {
        Some(expected) if expected != recorded.blob => {
            Err(Refusal::OtherProof { expected, recorded: recorded.blob })
        }
        _ => Ok(recorded),
    }
}

/// The clean review, if the item requires one; otherwise nobody's word on it is looked at.
fn required_review(draft: &Draft<'_>, fact: Option<&ReviewFact>) -> Result<Option<AcceptedReview>, Refusal> {
    if !draft.state.require_review {
        return Ok(None);
    }
    let id = || draft.state.id.clone();
    match fact {
        None => Err(Refusal::ReviewMissing { id: id() }),
        Some(ReviewFact::Closed { review, reasons }) => {
            let (review, reasons) = (review.clone(), quoted(reasons));
            Err(Refusal::ReviewNotClean { id: id(), review, reasons })
        }
        Some(ReviewFact::Clean { review, turn, fingerprint }) => {
            Ok(Some(AcceptedReview::new(review, turn, *fingerprint)?))
        }
    }
}

/// One for each open finding, in the order of the findings.
fn dispositions(draft: &Draft<'_>, request: &Accept) -> Result<Vec<Disposition>, Refusal> {
    let findings = &draft.state.findings;
    let mut named = HashSet::new();
    for disposition in &request.dispositions {
        let Some(finding) = findings.get_open(disposition.id) else {
            let open = findings.open.iter().map(|finding| finding.id).collect();
            return Err(Refusal::UnknownFinding { finding: disposition.id, open });
        };
        if !named.insert(finding.id) {
            return Err(Refusal::FindingTwice { finding: finding.id });
        }
        if request.only_raiser && finding.actor != draft.facts.caller.actor {
            return Err(Refusal::NotRaiser { finding: finding.id, raised_by: finding.actor.clone() });
        }
    }
    let silent: Vec<_> =
        findings.open.iter().map(|finding| finding.id).filter(|id| !named.contains(id)).collect();
    if !silent.is_empty() {
        return Err(Refusal::FindingsOpen { id: draft.state.id.clone(), findings: silent });
    }
    let mut checked = request.dispositions.iter().map(checked).collect::<Result<Vec<_>, _>>()?;
    checked.sort_by_key(|disposition| disposition.id);
    Ok(checked)
}

fn checked(disposition: &Disposition) -> Result<Disposition, Refusal> {
    let Disposition { id, outcome, reason } = disposition;
    let reason = reason.as_deref().filter(|reason| !reason.trim().is_empty());
    if *outcome == Ruling::Deferred && reason.is_none() {
        return Err(Refusal::DeferredWithoutReason { finding: *id });
    }
    let bounded = |reason| text::block("reason of a disposition", reason, bounds::DISPOSITION_REASON);
    Ok(Disposition { id: *id, outcome: *outcome, reason: reason.map(bounded).transpose()? })
}

fn unknowns(codes: &[String]) -> Result<Vec<String>, Refusal> {
    let checked = |code: &String| text::line("accepted unknown", code, bounds::UNKNOWN);
    let sorted = codes.iter().map(checked).collect::<Result<BTreeSet<_>, _>>()?;
    if sorted.len() > bounds::UNKNOWNS {
        return Err(Refusal::TooManyUnknowns { count: sorted.len() });
    }
    Ok(sorted.into_iter().collect())
}
