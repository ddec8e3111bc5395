//! What the acts of a person refuse: accept, reopen, cancel, grant, note.

use harn_tests::{FAIL, PASS, Project};

use crate::cli_refused::{Case, assert_refused};

fn work<'a>(verb: &'a str, id: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["work", verb, id], more].concat()
}

/// Items in review with and without findings, and others.
fn project() -> Project {
    let project = Project::new();
    project.item("ready", PASS, &[]);
    project.item("clean", PASS, &[]);
    project.item("found", PASS, &[]);
    project.item("spent", FAIL, &["--max-attempts", "1"]);
    project.item("last", PASS, &["--max-attempts", "1"]);
    project.item("done", PASS, &[]);
    project.item("gone", PASS, &[]);
    for (id, exit) in [("clean", 0), ("found", 0), ("spent", 1), ("last", 0), ("done", 0)] {
        let _ = project.harn(&["work", "run", id]).exits(exit);
    }
    let _ = project.harn(&["work", "reopen", "found", "--finding", "One", "--finding", "Two"]).ok();
    let _ = project.harn(&["work", "run", "found"]).ok();
    let _ = project.harn(&["work", "accept", "done"]).ok();
    let _ = project.harn(&["work", "cancel", "gone"]).ok();
    project
}

#[test]
fn acceptances() {
    let project = project();
    let other = "0".repeat(64);
    let long = format!("f1=deferred:{}", "ñ".repeat(501));
    let both = ["--dispose", "f1=fixed", "--dispose", "f2=fixed"];
    let with = |more: &[&'static str]| work("accept", "found", &[&both[..], more].concat());
    let only = |word| work("accept", "found", &["--dispose", word, "--dispose", "f2=fixed"]);
    let cases: [Case<'_>; 22] = [
        ("K-12: no word on the findings", work("accept", "found", &[]), 3, "findings_open"),
        ("no word on one", work("accept", "found", &["--dispose", "f1=fixed"]), 3, "findings_open"),
        ("K-12: put off without a reason", only("f1=deferred"), 3, "deferred_without_reason"),
        ("put off with a blank reason", only("f1=deferred: "), 3, "deferred_without_reason"),
        ("an id that was never given", with(&["--dispose", "f9=fixed"]), 3, "unknown_finding"),
        ("N-11: one id twice", with(&["--dispose", "f1=fixed"]), 3, "finding_twice"),
        ("N-11: one id in two ways", with(&["--dispose", "f1=deferred:x"]), 3, "finding_twice"),
        ("not an id", only("first=fixed"), 3, "unknown_finding"),
        (
            "words after `fixed`",
            work("accept", "found", &["--dispose", "f1=fixed", "at", "last"]),
            2,
            "usage",
        ),
        ("a reason after `fixed`", only("f1=fixed:at last"), 2, "usage"),
        ("another word", only("f1=wontfix"), 2, "usage"),
        ("no word", only("f1"), 2, "usage"),
        ("no id", only("=fixed"), 2, "usage"),
        ("nothing", work("accept", "found", &["--dispose"]), 2, "usage"),
        ("a reason of 501 characters", only(&long), 3, "text_too_long"),
        ("none is open", work("accept", "clean", &["--dispose", "f1=fixed"]), 3, "unknown_finding"),
        ("N-15: another proof", work("accept", "clean", &["--expect-proof", &other]), 3, "other_proof"),
        ("no digest", work("accept", "clean", &["--expect-proof", "abc"]), 2, "digest_invalid"),
        ("nothing to accept", work("accept", "ready", &[]), 3, "wrong_state"),
        ("did not pass", work("accept", "spent", &[]), 3, "wrong_state"),
        ("accepted already", work("accept", "done", &[]), 3, "finished"),
        ("given up", work("accept", "gone", &[]), 3, "finished"),
    ];
    assert_refused(&project, &[], &cases);
    let refused = project.harn(&work("accept", "found", &[])).exits(3);
    assert!(refused.stderr.contains("`f1`, `f2`"), "the open findings are named: {}", refused.stderr);
    let hint = "hint: harn work accept found --dispose f1=fixed --dispose f2=fixed\n";
    assert!(refused.stderr.ends_with(hint), "{}", refused.stderr);
}

#[test]
fn reopens() {
    let project = project();
    let long = "ñ".repeat(1001);
    let reason = "ñ".repeat(2001);
    let many: Vec<&str> = ["--finding", "Wrong"].into_iter().cycle().take(42).collect();
    let nineteen: Vec<&str> = [["--carry", "all"], ["--finding", "Wrong"]]
        .concat()
        .into_iter()
        .chain(["--finding", "Wrong"].into_iter().cycle().take(36))
        .collect();
    let cases: [Case<'_>; 21] = [
        ("never attempted", work("reopen", "ready", &[]), 3, "wrong_state"),
        ("N-09: no charged attempt is left", work("reopen", "spent", &[]), 3, "attempts_exhausted"),
        (
            "N-09: nor after a passing one",
            work("reopen", "last", &["--finding", "x"]),
            3,
            "attempts_exhausted",
        ),
        ("a grant of nothing", work("reopen", "spent", &["--grant", "0"]), 2, "usage"),
        (
            "a grant of 101",
            work("reopen", "spent", &["--grant", "101", "--reason", "x"]),
            3,
            "grant_out_of_range",
        ),
        ("a grant without a reason", work("reopen", "spent", &["--grant", "1"]), 3, "grant_without_reason"),
        ("blank finding", work("reopen", "clean", &["--finding", " "]), 3, "text_blank"),
        (
            "one of two is blank",
            work("reopen", "clean", &["--finding", "x", "--finding", ""]),
            3,
            "text_blank",
        ),
        ("finding of 1,001 characters", work("reopen", "clean", &["--finding", &long]), 3, "text_too_long"),
        (
            "finding with an escape",
            work("reopen", "clean", &["--finding", "a\u{1b}"]),
            3,
            "text_control_character",
        ),
        ("a forgotten text", work("reopen", "clean", &["--finding", "--supersede-all"]), 2, "usage"),
        ("21 findings", work("reopen", "clean", &many), 3, "too_many_findings"),
        ("19 and 2 that are carried", work("reopen", "found", &nineteen), 3, "too_many_findings"),
        ("carries what is not open", work("reopen", "found", &["--carry", "f9"]), 3, "unknown_finding"),
        (
            "carries one twice",
            work("reopen", "found", &["--carry", "f1", "--carry", "f1"]),
            3,
            "finding_twice",
        ),
        ("carries what is no id", work("reopen", "found", &["--carry", "first"]), 3, "unknown_finding"),
        ("nothing is open", work("reopen", "clean", &["--carry", "f1"]), 3, "unknown_finding"),
        (
            "carries and supersedes",
            work("reopen", "found", &["--carry", "f1", "--supersede-all"]),
            2,
            "usage",
        ),
        (
            "raises and supersedes",
            work("reopen", "found", &["--finding", "x", "--supersede-all"]),
            2,
            "usage",
        ),
        ("blank reason", work("reopen", "clean", &["--reason", ""]), 3, "text_blank"),
        ("reason of 2,001 characters", work("reopen", "clean", &["--reason", &reason]), 3, "text_too_long"),
    ];
    assert_refused(&project, &[], &cases);
}

#[test]
fn other_acts() {
    let project = project();
    let (reason, note, actor) = ("ñ".repeat(2001), "ñ".repeat(2001), "ñ".repeat(101));
    let grant = |attempts, reason| vec!["work", "grant", "spent", "--attempts", attempts, "--reason", reason];
    let cases: [Case<'_>; 17] = [
        ("accepted", work("cancel", "done", &[]), 3, "finished"),
        ("given up already", work("cancel", "gone", &[]), 3, "finished"),
        ("blank reason", work("cancel", "ready", &["--reason", " "]), 3, "text_blank"),
        ("long reason", work("cancel", "ready", &["--reason", &reason]), 3, "text_too_long"),
        ("blank actor", work("cancel", "ready", &["--actor", ""]), 3, "text_blank"),
        ("long actor", work("cancel", "ready", &["--actor", &actor]), 3, "text_too_long"),
        ("no such item", work("cancel", "nope", &[]), 3, "not_found"),
        ("blank note", work("note", "ready", &["--text", ""]), 3, "text_blank"),
        ("note of 2,001 characters", work("note", "ready", &["--text", &note]), 3, "text_too_long"),
        ("R05: a carriage return", work("note", "ready", &["--text", "a\r\nb"]), 3, "text_control_character"),
        ("R05: a next line", work("note", "ready", &["--text", "a\u{85}b"]), 3, "text_control_character"),
        ("no note", work("note", "ready", &[]), 2, "usage"),
        ("no attempts", grant("0", "x"), 2, "usage"),
        ("101 attempts", grant("101", "x"), 3, "grant_out_of_range"),
        ("blank reason", grant("1", " "), 3, "text_blank"),
        ("unknown state", vec!["work", "list", "--state", "sleeping"], 2, "usage"),
        ("no such run", vec!["run", "show", "nope"], 3, "not_found"),
    ];
    assert_refused(&project, &[], &cases);
    // R05: the character is named, so that a person can find it.
    let refused = project.harn(&work("note", "ready", &["--text", "a\u{85}b"])).exits(3);
    assert!(refused.stderr.contains("`\\u{85}` at character 2"), "{}", refused.stderr);
}

/// W-56: the team does not mark its own homework. A child may still look, leave a note, and give up.
#[test]
fn a_child_of_a_workflow_does_not_judge() {
    let project = project();
    let child = [("HARN_CHILD", "1")];
    let (accept, dispose) =
        (work("accept", "clean", &[]), ["--dispose", "f1=fixed", "--dispose", "f2=fixed"]);
    let cases: [Case<'_>; 5] = [
        ("accept", accept, 3, "workflow_child"),
        ("dispose", work("accept", "found", &dispose), 3, "workflow_child"),
        ("reopen", work("reopen", "clean", &["--finding", "x"]), 3, "workflow_child"),
        (
            "reopen with a grant",
            work("reopen", "spent", &["--grant", "1", "--reason", "x"]),
            3,
            "workflow_child",
        ),
        ("grant", vec!["work", "grant", "spent", "--attempts", "1", "--reason", "x"], 3, "workflow_child"),
    ];
    assert_refused(&project, &child, &cases);
    for line in [
        work("show", "clean", &[]),
        vec!["work", "list"],
        work("note", "clean", &["--text", "seen"]),
        work("reconcile", "clean", &[]),
        work("cancel", "clean", &[]),
    ] {
        let _ = project.harn_with(&child, &line).ok();
    }
}

/// Every command needs a project, and says how to make one.
#[test]
fn there_is_no_project() {
    let project = Project::uninitialised();
    for line in [
        vec!["work", "list"],
        vec!["verify"],
        vec!["run", "list"],
        vec!["--root", "/nowhere", "work", "list"],
    ] {
        let refused = project.harn(&[&line[..], &["--json"]].concat()).exits(3);
        assert_eq!(refused.code(), "no_project", "{line:?}");
        assert!(refused.stderr.contains("hint: `harn init`"), "{}", refused.stderr);
    }
    assert!(!project.root().join(".harn").exists());
}
