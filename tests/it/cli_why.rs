//! Looking closer: why an item stands where it stands, where it stood before, and lists in another order.

use harn_tests::{BLOCKED, FAIL, PASS, Project};
use serde_json::{Value, json};

/// Items in most states: what stands in each way.
fn project() -> Project {
    let project = Project::new();
    project.item("passed", PASS, &[]);
    let _ = project.harn(&["work", "run", "passed"]).ok();
    project.item("failed", FAIL, &["--max-attempts", "1"]);
    let _ = project.harn(&["work", "run", "failed"]).exits(1);
    project.item("ruling", BLOCKED, &[]);
    let _ = project.harn(&["work", "run", "ruling"]).exits(4);
    project.item("waits", PASS, &["--depends-on", "passed,failed"]);
    project.item("gone", PASS, &[]);
    let _ = project.harn(&["work", "cancel", "gone", "--reason", "no need"]).ok();
    project.item("ready", PASS, &[]);
    project
}

#[test]
fn each_state_is_explained() {
    /// The item, its state, the rule, the events it rests on, the commands that would move it.
    type Case = (&'static str, &'static str, &'static str, &'static [&'static str], &'static [&'static str]);
    let project = project();
    let cases: [Case; 6] = [
        (
            "passed",
            "in_review",
            "passed",
            &["attempt.started", "attempt.ended"],
            &["accept passed", "reopen passed", "cancel passed"],
        ),
        (
            "failed",
            "blocked",
            "failed",
            &["attempt.started", "attempt.ended"],
            &["reopen failed", "grant failed", "cancel failed"],
        ),
        (
            "ruling",
            "blocked",
            "decision",
            &["attempt.started", "attempt.ended"],
            &["retry ruling", "reopen ruling", "cancel ruling"],
        ),
        ("waits", "waiting", "dependency", &["work.created"], &["cancel waits"]),
        ("gone", "cancelled", "cancelled", &["work.cancelled"], &["reopen gone"]),
        ("ready", "ready", "untried", &["work.created"], &["run ready", "cancel ready"]),
    ];
    for (id, state, rule, because, moves) in cases {
        let why = project.harn(&["work", "why", id, "--json"]).ok().json();
        let shown = project.harn(&["work", "show", id, "--json"]).ok().json()["projection"].clone();
        for member in ["state", "next_action", "reason"] {
            assert_eq!(why[member], shown[member], "{id}: {member}");
        }
        assert_eq!((&why["state"], &why["rule"]), (&json!(state), &json!(rule)), "{id}");
        let names = |list: &Value, member: &str| -> Vec<String> {
            list.as_array().unwrap().iter().map(|it| it[member].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(&why["because"], "event"), because, "{id}");
        let told = names(&why["moves"], "command");
        let expected: Vec<String> = moves.iter().map(|it| format!("harn work {it}")).collect();
        assert_eq!(told.len(), expected.len(), "{id}: {told:?}");
        assert!(told.iter().zip(&expected).all(|(told, it)| told.starts_with(it)), "{id}: {told:?}");

        let text = project.harn(&["work", "why", id]).ok();
        assert_eq!(text.after("state: "), state);
        assert!(text.after("rule: ").starts_with(&format!("{rule}: ")), "{}", text.stdout);
    }
    let waits = project.harn(&["work", "why", "waits"]).ok().stdout;
    assert!(waits.contains("`passed` is in_review"), "{waits}");
    assert!(waits.contains("`failed` is blocked"), "{waits}");
    assert_eq!(project.harn(&["work", "why", "nobody", "--json"]).exits(3).code(), "not_found");
}

/// Each command that is told does what is told of it.
#[test]
fn what_would_move_it_moves_it() {
    for id in ["passed", "failed", "ruling", "gone", "ready", "waits"] {
        let told = project().harn(&["work", "why", id, "--json"]).ok().json();
        for it in told["moves"].as_array().unwrap() {
            let line = it["command"].as_str().unwrap();
            // What runs a script ends in another state than the one right after its start.
            if it["state"] == "running" {
                continue;
            }
            let project = project();
            let words = shlex::split(line).unwrap();
            let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
            let _ = project.harn(&words).ok();
            let shown = project.harn(&["work", "show", id, "--json"]).ok().json()["projection"].clone();
            assert_eq!(
                (&shown["state"], &shown["next_action"]),
                (&it["state"], &it["next_action"]),
                "{line}"
            );
        }
    }
}

#[test]
fn an_item_is_shown_as_it_was_after_every_event() {
    let project = Project::new();
    project.item("a", PASS, &["--max-attempts", "2"]);
    let mut then: Vec<(u64, Value)> = Vec::new();
    let mut look = |project: &Project| {
        let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
        let seq = shown["events"].as_array().unwrap().len() as u64;
        then.push((seq, shown["projection"].clone()));
    };
    look(&project);
    for line in [
        &["run"][..],
        &["reopen", "--finding", "It truncates"],
        &["run"],
        &["accept", "--dispose", "f1=fixed"],
        &["reopen", "--grant", "1", "--reason", "once more"],
        &["note", "--text", "hm"],
        &["cancel"],
    ] {
        let words = [&["work", line[0], "a"], &line[1..]].concat();
        let _ = project.harn(&words).ok();
        look(&project);
    }
    for (seq, was) in &then {
        let at = seq.to_string();
        let past = project.harn(&["work", "show", "a", "--at", &at, "--json"]).ok().json();
        assert_eq!(
            (past["at"].as_u64(), past["events"].as_array().unwrap().len() as u64),
            (Some(*seq), *seq)
        );
        let mut is = past["projection"].clone();
        assert_eq!(is["try"], json!([]));
        is["try"] = was["try"].clone();
        assert_eq!(is, *was, "{seq}");
        let text = project.harn(&["work", "show", "a", "--at", &at]).ok();
        assert!(text.stdout.contains(&format!("after event {seq} of ")), "{}", text.stdout);
    }
    // Between the two events of an attempt it was running.
    let past = project.harn(&["work", "show", "a", "--at", "2"]).ok();
    assert_eq!((past.after("state: "), past.after("next: ")), ("running", "wait_for_run"));
    assert!(!past.stdout.contains("try:"), "{}", past.stdout);

    for bad in ["0", "x", "-1", "1.5"] {
        assert_eq!(project.harn(&["work", "show", "a", &format!("--at={bad}")]).exit, 2, "{bad}");
    }
    let beyond = project.harn(&["work", "show", "a", "--at", "99", "--json"]).exits(2);
    assert_eq!(beyond.code(), "no_such_event");
    assert!(beyond.stderr.contains("expected 1 to "), "{}", beyond.stderr);
}

#[test]
fn a_list_is_bounded_and_ordered_as_asked() {
    let project = project();
    let ids = |line: &[&str]| -> (Vec<String>, u64) {
        let words = [&["work", "list", "--json"], line].concat();
        let listed = project.harn(&words).ok().json();
        let ids = listed["items"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned());
        (ids.collect(), listed["total"].as_u64().unwrap())
    };
    let all = ["failed", "gone", "passed", "ready", "ruling", "waits"];
    let expect = |line: &[&str], expected: &[&str], total: u64| {
        assert_eq!(ids(line), (expected.iter().map(|&it| it.to_owned()).collect(), total), "{line:?}");
    };
    expect(&["--sort", "id"], &all, 6);
    expect(&["--sort", "id", "--reverse"], &["waits", "ruling", "ready", "passed", "gone", "failed"], 6);
    expect(&["--sort", "id", "--limit", "2"], &["failed", "gone"], 6);
    expect(&["--sort", "state"], &ids(&["--sort", "state"]).0.iter().map(|it| &**it).collect::<Vec<_>>(), 6);
    let states: Vec<String> = ids(&["--sort", "state"]).0;
    assert_eq!((&*states[0], &*states[5]), ("waits", "gone"));
    expect(&["--state", "blocked", "--sort", "id"], &["failed", "ruling"], 2);
    expect(
        &["--state", "blocked,ready", "--state", "waiting", "--sort", "id"],
        &["failed", "ready", "ruling", "waits"],
        4,
    );
    expect(&["--state", "running"], &[], 0);

    let cut = project.harn(&["work", "list", "--limit", "4"]).ok();
    assert_eq!((cut.stdout.lines().count(), &*cut.stderr), (4, "note: 2 more are not shown\n"));
    assert_eq!(project.harn(&["work", "list", "--limit", "6"]).ok().stderr, "");
    for bad in [
        &["--limit", "0"][..],
        &["--limit", "3x"],
        &["--sort", "size"],
        &["--state", "blokced"],
        &["--state", ""],
    ] {
        let words = [&["work", "list"], bad].concat();
        assert_eq!(project.harn(&words).exit, 2, "{bad:?}");
    }
}

#[test]
fn a_log_is_shown_from_where_it_is_asked() {
    let project = Project::new();
    project.item("a", PASS, &[]);
    let _ = project.harn(&["work", "run", "a"]).ok();
    let _ = project.harn(&["work", "note", "a", "--text", "a line\nand another"]).ok();
    let seqs = |line: &[&str]| -> Vec<u64> {
        let words = [&["work", "log", "a", "--json"], line].concat();
        let events = project.harn(&words).ok().json()["events"].clone();
        events.as_array().unwrap().iter().map(|it| it["seq"].as_u64().unwrap()).collect()
    };
    let all = seqs(&[]);
    let last = *all.last().unwrap();
    assert_eq!(all, (1..=last).collect::<Vec<_>>());
    assert_eq!(seqs(&["--after", "2"]), (3..=last).collect::<Vec<_>>());
    assert_eq!(seqs(&["--limit", "2"]), [last - 1, last]);
    assert_eq!(seqs(&["--after", "1", "--limit", "1"]), [last]);
    assert_eq!(seqs(&["--after", "99"]), Vec::<u64>::new());

    // The chain: each line has the hash of the one before.
    let chain = project.harn(&["work", "log", "a", "--chain"]).ok().stdout;
    let hashes = |word: &str| -> Vec<&str> {
        chain.lines().filter_map(|line| line.trim_start().strip_prefix(word)).collect()
    };
    assert_eq!(hashes("prev ")[1..], hashes("hash ")[..hashes("hash ").len() - 1]);
    assert_eq!(hashes("hash ").len() as u64, last);
    assert_eq!(project.harn(&["work", "log", "a", "--limit", "0"]).exit, 2);
}
