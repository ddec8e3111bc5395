//! Bytes that a crash or a hand left behind: what is still read, what is said, and what is never shown as if it were whole.

use std::fs;
use std::path::Path;

use harn_tests::{PASS, Project};
use serde_json::Value;

/// An item with three notes, and another one beside it.
fn noted() -> Project {
    let project = Project::new();
    project.item("w", PASS, &[]);
    project.item("other", PASS, &[]);
    for text in ["n1", "n2", "n3"] {
        let _ = project.harn(&["work", "note", "w", "--text", text]).ok();
    }
    project
}

fn notes(project: &Project) -> Vec<String> {
    let shown = project.harn(&["work", "show", "w", "--json"]).ok().json();
    let notes = shown["projection"]["notes"].as_array().unwrap().clone();
    notes.iter().map(|note| note["text"].as_str().unwrap().to_owned()).collect()
}

/// Cuts bytes off the end of the item's log.
fn cut(project: &Project, bytes: usize) {
    let path = project.of_item("w", "events.jsonl");
    let log = fs::read(&path).unwrap();
    fs::write(path, &log[..log.len() - bytes]).unwrap();
}

/// R01, N-02, K-27. The reference refuses to read a log whose last line is not whole. Here every whole record counts,
/// the rest is reported with its place, and a read writes nothing.
#[test]
fn r_01_a_torn_tail_hides_nothing() {
    let project = noted();
    cut(&project, 7);
    let torn = project.records();
    assert_eq!(notes(&project), ["n1", "n2"]);
    let log = project.of_item("w", "events.jsonl");
    let text = fs::read(&log).unwrap();
    let whole = text.iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let place = format!("{}: line 4, byte {whole}: {} unfinished bytes", log.display(), text.len() - whole);
    for line in [&["work", "show", "w"][..], &["work", "list"], &["work", "log", "w"]] {
        for more in [&[][..], &["--json"]] {
            let read = project.harn(&[line, more].concat()).ok();
            assert!(read.stderr.contains(&place), "{}: {}", read.line, read.stderr);
        }
    }
    let listed = project.harn(&["work", "list", "--json"]).ok().json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    assert_eq!(listed["warnings"][0]["id"], "w");
    let verified = project.harn(&["verify", "--json"]).exits(5).json();
    assert_eq!(verified["problems"][0]["place"], "work/w");
    assert_eq!(project.records(), torn, "a read wrote something");
}

/// R02, N-02. The next change moves the torn bytes aside before it appends, and says so in the log.
#[test]
fn r_02_an_append_after_a_torn_tail_moves_it_aside() {
    let project = noted();
    let before = fs::read(project.of_item("w", "events.jsonl")).unwrap();
    cut(&project, 7);
    let torn = fs::read(project.of_item("w", "events.jsonl")).unwrap();
    let whole = torn.iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let _ = project.harn(&["work", "note", "w", "--text", "after"]).ok();
    assert_eq!(notes(&project), ["n1", "n2", "after"]);
    let log = fs::read(project.of_item("w", "events.jsonl")).unwrap();
    assert_eq!(log[..whole], before[..whole]);
    for line in log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let _: Value = serde_json::from_slice(line).unwrap();
    }
    let directory = project.of_item("w", "");
    let aside: Vec<_> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("torn"))
        .collect();
    assert_eq!(aside.len(), 1);
    assert_eq!(fs::read(&aside[0]).unwrap(), torn[whole..]);
    let events = project.harn(&["work", "log", "w"]).ok().stdout;
    assert!(events.contains("ledger.tail_moved"), "{events}");
    let _ = project.harn(&["verify"]).ok();
}

/// R04. A prefix is never presented as the whole: the item is damaged, with the place and with what stands behind it.
#[test]
fn r_04_damage_in_the_middle_is_no_end() {
    let project = noted();
    for text in ["n4", "n5"] {
        let _ = project.harn(&["work", "note", "w", "--text", text]).ok();
    }
    let path = project.of_item("w", "events.jsonl");
    let log = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = log.lines().collect();
    let offset = lines[..2].iter().map(|line| line.len() + 1).sum::<usize>();
    lines[2] = &lines[2][..lines[2].len() - 10];
    fs::write(&path, lines.join("\n") + "\n").unwrap();

    for line in [
        &["work", "show", "w"][..],
        &["work", "log", "w"],
        &["work", "note", "w", "--text", "n6"],
        &["work", "run", "w"],
        &["work", "cancel", "w"],
        &["work", "reconcile", "w"],
    ] {
        let before = project.tree();
        let failed = project.harn(&[line, &["--json"]].concat()).exits(5);
        assert_eq!(project.tree(), before, "{line:?}");
        let error = &failed.json()["error"];
        assert_eq!(error["code"], "damaged", "{line:?}");
        let details = &error["details"];
        let place = (&details["stream"], &details["line"], &details["offset"], &details["lines_behind"]);
        assert_eq!(place, (&"work/w".into(), &3.into(), &offset.into(), &3.into()), "{line:?}");
        assert!(failed.stderr.contains("3 lines stand behind it"), "{}", failed.stderr);
        assert!(failed.stderr.contains("hint: "), "{}", failed.stderr);
    }
    let listed = project.harn(&["work", "list", "--json"]).ok();
    assert_eq!(listed.json()["items"][0]["id"], "other");
    assert_eq!(listed.json()["warnings"][0]["id"], "w");
    assert!(listed.stderr.contains("line 3"), "{}", listed.stderr);
    let all = project.harn(&["work", "reconcile", "--json"]).exits(5).json();
    assert_eq!((&all["items"][0]["id"], &all["warnings"][0]["code"]), (&"other".into(), &"damaged".into()));
    let verified = project.harn(&["verify"]).exits(5);
    assert!(verified.stdout.contains("work/w: damaged at line 3"), "{}", verified.stdout);
}

/// K-02, K-34. A poisoned intent: the item alone cannot be read. The warning goes to standard error also in words.
#[test]
fn k_02_k_34_a_poisoned_intent_hides_only_its_item() {
    let project = noted();
    let path = project.of_item("w", "intent.json");
    let intent = fs::read_to_string(&path).unwrap();
    let poisoned = intent.replacen("\"schema_version\": 1", "\"schema_version\": 9", 1);
    assert_ne!(poisoned, intent);
    fs::write(&path, poisoned).unwrap();
    let shown = project.harn(&["work", "show", "w", "--json"]).exits(5);
    assert_eq!(shown.code(), "damaged");
    let listed = project.harn(&["work", "list"]).ok();
    assert_eq!(listed.stdout, "other  ready  0/3  run  Title\n");
    assert!(listed.stderr.starts_with("warning: w cannot be read: "), "{}", listed.stderr);
    let document = project.harn(&["work", "list", "--json"]).ok().json();
    assert_eq!(document["items"].as_array().unwrap().len(), 1);
    let reason = document["warnings"][0]["reason"].as_str().unwrap();
    assert!(listed.stderr.contains(reason), "both give the same text");
}

/// R05. One line feed for each record, whatever a text holds. Line feeds and Unicode separators come back as they were;
/// a carriage return and U+0085, which act on terminals, are refused by name.
#[test]
fn r_05_every_text_is_one_line_of_the_log() {
    let project = noted();
    let path = project.of_item("w", "events.jsonl");
    for text in ["a\u{2028}b\u{2029}c\ne\n\nf", "\"quoted\" \\ and \u{fffd}", "🚀 漢字 ñ\tx"] {
        let before = fs::read_to_string(&path).unwrap().matches('\n').count();
        let _ = project.harn(&["work", "note", "w", "--text", text]).ok();
        assert_eq!(fs::read_to_string(&path).unwrap().matches('\n').count(), before + 1);
        assert_eq!(notes(&project).last().unwrap(), text);
        let _ = project.harn_reading(text, &["work", "note", "w", "--text", "-"]).ok();
        assert_eq!(notes(&project).last().unwrap(), text, "read from standard input");
    }
    let shown = project.harn(&["work", "show", "w"]).ok().stdout;
    assert!(shown.contains("a\\u{2028}b\\u{2029}c\n"), "what breaks lines is shown, not obeyed: {shown}");
}

/// R56. Whatever is wrong beside it, standard output holds one document.
#[test]
fn r_56_standard_output_is_one_document() {
    let project = noted();
    let broken = project.of_item("broken", "");
    fs::create_dir_all(&broken).unwrap();
    fs::write(broken.join("intent.json"), "").unwrap();
    cut(&project, 7);
    let cases: [(&str, u8); 14] = [
        ("work list", 0),
        ("work show w", 0),
        ("work show nope", 3),
        ("work show broken", 5),
        ("work log w", 0),
        ("work reconcile", 5),
        ("work frobnicate", 2),
        ("work", 2),
        ("work run w --max-agents 0", 2),
        ("work note w --text x", 0),
        ("run list", 0),
        ("verify", 5),
        ("init", 0),
        ("completions bash", 0),
    ];
    for (line, exit) in cases {
        let words: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        let document = project.harn(&words).exits(exit).json();
        assert_eq!(document["schema_version"], 1, "{line}");
        assert_eq!(
            document.get("error").is_some(),
            exit != 0 && exit != 5 || line == "work show broken",
            "{line}"
        );
    }
    project.write(".harn/config.toml", "old_key = 1\n");
    let refused = project.harn(&["work", "run", "w", "--json"]).exits(3);
    assert_eq!(refused.code(), "config_invalid");
}

/// R01. An item that cannot be read is never told as none.
#[test]
fn r_01_a_list_of_nothing_but_damage_does_not_look_empty() {
    let project = Project::new();
    project.item("a", PASS, &[]);
    assert_eq!(Project::new().harn(&["work", "list"]).ok().stdout, "no work items\n");
    std::fs::write(project.of_item("a", "events.jsonl"), "damage\n").unwrap();
    let listed = project.harn(&["work", "list"]).ok();
    assert_eq!(listed.stdout, "no work items that can be read\n");
    assert!(listed.stderr.contains("a cannot be read"), "{}", listed.stderr);
}

/// An acceptance rests on the proof and on the run that gives it. Whatever was done to either, it is refused, nothing is
/// written, and `verify` names the place.
#[test]
fn w_07_what_was_changed_after_the_run_is_not_accepted() {
    /// What happens to a file.
    type Harm<'a> = &'a dyn Fn(&Path);
    let edit = |path: &Path, from: &str, to: &str| {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    };
    let changed = |path: &Path| edit(path, "\"passed\"", "\"failed\"");
    let shortened = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let end = text.trim_end().rfind('\n').unwrap() + 1;
        fs::write(path, &text[..end]).unwrap();
    };
    let removed = |path: &Path| fs::remove_file(path).unwrap();
    // To which file it happens, what accept says of it, and what verify names.
    let cases: [(&str, Harm<'_>, &str, &str); 6] = [
        ("transcript", &changed, "unproven", "run/"),
        ("transcript", &shortened, "unproven", "work/w: "),
        ("transcript", &removed, "unproven", "run/"),
        ("manifest", &removed, "unproven", "run/"),
        ("proof", &removed, "proof_missing", "work/w: "),
        ("proof", &|path| edit(path, "passed", "failed"), "proof_missing", "work/w: "),
    ];
    for (what, harm, code, place) in cases {
        let project = Project::new();
        project.item("w", PASS, &[]);
        let _ = project.harn(&["work", "run", "w"]).ok();
        let shown = project.harn(&["work", "show", "w", "--json"]).ok().json()["projection"].clone();
        let run = project.state().join("run").join(shown["latest_run_id"].as_str().unwrap());
        let digest = shown["proof"]["blob"].as_str().unwrap();
        harm(&match what {
            "transcript" => run.join("events.jsonl"),
            "manifest" => run.join("intent.json"),
            _ => project.state().join("blobs").join(&digest[..2]).join(digest),
        });
        let before = project.records();
        let refused = project.harn(&["work", "accept", "w", "--json"]);
        assert_eq!((refused.exit != 0, &*refused.code()), (true, code), "{what}: {}", refused.stdout);
        assert!(project.records() == before, "{what}: something was written");
        let verified = project.harn(&["verify"]).exits(5);
        assert!(verified.stdout.contains(place), "{what}: {}", verified.stdout);
        // Where it stands rests on its own log, and it can be sent back.
        let _ = project.harn(&["work", "reopen", "w"]).ok();
        let _ = project.harn(&["work", "run", "w"]).ok();
        let _ = project.harn(&["work", "accept", "w"]).ok();
    }
}
