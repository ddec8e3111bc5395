//! `harn import harnery`: the items of another program arrive with their history, and stand where they stood.

use std::fs;
use std::path::{Path, PathBuf};

use harn_tests::Project;
use serde_json::{Value, json};

/// What Harnery 0.34.1 left, and what it said of it.
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/harnery-0.34.1")
}

/// The project, with a copy of what Harnery left beside it that a test may change.
fn copied() -> (Project, PathBuf) {
    let project = Project::new();
    let old = project.root().join("old");
    copy(&fixture().join("dot-harnery"), &old.join(".harnery"));
    copy(&fixture().join("workflows"), &old.join("workflows"));
    (project, old)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::write(&to, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

fn projection(project: &Project, id: &str) -> Value {
    project.harn(&["work", "show", id, "--json"]).ok().json()["projection"].clone()
}

/// Ids of all items that the fixture has.
const IDS: [&str; 9] = ["alpha", "beta", "delta", "epsilon", "eta", "gamma", "iota", "theta", "zeta"];

#[test]
fn every_item_stands_where_it_stood() {
    let (project, old) = copied();
    let report = project.harn(&["import", "harnery", old.to_str().unwrap(), "--json"]).ok().json();
    assert_eq!((report["imported"].as_array().unwrap().len(), &report["problems"]), (9, &json!([])));

    let expected: Value =
        serde_json::from_slice(&fs::read(fixture().join("expected/list.json")).unwrap()).unwrap();
    let rows = fs::read_to_string(fixture().join("expected/list.txt")).unwrap();
    for expected in expected.as_array().unwrap() {
        let was = &expected["projection"];
        let id = was["id"].as_str().unwrap();
        let is = projection(&project, id);
        for member in [
            "title",
            "state",
            "next_action",
            "attempts_used",
            "charged_attempts",
            "attempts_remaining",
            "blocked_on_decision",
        ] {
            assert_eq!(is[member], was[member], "{id}: {member}");
        }
        // The line of attempts, as Harnery printed it in its own list.
        let shown = project.harn(&["work", "show", id]).ok();
        let row = rows.lines().find(|row| row.starts_with(&format!("{id}  "))).unwrap();
        assert!(row.contains(&format!("  {}  ", shown.after("attempts: "))), "{id}: {row}");
        // Each attempt, its run and whether it counts.
        for (was, is) in was["attempts"].as_array().unwrap().iter().zip(is["attempts"].as_array().unwrap()) {
            assert_eq!((&is["run_id"], &is["number"]), (&was["run_id"], &was["number"]), "{id}");
            assert_eq!(is["class"], was["uncharged"], "{id}");
            let status = was["status"].as_str().unwrap();
            let ours = if status == "succeeded" { "passed" } else { status };
            assert_eq!(is["status"], ours, "{id}");
            assert_eq!(is["imported"], true);
        }
        let dependencies = |of: &Value| -> Vec<String> {
            let ids = of["unresolved_dependencies"].as_array().unwrap().iter();
            ids.map(|it| it.as_str().or(it["id"].as_str()).unwrap().to_owned()).collect()
        };
        assert_eq!(dependencies(&is), dependencies(was), "{id}");
        // To the millisecond, which is all that Harnery wrote.
        let millisecond = was["updated_at"].as_str().unwrap().trim_end_matches('Z');
        assert!(is["updated_at"].as_str().unwrap().starts_with(millisecond), "{id}");
        let intent = project.harn(&["work", "show", id, "--json"]).ok().json()["intent"].clone();
        for member in ["title", "objective", "acceptance", "dependencies", "max_attempts", "source"] {
            assert_eq!(intent[member], expected["intent"][member], "{id}: {member}");
        }
        // Its script was found beside the tree, under the end of its old path.
        assert!(intent["workflow"]["content"]["blob"] == intent["workflow"]["sha256"], "{id}");
    }
    let _ = project.harn(&["verify"]).ok();
}

#[test]
fn every_event_says_where_it_comes_from() {
    let (project, old) = copied();
    let _ = project.harn(&["import", "harnery", old.to_str().unwrap(), "--actor", "ann"]).ok();
    for id in IDS {
        let log = old.join(".harnery/work").join(id).join("events.jsonl");
        let old_events: Vec<Value> = fs::read_to_string(log)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let shown = project.harn(&["work", "show", id, "--json"]).ok().json();
        let mut lines = Vec::new();
        for event in shown["events"].as_array().unwrap() {
            assert_eq!(event["event"], "event.imported", "{id}");
            assert!(event["actor"].as_str().unwrap().starts_with("ann"));
            let origin = &event["data"]["origin"];
            let Some(line) = origin["line"].as_u64() else {
                assert!(origin["path"].as_str().unwrap().starts_with("workflows/"), "{id}: {origin}");
                assert!(!origin["kept"].as_array().unwrap().is_empty());
                continue;
            };
            let old = &old_events[usize::try_from(line).unwrap() - 1];
            let name = event["data"]["event"].as_object().unwrap().keys().next().unwrap();
            assert_eq!((name.as_str(), &origin["actor"]), (old["event"].as_str().unwrap(), &old["actor"]));
            lines.push(line);
        }
        // Each line of the old log is there once, in its order.
        assert_eq!(lines, (1..=old_events.len() as u64).collect::<Vec<_>>(), "{id}");
    }
    // People are shown what happened, when it did.
    let log = project.harn(&["work", "log", "gamma"]).ok().stdout;
    let line = log.lines().find(|line| line.contains("work.reopened")).unwrap();
    assert!(line.contains("2026-11-30T21:40:45.772000Z  reviewer  work.reopened (imported)"), "{line}");
    assert!(line.contains("Naming is unclear."), "{line}");
    // Every file of the tree is kept.
    let kept = |path: &Path| {
        let digest = harn_ledger::Digest::of(&fs::read(path).unwrap()).to_string();
        project.state().join("blobs").join(&digest[..2]).join(&digest).exists()
    };
    let mut directories = vec![old.join(".harnery")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                assert!(kept(&path), "{} is not kept", path.display());
            }
        }
    }
}

#[test]
fn doing_it_again_changes_not_one_byte() {
    let (project, old) = copied();
    let line = ["import", "harnery", old.to_str().unwrap(), "--json"];
    let _ = project.harn(&line).ok();
    let before = project.tree();
    let report = project.harn(&line).ok().json();
    assert_eq!(
        (report["imported"].as_array().unwrap().len(), report["unchanged"].as_array().unwrap().len()),
        (0, 9)
    );
    assert!(project.tree() == before, "something was written");

    // An item that went on here is still the one that came.
    let _ = project.harn(&["work", "accept", "beta"]).ok();
    let report = project.harn(&line).ok().json();
    assert_eq!(report["unchanged"].as_array().unwrap().len(), 9);
    assert_eq!(projection(&project, "beta")["state"], "succeeded");
}

#[test]
fn work_goes_on_where_it_stopped() {
    let (project, old) = copied();
    let _ = project.harn(&["import", "harnery", old.to_str().unwrap()]).ok();
    // In review: accepted on the old proof, which cannot be computed again here.
    let _ = project.harn(&["work", "accept", "beta", "--actor", "ann"]).ok();
    // Blocked upstream: the retry is told what the old proof says.
    let line = ["work", "retry", "epsilon", "--adapter", "exec", "--exec", "cat", "--json"];
    let report = project.harn(&line).ok().json();
    assert_eq!((&report["state"], &report["attempt"]), (&json!("in_review"), &json!(3)), "{report}");
    let run = report["run_id"].as_str().unwrap();
    let manifest: Value =
        serde_json::from_slice(&fs::read(project.state().join("run").join(run).join("intent.json")).unwrap())
            .unwrap();
    let prior = &manifest["attempt_context"]["prior"];
    assert_eq!(prior["causes"], json!(["workflow_error"]));
    assert_eq!(prior["error"], "agent a1: claude exited 1: HTTP 503 Service Unavailable");
    // Parked for an approval that nobody can give here: it can be given up, and what it did is not known.
    assert_eq!(project.harn(&["work", "retry", "zeta", "--json"]).exits(3).code(), "awaiting_approval");
    let _ = project.harn(&["work", "cancel", "zeta"]).ok();
    assert_eq!(projection(&project, "zeta")["charged_attempts"], 1);
    // Accepted: a reopen goes on counting findings.
    let _ = project.harn(&["work", "reopen", "gamma", "--finding", "One more."]).ok();
    assert_eq!(projection(&project, "gamma")["findings"]["open"][0]["id"], "f3");
    let _ = project.harn(&["verify"]).ok();
}

/// What happens to a file of the item `gamma`.
enum Harm {
    Swap(&'static str, &'static str),
    Append(&'static str),
    Shorten(usize),
    LongLine,
    Remove,
    Link,
    Create,
}
use Harm::{Append, Create, Link, LongLine, Remove, Shorten, Swap};

const INTENT: &str = "work/gamma/intent.json";
const LOG: &str = "work/gamma/events.jsonl";
const MANIFEST: &str = "workflows/wf-2026-11-30T21-40-46-601Z-c5e375/run.json";
const PROOF: &str = "workflows/wf-2026-11-30T21-40-46-601Z-c5e375/proof.json";

/// The file and what happens to it; the code of the damage, and the place that is named.
const HARMS: [(&str, Harm, &str, &str, Option<u64>); 14] = [
    (LOG, Shorten(1), "truncated", LOG, None),
    (LOG, Swap("\"seq\":4", "\"seq\":5"), "foreign", LOG, Some(4)),
    (LOG, Swap("\"work_id\":\"gamma\"", "\"work_id\":\"beta\""), "foreign", LOG, Some(1)),
    (LOG, Swap("\"attempt\":2", "\"attempt\":3"), "history", LOG, Some(6)),
    (LOG, Swap("work.reopened", "work.rewritten"), "member", LOG, Some(4)),
    (LOG, LongLine, "too_much", LOG, Some(1)),
    (LOG, Link, "file_unreadable", LOG, None),
    // K-02: another version.
    (INTENT, Swap("\"schema_version\": 2", "\"schema_version\": 1"), "schema_version", INTENT, None),
    (INTENT, Shorten(40), "form", INTENT, None),
    (INTENT, Remove, "file_missing", INTENT, None),
    // K-13: proof and manifest say different things of the work.
    (PROOF, Swap("\"objective\": \"Defer\"", "\"objective\": \"Delay\""), "contradiction", PROOF, None),
    // K-14: the manifest is of another attempt.
    (MANIFEST, Swap("\"number\": 2", "\"number\": 7"), "contradiction", MANIFEST, None),
    // The proof was changed after it was accepted.
    (PROOF, Append("\n"), "proof_changed", LOG, Some(8)),
    ("work/gamma/lease.json", Create, "leased", "work/gamma/lease.json", None),
];

fn harm(path: &Path, harm: &Harm) {
    match harm {
        Swap(from, to) => edit(path, |text| {
            assert!(text.contains(from), "{from} is not in {}", path.display());
            *text = text.replacen(from, to, 1);
        }),
        Append(more) => edit(path, |text| text.push_str(more)),
        Shorten(by) => edit(path, |text| text.truncate(text.len() - by)),
        LongLine => edit(path, |text| text.insert_str(0, &format!("{}\n", "x".repeat(16_385)))),
        Remove => fs::remove_file(path).unwrap(),
        Link => {
            let away = path.with_extension("away");
            fs::rename(path, &away).unwrap();
            std::os::unix::fs::symlink(&away, path).unwrap();
        }
        Create => fs::write(path, "{}").unwrap(),
    }
}

#[test]
fn a_damaged_item_is_left_out_and_named_and_the_others_arrive() {
    for (file, harm_done, code, place, line) in &HARMS {
        let (project, old) = copied();
        harm(&old.join(".harnery").join(file), harm_done);
        let exit = if *code == "leased" { 7 } else { 5 };
        let report = project.harn(&["import", "harnery", old.to_str().unwrap(), "--json"]).exits(exit).json();
        let problems = report["problems"].as_array().unwrap();
        // `iota` depends on it.
        assert_eq!((problems.len(), &problems[1]["code"]), (2, &json!("dependency_missing")), "{code}");
        let problem = &problems[0];
        let named = (&problem["id"], &problem["code"], &problem["file"], problem["line"].as_u64());
        assert_eq!(named, (&json!("gamma"), &json!(code), &json!(place), *line), "{problem}");
        assert_eq!(report["imported"].as_array().unwrap().len(), 7, "{code}");
        assert!(!project.of_item("gamma", "intent.json").exists());
        let _ = project.harn(&["verify"]).ok();

        // Mended, it arrives.
        copy(&fixture().join("dot-harnery"), &old.join("mended"));
        let mended = old.join("mended");
        let report = project.harn(&["import", "harnery", mended.to_str().unwrap(), "--json"]).ok().json();
        let count = |member: &str| report[member].as_array().unwrap().len();
        assert_eq!((count("imported"), count("unchanged")), (2, 7));
    }
}

fn edit(path: &Path, change: impl FnOnce(&mut String)) {
    let mut text = fs::read_to_string(path).unwrap();
    change(&mut text);
    fs::write(path, text).unwrap();
}

#[test]
fn what_depends_on_a_damaged_item_is_left_out_with_it() {
    let (project, old) = copied();
    edit(&old.join(".harnery/work/beta/intent.json"), |text| text.truncate(10));
    let report = project.harn(&["import", "harnery", old.to_str().unwrap(), "--json"]).exits(5).json();
    let left_out: Vec<(&Value, &Value)> =
        report["problems"].as_array().unwrap().iter().map(|it| (&it["id"], &it["code"])).collect();
    assert_eq!(left_out, [(&json!("beta"), &json!("form")), (&json!("iota"), &json!("dependency_missing"))]);
}

#[test]
fn ids_that_are_taken_and_files_that_changed_are_refused() {
    let (project, old) = copied();
    project.item("alpha", harn_tests::PASS, &[]);
    let line = ["import", "harnery", old.to_str().unwrap(), "--json"];
    let report = project.harn(&line).exits(3).json();
    assert_eq!(
        (&report["problems"][0]["id"], &report["problems"][0]["code"]),
        (&json!("alpha"), &json!("id_taken"))
    );
    assert_eq!(report["imported"].as_array().unwrap().len(), 8);

    let log = old.join(".harnery/work/beta/events.jsonl");
    edit(&log, |text| {
        text.push_str(r#"{"schema_version":1,"work_id":"beta","seq":6,"ts":"2026-11-30T22:00:00.000Z","event":"work.cancelled","actor":"dev"}"#);
        text.push('\n');
    });
    let before = project.records();
    let report = project.harn(&line).exits(3).json();
    let codes: Vec<&Value> = report["problems"].as_array().unwrap().iter().map(|it| &it["code"]).collect();
    assert_eq!(codes, [&json!("id_taken"), &json!("import_changed")]);
    assert!(project.records() == before, "something was written");
}

#[test]
fn what_is_not_harnery_and_who_may_not() {
    let project = Project::new();
    assert_eq!(project.harn(&["import", "harnery", ".", "--json"]).exits(3).code(), "not_harnery");
    assert_eq!(project.harn(&["import", "harnery", "nowhere", "--json"]).exits(3).code(), "not_harnery");
    let (project, old) = copied();
    let line = ["import", "harnery", old.to_str().unwrap(), "--json"];
    let report = project.harn_with(&[("HARN_CHILD", "1")], &line).exits(3).json();
    let codes: Vec<&Value> = report["problems"].as_array().unwrap().iter().map(|it| &it["code"]).collect();
    assert_eq!(codes, [&json!("workflow_child"); 9]);
}
