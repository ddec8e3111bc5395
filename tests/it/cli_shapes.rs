//! The documents that commands print with `--json`: their members are a contract.

use harn_tests::{AGENT, BLOCKED, FAIL, PASS, Project};
use serde_json::{Map, Value, json};

fn members(value: &Value) -> Vec<&str> {
    value.as_object().map(Map::keys).into_iter().flatten().map(String::as_str).collect()
}

/// The members of an object, those that may be absent in brackets.
fn assert_members(value: &Value, always: &[&str], sometimes: &[&str]) {
    let found = members(value);
    let missing: Vec<_> = always.iter().filter(|name| !found.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?} missing in {found:?}");
    let unknown: Vec<_> =
        found.iter().filter(|name| !always.contains(name) && !sometimes.contains(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?} is not documented");
}

const PROJECTION: [&str; 20] = [
    "schema_version",
    "id",
    "title",
    "state",
    "next_action",
    "reason",
    "try",
    "unresolved_dependencies",
    "attempts",
    "attempts_used",
    "charged_attempts",
    "attempts_remaining",
    "max_attempts",
    "granted_attempts",
    "uncharged_in_a_row",
    "max_uncharged_attempts",
    "grants",
    "findings",
    "notes",
    "updated_at",
];
const PROJECTION_SOMETIMES: [&str; 6] =
    ["blocked_on_decision", "next_eligible_at", "latest_run_id", "approval_id", "proof", "review_required"];

fn assert_projection(projection: &Value) {
    assert_eq!(projection["schema_version"], 1);
    assert_members(projection, &PROJECTION, &PROJECTION_SOMETIMES);
    assert_members(&projection["findings"], &["open", "past"], &[]);
    for attempt in projection["attempts"].as_array().unwrap() {
        let always =
            ["number", "run_id", "started_at", "trigger", "status", "charged", "charge_reason", "imported"];
        let sometimes =
            ["ended_at", "class", "judgement", "recorded_class", "approval_id", "proof", "error", "decision"];
        assert_members(attempt, &always, &sometimes);
    }
}

/// An item that was run, reopened with a finding, and run again; and others beside it.
fn project() -> Project {
    let project = Project::new();
    project.item("a", PASS, &["--accept", "It holds"]);
    let _ = project.harn(&["work", "run", "a"]).ok();
    let _ = project.harn(&["work", "reopen", "a", "--finding", "One"]).ok();
    let _ = project.harn(&["work", "run", "a"]).ok();
    project.item("b", BLOCKED, &["--depends-on", "a"]);
    project
}

#[test]
fn every_verb_that_changes_one_item_prints_the_item() {
    let project = project();
    project.write("w.mjs", PASS);
    for line in [
        "work create T w.mjs --objective O --id c",
        "work show a",
        "work note a --text x",
        "work reconcile a",
        "work accept a --dispose f1=fixed",
        "work reopen a",
        "work grant a --attempts 1 --reason x",
        "work cancel a",
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        let document = project.harn(&words).ok().json();
        assert_eq!(document["schema_version"], 1, "{line}");
        assert_members(&document, &["schema_version", "intent", "events", "projection"], &[]);
        assert_projection(&document["projection"]);
        let intent = [
            "schema_version",
            "id",
            "title",
            "objective",
            "acceptance",
            "dependencies",
            "workflow",
            "max_attempts",
            "max_uncharged_attempts",
            "source",
            "created_at",
        ];
        assert_members(&document["intent"], &intent, &[]);
        for event in document["events"].as_array().unwrap() {
            assert_members(event, &["seq", "ts", "actor", "event", "data", "prev", "hash"], &["more"]);
        }
    }
}

#[test]
fn lists() {
    let project = project();
    let listed = project.harn(&["work", "list", "--json"]).ok().json();
    assert_members(&listed, &["schema_version", "items", "total", "warnings", "verified"], &[]);
    assert_eq!((&listed["schema_version"], &listed["verified"]), (&json!(1), &json!(true)));
    listed["items"].as_array().unwrap().iter().for_each(assert_projection);
    let filtered = project.harn(&["work", "list", "--state", "waiting", "--json"]).ok().json();
    assert_eq!(filtered["items"].as_array().unwrap().len(), 1);

    let runs = project.harn(&["run", "list", "--json"]).ok().json();
    assert_members(&runs, &["schema_version", "items", "warnings"], &[]);
    for run in runs["items"].as_array().unwrap() {
        assert_members(run, &["id", "phase", "started_at", "name"], &["work_item_id"]);
    }
}

#[test]
fn reports_of_runs() {
    let project = Project::new();
    for (id, script) in [("passes", PASS), ("fails", FAIL), ("asks", BLOCKED), ("calls", AGENT)] {
        project.item(id, script, &[]);
    }
    let cases: [(&str, &[&str], u8, &str, Value); 4] = [
        ("passes", &[], 0, "finished", Value::Null),
        ("fails", &[], 1, "failed", Value::Null),
        ("asks", &[], 4, "failed", json!("decision")),
        ("calls", &["--exec", "no-such-program"], 6, "failed", json!("environment")),
    ];
    for (id, more, exit, status, class) in cases {
        let report = project.harn(&[&["work", "run", id, "--json"], more].concat()).exits(exit).json();
        let always = [
            "schema_version",
            "status",
            "work_item_id",
            "run_id",
            "attempt",
            "run_status",
            "class",
            "error",
            "result",
            "result_digest",
            "environment",
            "acceptance",
            "proof",
            "isolation",
            "state",
            "next_action",
            "reason",
            "projection",
        ];
        assert_members(&report, &always, &[]);
        assert_eq!(
            (&report["schema_version"], &report["status"], &report["class"]),
            (&json!(1), &json!(status), &class)
        );
        assert_members(&report["acceptance"], &["satisfied", "unsatisfied", "unknown", "total"], &[]);
        assert_members(&report["proof"], &["blob", "bytes"], &[]);
        assert_members(&report["isolation"], &["requested", "effective", "note"], &[]);
        assert_projection(&report["projection"]);

        let run_id = report["run_id"].as_str().unwrap();
        let run = project.harn(&["run", "show", run_id, "--json"]).ok().json();
        assert_members(&run, &["schema_version", "run", "manifest", "proof", "result"], &[]);
        let proof = project.harn(&["run", "proof", run_id, "--json"]).ok().json();
        assert_eq!(proof, run["proof"]);
        let checked = project.harn(&["run", "proof", run_id, "--verify", "--json"]).ok().json();
        assert_members(&checked, &["schema_version", "run_id", "sha256", "problem"], &[]);
        assert_eq!((&checked["sha256"], &checked["problem"]), (&report["proof"]["blob"], &Value::Null));
        let log = project.harn(&["run", "log", run_id, "--json"]).ok().json();
        assert_members(&log, &["schema_version", "stream", "head", "events"], &[]);
    }
}

#[test]
fn verify_and_init() {
    let project = project();
    let verified = project.harn(&["verify", "--json"]).ok().json();
    assert_members(
        &verified,
        &["schema_version", "streams", "events", "blobs", "orphan_blobs", "problems"],
        &[],
    );
    assert_eq!(verified["streams"], 4);
    let checkpoint = project.harn(&["checkpoint", "--json"]).ok();
    assert_members(&checkpoint.json(), &["schema_version", "ts", "streams", "sha256"], &[]);
    for stream in checkpoint.json()["streams"].as_array().unwrap() {
        assert_members(stream, &["stream", "seq", "hash"], &[]);
    }
    let written = project.harn(&["checkpoint", "--out", "kept.json", "--json"]).ok().json();
    assert_members(&written, &["schema_version", "file", "ts", "streams", "sha256"], &[]);
    let against = project.harn(&["verify", "--against", "kept.json", "--json"]).ok().json();
    let always = ["schema_version", "streams", "events", "blobs", "orphan_blobs", "problems", "against"];
    assert_members(&against, &always, &[]);
    assert_members(&against["against"], &["ts", "streams", "sha256"], &[]);
    std::fs::write(project.of_item("b", "events.jsonl"), "junk\n").unwrap();
    let verified = project.harn(&["verify", "--json"]).exits(5).json();
    for problem in verified["problems"].as_array().unwrap() {
        assert_members(problem, &["place", "code", "message"], &[]);
    }
    let again = project.harn(&["init", "--json"]).ok().json();
    assert_members(&again, &["schema_version", "root", "state", "created"], &[]);
    assert_eq!(again["created"], false);
}

/// A proof that was changed on disk: the item stays readable, says so, and cannot be accepted (N-14).
#[test]
fn n_14_a_damaged_proof_stays_with_its_attempt() {
    let project = project();
    let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
    let first = shown["projection"]["attempts"][0]["proof"]["blob"].as_str().unwrap().to_owned();
    let last = shown["projection"]["proof"]["blob"].as_str().unwrap().to_owned();
    let blob = |digest: &str| project.state().join("blobs").join(&digest[..2]).join(digest);
    std::fs::write(blob(&first), "{}").unwrap();
    let text = project.harn(&["work", "show", "a"]).ok().stdout;
    assert!(text.contains("PASS suite"), "the latest proof is read: {text}");
    let _ = project.harn(&["verify"]).exits(5);

    std::fs::write(blob(&last), "{}").unwrap();
    let text = project.harn(&["work", "show", "a"]).ok().stdout;
    assert!(text.contains("evidence of attempt 2:\n  its proof cannot be read: "), "{text}");
    let refused = project.harn(&["work", "accept", "a", "--dispose", "f1=fixed", "--json"]).exits(3);
    assert_eq!(refused.code(), "proof_missing");
    let _ = project.harn(&["work", "reopen", "a"]).ok();
    let _ = project.harn(&["work", "cancel", "a"]).ok();
}
