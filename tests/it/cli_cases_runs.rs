//! The reference's cases of runs that cannot be read, and of what a row says. Each carries its number; a comment says
//! where this program behaves otherwise, and why.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use harn_ledger::{CountingIds, FixedClock, Ledger, StreamId, Timestamp};
use harn_tests::{NOW, PASS, Project};
use harn_workflow::WorkLedger;
use harn_workflow::work::{Caller, Role, Trigger};
use serde_json::Value;

/// Begins an attempt by hand, as a process does that dies right after: there is no run. Each needs a `seed` of its own.
fn begin(project: &Project, id: &str, trigger: Trigger, seed: u64) -> StreamId {
    let clock = FixedClock(Timestamp::from_rfc3339(NOW).unwrap());
    let ledger = Ledger::builder(project.state()).clock(clock).open().unwrap();
    let caller = Caller { actor: "runner".parse().unwrap(), role: Role::Person };
    let works = WorkLedger::new(ledger, clock, CountingIds::from_seed(seed));
    works.begin(&caller, &StreamId::new(id).unwrap(), trigger).unwrap().run_id
}

/// Puts a directory in the place of a run, with a log that holds `line`.
fn run_of(project: &Project, run_id: &StreamId, line: &str) {
    let directory = project.state().join("run").join(run_id.as_str());
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("intent.json"), "{}").unwrap();
    fs::write(directory.join("events.jsonl"), format!("{line}\n")).unwrap();
}

fn projection(project: &Project, id: &str) -> Value {
    project.harn(&["work", "show", id, "--json"]).ok().json()["projection"].clone()
}

/// K-09. The reference calls such an attempt `transcript_unreadable`. Here it is `lost`, which is what the item's log
/// says, and the error says what is wrong with its run: there is one word less to learn, and what follows is the same.
/// It is charged, because nothing shows that it did nothing.
#[test]
fn k_09_an_oversized_record_stays_with_its_attempt() {
    let project = Project::new();
    project.item("healthy", PASS, &[]);
    project.item("hurt", PASS, &[]);
    let report = project.harn(&["work", "run", "hurt", "--json"]).ok().json();
    let run = report["run_id"].as_str().unwrap().to_owned();
    // As if the item had never heard of the end.
    let log = project.of_item("hurt", "events.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.lines().take(2).map(|line| format!("{line}\n")).collect::<Vec<_>>().concat())
        .unwrap();
    let transcript = project.state().join("run").join(&run).join("events.jsonl");
    let mut file = OpenOptions::new().append(true).open(&transcript).unwrap();
    writeln!(file, "{}", "x".repeat(200 << 10)).unwrap();

    let listed = project.harn(&["work", "list", "--json"]).ok().json();
    let states: Vec<&Value> = listed["items"].as_array().unwrap().iter().map(|it| &it["state"]).collect();
    assert_eq!(states, ["blocked", "ready"]);
    let hurt = projection(&project, "hurt");
    assert_eq!((&hurt["next_action"], &hurt["attempts"][0]["status"]), (&"retry".into(), &"lost".into()));
    let reason = hurt["reason"].as_str().unwrap();
    assert!(reason.contains("its run cannot be read") && reason.contains(&run), "{reason}");
    assert_eq!(hurt["charged_attempts"], 1);
    let _ = project.harn(&["work", "retry", "hurt"]).ok();
    assert_eq!(projection(&project, "hurt")["state"], "in_review");
}

/// K-33. What was wrong with the run of an attempt is recorded when the attempt is closed; the state rests on the last.
#[test]
fn k_33_each_attempt_says_what_is_wrong_with_its_own_run() {
    let project = Project::new();
    project.item("a", PASS, &[]);
    let first = begin(&project, "a", Trigger::Initial, 7);
    run_of(&project, &first, "[1, 2]");
    begin(&project, "a", Trigger::Retry, 8);
    let shown = projection(&project, "a");
    let reason = shown["reason"].as_str().unwrap();
    assert!(reason.starts_with("attempt 2 was cut short before any agent or check started"), "{reason}");
    let attempts = shown["attempts"].as_array().unwrap();
    assert_eq!((&attempts[0]["status"], &attempts[1]["status"]), (&"lost".into(), &"lost".into()));
    let error = attempts[0]["error"].as_str().unwrap();
    assert!(error.contains("its run cannot be read") && error.contains(first.as_str()), "{error}");
    assert!(attempts[1].get("error").is_none());
    let text = project.harn(&["work", "show", "a"]).ok().stdout;
    assert!(text.contains("  1. lost, initial, charged"), "{text}");
    assert!(text.contains("  2. lost, retry, not charged (interrupted)"), "{text}");
}

/// K-35. There are no governors and no missions yet; a record of an unknown kind, or one that cannot be read, does not
/// stand in the way of a reopen, and `verify` names it.
#[test]
fn k_35_what_cannot_be_read_elsewhere_hinders_no_reopen() {
    let project = Project::new();
    project.item("a", PASS, &[]);
    project.item("poisoned", PASS, &[]);
    fs::write(project.of_item("poisoned", "intent.json"), "{").unwrap();
    let _ = project.harn(&["work", "cancel", "a"]).ok();
    let reopened = project.harn(&["work", "reopen", "a"]).ok();
    assert_eq!(reopened.after("state: "), "ready");
    assert!(reopened.stdout.starts_with("a: Title\n"), "{}", reopened.stdout);
    assert!(project.harn(&["verify"]).exits(5).stdout.contains("work/poisoned"));
}

/// K-37, K-38. The reference puts an error on one line and cuts it at 240 characters. Here all of it is shown, on lines of
/// its own that keep their indent, so that no row breaks and nothing is hidden. The record keeps 2,000 characters.
#[test]
fn k_37_k_38_an_error_is_shown_whole_and_breaks_no_row() {
    let project = Project::new();
    let long = "word ".repeat(100);
    project.item(
        "a",
        &format!("export default () => {{ throw new Error('first\\n\\tsecond {long}END'); }};"),
        &[],
    );
    let _ = project.harn(&["work", "run", "a"]).exits(1);
    let text = project.harn(&["work", "show", "a"]).ok().stdout;
    let history = text.split("attempt history:\n").nth(1).unwrap();
    let rows: Vec<&str> = history.lines().take_while(|line| !line.is_empty()).collect();
    assert!(rows[0].starts_with("  1. failed"), "{text}");
    assert!(rows[1..].iter().all(|row| row.starts_with("     ")), "{text}");
    assert!(rows.iter().any(|row| row.ends_with("END")), "{text}");
    assert!(rows.iter().all(|row| row.chars().count() <= 80), "{text}");
    assert_eq!(projection(&project, "a")["attempts"][0]["error"], format!("first\n\tsecond {long}END"));
}
