//! When a set-up that was done before still holds.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use harn_env::key::Miss;
use harn_env::prepare::{self, Progress};
use harn_env::receipt::{Event, Intent, Receipt, Record, Stage};
use harn_ledger::{Stream, StreamId, Timestamp};
use serde_json::{Value, json};

use super::project::{Project, command, events, recipe, story, tool};

fn plan() -> Value {
    recipe(&[command("install", "")], &[tool(&command("node", ""))], &[command("unit", "")])
}

/// What differs between the keys of two receipts, in words.
fn misses(before: &Stream<Receipt>, now: &Stream<Receipt>) -> Vec<String> {
    now.intent().key.misses(&before.intent().key).iter().map(ToString::to_string).collect()
}

#[test]
fn b08_b19_with_the_same_key_only_the_set_up_is_left_out() {
    let project = Project::new(plan());
    let first = project.prepare();
    assert_eq!(story(&first), "ready: setup install passed, tools node passed, baseline unit passed");
    assert_eq!(project.noted(), ["install", "node", "unit"]);
    let mut reused = Vec::new();
    let mut progress = |it: Progress<'_>| {
        if let Progress::Reused(receipt) = it {
            reused.push(receipt.clone());
        }
    };
    let second = project.ask(&mut progress, prepare::prepare).unwrap();
    assert_eq!(story(&second), "ready: tools node passed, baseline unit passed");
    assert_eq!(project.noted(), ["node", "unit"]);
    assert_eq!(reused, [first.id().clone()]);
    assert_eq!(second.state().unwrap().summary().reused_from.as_ref(), Some(first.id()));
    assert_eq!(second.intent().key, first.intent().key);
    // Also a third time, and when the source changed where the set-up does not depend on it.
    project.write("src/main.rs", "fn main() { work() }\n");
    assert_eq!(story(&project.prepare()), "ready: tools node passed, baseline unit passed");
    assert_eq!(project.noted(), ["node", "unit"]);
}

/// B09, B10, B11, B12: each part of the key, and how a miss is told.
#[test]
fn b09_b10_b11_b12_another_key_has_the_set_up_done_again() {
    type Change = fn(&mut Project);
    let cases: [(&str, Change, &str); 8] = [
        ("b09", |it| it.write("Cargo.lock", "locked 2\n"), "`Cargo.lock` changed"),
        ("b09", |it| it.write("sub/package.json", "{}"), "`sub/package.json` is there now"),
        ("b09", |it| fs::remove_file(it.root().join("Cargo.lock")).unwrap(), "`Cargo.lock` is gone"),
        ("b10", |it| it.write("conf/input", "x"), "`conf/input` is there now"),
        ("b10", |it| it.write("installed/input", "x"), "`installed/input` is there now"),
        ("b11", |it| it.sandbox = "sandbox 2".to_owned(), "the sandbox version changed from `sandbox 1` to"),
        ("b12", |it| it.home = "other".to_owned(), "the home directory changed from `"),
        ("recipe", |it| it.plan["setup"][0]["timeout_seconds"] = json!(31), "the recipe changed"),
    ];
    for (case, change, words) in cases {
        let mut plan = plan();
        plan["inputs"] = json!(["conf/input", "installed/input"]);
        let mut project = Project::new(plan);
        fs::create_dir(project.out("other")).unwrap();
        let first = project.prepare();
        assert_eq!(story(&project.prepare()), "ready: tools node passed, baseline unit passed");
        project.noted();
        change(&mut project);
        let now = project.prepare();
        assert_eq!(
            story(&now),
            "ready: setup install passed, tools node passed, baseline unit passed",
            "{case}: {words}"
        );
        assert_eq!(project.noted(), ["install", "node", "unit"], "{case}: {words}");
        assert!(!events(&now).contains(&"setup.reused"));
        let misses = misses(&first, &now);
        assert!(misses.len() == 1 && misses[0].starts_with(words), "{case}: {misses:?}");
    }
}

/// B12: a tool that is there in one home is not trusted to be there in another.
#[test]
fn b12_a_tool_is_looked_for_in_the_home_of_today() {
    let node = tool(&command("node", "test -e \"$HOME/node\""));
    let mut project = Project::new(recipe(&[command("install", "")], &[node], &[]));
    fs::write(project.out("home").join("node"), "").unwrap();
    fs::create_dir(project.out("other")).unwrap();
    assert!(story(&project.prepare()).starts_with("ready"));
    project.home = "other".to_owned();
    let held = project.prepare();
    assert!(story(&held).starts_with("held tools"), "{}", story(&held));
    // A miss of the home alone.
    let first = project.ledger.stream::<Receipt>("env-1").unwrap();
    let misses = held.intent().key.misses(&first.intent().key);
    assert!(matches!(&misses[..], [Miss::Home { .. }]), "{misses:?}");
}

/// Prepares, and is ended by a panic where the command begins.
fn interrupted(project: &Project, at: Stage) {
    let mut progress = |it: Progress<'_>| {
        if matches!(it, Progress::Begins(stage, _) if stage == at) {
            std::panic::resume_unwind(Box::new("the end of the process"));
        }
    };
    let ended = catch_unwind(AssertUnwindSafe(|| project.ask(&mut progress, prepare::prepare)));
    assert!(ended.is_err());
}

/// B13, B33: what was interrupted is not reused, wherever it was interrupted.
#[test]
fn b13_b33_a_set_up_that_was_interrupted_is_done_again() {
    for (at, done) in [
        (Stage::Setup, "open: "),
        (Stage::Tools, "open: setup install passed"),
        (Stage::Baseline, "open: setup install passed, tools node passed"),
    ] {
        let project = Project::new(plan());
        interrupted(&project, at);
        let first = project.ledger.stream::<Receipt>("env-1").unwrap();
        assert_eq!(story(&first), done);
        assert_eq!(first.state().unwrap().summary().status, "interrupted");
        project.noted();
        assert_eq!(
            story(&project.prepare()),
            "ready: setup install passed, tools node passed, baseline unit passed",
            "{at}"
        );
        assert_eq!(project.noted(), ["install", "node", "unit"], "{at}");
    }
}

/// A receipt in the ledger as another process left it.
fn left_behind(
    project: &Project,
    like: &Stream<Receipt>,
    change: impl FnOnce(&mut Intent),
    events: &[Event],
) {
    let id = StreamId::new("env-left").unwrap();
    let created_at = Timestamp::from_microseconds(1_000);
    let mut intent = Intent { id: id.clone(), created_at, ..like.intent().clone() };
    change(&mut intent);
    let stream =
        project.ledger.create::<Receipt>(id.as_str(), "another", &intent, &[Event::Started {}]).unwrap();
    for event in events {
        stream.execute("another", Record(event.clone())).unwrap();
    }
}

fn results(receipt: &Stream<Receipt>, count: usize) -> Vec<Event> {
    let history = receipt.history().unwrap();
    let events = history.iter().filter_map(|entry| entry.domain()).map(|it| it.event.clone());
    events.filter(|event| matches!(event, Event::CommandEnded { .. })).take(count).collect()
}

/// B13: an interrupted set-up also stands in the way of a good one before it.
#[test]
fn b13_the_last_set_up_counts_and_not_a_good_one_before_it() {
    for recorded in [0, 1, 2] {
        let project = Project::new(plan());
        let good = project.prepare();
        left_behind(&project, &good, |_| {}, &results(&good, recorded));
        project.noted();
        let after = project.ask(&mut |_| {}, |mut request| {
            request.now = &|| Timestamp::from_microseconds(2_000);
            prepare::prepare(request)
        });
        assert!(story(&after.unwrap()).starts_with("ready: setup install passed"), "{recorded}");
    }
}

/// A set-up that failed stands in the way as well, until one passes.
#[test]
fn b13_a_set_up_that_failed_is_done_again() {
    let install = command("install", "test ! -e \"$OUT/broken\"");
    let project = Project::new(recipe(&[install], &[tool(&command("node", ""))], &[]));
    fs::write(project.out("broken"), "").unwrap();
    assert_eq!(story(&project.prepare()), "held setup: setup install failed");
    assert_eq!(story(&project.prepare()), "held setup: setup install failed");
    fs::remove_file(project.out("broken")).unwrap();
    assert_eq!(story(&project.prepare()), "ready: setup install passed, tools node passed");
    assert_eq!(story(&project.prepare()), "ready: tools node passed");
}

/// What a set-up installs lies in its project: that of another directory says nothing.
#[test]
fn b13_a_set_up_of_another_directory_is_not_reused() {
    let other = tempfile::tempdir().unwrap();
    let project = Project::new(plan());
    let first = project.prepare();
    for name in ["Cargo.lock", ".gitignore"] {
        fs::copy(project.root().join(name), other.path().join(name)).unwrap();
    }
    let mut progress = |_: Progress<'_>| {};
    let second = project.ask_in(other.path(), &mut progress, prepare::prepare).unwrap();
    assert_eq!(second.intent().key, first.intent().key);
    assert_eq!(story(&second), "ready: setup install passed, tools node passed, baseline unit passed");
}

/// What a set-up installed is gone when another one was done after it.
#[test]
fn b13_a_set_up_that_another_replaced_is_not_reused() {
    let install = command("install", "mkdir -p installed; cp Cargo.lock installed/");
    let project =
        Project::new(recipe(&[install], &[], &[command("unit", "cmp Cargo.lock installed/Cargo.lock")]));
    for locked in ["locked 1\n", "locked 2\n", "locked 1\n"] {
        project.write("Cargo.lock", locked);
        assert_eq!(
            story(&project.prepare()),
            "ready: setup install passed, baseline unit passed",
            "{locked}"
        );
    }
}

/// A set-up whose changes nobody looked at, because a tool was missing, is not one that changed nothing.
#[test]
fn b13_b14_a_set_up_that_was_never_compared_is_not_reused() {
    let mut project = Project::new(Value::Null);
    let install = command("install", "echo more >>src/main.rs");
    project.plan = recipe(&[install], &[tool(&project.using("node", ""))], &[command("unit", "")]);
    let held = project.prepare();
    assert!(story(&held).starts_with("held tools"), "{}", story(&held));
    project.install("node");
    assert_eq!(story(&project.prepare()), "held source: setup install passed, tools node passed");
}
