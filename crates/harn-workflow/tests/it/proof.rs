//! Proofs: what they say, what they refuse to read, and what a retry learns from them.
use harn_ledger::{BlobRef, Timestamp};
use harn_workflow::context::{AttemptContext, Cause, Prior, Trigger, UnresolvedStatus};
use harn_workflow::run::proof::{AgentStatus, UnknownCode, VerifyProofError};
use harn_workflow::run::{
    CheckOutcome, Class, Event, EvidenceStatus, Failure, Isolation, Manifest, NotEnded, Proof, Snapshot,
    Status, prior_from,
};

use crate::run_samples::{
    START, Transcript, agent_failed, agent_started, agent_succeeded, block, check_ended, check_started,
    evidence, failed, findings, id, initial, line, manifest, parts, path, succeeded,
};

fn unknowns(proof: &Proof) -> Vec<UnknownCode> {
    proof.unknowns.iter().map(|unknown| unknown.code).collect()
}

/// A run that declares `c`, shows it and succeeds.
fn passing() -> Transcript {
    Transcript::of(manifest(), &["c"]).with(evidence(1, EvidenceStatus::Passed, &["c"])).then(succeeded())
}

#[test]
fn a_run_passes_when_it_succeeded_and_every_criterion_is_satisfied() {
    use EvidenceStatus::{Failed, Observed, Passed};

    let run = |statuses: &[EvidenceStatus], end| {
        let mut run = Transcript::of(manifest(), &["c"]);
        for (status, number) in statuses.iter().zip(1..) {
            run.record(evidence(number, *status, &["c"])).unwrap();
        }
        run.then(end).proof()
    };
    assert!(run(&[Passed], succeeded()).passes());
    assert!(!run(&[Passed, Failed], succeeded()).passes());
    assert!(!run(&[Observed], succeeded()).passes());
    assert!(!run(&[], succeeded()).passes());
    assert!(!run(&[Passed], failed(Failure::ScriptError, "x")).passes());
}

#[test]
fn a_run_without_criteria_passes_and_says_so() {
    let proof = Transcript::of(manifest(), &[]).then(succeeded()).proof();
    assert!(proof.passes());
    assert_eq!(unknowns(&proof), [UnknownCode::NoAcceptanceCriteria]);
    assert!(unknowns(&passing().proof()).is_empty());
}

/// K-93
#[test]
fn a_failing_run_has_a_proof() {
    let proof = Transcript::of(manifest(), &["c"])
        .with(evidence(1, EvidenceStatus::Failed, &["c"]))
        .then(failed(Failure::ScriptError, " the suite fails\n"))
        .proof();
    assert_eq!(proof.run.status, Status::Failed);
    assert_eq!(proof.run.error.as_ref().unwrap().as_str(), "the suite fails");
    assert_eq!((proof.acceptance.summary.unsatisfied, proof.acceptance.summary.total), (1, 1));
}

/// K-44, K-45: the contexts of the proof are those of the manifest.
#[test]
fn contexts_are_repeated_member_for_member() {
    let mut with_findings = parts();
    with_findings.attempt_context = Some(initial(findings()));
    let prior = Prior::lost(id("run-0"));
    let mut retried = parts();
    retried.attempt_context = Some(AttemptContext::new(2, Trigger::Retry, Some(prior), findings()).unwrap());
    for parts in [parts(), with_findings, retried] {
        let manifest = Manifest::new(parts.clone()).unwrap();
        let run = Transcript::of(manifest, &[]).then(succeeded()).proof().run;
        assert_eq!((run.work_context, run.attempt_context), (parts.work_context, parts.attempt_context));
    }
}

/// K-80
#[test]
fn the_class_is_there_when_it_follows_and_no_other_word_is_read() {
    let classed = Transcript::of(manifest(), &[])
        .with(agent_started(1))
        .with(agent_failed(1, Some(harn_workflow::run::FailureClass::Environment)))
        .then(failed(Failure::ScriptError, "x"))
        .proof();
    assert_eq!(classed.run.class, Some(Class::Environment));
    let json = String::from_utf8(classed.to_bytes()).unwrap();
    assert!(json.contains("\"class\": \"environment\""));
    let other = json.replacen("\"class\": \"environment\"", "\"class\": \"weather\"", 1);
    assert_eq!(Proof::from_bytes(other.as_bytes()).unwrap_err().code(), "proof_decode");

    let unclassed = Transcript::of(manifest(), &[]).then(failed(Failure::ScriptError, "x")).proof();
    assert!(!String::from_utf8(unclassed.to_bytes()).unwrap().contains("class"));
}

#[test]
fn a_block_names_the_decision() {
    let blocked = Event::RunBlocked { reason: block("which licence?"), decision: Some(line("D-7")) };
    let run = || Transcript::of(manifest(), &[]).with(blocked.clone());
    let proof = run().then(failed(Failure::Decision, "")).proof();
    assert_eq!(proof.run.class, Some(Class::Decision));
    assert_eq!(proof.run.decision_id.as_ref().unwrap().as_str(), "D-7");
    assert_eq!(proof.run.error.as_ref().unwrap().as_str(), "which licence?");
    let worded = run().then(failed(Failure::Decision, "blocked: which licence?")).proof();
    assert_eq!(worded.run.error.unwrap().as_str(), "blocked: which licence?");
}

#[test]
fn times_names_and_the_head_come_from_the_records() {
    let run = passing();
    let proof = run.proof();
    let end = run.lines.last().unwrap();
    assert_eq!((proof.run.started_at, proof.run.ended_at), (Timestamp::from_microseconds(START), end.ts));
    assert_eq!((proof.run.duration_ms, proof.run.name.as_str()), (4, "release"));
    assert_eq!((proof.integrity.transcript.seq, proof.integrity.transcript.hash), (end.seq, end.hash));
    assert_eq!(proof.blob_ref(), BlobRef::of(&proof.to_bytes()));
    // A clock that was set back never gives a negative time.
    let mut late = parts();
    late.started_at = Timestamp::from_microseconds(START * 2);
    let late = Manifest::new(late).unwrap();
    assert_eq!(Proof::of(&late, &run.lines).unwrap().run.duration_ms, 0);
}

#[test]
fn what_the_run_cut_off_is_unfinished_and_said() {
    let run = || {
        Transcript::of(manifest(), &["c"])
            .with(agent_started(1))
            .with(agent_succeeded(1, "y"))
            .with(agent_started(2))
            .with(agent_failed(2, None))
            .with(agent_started(3))
            .with(check_started(1, &["c"]))
            .then(check_ended(1, CheckOutcome::Passed))
            .with(check_started(2, &["c"]))
    };
    let proof = run().then(succeeded()).proof();
    let statuses: Vec<_> = proof.agents.iter().map(|agent| agent.status).collect();
    assert_eq!(statuses, [AgentStatus::Succeeded, AgentStatus::Failed, AgentStatus::Unfinished]);
    let outcomes: Vec<_> = proof.checks.iter().map(|check| check.outcome).collect();
    assert_eq!(outcomes, [Some(CheckOutcome::Passed), None]);
    assert_eq!(unknowns(&proof), [UnknownCode::AgentsFailed, UnknownCode::WorkUnfinished]);
    assert!(proof.passes());
    // A run that failed claims nothing.
    assert!(unknowns(&run().then(failed(Failure::ScriptError, "x")).proof()).is_empty());
}

#[test]
fn the_repository_is_compared() {
    let snapshot = |paths: &[&str]| Snapshot::of(path("/work")).with_dirty_paths(paths.iter().copied());
    let mut parts = parts();
    parts.repository_before = Some(snapshot(&["a"]));
    let run = Transcript::of(Manifest::new(parts).unwrap(), &["c"]);
    let end = |after| {
        harn_workflow::run::Command::End(Box::new(harn_workflow::run::Ending {
            repository_after: after,
            ..Default::default()
        }))
    };
    let proof = run.then(end(Some(snapshot(&["a", "b"])))).proof();
    let drift = proof.repository.clone().unwrap().drift.unwrap();
    assert_eq!(drift.dirty_paths_added[0].as_str(), "b");
    assert_eq!(unknowns(&proof), [UnknownCode::RepositoryDriftIncomplete]);
    let unseen = Transcript::of(manifest(), &["c"]).then(end(None)).proof();
    assert!(unseen.repository.is_none());
}

#[test]
fn the_proof_says_where_the_run_took_place() {
    let mut fallback = parts();
    fallback.execution.requested_isolation = Isolation::Worktree;
    let proof = Transcript::of(Manifest::new(fallback).unwrap(), &[]).then(succeeded()).proof();
    assert_eq!(
        (proof.execution.requested_isolation, proof.execution.effective_isolation),
        (Isolation::Worktree, Isolation::Shared)
    );
}

#[test]
fn a_run_that_has_not_ended_proves_nothing() {
    let run = Transcript::of(manifest(), &["c"]);
    assert_eq!(Proof::of(&run.manifest, &run.lines), Err(NotEnded));
    let none = passing().proof().verify(&run.manifest, &run.lines);
    assert_eq!(none.unwrap_err().code(), "proof_not_ended");
}

/// W-07: a proof is read only when its parts agree, and in its one written form.
#[test]
fn an_edited_proof_is_not_read_or_does_not_verify() {
    let run = passing();
    let proof = run.proof();
    let json = String::from_utf8(proof.to_bytes()).unwrap();
    assert_eq!(Proof::from_bytes(json.as_bytes()).unwrap(), proof);
    let refused = [
        ("\"satisfied\": 1", "\"satisfied\": 2", "proof_contradiction"),
        ("\"status\": \"satisfied\"", "\"status\": \"unknown\"", "proof_contradiction"),
        ("\"status\": \"succeeded\"", "\"status\": \"failed\"", "proof_contradiction"),
        (
            "\"status\": \"succeeded\",",
            "\"status\": \"succeeded\",\n    \"class\": \"upstream\",",
            "proof_contradiction",
        ),
        (
            "\"status\": \"succeeded\",",
            "\"status\": \"succeeded\",\n    \"decision_id\": \"D\",",
            "proof_contradiction",
        ),
        ("      \"id\": \"alpha\"", "      \"id\": \"beta\"", "proof_contexts"),
        ("\"title\": \"R", "\"title\": \" R", "proof_decode"),
        ("\"schema_version\": 1", "\"schema_version\": 2", "proof_decode"),
        ("\"agents\"", "\"more\": 1, \"agents\"", "proof_decode"),
        ("\"agents\": []", "\"agents\":[]", "proof_not_canonical"),
        ("\n}\n", "\n}", "proof_not_canonical"),
    ];
    for (from, to, code) in refused {
        let edited = json.replacen(from, to, 1);
        assert_ne!(edited, json, "`{from}` does not stand in the proof");
        assert_eq!(Proof::from_bytes(edited.as_bytes()).unwrap_err().code(), code, "{to}");
    }
    let long = vec![b' '; 512 * 1024 + 1];
    assert_eq!(Proof::from_bytes(&long).unwrap_err().code(), "proof_too_large");

    // K-13, K-14: what reads well is still held against manifest and transcript.
    assert_eq!(proof.verify(&run.manifest, &run.lines), Ok(()));
    let differs = [
        ("Publish a verified release", "Publish anything", "run"),
        ("\"number\": 1", "\"number\": 7", "run"),
        ("c holds", "c may hold", "acceptance"),
        ("\"label\": \"suite\"", "\"label\": \"suit\"", "evidence"),
        ("\"seq\": 4", "\"seq\": 5", "integrity"),
    ];
    for (from, to, member) in differs {
        let edited = json.replacen(from, to, 1);
        assert_ne!(edited, json, "`{from}` does not stand in the proof");
        let edited = Proof::from_bytes(edited.as_bytes()).unwrap();
        assert_eq!(edited.verify(&run.manifest, &run.lines), Err(VerifyProofError::Differs { member }));
    }
}

/// What a retry learns: from the proof whenever there is one, charged or not.
#[test]
fn a_prior_follows_from_the_proof() {
    let run = id("run-1");
    let prior = |transcript: Transcript| prior_from(&run, Some(&transcript.proof()));
    let bare = || Transcript::of(manifest(), &["c", "d"]);

    assert_eq!(prior_from(&run, None), Ok(Prior::lost(run.clone())));

    // K-06
    let unknown = prior(bare().with(evidence(1, EvidenceStatus::Passed, &["d"])).then(succeeded())).unwrap();
    assert_eq!(unknown.causes, [Cause::AcceptanceUnknown]);
    assert_eq!((unknown.error.as_deref(), unknown.unresolved.len()), (None, 1));
    assert_eq!(unknown.unresolved[0].statement, "c holds");
    assert_eq!(unknown.unresolved[0].status, UnresolvedStatus::Unknown);

    let all = bare()
        .with(evidence(1, EvidenceStatus::Failed, &["c"]))
        .then(failed(Failure::ScriptError, "it broke"));
    let all = prior(all).unwrap();
    assert_eq!(all.causes, [Cause::WorkflowError, Cause::AcceptanceUnsatisfied, Cause::AcceptanceUnknown]);
    assert_eq!(all.error.as_deref(), Some("it broke"));

    // An uncharged attempt is no lost one.
    let upstream = bare()
        .with(agent_started(1))
        .with(agent_failed(1, Some(harn_workflow::run::FailureClass::Upstream)))
        .then(failed(Failure::ScriptError, "503"));
    assert_eq!(upstream.proof().run.class, Some(Class::Upstream));
    let upstream = prior(upstream).unwrap();
    assert_eq!(upstream.causes, [Cause::WorkflowError, Cause::AcceptanceUnknown]);
    assert_eq!(upstream.error.as_deref(), Some("503"));

    assert_eq!(prior(passing()).unwrap_err().code(), "prior_passed");
    let other = prior_from(&id("run-2"), Some(&bare().then(succeeded()).proof()));
    assert_eq!(other.unwrap_err().code(), "prior_other_run");
}

/// N-17, N-18, W-24: nothing that a script throws keeps the next attempt from starting.
#[test]
fn a_retry_starts_whatever_the_script_threw() {
    let run = id("run-1");
    let words = ["", " \n", "\u{0}", "\u{1b}[31mred", "a\rb", &"é".repeat(5000), "\u{2028}", "ok"];
    for thrown in words {
        for failure in [Failure::ScriptError, Failure::UnusableResult] {
            let proof = Transcript::of(manifest(), &["c"]).then(failed(failure, thrown)).proof();
            let prior = prior_from(&run, Some(&proof)).unwrap();
            assert_eq!(prior.causes, [Cause::WorkflowError, Cause::AcceptanceUnknown]);
            assert_eq!(prior.error.is_none(), thrown.trim().is_empty(), "{thrown:?}");
            AttemptContext::new(2, Trigger::Retry, Some(prior), findings()).unwrap();
        }
    }
}
