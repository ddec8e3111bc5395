//! N-12, W-53: all bounds of one record hold jointly, in four-byte characters, within the limits of the stream.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::num::NonZeroU32;

use harn_ledger::{BlobRef, Decider};
use harn_workflow::work::{
    Accept, AcceptedReview, Class, Command, Disposition, Event, FindingId, FindingWas, Intent, ItemState,
    KeptFile, NewItem, NextAction, OpenFinding, Origin, Outcome, Program, Reopen, Ruling, ScriptFile, Source,
    SourceKind, Trigger, Work, Workflow,
};

use crate::work_harness::{Desk, actor, at, id};

fn wide(count: usize) -> String {
    "𝕏".repeat(count)
}

fn largest_intent() -> Intent {
    let path = |start: &str, count: usize| format!("/{start}{}", wide(count - 1 - start.len()));
    let mut files: Vec<_> =
        (0..64).map(|number| ScriptFile::of(path(&format!("{number:02}"), 100), b"export {}")).collect();
    for file in files.iter_mut().take(6) {
        file.path.push_str(&wide(100));
    }
    let script = ScriptFile::of(path("s", 1_000), b"export default async () => {}");
    let left = 8_000 - 1_000 - files.iter().map(|file| file.path.chars().count()).sum::<usize>();
    assert!(left < 1_000, "{left}");
    let item = NewItem {
        title: wide(200),
        objective: wide(4_000),
        acceptance: vec![wide(500); 50],
        dependencies: (0..50).map(|number| id(&format!("{number:02}{}", "x".repeat(98)))).collect(),
        workflow: Workflow { modules: files, ..Workflow::of(script) },
        max_attempts: 100,
        max_uncharged_attempts: 100,
        source: Source { kind: SourceKind::External, reference: Some(wide(1_000)) },
        require_review: true,
    };
    item.into_intent(id(&"w".repeat(100)), at(0)).unwrap()
}

#[test]
fn n12_the_largest_intent_fits() {
    let json = serde_json::to_string_pretty(&largest_intent()).unwrap() + "\n";
    assert!(json.len() > 140_000, "{}", json.len());
    assert!(json.len() as u64 <= Work::LIMITS.intent_bytes, "{}", json.len());
    assert_eq!(serde_json::from_str::<Intent>(&json).unwrap(), largest_intent());
}

#[test]
fn n12_escapes_are_smaller_than_wide_characters() {
    for text in ["\"", "\\", "\n", "\t", "\u{7f}", "\u{2028}", "𝕏"] {
        assert!(serde_json::to_string(text).unwrap().len() - 2 <= 4, "{text:?}");
    }
}

fn finding(number: u32) -> FindingId {
    FindingId::new(NonZeroU32::new(number).unwrap())
}

fn largest_events() -> Vec<Event> {
    let (run_id, attempt) = (id(&"r".repeat(100)), u32::MAX);
    let proof = BlobRef { bytes: u64::MAX, ..BlobRef::of(b"") };
    let findings = (0..20).map(|it| OpenFinding {
        id: finding(u32::MAX - it),
        actor: actor(&wide(100)),
        statement: wide(1_000),
    });
    let dispositions = (0..20).map(|it| Disposition {
        id: finding(u32::MAX - it),
        outcome: Ruling::Deferred,
        reason: Some(wide(500)),
    });
    let events = vec![
        Event::Created {},
        Event::AttemptStarted { run_id: run_id.clone(), attempt, trigger: Trigger::Initial },
        Event::AttemptParked { run_id: run_id.clone(), attempt, approval_id: id(&"a".repeat(100)) },
        Event::AttemptResumed { run_id: run_id.clone(), attempt },
        Event::AttemptEnded {
            run_id: run_id.clone(),
            attempt,
            outcome: Outcome::Failed,
            class: Some(Class::Decision),
            proof: Some(proof),
            error: Some(wide(2_000)),
            decision: Some(wide(1_000)),
            next_eligible_at: None,
        },
        Event::AttemptEnded {
            run_id: run_id.clone(),
            attempt,
            outcome: Outcome::Failed,
            class: Some(Class::Upstream),
            proof: Some(proof),
            error: Some(wide(2_000)),
            decision: None,
            next_eligible_at: Some(crate::work_harness::at(0)),
        },
        Event::AttemptRecharged {
            run_id: run_id.clone(),
            attempt,
            class: Some(Class::Interrupted),
            reason: wide(2_000),
        },
        Event::Reconciled {
            state: ItemState::AwaitingApproval,
            next_action: NextAction::WaitForDependencies,
            reason: wide(2_000),
        },
        Event::Reopened {
            reason: Some(wide(2_000)),
            findings: findings.collect(),
            superseded: (100..120).map(finding).collect(),
        },
        Event::Accepted {
            run_id,
            attempt,
            proof,
            reason: Some(wide(2_000)),
            dispositions: dispositions.collect(),
            accepted_unknowns: (10..60).map(|it| format!("{it}{}", wide(198))).collect(),
            review: Some(AcceptedReview {
                review: id(&"v".repeat(100)),
                turn: wide(20),
                fingerprint: proof.blob,
            }),
        },
        Event::Cancelled { reason: Some(wide(2_000)) },
        Event::Noted { text: wide(2_000) },
        Event::Granted { attempts: 100, reason: wide(2_000) },
    ];
    let kept = || KeptFile { path: wide(400), content: proof };
    let origin = Origin {
        program: Program::Harnery,
        path: wide(400),
        line: Some(u64::MAX),
        at: crate::work_harness::at(0),
        actor: actor(&wide(100)),
        actor_was: Some(wide(200)),
        reason: Some(wide(2_000)),
        run_id_was: Some(wide(200)),
        findings_were: (0..20).map(|it| FindingWas { id: finding(u32::MAX - it), was: wide(64) }).collect(),
        kept: (0..6).map(|_| kept()).collect(),
    };
    let imported = events
        .clone()
        .into_iter()
        .map(|event| Event::Imported { origin: Box::new(origin.clone()), event: Box::new(event) });
    events.iter().cloned().chain(imported).collect()
}

#[test]
fn n12_the_largest_event_of_each_kind_fits_into_a_line() {
    let hex = "0".repeat(64);
    let envelope = format!(
        r#"{{"schema_version":1,"stream":"work/{}","seq":{},"ts":"2026-07-22T12:00:00.000000Z","actor":"{}","event":"{}","data":{{}},"more":true,"prev":"{hex}","hash":"{hex}"}}"#,
        "w".repeat(100),
        u64::MAX,
        wide(100),
        "e".repeat(64),
    );
    for event in largest_events() {
        let json = serde_json::to_string(&event).unwrap();
        let line = envelope.len() + json.len() + 1;
        assert!(line as u64 <= Work::LIMITS.line_bytes, "{line}: {}", &json[..60]);
        assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), event);
    }
}

#[test]
fn n12_the_largest_commands_are_carried_out() {
    let mut desk = Desk::new();
    desk.facts.caller.actor = actor(&wide(100));
    desk.passes();
    let reason = Some(wide(2_000));
    desk.does(Command::Reopen(Reopen {
        reason: reason.clone(),
        findings: (10..30).map(|it| format!("{it}{}", wide(998))).collect(),
        ..Reopen::default()
    }));
    desk.passes();
    let dispositions = (1..=20).map(|it| Disposition {
        id: finding(it),
        outcome: Ruling::Deferred,
        reason: Some(wide(500)),
    });
    desk.does(Command::Accept(Accept {
        dispositions: dispositions.collect(),
        accepted_unknowns: (10..60).map(|it| format!("{it}{}", wide(198))).collect(),
        reason,
        ..Accept::default()
    }));
    desk.assert_stands("succeeded", "none");
}

#[test]
fn w55_what_breaks_its_bounds_is_not_read() {
    let (run, proof) = (r#""run_id":"r","attempt":1"#, r#"{"blob":"HEX","bytes":1}"#);
    let proof = proof.replace("HEX", &"0".repeat(64));
    let open = r#"{"id":"f1","actor":"a","statement":"s"}"#;
    let acceptance = |dispositions: &str, unknowns: &str| {
        format!(
            r#"{{"work.accepted":{{{run},"proof":{proof},"dispositions":[{dispositions}],"accepted_unknowns":[{unknowns}]}}}}"#
        )
    };
    let good = [
        r#"{"work.created":{}}"#.to_owned(),
        format!(r#"{{"attempt.ended":{{{run},"outcome":"passed","proof":{proof}}}}}"#),
        format!(r#"{{"attempt.ended":{{{run},"outcome":"lost","class":"interrupted"}}}}"#),
        acceptance(r#"{"id":"f1","outcome":"fixed"}"#, r#""a","b""#),
    ];
    for json in good {
        assert!(serde_json::from_str::<Event>(&json).is_ok(), "{json}");
    }
    let bad = [
        (r#"{"work.created":{"x":1}}"#.to_owned(), "unknown field"),
        (r#"{"work.created":null}"#.to_owned(), "invalid type"),
        (r#"{"work.renamed":{}}"#.to_owned(), "unknown variant"),
        (r#"{"work.noted":{"text":" x"}}"#.to_owned(), "white space"),
        (r#"{"work.noted":{"text":"x\u001b"}}"#.to_owned(), "control character"),
        (r#"{"work.cancelled":{"reason":""}}"#.to_owned(), "blank"),
        (r#"{"work.granted":{"attempts":0,"reason":"x"}}"#.to_owned(), "expected 1 to 100"),
        (r#"{"attempt.started":{"run_id":"r","attempt":0,"trigger":"initial"}}"#.to_owned(), "number 0"),
        (r#"{"attempt.started":{"run_id":"../r","attempt":1,"trigger":"initial"}}"#.to_owned(), "not an id"),
        (format!(r#"{{"attempt.ended":{{{run},"outcome":"passed"}}}}"#), "no proof"),
        (
            format!(r#"{{"attempt.ended":{{{run},"outcome":"passed","proof":{proof},"error":"x"}}}}"#),
            "a passed attempt has",
        ),
        (
            format!(r#"{{"attempt.ended":{{{run},"outcome":"lost","proof":{proof}}}}}"#),
            "a lost attempt has a proof",
        ),
        (
            format!(r#"{{"attempt.ended":{{{run},"outcome":"lost","class":"upstream"}}}}"#),
            "other than `interrupted`",
        ),
        (format!(r#"{{"attempt.ended":{{{run},"outcome":"failed","decision":"d"}}}}"#), "names a decision"),
        (format!(r#"{{"work.reopened":{{"findings":[{open},{open}],"superseded":[]}}}}"#), "named twice"),
        (format!(r#"{{"work.reopened":{{"findings":[{open}],"superseded":["f1"]}}}}"#), "named twice"),
        (
            format!(r#"{{"work.reopened":{{"findings":[{}],"superseded":[]}}}}"#, [open; 21].join(",")),
            "at most 20",
        ),
        (acceptance(r#"{"id":"f1","outcome":"deferred"}"#, ""), "without a reason"),
        (acceptance(r#"{"id":"f01","outcome":"fixed"}"#, ""), "not the id of a finding"),
        (acceptance("", r#""b","a""#), "not in order"),
        (acceptance("", r#""a","a""#), "not in order"),
    ];
    for (json, words) in bad {
        let error = serde_json::from_str::<Event>(&json).unwrap_err().to_string();
        assert!(error.contains(words), "{json}: {error}");
    }
}

#[test]
fn closing_events_are_those_that_end_something() {
    // N-07: they may use the room that is kept free in a full stream.
    let closing: Vec<_> =
        largest_events().iter().filter(|it| Work::closes(it)).map(crate::work_harness::name).collect();
    assert_eq!(closing, ["attempt.ended", "attempt.ended", "work.accepted", "work.cancelled"]);
}
