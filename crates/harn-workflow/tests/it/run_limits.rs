//! Every text at its limit, in characters of four bytes, still fits the ledger's limits.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use harn_ledger::{BlobRef, Decider as _, Digest, StreamId};
use harn_workflow::context::{
    AcceptanceSummary, AttemptContext, Cause, ContextFinding, Prior, Trigger, Unresolved, UnresolvedStatus,
    WorkContext,
};
use harn_workflow::run::{
    AbsolutePath, AcceptanceIds, AgentId, AgentOutcome, Argv, Block, Captured, CheckId, CheckOutcome,
    Criterion, CriterionId, Event, EvidenceKind, EvidenceStatus, Execution, Failure, HEAD_MAX, INLINE_MAX,
    Line, Manifest, ManifestParts, Meta, MetaParts, Module, Payload, PayloadKind, Run, Script, Snapshot,
    Source, Status, TAIL_MAX, TryOutcome, Version,
};

use crate::run_samples::{actor, nth};

/// `count` characters of four bytes.
pub(crate) fn wide(count: usize) -> String {
    "\u{1f980}".repeat(count)
}

fn widest<const LINES: bool, const MAX: usize>() -> harn_workflow::run::Text<LINES, MAX> {
    harn_workflow::run::Text::new("text", &wide(MAX)).unwrap()
}

/// The longest path of those that grow most when they are written: every character is escaped.
fn longest_path(last: u8) -> AbsolutePath {
    AbsolutePath::new(&format!("/{}{}", "\"".repeat(4094), char::from(last))).unwrap()
}

fn longest_id(n: usize) -> String {
    format!("{}{n:03}", "i".repeat(61))
}

/// Text in which every byte takes six when it is written.
fn escaped(bytes: usize) -> Captured {
    let text = "\u{1}".repeat(bytes);
    Captured::of(text.as_bytes())
}

pub(crate) fn widest_manifest() -> Manifest {
    let work_id = StreamId::new(&"w".repeat(100)).unwrap();
    let unresolved = (0..100).map(|n| Unresolved {
        id: longest_id(n),
        statement: wide(500),
        status: UnresolvedStatus::Unsatisfied,
    });
    let prior = Prior {
        run_id: StreamId::new(&"r".repeat(100)).unwrap(),
        causes: vec![Cause::WorkflowError, Cause::AcceptanceUnsatisfied],
        error: Some(wide(2000)),
        acceptance: Some(AcceptanceSummary { satisfied: 0, unsatisfied: 100, unknown: 0, total: 100 }),
        unresolved: unresolved.collect(),
    };
    let findings = (0..20).map(|n| ContextFinding {
        id: longest_id(n),
        actor: actor(&wide(100)),
        statement: wide(1000),
    });
    let content = BlobRef::of(b"x");
    let module = |n: u8| Module { path: longest_path(b'0' + n), sha256: Digest::of(b"x"), content };
    let paths: Vec<String> = (10..25).map(|n| format!("{}{n}", wide(498))).collect();
    let snapshot = Snapshot {
        root: Some(longest_path(b'!')),
        branch: Some(widest()),
        head: Some(widest()),
        ..Snapshot::of(longest_path(b'!')).with_dirty_paths(paths.iter().map(String::as_str))
    };
    Manifest::new(ManifestParts {
        schema_version: Version,
        run_id: StreamId::new(&"r".repeat(100)).unwrap(),
        work_item_id: Some(work_id.clone()),
        work_context: Some(WorkContext::new(work_id, &wide(200), &wide(4000), vec![wide(500); 50]).unwrap()),
        attempt_context: Some(
            AttemptContext::new(10_000, Trigger::Retry, Some(prior), findings.collect()).unwrap(),
        ),
        name: widest(),
        started_at: harn_ledger::Timestamp::UNIX_EPOCH,
        script: Script {
            path: longest_path(b'!'),
            sha256: Digest::of(b"x"),
            content,
            modules: (0..64).map(module).collect(),
        },
        repository_before: Some(snapshot),
        execution: Execution {
            adapter: Some(widest()),
            approval_addressee: widest(),
            require_acceptance: true,
            ..Execution::in_dir(longest_path(b'!'))
        },
    })
    .unwrap()
}

pub(crate) fn widest_meta() -> Meta {
    let acceptance =
        (0..50).map(|n| Criterion { id: CriterionId::new(&longest_id(n)).unwrap(), statement: widest() });
    Meta::new(MetaParts {
        name: Some(widest()),
        description: Some(widest()),
        objective: Some(widest()),
        acceptance: acceptance.collect(),
    })
    .unwrap()
}

pub(crate) fn widest_ids() -> AcceptanceIds {
    let declared = (0..50).map(|n| CriterionId::new(&longest_id(n)).unwrap());
    declared.chain((0..50).map(CriterionId::item)).collect()
}

pub(crate) fn widest_argv() -> Argv {
    Argv::new(vec!["\u{1}".repeat(128); 128]).unwrap()
}

/// N-12: findings at their largest number and length fit, and so does everything else beside them.
#[test]
fn the_widest_manifest_fits() {
    let json = serde_json::to_vec_pretty(&widest_manifest()).unwrap();
    let limit = usize::try_from(Run::LIMITS.intent_bytes).unwrap();
    assert!(json.len() < limit, "{} of {limit}", json.len());
    // The limit is not larger than it must be.
    assert!(json.len() > limit / 2, "{} of {limit}", json.len());
    assert_eq!(serde_json::from_slice::<Manifest>(&json).unwrap(), widest_manifest());
}

fn payload() -> Payload {
    Payload { kind: PayloadKind::Json, content: escaped(INLINE_MAX) }
}

fn widest_events() -> Vec<Event> {
    let error: Block<2000> = widest();
    let last = nth(u32::MAX);
    let snapshot = widest_manifest().parts().repository_before.clone();
    vec![
        Event::ScriptLoaded { meta: widest_meta() },
        Event::Stage { title: widest() },
        Event::Log { message: escaped(INLINE_MAX) },
        Event::AgentStarted {
            id: AgentId::new(last),
            label: widest(),
            stage: Some(widest()),
            key: Digest::of(b""),
            occurrence: last,
            adapter: Some(widest()),
            model: Some(widest()),
            effort: Some(widest()),
            prompt: escaped(INLINE_MAX),
        },
        Event::AgentTry {
            id: AgentId::new(last),
            number: last,
            outcome: TryOutcome::Invalid,
            class: None,
            error: Some(error.clone()),
            reply: Some(escaped(INLINE_MAX)),
            stderr: Some(escaped(INLINE_MAX)),
            duration_ms: u64::MAX,
        },
        Event::AgentEnded {
            id: AgentId::new(last),
            outcome: AgentOutcome::Succeeded,
            class: None,
            reply: Some(payload()),
            error: Some(error.clone()),
            tries: u32::MAX,
            duration_ms: u64::MAX,
        },
        Event::ParallelItemFailed { index: u32::MAX, error: Some(error.clone()) },
        Event::CheckStarted {
            id: CheckId::new(last),
            name: widest(),
            stage: Some(widest()),
            argv: widest_argv(),
            cwd: longest_path(b'!'),
            timeout_ms: None,
            acceptance_ids: widest_ids(),
        },
        Event::CheckEnded {
            id: CheckId::new(last),
            outcome: CheckOutcome::CouldNotStart,
            exit_code: Some(i32::MIN),
            signal: Some(i32::MIN),
            error: Some(error.clone()),
            duration_ms: u64::MAX,
            stdout: Some(escaped(INLINE_MAX)),
            stderr: Some(escaped(HEAD_MAX + TAIL_MAX + 4096)),
            evidence: "e4294967295".parse().unwrap(),
        },
        Event::EvidenceRecorded {
            id: "e4294967295".parse().unwrap(),
            source: Source::Workflow,
            kind: EvidenceKind::Observation,
            status: EvidenceStatus::Observed,
            label: widest(),
            stage: Some(widest()),
            check: Some(CheckId::new(last)),
            summary: Some(widest()),
            reference: Some(widest()),
            acceptance_ids: widest_ids(),
            note: Some(widest()),
        },
        Event::RunParked { approval_id: StreamId::new(&"a".repeat(100)).unwrap() },
        Event::RunBlocked {
            reason: error.clone(),
            decision: Some(Line::new("decision", &wide(1000)).unwrap()),
        },
        Event::RunEnded {
            status: Status::Failed,
            failure: Some(Failure::UnusableResult),
            class: None,
            error: Some(error),
            result: Some(payload()),
            repository_after: snapshot,
        },
    ]
}

/// K-96. The reference drops the largest members of a record that is too long. Here no record is ever too long: what is
/// not short is a blob, and the record holds its two ends.
#[test]
fn the_widest_event_of_each_name_fits_a_line() {
    // What stands around the data: the widest stream name, actor, numbers and hashes.
    let envelope = 1024;
    let limit = usize::try_from(Run::LIMITS.line_bytes).unwrap();
    for event in widest_events() {
        let bytes = serde_json::to_vec(&event).unwrap();
        assert!(bytes.len() + envelope < limit, "{} has {} of {limit}", event.name(), bytes.len());
        assert_eq!(serde_json::from_slice::<Event>(&bytes).unwrap(), event);
    }
}
