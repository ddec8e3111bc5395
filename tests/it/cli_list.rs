//! `work list` reads what changed, and says what it would say if it had read everything.

use std::fs;
use std::path::PathBuf;

use harn_ledger::Digest;
use harn_tests::{FAIL, PASS, Project};
use serde_json::Value;

fn catalog(project: &Project) -> PathBuf {
    project.state().join("catalog/work.jsonl")
}

/// All that a list says, to people and to programs.
fn list(project: &Project) -> [String; 4] {
    let (text, json) = (project.harn(&["work", "list"]).ok(), project.harn(&["work", "list", "--json"]).ok());
    [text.stdout, text.stderr, json.stdout, json.stderr]
}

/// The same without a catalog.
fn list_anew(project: &Project) -> [String; 4] {
    if catalog(project).exists() {
        fs::remove_file(catalog(project)).unwrap();
    }
    list(project)
}

/// Lists until there is a catalog: what is too young for one is older at the next tick of the disk's clock.
fn keep(project: &Project) {
    for _ in 0..1000 {
        if catalog(project).exists() {
            return;
        }
        let _ = project.harn(&["work", "list"]).ok();
    }
    panic!("nothing is kept");
}

#[test]
fn a_list_is_the_same_with_a_catalog_and_without() {
    let project = Project::new();
    for (id, script) in [("base", PASS), ("bad", FAIL), ("gone", PASS), ("torn", PASS), ("hurt", PASS)] {
        project.item(id, script, &[]);
    }
    project.item("waits", PASS, &["--depends-on", "base"]);
    project.item("lost", PASS, &["--depends-on", "hurt"]);
    keep(&project);
    let agree = |what: &str| {
        let before = list(&project);
        assert_eq!(list_anew(&project), before, "{what}");
        keep(&project);
        assert_eq!(list(&project), before, "{what}");
        let listed: Value = serde_json::from_str(&before[2]).unwrap();
        for item in listed["items"].as_array().unwrap() {
            let shown = project.harn(&["work", "show", item["id"].as_str().unwrap(), "--json"]).ok().json();
            assert_eq!(*item, shown["projection"], "{what}");
        }
        listed
    };
    agree("all are new");
    let _ = project.harn(&["work", "run", "bad"]).exits(1);
    let _ = project.harn(&["work", "run", "base"]).ok();
    agree("some have run");
    let _ = project.harn(&["work", "accept", "base", "--reason", "fine"]).ok();
    let _ = project.harn(&["work", "cancel", "gone", "--reason", "not now"]).ok();
    agree("some are over, and what waited need not");
    for id in ["torn", "hurt"] {
        let _ = project.harn(&["work", "note", id, "--text", "a note"]).ok();
    }
    let change = |id: &str, change: fn(&mut Vec<u8>)| {
        let path = project.of_item(id, "events.jsonl");
        let mut log = fs::read(&path).unwrap();
        change(&mut log);
        fs::write(path, log).unwrap();
    };
    change("torn", |log| log.truncate(log.len() - 7));
    change("hurt", |log| log[40] ^= 1);
    let listed = agree("one is damaged, one has a tail");
    assert_eq!(listed["items"].as_array().unwrap().len(), 6);
    assert_eq!(listed["warnings"].as_array().unwrap().len(), 2);
}

/// The item was in order when it was last read.
#[test]
fn an_intent_that_was_poisoned_since_is_noticed() {
    let project = Project::new();
    project.item("w", PASS, &[]);
    keep(&project);
    let path = project.of_item("w", "intent.json");
    let poisoned = fs::read_to_string(&path).unwrap().replace("Objective", "Subjective");
    fs::write(&path, poisoned).unwrap();
    let listed = project.harn(&["work", "list"]).ok();
    assert_eq!(listed.stdout, "no work items that can be read\n");
    assert!(listed.stderr.starts_with("warning: w cannot be read: "), "{}", listed.stderr);
}

/// A list and a verification say why something cannot be read, not only that it cannot.
#[test]
fn what_cannot_be_read_is_told_with_its_cause() {
    let project = Project::new();
    project.item("w", PASS, &[]);
    let log = project.of_item("w", "events.jsonl");
    fs::remove_file(&log).unwrap();
    fs::create_dir(&log).unwrap();
    let because = format!("cannot be read: cannot read `{}`: is a directory", log.display());
    let listed = project.harn(&["work", "list"]).ok();
    assert!(listed.stderr.contains(&because), "{}", listed.stderr);
    let verified = project.harn(&["verify"]).exits(5);
    assert!(verified.stdout.contains(&because), "{}", verified.stdout);
}

/// What did not change is not read: the list says what the catalog says, and nothing else does.
#[test]
fn a_list_believes_the_catalog_and_nothing_else_does() {
    let project = Project::new();
    project.item("w", PASS, &[]);
    keep(&project);
    let text = fs::read_to_string(catalog(&project)).unwrap().replace("\"Title\"", "\"Lie\"");
    let (lines, _) = text.split_at(text.len() - 65);
    fs::write(catalog(&project), format!("{lines}{}\n", Digest::of(lines.as_bytes()))).unwrap();
    assert_eq!(project.harn(&["work", "list"]).ok().stdout, "w  ready  0/3  run  Lie\n");
    assert!(project.harn(&["work", "show", "w"]).ok().stdout.contains("Title"));
    let _ = project.harn(&["verify"]).ok();
    assert_eq!(list_anew(&project)[0], "w  ready  0/3  run  Title\n");
}

/// Of an item with a long past the catalog keeps what a list shows, and a document has all of it.
#[test]
fn an_item_with_a_long_past_is_listed_like_any_other() {
    let project = Project::new();
    project.item("long", FAIL, &["--max-attempts", "2"]);
    let _ = project.harn(&["work", "run", "long"]).exits(1);
    for number in 0..40 {
        let text = format!("remark {number}: {}", "so it goes ".repeat(10));
        let _ = project.harn(&["work", "note", "long", "--text", &text]).ok();
    }
    project.item("after", PASS, &["--depends-on", "long"]);
    let whole = list_anew(&project);
    keep(&project);
    assert_eq!(list(&project), whole);
    assert!(!fs::read_to_string(catalog(&project)).unwrap().contains("so it goes"));
    let listed: Value = serde_json::from_str(&whole[2]).unwrap();
    for item in listed["items"].as_array().unwrap() {
        let shown = project.harn(&["work", "show", item["id"].as_str().unwrap(), "--json"]).ok().json();
        assert_eq!(*item, shown["projection"]);
    }
    assert_eq!(listed["items"][0]["notes"].as_array().unwrap().len(), 40);
}
