//! Sending corrections back: what a reopen replaces, keeps, and leaves alone.

use harn_tests::{CONTEXT, FAIL, PASS, Project};
use serde_json::{Value, json};

/// An item in review whose script returns its contexts.
fn in_review() -> Project {
    let project = Project::new();
    project.item("a", CONTEXT, &["--max-attempts", "9"]);
    let _ = project.harn(&["work", "run", "a"]).ok();
    project
}

fn reopen(project: &Project, more: &[&str]) -> harn_tests::Outcome {
    project.harn(&[&["work", "reopen", "a"], more].concat())
}

/// The open findings: id, actor and statement of each.
fn open(project: &Project) -> Vec<String> {
    let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
    let text = |value: &Value| value.as_str().unwrap_or_default().replace(" (test clock)", "");
    let line = |it: &Value| format!("{} {} {}", text(&it["id"]), text(&it["actor"]), text(&it["statement"]));
    shown["projection"]["findings"]["open"].as_array().into_iter().flatten().map(line).collect()
}

/// What became of the past findings: id, outcome and who said so.
fn past(project: &Project) -> Vec<String> {
    let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
    let text = |value: &Value| value.as_str().unwrap_or_default().replace(" (test clock)", "");
    let line =
        |it: &Value| format!("{} {} {}", text(&it["id"]), text(&it["outcome"]), text(&it["closed_by"]));
    shown["projection"]["findings"]["past"].as_array().into_iter().flatten().map(line).collect()
}

#[test]
fn the_same_again_writes_nothing() {
    for words in [&["--finding", "One", "--finding", "Two"][..], &["--reason", "why"], &[]] {
        let project = in_review();
        let _ = reopen(&project, words).ok();
        let after = project.tree();
        let again = reopen(&project, words).ok();
        assert_eq!(project.tree(), after, "{words:?}");
        assert!(
            again.stdout.starts_with("nothing changed: the item is reopened already"),
            "{}",
            again.stdout
        );
        let _ = reopen(&project, &[]).ok();
        assert_eq!(project.tree(), after, "{words:?}: none asks for no other set either");
    }
}

/// N-10: no finding disappears without a word, and no id is used twice.
#[test]
fn n_10_others_replace_the_open_set_on_record() {
    let project = in_review();
    let _ = reopen(&project, &["--finding", "One", "--finding", "Two", "--actor", "ann"]).ok();
    let _ = project.harn(&["work", "run", "a"]).ok();
    let _ = reopen(&project, &["--finding", "Three", "--actor", "bob"]).ok();
    assert_eq!(open(&project), ["f3 bob Three"]);
    assert_eq!(past(&project), ["f1 superseded bob", "f2 superseded bob"]);
    // Also before another attempt was made.
    let _ = reopen(&project, &["--finding", "Four"]).ok();
    assert_eq!(open(&project), ["f4 operator Four"]);
    assert_eq!(past(&project).last().unwrap(), "f3 superseded operator");
    let text = project.harn(&["work", "show", "a"]).ok().stdout;
    assert!(
        text.contains("past findings:\n  - f1 by ann (test clock): One\n    superseded by bob"),
        "{text}"
    );
}

#[test]
fn carried_findings_keep_their_id_and_their_first_actor() {
    let cases: [(&[&str], &[&str], &[&str]); 4] = [
        (&["--carry", "f1"], &["f1 ann One"], &["f2 superseded bob"]),
        (&["--carry", "f2", "--finding", "Three"], &["f2 ann Two", "f3 bob Three"], &["f1 superseded bob"]),
        (&["--carry", "all", "--finding", "Three"], &["f1 ann One", "f2 ann Two", "f3 bob Three"], &[]),
        (&["--supersede-all"], &[], &["f1 superseded bob", "f2 superseded bob"]),
    ];
    for (words, still_open, gone) in cases {
        let project = in_review();
        let _ = reopen(&project, &["--finding", "One", "--finding", "Two", "--actor", "ann"]).ok();
        let _ = project.harn(&["work", "run", "a"]).ok();
        let _ = reopen(&project, &[words, &["--actor", "bob"]].concat()).ok();
        assert_eq!(open(&project), still_open, "{words:?}");
        assert_eq!(past(&project), gone, "{words:?}");
    }
}

#[test]
fn a_reopen_without_findings_says_what_stays_open() {
    let project = in_review();
    let _ = reopen(&project, &["--finding", "One", "--finding", "Two"]).ok();
    let _ = project.harn(&["work", "run", "a"]).ok();
    let plain = reopen(&project, &["--reason", "once more"]).ok();
    assert!(plain.stderr.contains("still open: f1, f2"), "{}", plain.stderr);
    assert_eq!(open(&project), ["f1 operator One", "f2 operator Two"]);
    let report = project.harn(&["work", "run", "a", "--json"]).ok().json();
    assert_eq!(report["result"]["attempt"]["findings"].as_array().unwrap().len(), 2);
}

/// N-12: the bounds hold jointly: 20 findings of 1,000 four-byte characters go into one event, and into the next attempt.
#[test]
fn n_12_the_largest_set_of_findings_fits() {
    let project = in_review();
    let long = "🚀".repeat(1000);
    let words: Vec<&str> = ["--finding", &long].into_iter().cycle().take(40).collect();
    let _ = reopen(&project, &words).ok();
    assert_eq!(open(&project).len(), 20);
    let report = project.harn(&["work", "run", "a", "--json"]).ok().json();
    let findings = report["result"]["attempt"]["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["statement"] == long.as_str()));
    let dispositions: Vec<String> = (1..=20).map(|number| format!("f{number}=fixed")).collect();
    let words: Vec<&str> = dispositions.iter().flat_map(|it| ["--dispose", it]).collect();
    let _ = project.harn(&[&["work", "accept", "a"], &words[..]].concat()).ok();
}

/// N-09: either the budget is there, or the reopen is refused: no item is ready and cannot run.
#[test]
fn n_09_a_reopen_with_a_grant_makes_an_attempt_possible() {
    let project = Project::new();
    project.item("a", FAIL, &["--max-attempts", "1"]);
    let _ = project.harn(&["work", "run", "a"]).exits(1);
    let refused = reopen(&project, &["--finding", "One"]).exits(3);
    let hint = "hint: harn work reopen a --grant 1 --reason \"why one more\"\n";
    assert!(refused.stderr.ends_with(hint), "{}", refused.stderr);
    let granted = reopen(&project, &["--finding", "One", "--grant", "2", "--reason", "worth it"]).ok();
    assert_eq!(granted.after("state: "), "ready");
    assert_eq!(granted.after("attempts: "), "1/3");
    assert_eq!(granted.after("grant: "), "2 by operator (test clock): worth it");
    let _ = project.harn(&["work", "run", "a"]).exits(1);

    // The same grant again is no second grant.
    let _ = reopen(&project, &["--grant", "1", "--reason", "again"]).ok();
    let after = project.tree();
    let _ = reopen(&project, &["--grant", "1", "--reason", "again"]).ok();
    assert_eq!(project.tree(), after);
}

/// Whoever raised a finding is named when somebody else disposes of it; the configuration can refuse that.
#[test]
fn a_disposition_by_another_is_said_or_refused() {
    let project = Project::new();
    project.item("a", PASS, &[]);
    let _ = project.harn(&["work", "run", "a"]).ok();
    let _ = reopen(&project, &["--finding", "One", "--actor", "ann"]).ok();
    let _ = project.harn(&["work", "run", "a"]).ok();
    let accept = ["work", "accept", "a", "--dispose", "f1=fixed", "--actor"];
    project.write(".harn/config.toml", "[findings]\nonly_raiser = true\n");
    let refused = project.harn(&[&accept[..], &["bob", "--json"]].concat()).exits(3);
    assert_eq!(refused.code(), "not_raiser");
    project.write(".harn/config.toml", "");
    let accepted = project.harn(&[&accept[..], &["bob"]].concat()).ok();
    assert!(accepted.stderr.contains("finding f1, which ann (test clock) raised"), "{}", accepted.stderr);
    assert_eq!(past(&project), ["f1 fixed bob"]);
    let log = project.harn(&["work", "log", "a", "--json"]).ok().json();
    let last = log["events"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["data"]["dispositions"], json!([{ "id": "f1", "outcome": "fixed" }]));
}
