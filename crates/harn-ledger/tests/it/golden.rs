//! Golden files: streams as version 1 of the format holds them, under `tests/golden/<case>/`.
//!
//! Old bytes must read as they always did, and today's writer must write the same bytes. The files change only when
//! the format does, and a published format does not. To write them anew, and see in the diff what that means:
//!
//! ```sh
//! HARN_BLESS=1 cargo test -p harn-ledger --test it golden
//! ```
//!
//! Without the variable, a difference between a file and what the test expects in it is a failure.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use harn_ledger::disk::{Disk, MemDisk, OsDisk};
use harn_ledger::{
    DamageKind, Digest, Entry, Expect, Ledger, ProblemKind, ReadError, StreamError, UnfinishedTail,
    VerifyOptions,
};

use crate::account::{Account, AccountEvent, credited, noted, open_account};
use crate::forge::{Forged, hash_of, lines};
use crate::store::{LOG, Ticking, account, cut, read, write};

/// The files of a stream, by name.
type Files = BTreeMap<String, Vec<u8>>;

/// What a stream reads as.
struct Reading {
    /// One line for each entry.
    entries: &'static [&'static str],
    tail: Option<UnfinishedTail>,
    /// Line, offset, kind and lines behind.
    damage: Option<(u64, u64, DamageKind, u64)>,
    /// The event that is newer, and how what is said about it begins.
    newer: Option<(u64, &'static str)>,
}

const WHOLE: Reading = Reading { entries: &[], tail: None, damage: None, newer: None };

struct Case {
    name: &'static str,
    /// Writes the stream with today's writer, and where that cannot do it, with the forge.
    make: fn(&dyn Disk, &Ledger),
    reading: Reading,
}

/// The three events that the format's document shows.
pub(crate) fn three_events(ledger: &Ledger) {
    let alice = open_account(ledger, "alice");
    alice.append(Expect::Any, "teller", vec![noted(10_000, "first deposit")]).unwrap();
    alice
        .append(Expect::Any, "auditor \"B\"", vec![AccountEvent::Audited { hash: Digest::of(b"the books") }])
        .unwrap();
}

/// Three events and a batch of three more.
fn with_a_batch(ledger: &Ledger) {
    three_events(ledger);
    let batch = vec![credited(1), AccountEvent::Debited { cents: 2 }, AccountEvent::Closed {}];
    ledger.stream::<Account>("alice").unwrap().append(Expect::Any, "teller", batch).unwrap();
}

/// Replaces line `number`, counted from 1, by what `change` makes of its predecessor's hash.
fn replace_line(disk: &dyn Disk, number: usize, change: impl Fn(Digest) -> Vec<u8>) {
    let log = read(disk, &account("alice").join(LOG));
    let mut lines: Vec<Vec<u8>> = lines(&log).into_iter().map(<[u8]>::to_vec).collect();
    lines[number - 1] = change(hash_of(&lines[number - 2]));
    write(disk, &account("alice").join(LOG), &lines.concat());
}

fn third_line(prev: Digest, event: &str, data: &str) -> Forged {
    let line = Forged::new("account/alice", 3, prev, event, data);
    Forged { ts: "2026-07-22T12:00:02.000000Z".to_owned(), ..line }
}

const FIRST_THREE: [&str; 3] = [
    "1 2026-07-22T12:00:00.000000Z teller Opened",
    "2 2026-07-22T12:00:01.000000Z teller Credited { cents: 10000, note: Some(\"first deposit\") }",
    "3 2026-07-22T12:00:02.000000Z auditor \"B\" Audited { hash: Digest(87905fe1945065c9ad3e0d0aab1e59a44594b90374a1d4bbaab6d4603d775fba) }",
];

fn cases() -> Vec<Case> {
    let mut cases = whole_and_unfinished();
    cases.extend(broken_and_newer());
    cases
}

fn whole_and_unfinished() -> Vec<Case> {
    vec![
        Case {
            name: "three-events",
            make: |_, ledger| three_events(ledger),
            reading: Reading { entries: &FIRST_THREE, ..WHOLE },
        },
        Case {
            name: "batch",
            make: |_, ledger| with_a_batch(ledger),
            reading: Reading {
                entries: &[
                    FIRST_THREE[0],
                    FIRST_THREE[1],
                    FIRST_THREE[2],
                    "4 2026-07-22T12:00:03.000000Z teller Credited { cents: 1, note: None }",
                    "5 2026-07-22T12:00:03.000000Z teller Debited { cents: 2 }",
                    "6 2026-07-22T12:00:03.000000Z teller Closed",
                ],
                ..WHOLE
            },
        },
        Case {
            name: "tail-moved",
            make: |disk, ledger| {
                three_events(ledger);
                cut(disk, &account("alice").join(LOG), 7);
                let alice = ledger.stream::<Account>("alice").unwrap();
                alice.append(Expect::Any, "teller", vec![credited(5)]).unwrap();
            },
            reading: Reading {
                entries: &[
                    FIRST_THREE[0],
                    FIRST_THREE[1],
                    "3 2026-07-22T12:00:03.000000Z ledger TailMoved { file: \"events.torn-20260722T120003000000Z-1\", bytes: 363, sha256: Digest(ef69e6e0a95ea7b4766e7e2b7629ad203a7aaef6582c3030d32dc648b31e40c7) }",
                    "4 2026-07-22T12:00:03.000000Z teller Credited { cents: 5, note: None }",
                ],
                ..WHOLE
            },
        },
        Case {
            name: "unfinished-line",
            make: |disk, ledger| {
                three_events(ledger);
                cut(disk, &account("alice").join(LOG), 100);
            },
            reading: Reading {
                entries: &[FIRST_THREE[0], FIRST_THREE[1]],
                tail: Some(UnfinishedTail { offset: 616, bytes: 270 }),
                ..WHOLE
            },
        },
        Case {
            name: "unfinished-batch",
            make: |disk, ledger| {
                with_a_batch(ledger);
                let log = read(disk, &account("alice").join(LOG));
                let last = lines(&log)[5].len();
                cut(disk, &account("alice").join(LOG), last as u64);
            },
            reading: Reading {
                entries: &FIRST_THREE,
                tail: Some(UnfinishedTail { offset: 986, bytes: 623 }),
                ..WHOLE
            },
        },
    ]
}

fn broken_and_newer() -> Vec<Case> {
    vec![
        Case {
            name: "empty",
            make: |disk, ledger| {
                three_events(ledger);
                write(disk, &account("alice").join(LOG), b"");
            },
            reading: Reading { damage: Some((1, 0, DamageKind::Empty, 0)), ..WHOLE },
        },
        Case {
            name: "broken-chain",
            make: |disk, ledger| {
                with_a_batch(ledger);
                replace_line(disk, 3, |_| {
                    third_line(Digest::of(b"another line"), "account.debited", r#"{"cents":3}"#).line()
                });
            },
            reading: Reading { damage: Some((3, 616, DamageKind::Chain, 3)), ..WHOLE },
        },
        Case {
            name: "future-version",
            make: |disk, ledger| {
                three_events(ledger);
                replace_line(disk, 3, |prev| {
                    let line = third_line(prev, "account.debited", r#"{"cents":3}"#);
                    Forged { schema_version: 2, ..line }.line()
                });
            },
            reading: Reading { newer: Some((3, "schema_version 2 of the line format")), ..WHOLE },
        },
        Case {
            name: "unknown-event",
            make: |disk, ledger| {
                three_events(ledger);
                replace_line(disk, 3, |prev| third_line(prev, "account.frozen", r#"{"by":"court"}"#).line());
            },
            reading: Reading { newer: Some((3, "`account.frozen`: unknown variant")), ..WHOLE },
        },
    ]
}

#[test]
fn todays_writer_writes_the_golden_bytes() {
    for case in cases() {
        let disk = MemDisk::new();
        let ledger = Ledger::builder("/bank").disk(disk.clone()).clock(Ticking::from_noon()).open().unwrap();
        (case.make)(&disk, &ledger);
        let written = files(&disk, &account("alice"));
        let directory = directory(case.name);
        if std::env::var_os("HARN_BLESS").is_some() {
            bless(&directory, &written);
        }
        assert_eq!(names(&written), names(&files(&OsDisk, &directory)), "{}", case.name);
        for (name, bytes) in written {
            let golden = read(&OsDisk, &directory.join(&name));
            let (bytes, golden) = (String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&golden));
            assert_eq!(bytes, golden, "{}/{name}; see the head of this file", case.name);
        }
    }
}

#[test]
fn both_disks_hold_the_same_bytes() {
    let directory = tempfile::TempDir::new().unwrap();
    let (memory, root) = (MemDisk::new(), directory.path().join("bank"));
    for builder in [Ledger::builder(&root), Ledger::builder("/bank").disk(memory.clone())] {
        with_a_batch(&builder.clock(Ticking::from_noon()).open().unwrap());
    }
    let on_disk = files(&OsDisk, &root.join("account/alice"));
    assert_eq!(on_disk.len(), 2);
    assert!(on_disk == files(&memory, &account("alice")));
}

#[test]
fn golden_bytes_read_as_they_always_did() {
    for Case { name, reading, .. } in cases() {
        let (_, ledger) = stored(name);
        let problem = match ledger.stream::<Account>("alice") {
            Ok(stream) => {
                let entries: Vec<String> = stream.history().unwrap().iter().map(render).collect();
                assert_eq!(entries, reading.entries, "{name}");
                assert_eq!(stream.unfinished_tail().unwrap(), reading.tail, "{name}");
                reading.tail.map(ProblemKind::UnfinishedTail)
            }
            Err(StreamError::Read(ReadError::Damaged { damage, .. })) => {
                let found = (damage.line, damage.offset, damage.kind.clone(), damage.lines_behind);
                assert_eq!(Some(found), reading.damage, "{name}");
                Some(ProblemKind::Damaged(damage))
            }
            Err(StreamError::Read(ReadError::Newer { seq, what, .. })) => {
                let (expected, begins) = reading.newer.expect(name);
                assert!(seq == expected && what.starts_with(begins), "{name}: {seq}, {what}");
                // Without the domain an unknown event is as good as any; an unknown version of the line is not.
                what.starts_with("schema_version").then_some(ProblemKind::Newer { seq, what })
            }
            Err(other) => panic!("{name}: {other}"),
        };
        let problems: Vec<ProblemKind> = ledger
            .verify(&VerifyOptions::default())
            .problems
            .into_iter()
            .map(|problem| problem.kind)
            .collect();
        assert_eq!(problems, problem.into_iter().collect::<Vec<_>>(), "{name}");
    }
}

/// A ledger with the account `alice` as a golden directory holds it.
pub(crate) fn stored(name: &str) -> (MemDisk, Ledger) {
    let disk = MemDisk::new();
    let ledger = Ledger::builder("/bank").disk(disk.clone()).clock(Ticking::from_noon()).open().unwrap();
    disk.create_dir(Path::new("/bank/account")).unwrap();
    disk.create_dir(&account("alice")).unwrap();
    for (file, bytes) in files(&OsDisk, &directory(name)) {
        write(&disk, &account("alice").join(file), &bytes);
    }
    (disk, ledger)
}

fn render(entry: &Entry<AccountEvent>) -> String {
    match entry {
        Entry::Domain(recorded) => {
            format!("{} {} {} {:?}", recorded.seq, recorded.ts, recorded.actor, recorded.event)
        }
        Entry::Ledger(recorded) => {
            format!("{} {} {} {:?}", recorded.seq, recorded.ts, recorded.actor, recorded.event)
        }
    }
}

pub(crate) fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn files(disk: &dyn Disk, directory: &Path) -> Files {
    let names = disk.read_dir(directory).unwrap_or_default();
    names
        .into_iter()
        .map(|name| (name.to_str().unwrap().to_owned(), read(disk, &directory.join(&name))))
        .collect()
}

fn names(files: &Files) -> Vec<&str> {
    files.keys().map(String::as_str).collect()
}

fn bless(directory: &Path, files: &Files) {
    let _ = std::fs::remove_dir_all(directory);
    std::fs::create_dir_all(directory).unwrap();
    for (name, bytes) in files {
        std::fs::write(directory.join(name), bytes).unwrap();
    }
}

/// Compares a text with a golden file, or writes it there; see the head of this file.
pub(crate) fn assert_golden(name: &str, text: &str) {
    let path = directory(name);
    if std::env::var_os("HARN_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, golden, "{name}; see the head of `tests/it/golden.rs`");
}
