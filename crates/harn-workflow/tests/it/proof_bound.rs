//! W-39: a proof keeps its bound whatever the run did, and says what that took.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use harn_ledger::Digest;
use harn_workflow::context::{AttemptContext, Trigger};
use harn_workflow::run::proof::{PROOF_MAX, Part, UnknownCode};
use harn_workflow::run::{
    AcceptanceIds, AgentId, AgentOutcome, Captured, CheckOutcome, CriterionStatus, EVIDENCE_MAX, Event,
    EvidenceKind, EvidenceStatus, Failure, Manifest, Proof, Source, prior_from,
};

use crate::run_limits::{wide, widest_argv, widest_ids, widest_manifest, widest_meta};
use crate::run_samples::{
    Transcript, agent_started, agent_succeeded, block, check_ended, cited, failed, line, nth, parts, path,
    succeeded,
};

fn wordy_evidence(number: u32, acceptance_ids: AcceptanceIds) -> Event {
    Event::EvidenceRecorded {
        id: format!("e{number}").parse().unwrap(),
        source: Source::Workflow,
        kind: EvidenceKind::Observation,
        status: EvidenceStatus::Passed,
        label: line(&wide(200)),
        stage: Some(line(&wide(200))),
        check: None,
        summary: Some(block(&wide(2000))),
        reference: Some(block(&wide(1000))),
        acceptance_ids,
        note: Some(block(&wide(1000))),
    }
}

/// A run in which everything is as long as it may be.
fn widest_run(manifest: Manifest, agents: u32, checks: u32) -> Transcript {
    let mut run = Transcript::started(manifest).with(Event::ScriptLoaded { meta: widest_meta() });
    for number in 1..=agents {
        let id = AgentId::new(nth(number));
        run.record(Event::AgentStarted {
            id,
            label: line(&wide(200)),
            stage: Some(line(&wide(200))),
            key: Digest::of(b""),
            occurrence: nth(1),
            adapter: Some(line(&wide(100))),
            model: Some(line(&wide(200))),
            effort: Some(line(&wide(200))),
            prompt: Captured::of(b"x"),
        })
        .unwrap();
        run.record(Event::AgentEnded {
            id,
            outcome: AgentOutcome::Failed,
            class: None,
            reply: None,
            error: Some(block(&wide(2000))),
            tries: 0,
            duration_ms: u64::MAX,
        })
        .unwrap();
    }
    for number in 1..=checks {
        run.record(Event::CheckStarted {
            id: format!("c{number}").parse().unwrap(),
            name: line(&wide(200)),
            stage: Some(line(&wide(200))),
            argv: widest_argv(),
            cwd: path("/x"),
            timeout_ms: None,
            acceptance_ids: widest_ids(),
        })
        .unwrap();
        run.execute(check_ended(number, CheckOutcome::Failed)).unwrap();
    }
    for number in checks + 1..=EVIDENCE_MAX {
        run.record(wordy_evidence(number, widest_ids())).unwrap();
    }
    run
}

#[test]
fn the_widest_run_has_a_proof() {
    let run = widest_run(widest_manifest(), 300, 100).then(failed(Failure::ScriptError, &wide(2000)));
    let proof = run.proof();
    let bytes = proof.to_bytes();
    assert!(bytes.len() <= PROOF_MAX, "{}", bytes.len());
    assert_eq!(Proof::from_bytes(&bytes).unwrap(), proof);
    assert_eq!(proof.verify(&run.manifest, &run.lines), Ok(()));

    // What decides is whole: contexts, error, the status of every criterion.
    let frozen = run.manifest.parts();
    assert_eq!(
        (&proof.run.work_context, &proof.run.attempt_context),
        (&frozen.work_context, &frozen.attempt_context)
    );
    assert_eq!(proof.run.error.as_ref().unwrap().as_str(), wide(2000));
    assert_eq!((proof.acceptance.summary.unsatisfied, proof.acceptance.criteria.len()), (100, 100));
    assert!(proof.acceptance.criteria.iter().all(|c| c.status == CriterionStatus::Unsatisfied));

    // What was left out is said, with how much there was.
    let lost = |part| {
        let found = proof.truncated.iter().find(|truncation| truncation.part == part);
        found.map(|truncation| (truncation.kept, truncation.total))
    };
    assert_eq!(lost(Part::Agents), Some((0, 300)));
    assert_eq!(lost(Part::Evidence), Some((0, 200)));
    assert_eq!(lost(Part::Objective), Some((0, 1)));
    assert_eq!(lost(Part::Statements), Some((0, 100)));
    assert_eq!(lost(Part::EvidenceIds), Some((200, 20_000)));
    assert!(proof.unknowns.iter().any(|unknown| unknown.code == UnknownCode::ProofTruncated));

    // And a retry can be told about it.
    let prior = prior_from(&frozen.run_id, Some(&proof)).unwrap();
    AttemptContext::new(3, Trigger::Retry, Some(prior), Vec::new()).unwrap();
}

#[test]
fn the_least_is_left_out_first() {
    let left_out =
        |proof: &Proof| -> Vec<Part> { proof.truncated.iter().map(|truncation| truncation.part).collect() };
    let run = |agents| {
        let mut run = Transcript::of(Manifest::new(parts()).unwrap(), &["c"]);
        for number in 1..=agents {
            run.record(agent_started(number)).unwrap();
            run.record(agent_succeeded(number, "x")).unwrap();
        }
        run
    };
    let few = run(200).then(succeeded()).proof();
    assert_eq!((left_out(&few), few.agents.len()), (vec![], 200));

    let mut wordy = run(1);
    for number in 1..=EVIDENCE_MAX {
        wordy.record(wordy_evidence(number, cited(&["c"]))).unwrap();
    }
    let wordy = wordy.then(succeeded()).proof();
    assert_eq!((left_out(&wordy), wordy.evidence.len()), (vec![Part::Details], 200));
    assert!(wordy.evidence.iter().all(|record| record.summary.is_none()));

    let many = run(3000).then(succeeded()).proof();
    assert_eq!((left_out(&many), many.agents.len()), (vec![Part::Agents], 100));
    assert_eq!(many.unknowns.last().unwrap().code, UnknownCode::ProofTruncated);
}
