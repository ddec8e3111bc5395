//! Items of Harnery in our terms, where the fixture of a real tree has none of the kind.

use std::collections::BTreeMap;

use harn_ledger::{BlobRef, Decider as _, Digest, Recorded, Timestamp};
use harn_workflow::harnery::{Damage, Translated, Tree, Unreadable, translate};
use harn_workflow::work::{Event, Observed, Projection, State, Work};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Files in memory.
#[derive(Debug, Clone, Default)]
struct Files(BTreeMap<String, Vec<u8>>);

impl Tree for Files {
    fn read(&self, path: &str, max: u64) -> Result<Option<Vec<u8>>, Unreadable> {
        match self.0.get(path) {
            Some(bytes) if bytes.len() as u64 > max => Err(Unreadable::TooLong { max }),
            found => Ok(found.cloned()),
        }
    }

    fn script(&self, _: &str, _: Digest) -> Option<Vec<u8>> {
        None
    }
}

const SCRIPT: &str = "14082786d1464e804dd852c37292d87e328c9634e7b063ecdc60369be8f9f3ae";

/// A time, in seconds after some moment.
fn at(second: u32) -> String {
    format!("2026-07-22T12:{:02}:{:02}.000Z", second / 60, second % 60)
}

impl Files {
    /// The item `a` with the log `events`, to each of which its envelope is added.
    fn item(events: &[Value]) -> Self {
        let intent = json!({
            "schema_version": 2, "id": "a", "title": "Title", "objective": "Objective", "acceptance": [],
            "dependencies": [], "workflow": { "path": "/p/w.mjs", "sha256": SCRIPT }, "max_attempts": 3,
            "max_uncharged_attempts": 3, "created_at": at(0), "unknown": "left out",
        });
        let mut log = String::new();
        for (event, seq) in events.iter().zip(1_u32..) {
            let mut line = json!({
                "schema_version": 1, "work_id": "a", "seq": seq, "ts": at(seq * 10), "actor": "dev",
            });
            for (name, value) in event.as_object().expect("an object") {
                line[name] = value.clone();
            }
            log.push_str(&line.to_string());
            log.push('\n');
        }
        let mut files = Self::default();
        files.0.insert("work/a/intent.json".to_owned(), intent.to_string().into_bytes());
        files.0.insert("work/a/events.jsonl".to_owned(), log.into_bytes());
        files
    }

    fn file(mut self, path: &str, content: &Value) -> Self {
        self.0.insert(path.to_owned(), format!("{content}\n").into_bytes());
        self
    }

    /// A run that ended, by manifest and proof.
    fn ended(self, run: &str, second: u32, more: &Value) -> Self {
        let manifest = json!({ "schema_version": 1, "run_id": run, "work_item_id": "a" });
        let mut proof = json!({
            "schema_version": 1,
            "run": { "id": run, "work_item_id": "a", "status": "succeeded", "ended_at": at(second) },
            "acceptance": {
                "criteria": [], "summary": { "satisfied": 0, "unsatisfied": 0, "unknown": 0, "total": 0 },
            },
        });
        for (name, value) in more.as_object().expect("an object") {
            proof["run"][name] = value.clone();
        }
        self.file(&format!("workflows/{run}/run.json"), &manifest)
            .file(&format!("workflows/{run}/proof.json"), &proof)
    }

    fn proof_digest(&self, run: &str) -> String {
        Digest::of(&self.0[&format!("workflows/{run}/proof.json")]).to_string()
    }
}

fn created() -> Value {
    json!({ "event": "work.created" })
}

fn started(run: &str, attempt: u32) -> Value {
    json!({ "event": "attempt.started", "run_id": run, "attempt": attempt })
}

fn folded(translated: &Translated) -> State {
    let mut state = Work::init(&translated.intent);
    for (event, seq) in translated.events.iter().zip(1..) {
        let recorded = Recorded {
            seq,
            ts: Timestamp::UNIX_EPOCH,
            actor: "importer".parse().expect("a name"),
            hash: Digest::of(b""),
            event: event.clone(),
        };
        Work::evolve(&mut state, &recorded);
    }
    state
}

/// Where the item stands: state, next action, attempts.
fn stands(translated: &Translated) -> (String, String, String) {
    let shown = Projection::of(&folded(translated), &Observed::default());
    (shown.state.to_string(), shown.next_action.to_string(), shown.attempts_text())
}

/// The events without their origins, by name.
fn names(translated: &Translated) -> Vec<String> {
    let inner = |event: &Event| match event {
        Event::Imported { event, .. } => {
            let event = serde_json::to_value(event).expect("a document");
            event.as_object().and_then(|event| event.keys().next()).expect("a name").clone()
        }
        other => panic!("{other:?} is not imported"),
    };
    translated.events.iter().map(inner).collect()
}

#[test]
fn n_10_findings_that_had_one_id_twice_get_ids_of_their_own() {
    let reopened =
        |text: &str| json!({ "event": "work.reopened", "findings": [{ "id": "f1", "statement": text }] });
    let accepted = |proof: &str| {
        json!({
            "event": "work.accepted", "run_id": "r3", "attempt": 3, "proof_sha256": proof,
            "dispositions": [{ "id": "f1", "outcome": "deferred", "reason": "later" }],
        })
    };
    let files = |proof: &str| {
        let windows =
            [started("r1", 1), reopened("one"), started("r2", 2), reopened("two"), started("r3", 3)];
        let ended = [("r1", 25), ("r2", 45), ("r3", 65)];
        let files = Files::item(&[vec![created()], windows.to_vec(), vec![accepted(proof)]].concat());
        ended.into_iter().fold(files, |files, (run, second)| files.ended(run, second, &json!({})))
    };
    let files = files(&files(SCRIPT).proof_digest("r3"));
    let translated = translate(&files, "a").unwrap();
    let state = folded(&translated);
    let past: Vec<_> = state
        .findings()
        .past
        .iter()
        .map(|it| (it.id.to_string(), it.statement.clone(), it.outcome))
        .collect();
    let past = format!("{past:?}");
    assert_eq!(past, r#"[("f1", "one", Superseded), ("f2", "two", Deferred)]"#);
    let were: Vec<_> = translated
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Imported { origin, .. } => Some(&origin.findings_were),
            _ => None,
        })
        .flatten()
        .map(|it| (it.id.to_string(), it.was.clone()))
        .collect();
    assert_eq!(were, [("f2".to_owned(), "f1".to_owned())]);
    assert_eq!(stands(&translated).0, "succeeded");
}

#[test]
fn an_attempt_ends_where_its_files_say() {
    let cancelled = || json!({ "event": "work.cancelled" });
    let reopened = || json!({ "event": "work.reopened" });
    let parked = |files: Files| {
        let record = json!({ "event": "run.parked", "ts": at(22), "approval_id": "apr-1" });
        files.file("workflows/r1/transcript.jsonl", &record)
    };
    let start = || vec![created(), started("r1", 1)];
    let with = |more: Vec<Value>| [start(), more].concat();
    // What the log holds, how the run stands, the events, where the item stands.
    let cases: [(&str, Files, &[&str], [&str; 3]); 9] = [
        (
            "nothing is left of the run",
            Files::item(&start()),
            &["attempt.ended"],
            ["blocked", "retry", "1/3"],
        ),
        (
            "it passed",
            Files::item(&start()).ended("r1", 25, &json!({})),
            &["attempt.ended"],
            ["in_review", "review", "1/3"],
        ),
        (
            "an outside service refused",
            Files::item(&start()).ended(
                "r1",
                25,
                &json!({ "status": "failed", "class": "upstream", "error": "503" }),
            ),
            &["attempt.ended"],
            ["blocked", "retry", "0/3 (+1 uncharged)"],
        ),
        (
            "a person must rule",
            Files::item(&start()).ended(
                "r1",
                25,
                &json!({ "status": "failed", "class": "decision", "decision_id": "d" }),
            ),
            &["attempt.ended"],
            ["blocked", "none", "0/3 (+1 uncharged)"],
        ),
        (
            "it is parked",
            parked(Files::item(&start())),
            &["attempt.parked"],
            ["awaiting_approval", "resolve_approval", "1/3"],
        ),
        (
            "it is parked and given up",
            parked(Files::item(&with(vec![cancelled()]))),
            &["attempt.parked", "attempt.ended", "work.cancelled"],
            ["cancelled", "none", "1/3"],
        ),
        (
            "it ended after it was given up",
            Files::item(&with(vec![cancelled()])).ended("r1", 45, &json!({ "status": "failed" })),
            &["work.cancelled", "attempt.ended"],
            ["cancelled", "none", "1/3"],
        ),
        (
            "it is lost and sent back",
            Files::item(&with(vec![reopened()])),
            &["attempt.ended", "work.reopened"],
            ["ready", "run", "1/3"],
        ),
        (
            "its clock was ahead of the log's",
            Files::item(&with(vec![reopened()])).ended("r1", 3000, &json!({})),
            &["attempt.ended", "work.reopened"],
            ["ready", "run", "1/3"],
        ),
    ];
    for (what, files, events, expected) in cases {
        let translated = translate(&files, "a").unwrap();
        assert_eq!(names(&translated)[2..], *events, "{what}");
        let (state, next, attempts) = stands(&translated);
        assert_eq!([&*state, &*next, &*attempts], expected, "{what}");
    }
}

#[test]
fn what_does_not_fit_is_made_to_fit_and_kept_on_record() {
    let long_run = "r".repeat(200);
    let mut event = started(&long_run, 1);
    event["actor"] = "n".repeat(200).into();
    event["reason"] = "why\u{1b}[2J".into();
    let translated = translate(&Files::item(&[created(), event]), "a").unwrap();
    let Event::Imported { origin, event } = &translated.events[1] else { panic!("it is not imported") };
    assert_eq!(origin.run_id_was.as_deref(), Some(&*long_run));
    assert_eq!(origin.actor_was.as_deref(), Some(&*"n".repeat(200)));
    assert_eq!(origin.actor.as_str().chars().count(), 100);
    assert_eq!(origin.reason.as_deref(), Some("why\u{fffd}[2J"));
    let Event::AttemptStarted { run_id, .. } = &**event else { panic!("{event:?}") };
    assert_eq!(run_id.as_str().len(), 100);
    // The script was not found: the item is there, without it.
    assert_eq!(translated.intent.workflow.content, None);
    let intent = serde_json::to_value(&translated.intent).unwrap();
    assert_eq!(intent["workflow"].get("content"), None);
    assert_eq!(serde_json::from_value::<harn_workflow::work::Intent>(intent).unwrap(), translated.intent);
}

#[test]
fn every_file_that_is_cited_comes_along() {
    let files = Files::item(&[created(), started("r1", 1)]).ended("r1", 25, &json!({}));
    let translated = translate(&files, "a").unwrap();
    let mut cited = Vec::new();
    let document = json!([translated.intent, translated.events]).to_string();
    for bytes in files.0.values() {
        let citation = BlobRef::of(bytes);
        assert!(document.contains(&citation.blob.to_string()));
        cited.push(citation);
    }
    for citation in cited {
        assert!(translated.blobs.iter().any(|bytes| BlobRef::of(bytes) == citation));
    }
}

/// K-28: a run that another item owns makes the item damaged, and so does a proof without a manifest.
#[test]
fn k_28_a_run_of_another_item_is_damage() {
    let foreign = json!({ "schema_version": 1, "run_id": "r1", "work_item_id": "owner" });
    let files = Files::item(&[created(), started("r1", 1)]).file("workflows/r1/run.json", &foreign);
    let code = |damage: Damage| (damage.code(), damage.path);
    assert_eq!(translate(&files, "a").map_err(code), Err(("foreign", "workflows/r1/run.json".to_owned())));
    let mut files = Files::item(&[created(), started("r1", 1)]).ended("r1", 25, &json!({}));
    files.0.remove("workflows/r1/run.json");
    assert_eq!(
        translate(&files, "a").map_err(code),
        Err(("contradiction", "workflows/r1/proof.json".to_owned()))
    );
}

proptest! {
    /// Whatever the bytes are, the answer is an item that holds together or damage that names one of its files.
    #[test]
    fn any_bytes_are_translated_or_named(
        file in 0_usize..4,
        place in any::<prop::sample::Index>(),
        bytes in prop::collection::vec(any::<u8>(), 0..6),
        cut in any::<bool>(),
    ) {
        let mut files = Files::item(&[created(), started("r1", 1), json!({ "event": "work.reopened", "findings": [{ "id": "f1", "statement": "s" }] })])
            .ended("r1", 25, &json!({ "status": "failed", "error": "e" }));
        let path = files.0.keys().nth(file).unwrap().clone();
        let content = files.0.get_mut(&path).unwrap();
        let at = place.index(content.len());
        let end = if cut { content.len() } else { (at + bytes.len()).min(content.len()) };
        content.splice(at..end, bytes);
        match translate(&files, "a") {
            Ok(translated) => {
                for event in &translated.events {
                    prop_assert_eq!(event.check(), Ok(()));
                }
                prop_assert_eq!(translated.intent.check(), Ok(()));
            }
            Err(damage) => prop_assert!(files.0.contains_key(&damage.path) || damage.path.starts_with("work"), "{}", damage),
        }
    }
}
