//! `harn checkpoint` and `harn verify --against`: what the records alone cannot show.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use harn_ledger::Checkpoint;
use harn_tests::{PASS, Project};
use serde_json::json;

use crate::PROGRAM;

/// Two items, one of them run and noted.
fn project() -> Project {
    let project = Project::new();
    project.item("a", PASS, &[]);
    project.item("b", PASS, &[]);
    let _ = project.harn(&["work", "run", "a"]).ok();
    let _ = project.harn(&["work", "note", "a", "--text", "read it"]).ok();
    project
}

#[test]
fn it_is_printed_in_its_own_bytes() {
    let project = project();
    let before = project.tree();
    let printed = project.harn(&["checkpoint"]).ok();
    assert_eq!(project.harn(&["checkpoint", "--json"]).ok().stdout, printed.stdout);
    assert_eq!(project.harn(&["checkpoint", "--out", "-"]).ok().stdout, printed.stdout);
    assert_eq!(printed.stderr, "");
    let checkpoint = Checkpoint::parse(printed.stdout.as_bytes()).unwrap();
    let streams: Vec<String> = checkpoint.heads().keys().map(ToString::to_string).collect();
    assert_eq!((streams.len(), &*streams[1], &*streams[2]), (3, "work/a", "work/b"));
    assert!(streams[0].starts_with("run/"));
    assert_eq!(checkpoint.ts().to_string(), "2026-07-22T12:00:00.000000Z");
    assert_eq!(project.tree(), before);
}

#[test]
fn it_is_written_to_a_new_file() {
    let project = project();
    let printed = project.harn(&["checkpoint"]).ok().stdout;
    let digest = Checkpoint::parse(printed.as_bytes()).unwrap().digest();
    let written = project.harn(&["checkpoint", "--out", "kept.json"]).ok();
    assert_eq!(written.stdout, format!("checkpoint of 3 streams written to kept.json\nsha256: {digest}\n"));
    let kept = project.root().join("kept.json");
    assert_eq!(fs::read_to_string(&kept).unwrap(), printed);
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);

    fs::write(&kept, "something else").unwrap();
    let refused = project.harn(&["checkpoint", "--out", "kept.json", "--json"]).exits(3);
    assert_eq!(refused.code(), "checkpoint_exists");
    assert!(refused.stderr.contains("hint: a checkpoint is never replaced"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&kept).unwrap(), "something else");
    let failed = project.harn(&["checkpoint", "--out", "no/such/place.json", "--json"]).exits(6);
    assert_eq!(failed.code(), "write_failed");

    let document = project.harn(&["checkpoint", "--out", "other.json", "--json"]).ok().json();
    let expected = json!({
        "schema_version": 1, "file": "other.json", "ts": "2026-07-22T12:00:00.000000Z", "streams": 3,
        "sha256": digest,
    });
    assert_eq!(document, expected);
}

/// The last record is cut off and another item removed: what is left verifies, and the checkpoint shows both.
#[test]
fn what_is_missing_shows_against_a_checkpoint() {
    let project = project();
    let _ = project.harn(&["checkpoint", "--out", "kept.json"]).ok();
    let _ = project.harn(&["work", "note", "b", "--text", "later"]).ok();
    let plain = project.harn(&["verify"]).ok().stdout;
    let against = project.harn(&["verify", "--against", "kept.json"]).ok().stdout;
    let extends = ", and extends the checkpoint of 2026-07-22T12:00:00.000000Z\n";
    assert_eq!(against, format!("{}{extends}", plain.trim_end()));

    let log = project.of_item("a", "events.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    let whole: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&log, whole[..whole.len() - 1].concat()).unwrap();
    fs::remove_dir_all(project.of_item("b", "")).unwrap();
    let _ = project.harn(&["verify"]).ok();
    let kept = fs::read_to_string(project.root().join("kept.json")).unwrap();
    let found = project.harn(&["verify", "--against", "kept.json"]).exits(5);
    let known = whole.len();
    let lines: Vec<&str> = found.stdout.lines().take(2).collect();
    assert_eq!(
        lines,
        [
            format!(
                "work/a: cut off: it ends at event {}, and the checkpoint saw it end at event {known}",
                known - 1
            ),
            "work/b: removed: the checkpoint saw it end at event 1".to_owned(),
        ]
    );
    let read = project.harn_reading(&kept, &["verify", "--against", "-"]).exits(5);
    assert_eq!(read.stdout, found.stdout);

    let document = project.harn(&["verify", "--against", "kept.json", "--json"]).exits(5).json();
    let codes: Vec<&str> =
        document["problems"].as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["cut_off", "removed"]);
    let digest = Checkpoint::parse(kept.as_bytes()).unwrap().digest();
    let against = json!({ "ts": "2026-07-22T12:00:00.000000Z", "streams": 3, "sha256": digest });
    assert_eq!(document["against"], against);
}

#[test]
fn the_checkpoint_of_another_project() {
    let (project, other) = (project(), Project::new());
    other.item("x", PASS, &[]);
    let foreign = other.harn(&["checkpoint"]).ok().stdout;
    let found = project.harn_reading(&foreign, &["verify", "--against", "-"]).exits(5).stdout;
    assert!(
        found.starts_with(".: no stream of the checkpoint, of 1 in all, is left as it was seen"),
        "{found}"
    );
}

/// What is no checkpoint proves nothing, so nothing is verified.
#[test]
fn what_is_no_checkpoint() {
    let project = project();
    let good = project.harn(&["checkpoint"]).ok().stdout;
    let cases = [
        (String::new(), "checkpoint_form"),
        ("{}".to_owned(), "checkpoint_form"),
        (good.replace("\"seq\":1", "\"seq\":2"), "checkpoint_changed"),
        (good.replace("\"schema_version\":1", "\"schema_version\":2"), "checkpoint_newer"),
    ];
    for (text, code) in cases {
        let refused = project.harn_reading(&text, &["verify", "--against", "-", "--json"]).exits(3);
        assert_eq!(refused.code(), code);
        assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
    }
    let missing = project.harn(&["verify", "--against", "nowhere.json", "--json"]).exits(6);
    assert_eq!(missing.code(), "input_unreadable");
}

/// Damage is no end that could be noted; an unfinished tail stands behind the end.
#[test]
fn damage_and_tails() {
    let project = project();
    let good = project.harn(&["checkpoint"]).ok().stdout;
    let log = project.of_item("a", "events.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{text}{{\"schema_version\"")).unwrap();
    assert_eq!(project.harn(&["checkpoint"]).ok().stdout, good);
    fs::write(&log, text.replacen("work.created", "work.altered", 1)).unwrap();
    let failed = project.harn(&["checkpoint", "--out", "kept.json", "--json"]).exits(5);
    assert_eq!(failed.json()["error"]["details"]["stream"], "work/a");
    assert!(!project.root().join("kept.json").exists());
}

/// What one process prints another reads.
#[test]
fn through_a_pipe() {
    let project = project();
    let mut printed = project.process(PROGRAM, &["checkpoint"]).stdout(Stdio::piped()).spawn().unwrap();
    let read = printed.stdout.take().unwrap();
    let verified = project.process(PROGRAM, &["verify", "--against", "-"]).stdin(read).output().unwrap();
    assert!(printed.wait().unwrap().success());
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}
