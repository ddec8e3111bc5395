//! Golden files: today's writer writes the same bytes, and old bytes read the same.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use harn_ledger::{BlobRef, Digest};
use harn_workflow::context::{
    AcceptanceSummary, AttemptContext, Cause, Prior, Trigger, Unresolved, UnresolvedStatus, WorkContext,
};
use harn_workflow::run::{
    AgentOutcome, Captured, CheckOutcome, Class, Criterion, CriterionId, Event, EvidenceKind, EvidenceStatus,
    Failure, FailureClass, Isolation, Line, Manifest, Meta, MetaParts, Payload, PayloadKind, Proof, Snapshot,
    Source, Status, TryOutcome,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::run_manifest::citations;
use crate::run_samples::{
    Transcript, agent_started, agent_succeeded, block, check_ended, check_started, cited, evidence, failed,
    findings, id, initial, line, nth, parts, path, succeeded, text, work,
};

macro_rules! golden {
    ($name:literal) => {
        include_str!(concat!("../golden/", $name))
    };
}

#[track_caller]
fn same<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T, file: &str) {
    let written = serde_json::to_string_pretty(value).unwrap() + "\n";
    assert_eq!(written, file, "the writer writes other bytes");
    assert_eq!(serde_json::from_str::<T>(file).unwrap(), *value, "the reader reads something else");
}

fn retry() -> AttemptContext {
    let prior = Prior {
        run_id: id("run-0"),
        causes: vec![Cause::WorkflowError, Cause::AcceptanceUnsatisfied, Cause::AcceptanceUnknown],
        error: Some("the suite fails".to_owned()),
        acceptance: Some(AcceptanceSummary { satisfied: 1, unsatisfied: 1, unknown: 1, total: 3 }),
        unresolved: vec![
            Unresolved {
                id: "tests".to_owned(),
                statement: "The suite passes".to_owned(),
                status: UnresolvedStatus::Unsatisfied,
            },
            Unresolved {
                id: "item.2".to_owned(),
                statement: "The smoke test passes".to_owned(),
                status: UnresolvedStatus::Unknown,
            },
        ],
    };
    AttemptContext::new(2, Trigger::Retry, Some(prior), Vec::new()).unwrap()
}

#[test]
fn contexts() {
    let cases = [
        (initial(Vec::new()), golden!("attempt-context.json")),
        (initial(findings()), golden!("attempt-context-findings.json")),
        (retry(), golden!("attempt-context-retry.json")),
        (
            AttemptContext::new(3, Trigger::Retry, Some(Prior::lost(id("run-1"))), Vec::new()).unwrap(),
            golden!("attempt-context-lost.json"),
        ),
    ];
    for (context, file) in cases {
        same(&context, file);
        assert_eq!(AttemptContext::from_json(file.as_bytes()).unwrap(), context);
    }
    same(&work(), golden!("work-context.json"));
    assert_eq!(WorkContext::from_json(golden!("work-context.json").as_bytes()).unwrap(), work());
}

/// The smallest manifest, of a run that belongs to no work item.
fn standalone() -> Manifest {
    let mut parts = parts();
    (parts.work_item_id, parts.work_context, parts.attempt_context) = (None, None, None);
    parts.execution.adapter = None;
    parts.script.modules.clear();
    Manifest::new(parts).unwrap()
}

/// A manifest with every optional member, findings included.
fn with_findings() -> Manifest {
    let mut parts = parts();
    parts.attempt_context = Some(initial(findings()));
    parts.repository_before = Some(Snapshot {
        root: Some(path("/project")),
        branch: Some(line("main")),
        head: Some(line("d6a13c4e0ba5ace93cba15ac2f7d2795d931e7bf")),
        ..Snapshot::of(path("/project")).with_dirty_paths(["README.md"])
    });
    parts.execution.deadline_ms = std::num::NonZeroU64::new(600_000);
    parts.execution.subscription_only = true;
    parts.execution.requested_isolation = Isolation::Worktree;
    parts.execution.effective_isolation = Isolation::Worktree;
    parts.execution.require_acceptance = true;
    parts.execution.random_seed = 7;
    parts.execution.zone_offset_minutes = 120;
    Manifest::new(parts).unwrap()
}

fn retried() -> Manifest {
    let mut parts = parts();
    parts.attempt_context = Some(retry());
    Manifest::new(parts).unwrap()
}

#[test]
fn manifests() {
    same(&Manifest::new(parts()).unwrap(), golden!("manifest.json"));
    same(&with_findings(), golden!("manifest-findings.json"));
    same(&standalone(), golden!("manifest-standalone.json"));
}

fn full_meta() -> Meta {
    Meta::new(MetaParts {
        name: Some(line("Release")),
        description: Some(block("Publishes the package.\nAsks nobody.")),
        objective: Some(block("A published package")),
        acceptance: vec![Criterion {
            id: CriterionId::new("tests").unwrap(),
            statement: block("The suite passes"),
        }],
    })
    .unwrap()
}

fn long_output() -> Captured {
    Captured::streamed(BlobRef::of(b"whole"), b"whole", b"whole", 17)
}

/// Every event with every optional member, and again with none.
fn events() -> Vec<Event> {
    [script_events(), agent_events(), check_events(), ending_events()].concat()
}

fn script_events() -> Vec<Event> {
    vec![
        Event::RunStarted {},
        Event::ScriptLoaded { meta: full_meta() },
        Event::ScriptLoaded { meta: Meta::default() },
        Event::Stage { title: line("do") },
        Event::Log { message: Captured::of("größer\n".as_bytes()) },
    ]
}

fn agent_events() -> Vec<Event> {
    vec![
        agent_started(1),
        Event::AgentStarted {
            id: "a2".parse().unwrap(),
            label: line("review"),
            stage: None,
            key: Digest::of(b""),
            occurrence: nth(2),
            adapter: None,
            model: Some(line("large")),
            effort: Some(line("high")),
            prompt: long_output(),
        },
        Event::AgentTry {
            id: "a1".parse().unwrap(),
            number: nth(1),
            outcome: TryOutcome::Failed,
            class: Some(FailureClass::Upstream),
            error: Some(block("503 Service Unavailable")),
            reply: Some(Captured::of(b"{}")),
            stderr: Some(Captured::of(b"")),
            duration_ms: 5,
        },
        Event::AgentTry {
            id: "a1".parse().unwrap(),
            number: nth(2),
            outcome: TryOutcome::Replied,
            class: None,
            error: None,
            reply: None,
            stderr: None,
            duration_ms: 6,
        },
        agent_succeeded(1, "done"),
        Event::AgentEnded {
            id: "a2".parse().unwrap(),
            outcome: AgentOutcome::Failed,
            class: Some(FailureClass::Environment),
            reply: None,
            error: Some(block("codex is not installed")),
            tries: 1,
            duration_ms: 0,
        },
        Event::ParallelItemFailed { index: 1, error: Some(block("codex is not installed")) },
        Event::ParallelItemFailed { index: 2, error: None },
    ]
}

fn check_events() -> Vec<Event> {
    vec![
        check_started(1, &["tests", "item.1"]),
        Event::CheckStarted {
            id: "c2".parse().unwrap(),
            name: line("smoke"),
            stage: Some(line("do")),
            argv: harn_workflow::run::Argv::new(vec!["./smoke".to_owned()]).unwrap(),
            cwd: path("/project"),
            timeout_ms: std::num::NonZeroU64::new(60_000),
            acceptance_ids: cited(&[]),
        },
        Event::CheckEnded {
            id: "c1".parse().unwrap(),
            outcome: CheckOutcome::Failed,
            exit_code: Some(101),
            signal: Some(9),
            error: Some(block("killed")),
            duration_ms: 70,
            stdout: Some(long_output()),
            stderr: Some(Captured::of(b"\xff")),
            evidence: "e1".parse().unwrap(),
        },
        Event::CheckEnded {
            id: "c2".parse().unwrap(),
            outcome: CheckOutcome::NotRun,
            exit_code: None,
            signal: None,
            error: None,
            duration_ms: 0,
            stdout: None,
            stderr: None,
            evidence: "e2".parse().unwrap(),
        },
        evidence(1, EvidenceStatus::Passed, &["tests"]),
        Event::EvidenceRecorded {
            id: "e2".parse().unwrap(),
            source: Source::Engine,
            kind: EvidenceKind::Command,
            status: EvidenceStatus::Unknown,
            label: line("smoke"),
            stage: Some(line("do")),
            check: Some("c2".parse().unwrap()),
            summary: Some(block("It did not run.")),
            reference: Some(block("target/smoke.log")),
            acceptance_ids: cited(&[]),
            note: Some(block("the kind `smoke` is not known")),
        },
    ]
}

fn ending_events() -> Vec<Event> {
    vec![
        Event::RunParked { approval_id: id("apr-1") },
        Event::RunResumed {},
        Event::RunBlocked { reason: block("which licence?"), decision: Some(line("D-7")) },
        Event::RunBlocked { reason: block("which licence?"), decision: None },
        Event::RunEnded {
            status: Status::Succeeded,
            failure: None,
            class: None,
            error: None,
            result: Some(Payload { kind: PayloadKind::Json, content: Captured::of(b"{\"ok\":true}") }),
            repository_after: Some(Snapshot::of(path("/project"))),
        },
        Event::RunEnded {
            status: Status::Failed,
            failure: Some(Failure::Decision),
            class: Some(Class::Decision),
            error: Some(block("which licence?")),
            result: None,
            repository_after: None,
        },
    ]
}

#[test]
fn every_event() {
    let events = events();
    let file = golden!("run-events.jsonl");
    assert_eq!(file.lines().count(), events.len());
    for (event, golden) in events.iter().zip(file.lines()) {
        assert_eq!(serde_json::to_string(event).unwrap(), golden);
        assert_eq!(serde_json::from_str::<Event>(golden).unwrap(), *event);
        assert!(golden.starts_with(&format!("{{\"{}\":{{", event.name())), "{golden}");
        let value = serde_json::from_str(golden).unwrap();
        // The ledger may hold the data as a tree.
        assert_eq!(serde_json::from_value::<Event>(value).unwrap(), *event);
        citations(&serde_json::from_str(golden).unwrap());
    }
    let mut names: Vec<_> = events.iter().map(Event::name).collect();
    names.dedup();
    assert_eq!(names.len(), 15, "an event is missing from the golden file");
}

#[test]
fn members_and_words_that_are_not_known_are_not_read() {
    for bad in [
        r#"{"run.began":{}}"#,
        r#"{"run.started":{"x":1}}"#,
        r#"{"run.started":null}"#,
        r#"{"stage":{"title":" do"}}"#,
        r#"{"stage":{"title":"do","number":1}}"#,
        r#"{"log":{"message":{"text":"a","more":1}}}"#,
        r#"{"agent.try":{"id":"a1","number":0,"outcome":"failed","duration_ms":1}}"#,
        r#"{"agent.try":{"id":"a01","number":1,"outcome":"failed","duration_ms":1}}"#,
        r#"{"agent.try":{"id":"a1","number":1,"outcome":"weather","duration_ms":1}}"#,
        r#"{"script.loaded":{"meta":{"acceptance":[],"x":1}}}"#,
        r#"{"script.loaded":{"meta":{}}}"#,
        r#"{"run.ended":{"status":"failed","failure":"decision","class":"weather"}}"#,
        r#"{"check.started":{"id":"c1","name":"x","argv":["x"],"cwd":"/","acceptance_ids":["a","a"]}}"#,
        r#"{"check.started":{"id":"c1","name":"x","argv":[],"cwd":"/","acceptance_ids":[]}}"#,
    ] {
        assert!(serde_json::from_str::<Event>(bad).is_err(), "{bad}");
    }
}

fn whole_run(manifest: Manifest) -> Transcript {
    Transcript::started(manifest)
        .with(Event::ScriptLoaded { meta: full_meta() })
        .with(agent_started(1))
        .with(agent_succeeded(1, "done"))
        .with(check_started(1, &["tests", "item.1"]))
        .then(check_ended(1, CheckOutcome::Passed))
        .with(evidence(2, EvidenceStatus::Observed, &["tests"]))
}

#[test]
fn proofs() {
    let end = |run: Transcript| {
        let result = Some(text("done"));
        let repository_after = run.manifest.parts().repository_before.clone();
        run.then(harn_workflow::run::Command::End(Box::new(harn_workflow::run::Ending {
            result,
            repository_after,
            ..Default::default()
        })))
    };
    let cases = [
        (whole_run(Manifest::new(parts()).unwrap()).then(succeeded()), golden!("proof.json")),
        (end(whole_run(with_findings())), golden!("proof-findings.json")),
        (
            Transcript::of(retried(), &["tests"])
                .with(agent_started(1))
                .with(Event::RunBlocked {
                    reason: block("which licence?"),
                    decision: Some(Line::clip("D-7").unwrap()),
                })
                .then(failed(Failure::Decision, "")),
            golden!("proof-blocked.json"),
        ),
        (Transcript::of(standalone(), &[]).then(succeeded()), golden!("proof-standalone.json")),
    ];
    for (run, file) in cases {
        let proof = run.proof();
        assert_eq!(String::from_utf8(proof.to_bytes()).unwrap(), file, "the proof is computed otherwise");
        let read = Proof::from_bytes(file.as_bytes()).unwrap();
        assert_eq!(read, proof, "the reader reads something else");
        assert_eq!(read.verify(&run.manifest, &run.lines), Ok(()));
    }
}
