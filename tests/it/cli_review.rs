//! `harn review`: two rounds from the first report to an open gate, and what is refused on the way.

use std::process::Command;

use harn_tests::{PASS, Project};
use serde_json::{Value, json};

/// A repository whose `f.txt` was changed since its first commit, and what its check says of it.
fn project() -> Project {
    let project = Project::new();
    project.write("f.txt", "one\n");
    project.write("check.sh", "! grep -q wrong f.txt\n");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    git(&project, &["add", "."]);
    git(
        &project,
        &["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "First"],
    );
    project.write("f.txt", "one\nwrong\n");
    project
}

fn git(project: &Project, arguments: &[&str]) {
    let status = Command::new("git").args(arguments).current_dir(project.root()).status().unwrap();
    assert!(status.success(), "{arguments:?}");
}

fn open(project: &Project, more: &[&str]) -> String {
    let line = ["review", "open", "--request", "Add a line", "--check", "all=sh -c 'test -s f.txt'"];
    project.harn(&[&line, more].concat()).ok().stdout.trim().to_owned()
}

/// Begins a turn, and answers it with what is given over a valid clean report.
fn report(project: &Project, id: &str, over: &Value) -> Value {
    let brief = project.harn(&["review", "begin", id, "--json"]).ok().json()["brief"].clone();
    let mut report = json!({
        "schema": "review-report.v1",
        "turn": brief["turn"],
        "fingerprint": brief["fingerprint"],
        "status": "clean",
        "summary": "Looked at everything.",
        "accounts": [],
        "new": [],
        "read": ["f.txt"],
    });
    report.as_object_mut().unwrap().extend(over.as_object().unwrap().clone());
    report
}

fn submit(project: &Project, id: &str, report: &Value, exit: u8) -> Value {
    project.harn_reading(&report.to_string(), &["review", "submit", id, "--json"]).exits(exit).json()
}

fn a_finding() -> Value {
    json!({"status": "findings", "new": [{
        "kind": "defect", "owner": "work", "file": "f.txt", "line": 2, "priority": "P1",
        "title": "A wrong line", "evidence": "line 2 says wrong",
    }]})
}

fn codes(gate: &Value) -> Vec<String> {
    gate["reasons"].as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a01_a03_a04_a14_c16_c17_two_rounds_end_with_an_open_gate() {
    let project = project();
    let id = open(&project, &[]);
    let gate = |exit| project.harn(&["review", "gate", &id, "--json"]).exits(exit).json();
    assert_eq!(codes(&gate(3)), ["not_reviewed", "check_not_run"]);

    let first = report(&project, &id, &a_finding());
    let taken = submit(&project, &id, &first, 0);
    assert_eq!((&taken["result"], &taken["open"]), (&json!("accepted"), &json!(["R1"])));
    // Delivered twice.
    assert_eq!(submit(&project, &id, &first, 0)["result"], "ignored");

    // The check shows the finding, before it is repaired.
    let check = ["review", "record-check", &id, "--finding", "R1", "--name", "not wrong"];
    let red = project.harn(&[&check[..], &["--json", "--", "sh", "check.sh"]].concat()).exits(1).json();
    assert_eq!(
        (&red["results"][0]["scope"], &red["results"][0]["outcome"]),
        (&json!("baseline"), &json!("failed"))
    );
    let pass = project.harn(&["review", "repair", &id, "--json"]).ok().json();
    assert_eq!((&pass["owner"], &pass["pass"]["findings"]), (&json!("work"), &json!(["R1"])));
    project.write("f.txt", "one\nright\n");
    let _ = project.harn(&["review", "repair", &id, "--attempted", "--note", "Said right"]).ok();
    let green = project.harn(&[&check[..], &["--json"]].concat()).ok().json();
    assert_eq!(green["results"][0]["scope"], "final");
    let _ = project.harn(&["review", "record-check", &id]).ok();

    // Leaving a finding out closes nothing, and the report may be corrected.
    let mut second = report(&project, &id, &json!({}));
    let refused = submit(&project, &id, &second, 3);
    assert_eq!((&refused["result"], &refused["open"]), (&json!("rejected"), &json!(["R1"])));
    assert!(refused["event"].to_string().contains("\"V7\""), "{refused}");
    second["accounts"] =
        json!([{"id": "R1", "verdict": "fixed", "evidence": "it says right", "checks": ["not wrong"]}]);
    assert_eq!(submit(&project, &id, &second, 0)["open"], json!([]));
    assert_eq!(gate(0)["open"], true);

    let shown = project.harn(&["review", "show", &id]).ok().stdout;
    for line in ["checks: passed", "review: clean (t2)", "published: no", "gate: open", "defect fixed"] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    let life = project.harn(&["review", "show", &id, "R1"]).ok().stdout;
    for line in
        ["failed: not wrong (R1 before a repair", "passed: not wrong (R1 after a repair", "pass 1 by work"]
    {
        assert!(life.contains(line), "{line} in {life}");
    }
    let sarif = project.harn(&["review", "export", &id]).ok().json();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(project.harn(&["review", "list"]).ok().stdout.contains("0 open"));

    // An edit closes the gate again.
    project.write("f.txt", "one\nright\nmore\n");
    assert_eq!(codes(&gate(3)), ["review_of_other_source", "check_not_run"]);
    let _ = project.harn(&["verify"]).ok();
}

#[test]
fn a37_a38_a47_what_is_late_malformed_or_old() {
    let project = project();
    let id = open(&project, &[]);
    let old = report(&project, &id, &json!({}));
    let late = report(&project, &id, &json!({}));
    assert_eq!(submit(&project, &id, &old, 0)["result"], "ignored");
    project.write("f.txt", "edited\n");
    assert_eq!(submit(&project, &id, &late, 4)["result"], "stale");
    let _ = report(&project, &id, &json!({}));
    let malformed = ["review", "submit", &id];
    let first = project.harn_reading("{", &malformed).exits(3);
    assert!(first.stdout.contains("it may be corrected once"), "{}", first.stdout);
    let second = project.harn_reading("not JSON", &malformed).exits(3);
    assert!(second.stdout.contains("begin another turn"), "{}", second.stdout);
    assert_eq!(project.harn(&["review", "show", &id, "--json"]).ok().json()["review"], "paused");
}

#[test]
fn a48_what_a_person_decides_is_told_apart_and_needs_another_turn() {
    let project = project();
    let id = open(&project, &[]);
    let _ = submit(&project, &id, &report(&project, &id, &a_finding()), 0);
    let closed = ["review", "decide", &id, "R1", "--close", "--reason", "Not in this release"];
    let by_child = project.harn_with(&[("HARN_CHILD", "1")], &closed).exits(3);
    assert!(by_child.stderr.contains("may not decide about a finding"), "{}", by_child.stderr);
    let shown = project.harn(&closed).ok().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("closed by a person, without evidence: Not in this release"), "{shown}");
    let _ = project.harn(&["review", "record-check", &id]).ok();
    let gate = project.harn(&["review", "gate", &id, "--json"]).exits(3).json();
    assert_eq!(codes(&gate), ["not_clean"]);
    let _ = submit(&project, &id, &report(&project, &id, &json!({})), 0);
    let _ = project.harn(&["review", "gate", &id]).ok();
    assert_eq!(
        project.harn(&["review", "decide", &id, "R9", "--close", "--reason", "x", "--json"]).exits(3).code(),
        "unknown_finding"
    );
}

#[test]
fn coverage_can_be_required() {
    let project = project();
    project.write("g.txt", "new\n");
    let id = open(&project, &["--require-coverage"]);
    let _ = project.harn(&["review", "record-check", &id]).ok();
    let taken = submit(&project, &id, &report(&project, &id, &json!({})), 0);
    assert!(taken.to_string().contains("g.txt"), "{taken}");
    let gate = project.harn(&["review", "gate", &id, "--json"]).exits(3).json();
    assert_eq!(codes(&gate), ["unread"]);
    let _ = submit(&project, &id, &report(&project, &id, &json!({"read": ["f.txt", "g.txt"]})), 0);
    let _ = project.harn(&["review", "gate", &id]).ok();
}

#[test]
fn a_failed_combined_check_goes_back_or_is_waived() {
    let project = project();
    let check = |name: &str| json!({"name": name, "argv": ["sh", "check.sh"]});
    let plan = json!({"schema": "plan.v1", "combined": [check("all")],
        "tasks": [{"id": "lines", "files": ["*.txt"], "checks": [check("all")]}]});
    project.write(".harn/state/plan.json", &plan.to_string());
    let opened = ["review", "open", "--request", "Add a line", "--plan", ".harn/state/plan.json"];
    let id = project.harn(&opened).ok().stdout.trim().to_owned();
    let waive = ["review", "waive", &id, "all", "--reason", "It failed before", "--json"];
    assert_eq!(project.harn(&waive).exits(3).code(), "check_did_not_fail");
    let _ = project.harn(&["review", "record-check", &id]).exits(1);
    let back = project.harn(&["review", "fix-check", &id, "all", "--json"]).ok().json();
    assert_eq!(back["task"], "lines");
    assert_eq!(project.harn(&["review", "begin", &id, "--json"]).exits(3).code(), "review_busy");
    let _ = project.harn(&["review", "fix-check", &id, "--not-repaired"]).ok();
    let _ = project.harn(&["review", "record-check", &id]).exits(1);
    let _ = project.harn(&waive).ok();
    let _ = submit(&project, &id, &report(&project, &id, &json!({})), 0);
    let gate = project.harn(&["review", "gate", &id, "--json"]).ok().json();
    assert_eq!(gate["waived"], json!(["all"]));
}

#[test]
fn an_item_that_requires_a_review_is_accepted_on_a_clean_one_only() {
    let project = project();
    project.item("a", PASS, &["--require-review"]);
    let _ = project.harn(&["work", "run", "a"]).ok();
    let accept = ["work", "accept", "a", "--json"];
    assert_eq!(project.harn(&accept).exits(3).code(), "review_missing");
    let id = open(&project, &["--work-item", "a"]);
    let refused = project.harn(&accept).exits(3);
    assert_eq!(refused.code(), "review_not_clean");
    let _ = project.harn(&["review", "record-check", &id]).ok();
    let _ = submit(&project, &id, &report(&project, &id, &json!({})), 0);
    let accepted = project.harn(&accept).ok();
    assert!(accepted.stdout.contains(&id), "{}", accepted.stdout);
}

#[test]
fn a_static_analyser_is_taken_in_once() {
    let project = project();
    let id = open(&project, &[]);
    let log = json!({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint"}}, "results": [{
        "ruleId": "no-wrong", "level": "error", "message": {"text": "a wrong word"},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": "f.txt"}, "region": {"startLine": 2}}}],
    }]}]});
    let import = || {
        let line = ["review", "import", &id, "-", "--json"];
        project.harn_reading(&log.to_string(), &line).ok().json()["open"].clone()
    };
    assert_eq!(import(), json!(["R1"]));
    assert_eq!(import(), json!(["R1"]));
    let schema = project.harn(&["review", "schema", &id]).ok().json();
    assert_eq!(schema["title"], "review-report.v1");
    let shown = project.harn(&["review", "show", &id, "R1", "--json"]).ok().json();
    assert_eq!((&shown["finding"]["owner"], &shown["finding"]["line"]), (&json!("work"), &json!(2)));
}
