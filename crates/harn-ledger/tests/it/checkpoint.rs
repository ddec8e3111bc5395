//! Checkpoints: what is taken, what is written, and that only the very bytes that were written are read back.

use std::path::{Path, PathBuf};

use harn_ledger::disk::{Disk as _, MemDisk, OsDisk};
use harn_ledger::{Checkpoint, Digest, Expect, Head, Ledger, StreamId, StreamName};

use crate::account::{Account, credited, open_account, open_ballot};
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{LOG, account, in_memory, on_disk, open, read, tree, write};

fn name(kind: &str, id: &str) -> StreamName {
    StreamName::new(kind, StreamId::new(id).unwrap()).unwrap()
}

/// Three streams, of two kinds.
fn three(ledger: &Ledger) {
    open_account(ledger, "b").append(Expect::Any, "teller", vec![credited(1), credited(2)]).unwrap();
    open_account(ledger, "a");
    open_ballot(ledger, "a");
}

/// The document of [`three`] streams, and its text.
fn document() -> (Checkpoint, String) {
    let (_, ledger) = in_memory();
    three(&ledger);
    let checkpoint = ledger.checkpoint().unwrap();
    let text = String::from_utf8(checkpoint.to_bytes()).unwrap();
    (checkpoint, text)
}

#[test]
fn it_holds_the_head_of_every_stream() {
    let (disk, ledger) = in_memory();
    assert!(ledger.checkpoint().unwrap().heads().is_empty());
    three(&ledger);
    // What is no stream is passed over.
    for directory in ["account/empty", "account/-odd", "Not-A-Kind", ".git"] {
        disk.create_dir(&Path::new("/bank").join(directory)).unwrap();
    }
    for file in ["notes", "account/file"] {
        write(&disk, &Path::new("/bank").join(file), b"");
    }
    let before = tree(&disk, Path::new("/bank"));
    let checkpoint = ledger.checkpoint().unwrap();
    let heads: Vec<(StreamName, Head)> =
        checkpoint.heads().iter().map(|(name, head)| (name.clone(), *head)).collect();
    let head = |kind: &str, id: &str| ledger.raw(kind, id).unwrap().verify().unwrap().0;
    let expected = [("account", "a"), ("account", "b"), ("ballot", "a")];
    assert_eq!(heads, expected.map(|(kind, id)| (name(kind, id), head(kind, id))));
    assert_eq!(heads[1].1.seq, 3);
    assert_eq!(checkpoint.ts().to_string(), "2026-07-22T12:00:00.000000Z");
    assert_eq!(tree(&disk, Path::new("/bank")), before, "nothing is written");
}

/// The digest is that of everything before it.
#[test]
fn the_document() {
    let (checkpoint, text) = document();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[0], r#"{"schema_version":1,"ts":"2026-07-22T12:00:00.000000Z","streams":["#);
    assert!(lines[1].starts_with(r#"{"stream":"account/a","seq":1,"hash":""#) && lines[1].ends_with("\"},"));
    assert!(lines[3].starts_with(r#"{"stream":"ballot/a","seq":1,"hash":""#) && lines[3].ends_with("\"}"));
    assert_eq!(lines[4], format!(r#"],"sha256":"{}"}}"#, checkpoint.digest()));
    assert!(text.ends_with("}\n"));
    assert_eq!(checkpoint.digest(), Digest::of(&text.as_bytes()[..text.len() - 78]));
    assert_eq!(Checkpoint::parse(text.as_bytes()), Ok(checkpoint));
    let _: serde_json::Value = serde_json::from_str(&text).unwrap();
}

/// An empty one is one too.
#[test]
fn the_checkpoint_of_an_empty_ledger() {
    let (_, ledger) = in_memory();
    let checkpoint = ledger.checkpoint().unwrap();
    assert_eq!(Checkpoint::parse(&checkpoint.to_bytes()), Ok(checkpoint));
}

/// Seals what stands before the digest, as somebody would who wants a changed checkpoint to pass.
fn sealed(body: &str) -> String {
    format!("{body},\"sha256\":\"{}\"}}\n", Digest::of(body.as_bytes()))
}

/// Each document is sealed again after the change, so it is not the digest that gives it away.
#[test]
fn what_is_refused() {
    let (_, text) = document();
    let body = &text[..text.len() - 78];
    let line = |number: usize| text.lines().nth(number).unwrap().trim_end_matches(',');
    let swapped = format!("{}\n{},\n{},\n{}\n]", line(0), line(2), line(1), line(3));
    let twice = format!("{}\n{},\n{}\n]", line(0), line(1), line(1));
    let cases: &[(&str, String, &str)] = &[
        ("newer", body.replacen("\"schema_version\":1", "\"schema_version\":2", 1), "checkpoint_newer"),
        ("of version 0", body.replacen("\"schema_version\":1", "\"schema_version\":0", 1), "checkpoint_form"),
        ("a member more", body.replacen("\"ts\"", "\"by\":\"me\",\"ts\"", 1), "checkpoint_form"),
        ("a member less", body.replacen("\"seq\":1,", "", 1), "checkpoint_form"),
        ("a member twice", body.replacen("\"seq\":1,", "\"seq\":1,\"seq\":1,", 1), "checkpoint_form"),
        ("an entry with more", body.replacen("\"seq\":1,", "\"seq\":1,\"x\":1,", 1), "checkpoint_form"),
        ("another time", body.replacen("12:00:00.000000Z", "12:00:00Z", 1), "checkpoint_form"),
        ("no kind", body.replacen("account/a", "a", 1), "checkpoint_form"),
        ("no id", body.replacen("account/a", "account/", 1), "checkpoint_form"),
        ("a path", body.replacen("account/a", "account/../a", 1), "checkpoint_form"),
        ("not a kind", body.replacen("account/a", "blobs/a", 1), "checkpoint_form"),
        ("seq 0", body.replacen("\"seq\":1", "\"seq\":0", 1), "checkpoint_form"),
        ("seq -1", body.replacen("\"seq\":1", "\"seq\":-1", 1), "checkpoint_form"),
        ("seq 1.0", body.replacen("\"seq\":1", "\"seq\":1.0", 1), "checkpoint_form"),
        ("a short hash", body.replacen("\"hash\":\"", "\"hash\":\"0", 1), "checkpoint_form"),
        ("null", body.replacen("\"seq\":1", "\"seq\":null", 1), "checkpoint_form"),
        ("swapped", swapped, "checkpoint_form"),
        ("twice", twice, "checkpoint_form"),
        ("a space", body.replacen("\"seq\":1", "\"seq\": 1", 1), "checkpoint_form"),
        ("one line", body.replace('\n', ""), "checkpoint_form"),
        ("an escape", body.replacen("account/a", "account\\/a", 1), "checkpoint_form"),
    ];
    for (what, body, code) in cases {
        let error = Checkpoint::parse(sealed(body).as_bytes()).unwrap_err();
        assert_eq!(error.code(), *code, "{what}: {error}");
    }
    for (what, bytes) in [
        ("nothing", String::new()),
        ("no digest", format!("{body}}}\n")),
        ("no line feed", text.trim_end().to_owned()),
        ("one line feed more", format!("{text}\n")),
        ("more behind it", format!("{text}{text}")),
        ("an event", r#"{"schema_version":1,"stream":"account/a","seq":1}"#.to_owned()),
    ] {
        assert_eq!(Checkpoint::parse(bytes.as_bytes()).unwrap_err().code(), "checkpoint_form", "{what}");
    }
    let other_time = text.replacen("12:00:00", "12:00:01", 1);
    assert_eq!(Checkpoint::parse(other_time.as_bytes()).unwrap_err().code(), "checkpoint_changed");
    let error =
        Checkpoint::parse(sealed(&body.replacen("\"seq\":1", "\"seq\": 1", 1)).as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "line 2 of the checkpoint is not in the form that the ledger writes");
}

#[test]
fn every_changed_byte_is_refused() {
    let (_, text) = document();
    let good = text.into_bytes();
    assert!(Checkpoint::parse(&good).is_ok());
    for index in 0..good.len() {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[index] ^= 1 << bit;
            assert!(Checkpoint::parse(&bytes).is_err(), "byte {index}, bit {bit}");
        }
        assert!(Checkpoint::parse(&good[..index]).is_err(), "the first {index} bytes");
        assert!(
            Checkpoint::parse(&[&good[..index], &good[index + 1..]].concat()).is_err(),
            "byte {index} gone"
        );
    }
}

/// Nothing goes into a checkpoint that is not known to be there for good.
#[test]
fn what_does_not_verify_or_may_be_lost_is_refused() {
    type Harm = fn(&MemDisk);
    let damage: Harm = |disk| {
        let mut bytes = read(disk, &account("b").join(LOG));
        bytes[100] ^= 1;
        write(disk, &account("b").join(LOG), &bytes);
    };
    let cases: &[(&str, Harm)] = &[
        ("damaged", damage),
        ("damaged", |disk| disk.unlink(&account("b").join(LOG)).unwrap()),
        ("durability_unknown", |disk| write(disk, &account("b").join("suspect"), b"0\n")),
    ];
    for (code, harm) in cases {
        let (disk, ledger) = in_memory();
        three(&ledger);
        harm(&disk);
        let before = tree(&disk, Path::new("/bank"));
        let error = open(disk.clone(), Path::new("/bank")).checkpoint().unwrap_err();
        assert_eq!(error.code(), *code);
        assert!(error.to_string().contains("`account/b`"), "{error}");
        assert_eq!(tree(&disk, Path::new("/bank")), before);
    }

    let (disk, ledger) = in_memory();
    three(&ledger);
    let head = ledger.checkpoint().unwrap().heads()[&name("account", "b")];
    let log = [read(&disk, &account("b").join(LOG)), b"{\"schema_version\":1,".to_vec()].concat();
    write(&disk, &account("b").join(LOG), &log);
    let checkpoint = open(disk, Path::new("/bank")).checkpoint().unwrap();
    assert_eq!(checkpoint.heads()[&name("account", "b")], head, "an unfinished tail stands behind the head");
}

/// A stream that cannot be synced is not in a checkpoint, and refuses writes afterwards.
#[test]
fn what_cannot_be_synced_is_refused() {
    let (memory, ledger) = in_memory();
    three(&ledger);
    let disk = ScriptedDisk::new(memory);
    let ledger = open(disk.clone(), Path::new("/bank"));
    disk.next(Call::Sync, LOG, Act::Fail(std::io::ErrorKind::Other));
    assert_eq!(ledger.checkpoint().unwrap_err().code(), "durability_unknown");
    assert_eq!(ledger.checkpoint().unwrap_err().code(), "durability_unknown");
    assert_eq!(disk.left(), 0);
}

/// Every stream is synced before it is in a checkpoint.
#[test]
fn every_stream_is_settled() {
    let (memory, ledger) = in_memory();
    three(&ledger);
    let disk = ScriptedDisk::new(memory);
    drop(Ledger::builder("/bank").disk(disk.clone()).read_only(true).open().unwrap().checkpoint().unwrap());
    assert_eq!(disk.count(Call::Sync, LOG), 3);
    assert_eq!(disk.count(Call::Write, "*"), 0);
}

#[test]
fn two_documents_are_compared() {
    let (disk, ledger) = in_memory();
    three(&ledger);
    let earlier = ledger.checkpoint().unwrap();
    let log = read(&disk, &account("b").join(LOG));
    assert_eq!(earlier.contradictions(&earlier), []);
    open_account(&ledger, "new");
    ledger.stream::<Account>("b").unwrap().append(Expect::Any, "teller", vec![credited(3)]).unwrap();
    let later = ledger.checkpoint().unwrap();
    assert_eq!(later.contradictions(&earlier), []);
    let found = |later: &Checkpoint, earlier: &Checkpoint| -> Vec<(String, &'static str)> {
        let problems = later.contradictions(earlier).into_iter();
        problems.map(|problem| (problem.place, problem.kind.code())).collect()
    };
    let expected = [("account/b".to_owned(), "cut_off"), ("account/new".to_owned(), "removed")];
    assert_eq!(found(&earlier, &later), expected);

    // The same stream with other events, and a ledger that shares nothing but names.
    let (_, other) = in_memory();
    open_account(&other, "b").append(Expect::Any, "teller", vec![credited(7), credited(2)]).unwrap();
    let other = other.checkpoint().unwrap();
    let expected = [("account/a", "removed"), ("account/b", "rewritten"), ("ballot/a", "removed")];
    let mut expected = expected.map(|(place, code)| (place.to_owned(), code)).to_vec();
    expected.insert(0, (".".to_owned(), "another_ledger"));
    assert_eq!(found(&other, &earlier), expected);

    // A longer stream says nothing by itself.
    write(&disk, &account("b").join(LOG), &log);
    let again = open(disk, Path::new("/bank"));
    let other_third = vec![credited(4), credited(5)];
    again.stream::<Account>("b").unwrap().append(Expect::Any, "teller", other_third).unwrap();
    assert_eq!(again.checkpoint().unwrap().contradictions(&later), []);
}

#[test]
fn a_file_is_written_once() {
    let (directory, _, ledger) = on_disk();
    three(&ledger);
    let checkpoint = ledger.checkpoint().unwrap();
    let path = directory.path().join("checkpoint.json");
    checkpoint.write_new(&OsDisk, &path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), checkpoint.to_bytes());
    let stat = OsDisk.stat(&path).unwrap();
    assert_eq!(stat.mode, 0o600);

    let link = directory.path().join("link");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let empty = directory.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    for taken in [&path, &link, &empty] {
        assert_eq!(
            checkpoint.write_new(&OsDisk, taken).unwrap_err().code(),
            "checkpoint_exists",
            "{taken:?}"
        );
    }
    assert_eq!(OsDisk.stat(&path).unwrap(), stat);
    for nowhere in [directory.path().join("no/such"), path.join("below"), PathBuf::new()] {
        assert_eq!(
            checkpoint.write_new(&OsDisk, &nowhere).unwrap_err().code(),
            "write_failed",
            "{nowhere:?}"
        );
    }
    let mut names: Vec<_> = OsDisk.read_dir(directory.path()).unwrap();
    names.sort();
    assert_eq!(names, ["bank", "checkpoint.json", "empty", "link"]);
}

/// Whatever fails, the file is whole or not there, and nothing else is left.
#[test]
fn a_file_that_cannot_be_written() {
    let (_, ledger) = in_memory();
    three(&ledger);
    let checkpoint = ledger.checkpoint().unwrap();
    let path = Path::new("/checkpoint.json");
    let full = std::io::ErrorKind::StorageFull;
    let other = std::io::ErrorKind::Other;
    let cases = [
        (Call::Open, ".checkpoint-*", full, "storage_full"),
        (Call::Open, ".checkpoint-*", other, "write_failed"),
        (Call::Write, "*", full, "storage_full"),
        (Call::Write, "*", other, "write_failed"),
        (Call::Sync, "*", other, "write_failed"),
        (Call::Link, "checkpoint.json", full, "storage_full"),
        (Call::Link, "checkpoint.json", std::io::ErrorKind::Unsupported, "write_failed"),
        (Call::SyncDir, "*", other, "durability_unknown"),
    ];
    for (call, name, kind, code) in cases {
        let memory = MemDisk::new();
        let disk = ScriptedDisk::new(memory.clone());
        disk.next(call, name, Act::Fail(kind));
        assert_eq!(checkpoint.write_new(&disk, path).unwrap_err().code(), code, "{call:?} {name}");
        assert_eq!(disk.left(), 0, "{call:?} {name}");
        let left: &[&str] = if call == Call::SyncDir { &["checkpoint.json"] } else { &[] };
        assert_eq!(memory.read_dir(Path::new("/")).unwrap(), left, "{call:?} {name}");
        if call == Call::SyncDir {
            assert_eq!(read(&memory, path), checkpoint.to_bytes());
        } else {
            checkpoint.write_new(&disk, path).unwrap();
        }
    }
    // A short write goes on.
    let disk = ScriptedDisk::new(MemDisk::new());
    disk.next(Call::Write, "*", Act::Short(7));
    checkpoint.write_new(&disk, path).unwrap();
    assert_eq!(read(&disk, path), checkpoint.to_bytes());
}

/// Of several writers of one file, one wins, and its bytes stand there.
#[test]
fn one_writer_wins() {
    let (disk, ledger) = in_memory();
    let mut written = Vec::new();
    let mut checkpoints = Vec::new();
    for id in ["a", "b", "c", "d"] {
        open_account(&ledger, id);
        checkpoints.push(ledger.checkpoint().unwrap());
    }
    std::thread::scope(|scope| {
        let (disk, path) = (&disk, Path::new("/checkpoint.json"));
        let writers: Vec<_> = checkpoints
            .iter()
            .map(|checkpoint| scope.spawn(move || checkpoint.write_new(disk, path).map(|()| checkpoint)))
            .collect();
        written = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
    });
    let winners: Vec<&&Checkpoint> = written.iter().filter_map(|result| result.as_ref().ok()).collect();
    assert_eq!(winners.len(), 1);
    assert_eq!(read(&disk, Path::new("/checkpoint.json")), winners[0].to_bytes());
    assert!(
        written.iter().filter_map(|result| result.as_ref().err()).all(|e| e.code() == "checkpoint_exists")
    );
}
