//! Verification of a whole ledger: what it counts, what it finds, and that nothing stops it.

use std::num::NonZero;
use std::path::Path;

use harn_ledger::disk::Disk as _;
use harn_ledger::{Expect, Verification, VerifyOptions};

use crate::account::{AccountEvent, credited, open_account, open_ballot, voted};
use crate::forge::{Forged, hash_of, lines};
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{INTENT, LOG, account, in_memory, open, read, tree, write};

fn places(verification: &Verification) -> Vec<(&str, &'static str)> {
    verification.problems.iter().map(|problem| (&*problem.place, problem.kind.code())).collect()
}

#[test]
fn everything_is_counted() {
    let (_, ledger) = in_memory();
    open_account(&ledger, "a").append(Expect::Any, "teller", vec![credited(1), credited(2)]).unwrap();
    open_account(&ledger, "b");
    open_ballot(&ledger, "c").append(Expect::Any, "clerk", vec![voted("x")]).unwrap();
    ledger.blobs().put(b"orphan").unwrap();
    let found = ledger.verify(&VerifyOptions::default());
    assert_eq!((found.streams, found.events, found.blobs, found.orphan_blobs), (3, 6, 0, 1));
    assert_eq!(found.problems, []);
}

/// Several streams, each with something else wrong: all of it is found, in order, and the sound ones are read.
#[test]
fn every_problem_is_found() {
    let (disk, ledger) = in_memory();
    for id in ["chain", "intent", "lost", "newer", "sound", "suspect", "tail"] {
        open_account(&ledger, id).append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    }
    let log = |id: &str| account(id).join(LOG);
    let change = |id: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        write(&disk, &log(id), &change(read(&disk, &log(id))));
    };
    change("chain", &|bytes| [lines(&bytes)[1], lines(&bytes)[0]].concat());
    write(&disk, &account("intent").join(INTENT), b"{\"owner\":\"Mallory\"}");
    disk.unlink(&log("lost")).unwrap();
    change("newer", &|bytes| {
        let line = Forged::new("account/newer", 3, hash_of(lines(&bytes)[1]), "account.opened", "{}");
        [bytes.clone(), Forged { schema_version: 7, ..line }.line()].concat()
    });
    write(&disk, &account("suspect").join("suspect"), b"0\n");
    change("tail", &|bytes| bytes[..bytes.len() - 1].to_vec());

    let before = tree(&disk, Path::new("/bank"));
    let found = open(disk.clone(), Path::new("/bank")).verify(&VerifyOptions::default());
    assert_eq!(
        places(&found),
        [
            ("account/chain", "damaged"),
            ("account/intent", "damaged"),
            ("account/lost", "damaged"),
            ("account/newer", "newer"),
            ("account/suspect", "suspect"),
            ("account/tail", "unfinished_tail"),
        ]
    );
    assert_eq!(found.streams, 7);
    // Two of the sound, the suspect and the newer stream, one of the one with a tail.
    assert_eq!(found.events, 7);
    assert_eq!(tree(&disk, Path::new("/bank")), before);
}

/// What the ledger did not make is named once, by its place, and does not stop anything.
#[test]
fn foreign_files() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    let root = Path::new("/bank");
    for file in ["README.md", "notes", "account/file", "account/.hidden", "account/a/notes.txt"] {
        write(&disk, &root.join(file), b"");
    }
    for directory in ["Not-A-Kind", "account/-odd", "account/empty", "account/a/sub"] {
        disk.create_dir(&root.join(directory)).unwrap();
    }
    // These are the ledger's own, or nobody's business.
    for directory in [".new", "catalog", ".git"] {
        let _ = disk.create_dir(&root.join(directory));
    }
    for file in ["account.jsonl", "other.jsonl", "account.json", "-.jsonl", "catalog.jsonl"] {
        write(&disk, &root.join("catalog").join(file), b"");
    }
    for file in ["lease", "events.torn-20260101T000000000000Z-1", "events.cut-20260101T000000000000Z-1"] {
        write(&disk, &account("a").join(file), b"");
    }
    let found = ledger.verify(&VerifyOptions::default());
    let foreign = [
        "Not-A-Kind",
        "README.md",
        "account/-odd",
        "account/.hidden",
        "account/a/notes.txt",
        "account/a/sub",
        "account/empty",
        "account/file",
        "catalog/-.jsonl",
        "catalog/account.json",
        "catalog/catalog.jsonl",
        "notes",
    ];
    assert_eq!(places(&found), foreign.map(|place| (place, "foreign_file")));
    assert_eq!(found.events, 1);
    let ids: Vec<String> = ledger.ids("account").unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(ids, ["a", "empty"], "a file is no stream");
}

#[test]
fn a_file_in_place_of_the_catalogs() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    write(&disk, Path::new("/bank/catalog"), b"");
    let found = ledger.verify(&VerifyOptions::default());
    assert_eq!(places(&found), [("catalog", "foreign_file")]);
}

/// A file that cannot be read is a problem of its own.
#[test]
fn an_unreadable_file() {
    let (memory, ledger) = in_memory();
    open_account(&ledger, "a");
    open_account(&ledger, "b");
    for (call, name) in [(Call::Open, INTENT), (Call::Open, LOG), (Call::Read, LOG), (Call::Read, INTENT)] {
        let disk = ScriptedDisk::new(memory.clone());
        let ledger = open(disk.clone(), Path::new("/bank"));
        disk.next(call, name, Act::Fail(std::io::ErrorKind::PermissionDenied));
        // On one thread, so that it is the first stream that meets the failure.
        let mut options = VerifyOptions::default();
        options.threads = NonZero::new(1);
        let found = ledger.verify(&options);
        assert_eq!(places(&found), [("account/a", "unreadable")], "{call:?} {name}");
        assert_eq!((found.streams, found.events), (2, 1));
    }
}

/// An event that this build does not know verifies like any other: nothing here depends on the domain.
#[test]
fn an_unknown_event_verifies() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    let log = read(&disk, &account("a").join(LOG));
    let line = Forged::new("account/a", 2, hash_of(&log), "account.frozen", r#"{"by":"court"}"#).line();
    write(&disk, &account("a").join(LOG), &[log, line].concat());
    let found = open(disk, Path::new("/bank")).verify(&VerifyOptions::default());
    assert_eq!((found.events, found.problems), (2, Vec::new()));
}

/// A raw stream shows each line as it was recorded, and stops when it is told to.
#[test]
fn a_raw_stream_shows_every_line() {
    let (_, ledger) = in_memory();
    let stream = open_account(&ledger, "a");
    stream.append(Expect::Any, "teller", vec![credited(1), credited(2)]).unwrap();
    let raw = ledger.raw("account", "a").unwrap();
    let mut seen = Vec::new();
    let visit = |stop_at: Option<u64>, seen: &mut Vec<harn_ledger::RawEvent<'static>>| {
        raw.visit(|event| {
            let stop = Some(event.seq) == stop_at;
            seen.push(event.into_owned());
            if stop { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        })
        .unwrap()
    };
    let (head, tail) = visit(None, &mut seen);
    assert_eq!((head, tail), (stream.head().unwrap(), None));
    let shown: Vec<_> =
        seen.iter().map(|event| (event.seq, &*event.event, &*event.data, event.more)).collect();
    assert_eq!(
        shown,
        [
            (1, "account.opened", "{}", false),
            (2, "account.credited", r#"{"cents":1}"#, true),
            (3, "account.credited", r#"{"cents":2}"#, false),
        ]
    );
    assert_eq!(seen[0].prev, harn_ledger::Digest::of(&raw.intent().unwrap()));
    assert!(seen.windows(2).all(|pair| pair[1].prev == pair[0].hash));
    seen.clear();
    let (head, _) = visit(Some(1), &mut seen);
    assert_eq!((seen.len(), head.seq), (1, 1));
}

/// The head is found at the end of the log: whatever stands before it, and only if the end itself is in order.
#[test]
fn a_head_is_read_from_the_end() {
    let (disk, ledger) = in_memory();
    let stream = open_account(&ledger, "a");
    let lengthy = AccountEvent::Credited { cents: 1, note: Some("é".repeat(20_000)) };
    for events in [vec![credited(1)], vec![lengthy.clone()], vec![credited(2), lengthy]] {
        stream.append(Expect::Any, "teller", events).unwrap();
        assert_eq!(ledger.raw("account", "a").unwrap().head().unwrap(), stream.head().unwrap());
    }
    let head = stream.head().unwrap();
    let path = account("a").join(LOG);
    let log = read(&disk, &path);
    let at_head = |log: &[u8]| {
        write(&disk, &path, log);
        ledger.raw("account", "a").unwrap().head()
    };

    let torn = [&log[..], b"{\"schema"].concat();
    assert_eq!(at_head(&torn).unwrap(), head, "an unfinished tail is passed over");
    let lines = lines(&log);
    let batch_cut = lines[..lines.len() - 1].concat();
    assert_eq!(at_head(&batch_cut).unwrap().seq, head.seq - 2, "so is half a batch");

    let mut first_flipped = log.clone();
    first_flipped[100] ^= 1;
    assert_eq!(at_head(&first_flipped).unwrap(), head, "what stands before is not looked at");
    let mut last_flipped = log.clone();
    let middle = log.len() - 1000;
    last_flipped[middle] ^= 1;
    assert_eq!(at_head(&last_flipped).unwrap_err().code(), "damaged");
    assert_eq!(at_head(b"").unwrap_err().code(), "damaged");
    assert_eq!(ledger.raw("account", "b").unwrap().head().unwrap_err().code(), "not_found");
}
