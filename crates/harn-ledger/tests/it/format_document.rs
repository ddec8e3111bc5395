//! `docs/format/ledger-v1.md`: its example is a real stream, and its commands give what it says they give.

use std::path::{Path, PathBuf};

use harn_ledger::disk::OsDisk;
use harn_ledger::{
    BLOB_MAX, CHECKPOINT_MAX, CHECKPOINT_STREAMS_MAX, Checkpoint, Digest, FixedClock, Ledger, Limits,
    VerifyOptions,
};

use crate::account::Account;
use crate::forge::{hash_of, lines};
use crate::golden;
use crate::store::{INTENT, LOG, on_disk, open, read, write};

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format/ledger-v1.md");
    std::fs::read_to_string(path).unwrap()
}

/// The fenced block of this language in the worked example.
fn example_block(language: &str) -> String {
    block("A worked example", language)
}

/// The fenced block of this language below a heading.
fn block(heading: &str, language: &str) -> String {
    let document = document();
    let (_, section) = document.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let (_, block) = section.split_once(&format!("\n```{language}\n")).unwrap();
    let (block, rest) = block.split_once("```").unwrap();
    assert!(!rest.contains(&format!("\n```{language}\n")), "there is one block of {language}");
    block.to_owned()
}

/// Puts the example into a ledger of its own.
fn extracted() -> (tempfile::TempDir, PathBuf) {
    let (directory, root, _) = on_disk();
    let stream = root.join("account/alice");
    for directory in [root.join("account"), stream.clone()] {
        harn_ledger::disk::Disk::create_dir(&OsDisk, &directory).unwrap();
    }
    write(&OsDisk, &stream.join(INTENT), example_block("json").as_bytes());
    write(&OsDisk, &stream.join(LOG), example_block("jsonl").as_bytes());
    (directory, root)
}

#[test]
fn the_example_is_a_stream() {
    let (_directory, root) = extracted();
    let ledger = open(OsDisk, &root);
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
    let state = ledger.stream::<Account>("alice").unwrap().state().unwrap();
    assert_eq!((state.cents, state.folded), (10_000, vec![1, 2, 3]));
    for file in [INTENT, LOG] {
        let golden = read(&OsDisk, &golden::directory("three-events").join(file));
        assert!(
            read(&OsDisk, &root.join("account/alice").join(file)) == golden,
            "{file} is not the golden one"
        );
    }
}

/// The rules, followed by hand.
#[test]
fn the_example_follows_its_own_rules() {
    let log = example_block("jsonl");
    assert!(log.contains(r#""data":{"hash":""#), "no event has a member named `hash`");
    let mut prev = Digest::of(example_block("json").as_bytes());
    for line in lines(log.as_bytes()) {
        assert_eq!(hash_of(line), Digest::of(&line[..line.len() - 76]));
        let value: serde_json::Value = serde_json::from_slice(line).unwrap();
        assert_eq!(value["prev"], prev.to_string());
        assert_eq!(value["hash"], hash_of(line).to_string());
        prev = hash_of(line);
    }
}

/// The commands, run as written. They are those of GNU.
#[cfg(target_os = "linux")]
#[test]
fn the_commands_give_what_they_are_said_to_give() {
    let (directory, root) = extracted();
    let run = |console: &str, place: &Path| {
        for step in console.lines().collect::<Vec<_>>().chunks(2) {
            let command = step[0].strip_prefix("$ ").unwrap();
            let mut shell = std::process::Command::new("sh");
            let output = shell.args(["-c", command]).current_dir(place).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), step[1], "{command}");
        }
    };
    let console = example_block("console");
    let shown: Vec<&str> = console.lines().collect();
    assert_eq!(shown.len(), 8);
    run(&console, &root.join("account/alice"));
    std::fs::write(directory.path().join("checkpoint.json"), block("Checkpoints", "json")).unwrap();
    run(&block("Checkpoints", "console"), directory.path());
    let log = example_block("jsonl");
    for (step, line) in shown.chunks(2).skip(1).zip(lines(log.as_bytes())) {
        assert!(step[1].starts_with(&hash_of(line).to_string()));
    }
}

/// The checkpoint in the document is the one of the stream in it, and its command gives its digest.
#[test]
fn the_checkpoint_is_that_of_the_example() {
    let (_directory, root) = extracted();
    let document = block("Checkpoints", "json");
    let checkpoint = Checkpoint::parse(document.as_bytes()).unwrap();
    let clock = FixedClock("2026-07-22T12:01:00.000000Z".parse().unwrap());
    let ledger = Ledger::builder(&root).clock(clock).open().unwrap();
    assert_eq!(ledger.checkpoint().unwrap().to_bytes(), document.as_bytes());
    let digest = checkpoint.digest();
    assert_eq!(Digest::of(&document.as_bytes()[..document.len() - 78]), digest);
    let mut options = VerifyOptions::default();
    options.against = Some(checkpoint);
    assert_eq!(ledger.verify(&options).problems, []);
    let console = block("Checkpoints", "console");
    assert_eq!(console, format!("$ head -c -78 checkpoint.json | sha256sum\n{digest}  -\n"));
}

/// Numbers that stand in the document.
#[test]
fn the_limits_are_those_of_the_code() {
    let document = document();
    let Limits { intent_bytes, line_bytes, events, log_bytes } = Limits::DEFAULT;
    let streams = CHECKPOINT_STREAMS_MAX as u64;
    for limit in [intent_bytes, line_bytes, events, log_bytes, BLOB_MAX, CHECKPOINT_MAX, streams] {
        let digits = limit.to_string();
        let grouped: String = digits
            .char_indices()
            .flat_map(|(index, digit)| {
                let comma = index > 0 && (digits.len() - index).is_multiple_of(3);
                comma.then_some(',').into_iter().chain([digit])
            })
            .collect();
        assert!(document.contains(&format!(" {grouped}")), "{grouped}");
    }
}

/// Every file that the document names in a stream is one that verification knows.
#[test]
fn the_files_of_a_stream_are_those_of_the_document() {
    let (_directory, root) = extracted();
    let document = document();
    let stamp = "20260722T120000000000Z-1";
    for name in ["events.torn-", "events.cut-", "lease"] {
        assert!(document.contains(&format!("    {name}")), "{name}");
        let file = if name.ends_with('-') { format!("{name}{stamp}") } else { name.to_owned() };
        write(&OsDisk, &root.join("account/alice").join(file), b"");
    }
    assert_eq!(open(OsDisk, &root).verify(&VerifyOptions::default()).problems, []);
}
