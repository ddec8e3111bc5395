//! `harn repair`: what it would do, what it does, and what it refuses.
//!
//! What it says in words is `tests/golden/repair.txt`. With `HARN_BLESS=1` in the environment of the test it is
//! written anew; look at the difference before it is kept.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use harn_tests::{PASS, Project};
use serde_json::{Value, json};

use crate::cli_refused::{Case, assert_refused};

/// An item with three notes, and whatever harm was done to its log.
fn harmed(harm: impl Fn(&[u8]) -> Vec<u8>) -> Project {
    let project = Project::new();
    project.item("w", PASS, &[]);
    for text in ["n1", "n2", "n3"] {
        let _ = project.harn(&["work", "note", "w", "--text", text]).ok();
    }
    let log = project.of_item("w", "events.jsonl");
    fs::write(&log, harm(&fs::read(&log).unwrap())).unwrap();
    project
}

/// Changes one byte of a line, counted from 1.
fn changed(line: usize) -> impl Fn(&[u8]) -> Vec<u8> {
    move |log| {
        let mut lines: Vec<Vec<u8>> =
            log.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        lines[line - 1][20] ^= 1;
        lines.concat()
    }
}

fn torn(log: &[u8]) -> Vec<u8> {
    log[..log.len() - 7].to_vec()
}

/// An item whose log is whole, and marked after a failed sync.
fn suspect() -> Project {
    let project = harmed(<[u8]>::to_vec);
    project.write(".harn/state/work/w/suspect", "300\n");
    private(&project.of_item("w", "suspect"));
    project
}

fn private(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

const TAIL: &[&str] = &["repair", "--stream", "work/w"];
const CUT: &[&str] = &["repair", "--stream", "work/w", "--cut-at-damage"];
const RESYNC: &[&str] = &["repair", "--stream", "work/w", "--resync"];

fn with<'a>(line: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [line, more].concat()
}

/// The text without digests: they follow from the project's directory, which stands in the intent.
fn redacted(text: &str) -> String {
    let line = |line: &str| match line.split_once("sha256 ") {
        Some((before, _)) => format!("{before}sha256 [DIGEST]\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn every_repair_in_words() {
    let cases = [
        ("a tail", harmed(torn), TAIL),
        ("damage", harmed(changed(3)), CUT),
        ("a failed sync", suspect(), RESYNC),
    ];
    let mut text = String::new();
    for (what, project, line) in cases {
        let _ = writeln!(text, "# {what}");
        let verified = project.harn(&["verify"]).exits(5);
        let _ = write!(text, "\n$ harn verify\n{}", verified.stdout);
        let before = project.tree();
        for more in [&[][..], &["--apply"], &["--apply"]] {
            let words = with(line, more);
            let _ = writeln!(text, "\n$ harn {}", words.join(" "));
            text.push_str(&redacted(&project.harn(&words).ok().stdout));
            if more.is_empty() {
                assert_eq!(project.tree(), before, "{what}: a dry run changed something");
            }
        }
        text.push('\n');
        let _ = project.harn(&["verify"]).ok();
        let _ = project.harn(&["work", "note", "w", "--text", "after"]).ok();
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/repair.txt");
    if std::env::var_os("HARN_BLESS").is_some() {
        fs::write(&golden, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&golden).unwrap());
}

/// The documents of a dry run and of the repair are the same but for what they say of themselves.
#[test]
fn every_repair_as_a_document() {
    let cases = [
        (harmed(torn), TAIL, "move_tail", ["moved", "told"].as_slice()),
        (harmed(torn), CUT, "cut_at_damage", &["moved", "told"]),
        (harmed(changed(3)), CUT, "cut_at_damage", &["damage", "moved", "told"]),
        (suspect(), RESYNC, "resync", &["rewritten"]),
        (harmed(<[u8]>::to_vec), TAIL, "move_tail", &[]),
        (harmed(<[u8]>::to_vec), RESYNC, "resync", &[]),
    ];
    for (project, line, repair, there) in cases {
        let before = project.tree();
        let dry = project.harn(&with(line, &["--json"])).ok().json();
        assert_eq!(project.tree(), before);
        let mut done = project.harn(&with(line, &["--apply", "--json"])).ok().json();
        assert_eq!((&dry["applied"], &done["applied"]), (&json!(false), &json!(true)));
        done["applied"] = json!(false);
        assert_eq!(dry, done);
        let mut members: Vec<&str> = done.as_object().unwrap().keys().map(String::as_str).collect();
        members.sort_unstable();
        let all = [
            "applied",
            "damage",
            "head",
            "moved",
            "nothing_to_do",
            "repair",
            "rewritten",
            "schema_version",
            "stream",
            "told",
        ];
        assert_eq!(members, all);
        assert_eq!((&done["schema_version"], &done["stream"]), (&json!(1), &json!("work/w")));
        assert_eq!((&done["repair"], &done["nothing_to_do"]), (&json!(repair), &json!(there.is_empty())));
        for member in ["damage", "moved", "rewritten", "told"] {
            let absent = done[member].is_null() || done[member] == json!([]);
            assert_eq!(absent, !there.contains(&member), "{member}: {done}");
        }
        let shown = project.harn(&["work", "log", "w", "--json"]).ok().json();
        assert_eq!(shown["head"], done["head"]);
        let told: Vec<Value> = shown["events"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|event| event["event"].as_str().unwrap().starts_with("ledger."))
            .map(|event| {
                let mut told = event["data"].clone();
                told["event"] = event["event"].clone();
                told
            })
            .collect();
        assert_eq!(done["told"], json!(told));
        if let Some(file) = done["moved"]["file"].as_str() {
            let bytes = fs::read(project.of_item("w", file)).unwrap();
            assert_eq!(done["moved"]["bytes"], bytes.len());
            assert_eq!(done["moved"]["sha256"], harn_ledger::Digest::of(&bytes).to_string());
        }
    }
}

/// Where one repair will not do, another is named.
#[test]
fn what_needs_another_repair_says_which() {
    let cases = [
        (harmed(changed(3)), TAIL, 5, "damaged", "harn repair --stream work/w --cut-at-damage"),
        (
            harmed(changed(3)),
            &["work", "note", "w", "--text", "x"],
            5,
            "damaged",
            "harn repair --stream work/w",
        ),
        (harmed(changed(1)), CUT, 5, "nothing_whole", "restore the stream's files from a copy"),
        (suspect(), TAIL, 6, "durability_unknown", "harn repair --stream work/w --resync"),
        (suspect(), CUT, 6, "durability_unknown", "harn repair --stream work/w --resync"),
        (suspect(), &["work", "note", "w", "--text", "x"], 6, "durability_unknown", "--resync"),
    ];
    for (project, line, exit, code, hint) in cases {
        let more: &[&[&str]] =
            if line[0] == "repair" { &[&["--json"], &["--json", "--apply"]] } else { &[&["--json"]] };
        for more in more {
            let before = project.tree();
            let refused = project.harn(&with(line, more)).exits(exit);
            assert_eq!(refused.code(), code, "{}", refused.line);
            let said = refused.json()["error"]["hint"].as_str().unwrap().to_owned();
            assert!(said.contains(hint), "{}: {said}", refused.line);
            assert_eq!(project.tree(), before, "{}", refused.line);
        }
    }
    let marked = harmed(changed(3));
    marked.write(".harn/state/work/w/suspect", "300\n");
    private(&marked.of_item("w", "suspect"));
    let both = marked.harn(&with(RESYNC, &["--apply", "--json"])).exits(5);
    assert_eq!(both.code(), "damaged");
    let _ = marked.harn(&with(CUT, &["--apply"])).ok();
    let _ = marked.harn(&["verify"]).ok();
}

#[test]
fn what_is_no_stream_or_cannot_be_repaired() {
    let project = harmed(torn);
    let apply = |stream| vec!["repair", "--apply", "--stream", stream];
    let cases: [Case<'_>; 3] = [
        ("an unknown item", apply("work/nope"), 3, "not_found"),
        ("an unknown kind", apply("play/w"), 3, "not_found"),
        ("the same, as a dry run", vec!["repair", "--stream", "run/w"], 3, "not_found"),
    ];
    assert_refused(&project, &[], &cases);
    for (stream, says) in [
        ("..", "expected a kind and an id, such as `work/ID`"),
        ("work", "expected a kind and an id, such as `work/ID`"),
        ("work/a/b", "`a/b` is not an id"),
        ("work/..", "`..` is not an id"),
        ("blobs/00", "`blobs` is not a kind"),
    ] {
        let before = project.tree();
        let refused = project.harn(&apply(stream)).exits(2);
        assert!(refused.stderr.contains(says), "{stream}: {}", refused.stderr);
        assert_eq!(project.tree(), before);
    }
    for line in ["repair", "repair --stream work/w --resync --cut-at-damage", "repair work/w"] {
        let words: Vec<&str> = line.split(' ').collect();
        let _ = project.harn(&words).exits(2);
    }
    fs::set_permissions(project.of_item("w", ""), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let unsafe_place: [Case<'_>; 2] = [
        ("an open place", apply("work/w"), 3, "unsafe_place"),
        ("the same, as a dry run", vec!["repair", "--stream", "work/w"], 3, "unsafe_place"),
    ];
    assert_refused(&project, &[], &unsafe_place);
}

/// W-56. A child of a workflow may look, and not repair.
#[test]
fn a_child_of_a_workflow_does_not_repair() {
    let child = [("HARN_CHILD", "1")];
    for (project, line) in [(harmed(torn), TAIL), (harmed(changed(3)), CUT), (suspect(), RESYNC)] {
        let cases: [Case<'_>; 1] = [("apply", with(line, &["--apply"]), 3, "workflow_child")];
        assert_refused(&project, &child, &cases);
        let _ = project.harn_with(&child, line).ok();
    }
}
