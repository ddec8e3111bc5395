//! Repair: tails are moved and damaged ends are cut on request, nothing is lost, and a dry run says what will be done.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use harn_ledger::disk::{Disk as _, FaultyDisk, MemDisk, OsDisk};
use harn_ledger::{
    AppendError, Damage, DamageKind, Digest, Entry, Expect, Ledger, LedgerEvent, Limits, LogPart, ReadError,
    Repair, RepairError, RepairMode, Repaired, StreamError, VerifyOptions,
};

use crate::account::{Account, Ballot, credited, open_account, open_ballot, voted};
use crate::damage::{damaged_third_lines, six_events};
use crate::forge::{Forged, hash_of, lines};
use crate::golden::stored;
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{INTENT, LOG, account, cut, in_memory, on_disk, open, read, tree, write};

const BOTH: [RepairMode; 2] = [RepairMode::DryRun, RepairMode::Apply];
const ALL: [Repair; 3] = [Repair::MoveTail, Repair::CutAtDamage, Repair::Resync];

/// Repairs the account `a`, held to the limits of its kind.
pub(crate) fn repair(ledger: &Ledger, repair: Repair, mode: RepairMode) -> Result<Repaired, RepairError> {
    let mut options = VerifyOptions::default();
    options.limits.insert("account".to_owned(), Limits::DEFAULT);
    ledger.repair("account", "a", repair, mode, &options)
}

/// Repairs as a dry run first, which changes nothing and says what is done.
fn repaired(disk: &MemDisk, ledger: &Ledger, what: Repair) -> Repaired {
    let before = tree(disk, Path::new("/bank"));
    let would = repair(ledger, what, RepairMode::DryRun).unwrap();
    assert_eq!(tree(disk, Path::new("/bank")), before, "a dry run changed something");
    let done = repair(ledger, what, RepairMode::Apply).unwrap();
    assert_eq!(would, done);
    done
}

fn assert_sound(ledger: &Ledger, what: &str) {
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems, [], "{what}");
}

/// Files of moved parts, with their bytes.
fn moved_files(disk: &MemDisk) -> BTreeMap<String, Vec<u8>> {
    let names = crate::store::moved_files(disk, &account("a")).into_iter();
    names.map(|name| (name.clone(), read(disk, &account("a").join(&name)))).collect()
}

/// What the log tells of moved files, each once.
fn told(ledger: &Ledger) -> BTreeMap<String, (&'static str, u64, Digest)> {
    let mut found = BTreeMap::new();
    for entry in ledger.stream::<Account>("a").unwrap().history().unwrap() {
        if let Entry::Ledger(recorded) = entry {
            assert_eq!(recorded.actor, "ledger");
            let (name, file, bytes, sha256) = match recorded.event {
                LedgerEvent::TailMoved { file, bytes, sha256 } => ("torn", file, bytes, sha256),
                LedgerEvent::Cut { file, bytes, sha256 } => ("cut", file, bytes, sha256),
                other => panic!("{other:?}"),
            };
            assert_eq!(found.insert(file.clone(), (name, bytes, sha256)), None, "{file} is told twice");
        }
    }
    found
}

/// The log tells of every file, and of each what it holds.
fn assert_all_told(disk: &MemDisk, ledger: &Ledger, what: &str) {
    let stored = moved_files(disk).into_iter().map(|(name, bytes)| {
        let event = if name.starts_with("events.cut-") { "cut" } else { "torn" };
        (name, (event, bytes.len() as u64, Digest::of(&bytes)))
    });
    assert_eq!(told(ledger), stored.collect(), "{what}");
}

fn damage_of(error: RepairError) -> Damage {
    match error {
        RepairError::NothingWhole { damage, .. }
        | RepairError::Append(AppendError::Read(ReadError::Damaged { damage, .. })) => damage,
        other => panic!("not damage: {other}"),
    }
}

/// R04: line 3 of 6, damaged in each way there is, is cut with everything behind it.
#[test]
fn every_kind_of_damage_is_cut() {
    let (disk, ledger) = in_memory();
    six_events(&ledger);
    let whole: Vec<Vec<u8>> =
        lines(&read(&disk, &account("a").join(LOG))).into_iter().map(<[u8]>::to_vec).collect();
    let kept = whole[..2].concat();
    for (what, line, kind) in damaged_third_lines(&whole) {
        let (disk, ledger) = in_memory();
        six_events(&ledger);
        let mut damaged = whole.clone();
        damaged[2] = line;
        let damaged = damaged.concat();
        write(&disk, &account("a").join(LOG), &damaged);

        let before = tree(&disk, Path::new("/bank"));
        for mode in BOTH {
            let refused = repair(&ledger, Repair::MoveTail, mode).unwrap_err();
            assert_eq!(damage_of(refused).kind, kind, "{what}");
        }
        assert_eq!(tree(&disk, Path::new("/bank")), before, "{what}");

        let done = repaired(&disk, &ledger, Repair::CutAtDamage);
        let offset = kept.len() as u64;
        assert_eq!(done.damage, Some(Damage { line: 3, offset, kind, lines_behind: 3 }), "{what}");
        let behind = &damaged[kept.len()..];
        let part = LogPart { offset, bytes: behind.len() as u64, lines: 4, sha256: Digest::of(behind) };
        let moved = done.moved.unwrap();
        assert_eq!((&*moved.file, moved.part), ("events.cut-20260722T120000000000Z-1", part), "{what}");
        assert_eq!(moved_files(&disk), BTreeMap::from([(moved.file.clone(), behind.to_vec())]), "{what}");
        assert_eq!(disk.stat(&account("a").join(&moved.file)).unwrap().mode, 0o600);
        let event = LedgerEvent::Cut { file: moved.file, bytes: part.bytes, sha256: part.sha256 };
        assert_eq!(done.told, [event], "{what}");

        let log = read(&disk, &account("a").join(LOG));
        assert_eq!(log[..kept.len()], kept, "{what}");
        assert_eq!(lines(&log).len(), 3, "{what}");
        assert_sound(&ledger, what);
        assert_all_told(&disk, &ledger, what);
        let stream = ledger.stream::<Account>("a").unwrap();
        assert_eq!(stream.head().unwrap(), done.head, "{what}");
        assert_eq!(stream.state().unwrap().folded, [1, 2], "{what}");
        stream.append(Expect::Any, "teller", vec![credited(9)]).unwrap();
        assert_eq!(stream.state().unwrap().folded, [1, 2, 4], "{what}");
        for again in ALL {
            assert!(repaired(&disk, &ledger, again).is_nothing(), "{what}");
        }
    }
}

/// The golden files: what is damaged is cut, what is whole or newer is left alone.
#[test]
fn the_golden_streams() {
    let cases = [
        ("three-events", Ok(None)),
        ("batch", Ok(None)),
        ("tail-moved", Ok(None)),
        ("unknown-event", Ok(None)),
        ("unfinished-line", Ok(Some("events.torn-"))),
        ("unfinished-batch", Ok(Some("events.torn-"))),
        ("broken-chain", Ok(Some("events.cut-"))),
        ("empty", Err("nothing_whole")),
        ("future-version", Err("newer")),
    ];
    for (name, expected) in cases {
        let (disk, ledger) = stored(name);
        let log = read(&disk, &account("alice").join(LOG));
        let before = tree(&disk, Path::new("/bank"));
        let done = BOTH.map(|mode| {
            ledger.repair("account", "alice", Repair::CutAtDamage, mode, &VerifyOptions::default())
        });
        match (expected, done) {
            (Ok(None), done) => {
                assert!(done.into_iter().all(|done| done.unwrap().is_nothing()), "{name}");
                assert_eq!(tree(&disk, Path::new("/bank")), before, "{name}");
            }
            (Ok(Some(prefix)), [_, done]) => {
                let Repaired { moved: Some(moved), .. } = done.unwrap() else { panic!("{name}") };
                assert!(moved.file.starts_with(prefix), "{name}: {}", moved.file);
                let kept = usize::try_from(moved.part.offset).unwrap();
                assert_eq!(read(&disk, &account("alice").join(LOG))[..kept], log[..kept], "{name}");
                assert_eq!(read(&disk, &account("alice").join(moved.file)), log[kept..], "{name}");
                assert_sound(&ledger, name);
            }
            (Err(code), done) => {
                assert!(done.into_iter().all(|done| done.unwrap_err().code() == code), "{name}");
                assert_eq!(tree(&disk, Path::new("/bank")), before, "{name}");
            }
        }
    }
}

/// The log ends at a whole batch afterwards, wherever in a batch the damage is; so does the batch behind the cut.
#[test]
fn a_cut_never_divides_a_batch() {
    let (disk, ledger) = in_memory();
    let stream = open_account(&ledger, "a");
    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    stream.append(Expect::Any, "teller", vec![credited(2), credited(3), credited(4)]).unwrap();
    let log = read(&disk, &account("a").join(LOG));
    let ends: Vec<usize> = (0..=5).map(|count| lines(&log)[..count].concat().len()).collect();
    for (line, kept) in [(2, 1), (3, 2), (4, 2), (5, 2)] {
        let (disk, ledger) = in_memory();
        open_account(&ledger, "a");
        let mut damaged = log.clone();
        damaged[ends[line - 1] + 30] ^= 1;
        write(&disk, &account("a").join(LOG), &damaged);
        let done = repaired(&disk, &ledger, Repair::CutAtDamage);
        let part = done.moved.unwrap().part;
        assert_eq!((part.offset, part.lines), (ends[kept] as u64, 5 - kept as u64), "line {line}");
        assert_eq!(done.damage.unwrap().line, line as u64);
        assert_eq!(ledger.stream::<Account>("a").unwrap().state().unwrap().folded.len(), kept);
        assert_sound(&ledger, "a batch");
        assert_all_told(&disk, &ledger, "a batch");
    }
}

/// What belongs to no line that a writer could have left, and what the limits of the kind call too large.
#[test]
fn what_is_longer_than_the_limits_is_cut() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    let log = read(&disk, &account("a").join(LOG));
    write(&disk, &account("a").join(LOG), &[&*log, &vec![b'x'; 64 << 10]].concat());
    let done = repaired(&disk, &ledger, Repair::CutAtDamage);
    assert_eq!(done.damage.unwrap().kind, DamageKind::TooLarge { what: "line", limit: 64 << 10 });
    assert_eq!(done.moved.unwrap().part.lines, 1);
    assert_sound(&ledger, "a long line");

    // Without the limits of its kind, nothing is too large.
    let (disk, ledger) = in_memory();
    let stream = open_ballot(&ledger, "b");
    for voter in 1..4 {
        stream.append(Expect::Any, "clerk", vec![voted(&voter.to_string())]).unwrap();
    }
    let mut options = VerifyOptions::default();
    let cut =
        |mode, options: &VerifyOptions| ledger.repair("ballot", "b", Repair::CutAtDamage, mode, options);
    assert!(cut(RepairMode::Apply, &options).unwrap().is_nothing());

    // With limits that leave no room for the line that tells of the cut, nothing is cut.
    let narrow = |events| Limits { events, ..<Ballot as harn_ledger::Decider>::LIMITS };
    options.limits.insert("ballot".to_owned(), narrow(2));
    let before = tree(&disk, Path::new("/bank"));
    for mode in BOTH {
        assert_eq!(cut(mode, &options).unwrap_err().code(), "limit_reached");
    }
    assert_eq!(tree(&disk, Path::new("/bank")), before);
}

type Harm = fn(&MemDisk);

/// Without the intent or the first batch there is no stream. A copy has to be found; nothing is touched.
#[test]
fn a_stream_of_which_nothing_is_whole_is_left_alone() {
    let cases: [(&str, Harm, u64); 8] = [
        ("the first line", |disk| flip(disk, 40), 1),
        ("the second line of the first batch", |disk| flip(disk, 500), 2),
        (
            "another intent",
            |disk| write(disk, &account("a").join(INTENT), b"{\n  \"owner\": \"Bob\"\n}\n"),
            1,
        ),
        ("no intent", |disk| disk.unlink(&account("a").join(INTENT)).unwrap(), 0),
        (
            "an endless intent",
            |disk| write(disk, &account("a").join(INTENT), &vec![b' '; (128 << 10) + 1]),
            0,
        ),
        ("no log", |disk| disk.unlink(&account("a").join(LOG)).unwrap(), 1),
        ("an empty log", |disk| write(disk, &account("a").join(LOG), b""), 1),
        ("half of the first batch", |disk| cut(disk, &account("a").join(LOG), 7), 1),
    ];
    for (what, harm, line) in cases {
        let (disk, ledger) = in_memory();
        let owner = crate::account::Owner { owner: "Alice".to_owned(), contract: None };
        let first = [crate::account::AccountEvent::Opened {}, credited(1)];
        drop(ledger.create::<Account>("a", "teller", &owner, &first).unwrap());
        harm(&disk);
        let before = tree(&disk, Path::new("/bank"));
        for repair_it in [Repair::MoveTail, Repair::CutAtDamage] {
            for mode in BOTH {
                let refused = repair(&ledger, repair_it, mode).unwrap_err();
                assert_eq!(refused.code(), "nothing_whole", "{what}: {refused}");
                assert!(refused.hint().unwrap().contains("from a copy"), "{what}");
                assert_eq!(damage_of(refused).line, line, "{what}");
            }
        }
        assert_eq!(tree(&disk, Path::new("/bank")), before, "{what}");
    }
}

fn flip(disk: &MemDisk, at: usize) {
    let mut log = read(disk, &account("a").join(LOG));
    log[at] ^= 1;
    write(disk, &account("a").join(LOG), &log);
}

/// Newer is not damage: also an event of the ledger that this build does not know may say where bytes are.
#[test]
fn what_is_newer_is_never_cut() {
    for (event, version) in [("account.closed", 2), ("ledger.compacted", 1)] {
        let (disk, ledger) = in_memory();
        open_account(&ledger, "a");
        let log = read(&disk, &account("a").join(LOG));
        let newer = Forged::new("account/a", 2, hash_of(&log), event, "{}");
        let newer = Forged { schema_version: version, ..newer }.line();
        write(&disk, &account("a").join(LOG), &[&*log, &newer, b"damage\n"].concat());
        let before = tree(&disk, Path::new("/bank"));
        for repair_it in ALL {
            for mode in BOTH {
                let found = repair(&ledger, repair_it, mode);
                assert_eq!(found.unwrap_err().code(), "newer", "{event}");
            }
        }
        assert_eq!(tree(&disk, Path::new("/bank")), before);
    }
}

#[test]
fn a_tail_is_moved_on_request() {
    for repair_it in [Repair::MoveTail, Repair::CutAtDamage] {
        let (disk, ledger) = in_memory();
        six_events(&ledger);
        cut(&disk, &account("a").join(LOG), 7);
        let log = read(&disk, &account("a").join(LOG));
        let kept = lines(&log)[..5].concat();
        let done = repaired(&disk, &ledger, repair_it);
        let moved = done.moved.unwrap();
        assert_eq!(moved.file, "events.torn-20260722T120000000000Z-1");
        let (offset, bytes) = (kept.len() as u64, (log.len() - kept.len()) as u64);
        let part = LogPart { offset, bytes, lines: 1, sha256: Digest::of(&log[kept.len()..]) };
        assert_eq!((moved.part, done.damage, done.rewritten), (part, None, None));
        assert_eq!(read(&disk, &account("a").join(moved.file)), log[kept.len()..]);
        assert_all_told(&disk, &ledger, "a tail");
        let stream = ledger.stream::<Account>("a").unwrap();
        assert_eq!(stream.head().unwrap(), done.head);
        assert_eq!(stream.head().unwrap().seq, 6);
        assert_sound(&ledger, "a tail");
        assert!(repaired(&disk, &ledger, repair_it).is_nothing());
    }
}

/// A dry run makes no call that changes the disk: not a file, not a sync.
#[test]
fn a_dry_run_does_nothing_to_the_disk() {
    for (repair_it, harm) in [(Repair::MoveTail, 7), (Repair::CutAtDamage, 0), (Repair::Resync, 1)] {
        let disk = FaultyDisk::new();
        six_events(&open(disk.clone(), Path::new("/bank")));
        let log = account("a").join(LOG);
        match harm {
            0 => disk
                .open(&log, harn_ledger::disk::Open::Write)
                .unwrap()
                .write_at(900, b"!")
                .map(drop)
                .unwrap(),
            1 => write(&disk, &account("a").join("suspect"), b"10\n"),
            bytes => cut(&disk, &log, bytes),
        }
        let scripted = ScriptedDisk::new(disk.clone());
        for read_only in [false, true] {
            let ledger = Ledger::builder("/bank").disk(scripted.clone()).read_only(read_only).open().unwrap();
            let before = disk.operations();
            let found = repair(&ledger, repair_it, RepairMode::DryRun).unwrap();
            assert!(!found.is_nothing());
            assert_eq!(disk.operations(), before);
            if read_only {
                let refused = repair(&ledger, repair_it, RepairMode::Apply).unwrap_err();
                assert_eq!(refused.code(), "read_only");
                assert_eq!(disk.operations(), before);
            }
        }
        assert_eq!(scripted.count(Call::Write, "*"), 0);
        assert_eq!(scripted.count(Call::Sync, "*"), 0);
    }
}

#[test]
fn names_and_places_are_checked() {
    let (disk, ledger) = in_memory();
    six_events(&ledger);
    let options = VerifyOptions::default();
    for (kind, id, code) in [
        ("account", "..", "invalid_id"),
        ("account", "a/b", "invalid_id"),
        ("blobs", "a", "invalid_kind"),
        ("Account", "a", "invalid_kind"),
        ("account", "b", "not_found"),
        ("nothing", "a", "not_found"),
    ] {
        for mode in BOTH {
            let refused = ledger.repair(kind, id, Repair::MoveTail, mode, &options).unwrap_err();
            assert_eq!(refused.code(), code, "{kind}/{id}");
        }
    }
    cut(&disk, &account("a").join(LOG), 7);
    for path in ["/bank", "/bank/account", "/bank/account/a", "/bank/account/a/events.jsonl"] {
        let mode = disk.stat(Path::new(path)).unwrap().mode;
        disk.set_mode(Path::new(path), mode | 0o040).unwrap();
        let before = tree(&disk, Path::new("/bank"));
        for how in BOTH {
            let refused = repair(&ledger, Repair::MoveTail, how).unwrap_err();
            assert_eq!(refused.code(), "unsafe_place");
            assert_eq!(refused.hint(), Some(format!("chmod go= '{path}'")));
        }
        assert_eq!(tree(&disk, Path::new("/bank")), before);
        disk.set_mode(Path::new(path), mode).unwrap();
    }
    repair(&ledger, Repair::MoveTail, RepairMode::Apply).unwrap();
}

/// A repair that died between moving bytes and telling of them is made up for by whoever writes next.
#[test]
fn what_a_dead_repair_moved_is_told_by_the_next_append_or_repair() {
    let cut_file = "events.cut-20260101T000000000000Z-1".to_owned();
    let torn_file = "events.torn-20250101T000000000000Z-1".to_owned();
    let both = || {
        let (disk, ledger) = in_memory();
        six_events(&ledger);
        write(&disk, &account("a").join(&cut_file), b"damaged\n");
        write(&disk, &account("a").join(&torn_file), b"half a li");
        (disk, ledger)
    };
    for repair_it in [None, Some(Repair::MoveTail), Some(Repair::CutAtDamage)] {
        let (disk, ledger) = both();
        if let Some(repair_it) = repair_it {
            let done = repaired(&disk, &ledger, repair_it);
            assert_eq!((done.moved, done.told.len()), (None, 2));
        } else {
            let stream = ledger.stream::<Account>("a").unwrap();
            stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
        }
        assert_all_told(&disk, &ledger, "files that were found");
        assert_eq!(told(&ledger)[&cut_file].0, "cut");
        assert_sound(&ledger, "files that were found");
    }
    // With a tail or damage beside them, all are told in one batch.
    for damaged in [false, true] {
        let (disk, ledger) = both();
        if damaged {
            flip(&disk, 1000);
        } else {
            cut(&disk, &account("a").join(LOG), 7);
        }
        let done = repaired(&disk, &ledger, Repair::CutAtDamage);
        assert_eq!(done.told.len(), 3);
        assert_all_told(&disk, &ledger, "files and more");
        assert_sound(&ledger, "files and more");
    }
}

/// A line that told of a moved file may itself be cut off. The file is told of anew.
#[test]
fn a_file_whose_line_is_cut_off_is_told_of_again() {
    let (disk, ledger) = in_memory();
    six_events(&ledger);
    cut(&disk, &account("a").join(LOG), 7);
    repaired(&disk, &ledger, Repair::MoveTail);
    for _ in 0..2 {
        ledger.stream::<Account>("a").unwrap().append(Expect::Any, "teller", vec![credited(1)]).unwrap();
        flip(&disk, 1000);
        repaired(&disk, &ledger, Repair::CutAtDamage);
        assert_all_told(&disk, &ledger, "told again");
        assert_sound(&ledger, "told again");
    }
    assert_eq!(moved_files(&disk).len(), 3);
}

/// The steps of a cut, each failing once. Nothing is lost, and the next repair makes up for it.
#[test]
fn a_failure_during_a_cut_loses_nothing() {
    let cut_file = "events.cut-*";
    let full = ErrorKind::StorageFull;
    let cases = [
        ("the copy cannot be made", Call::Open, cut_file, Act::Fail(full), 0),
        ("the copy falls short", Call::Write, cut_file, Act::Fail(full), 0),
        ("the copy is not synced", Call::Sync, cut_file, Act::Fail(full), 0),
        ("its name is not synced", Call::SyncDir, "a", Act::Fail(full), 0),
        ("the log is not cut", Call::Truncate, LOG, Act::Fail(full), 1),
        ("the line is not written", Call::Write, LOG, Act::Fail(full), 1),
        ("the line falls short", Call::Write, LOG, Act::Short(100), 1),
    ];
    for (what, call, file, act, files) in cases {
        let (memory, ledger) = in_memory();
        six_events(&ledger);
        flip(&memory, 1000);
        let damaged = read(&memory, &account("a").join(LOG));
        let disk = ScriptedDisk::new(memory.clone());
        let scripted = open(disk.clone(), Path::new("/bank"));
        disk.next(call, file, act);
        let error = repair(&scripted, Repair::CutAtDamage, RepairMode::Apply).unwrap_err();
        assert_eq!((error.code(), disk.left()), ("storage_full", 0), "{what}");
        let moved = moved_files(&memory);
        assert_eq!(moved.len(), files, "{what}");
        let log = read(&memory, &account("a").join(LOG));
        assert!(log == damaged || [log, moved.into_values().next().unwrap()].concat() == damaged, "{what}");

        assert!(!repair(&scripted, Repair::CutAtDamage, RepairMode::Apply).unwrap().is_nothing(), "{what}");
        assert_all_told(&memory, &ledger, what);
        assert_sound(&ledger, what);
        assert_eq!(ledger.stream::<Account>("a").unwrap().state().unwrap().folded, [1, 2, 3], "{what}");
    }
}

/// A handle that has read beyond the cut does not go on as if nothing had happened, whatever the length of the log; a
/// handle that has not goes on.
#[test]
fn handles_from_before_a_cut() {
    let (disk, ledger) = in_memory();
    six_events(&ledger);
    let old = ledger.stream::<Account>("a").unwrap();
    let elsewhere = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
    let length = read(&disk, &account("a").join(LOG)).len();
    flip(&disk, 1000);
    let early = open(disk.clone(), Path::new("/bank"));
    assert_eq!(early.stream::<Account>("a").unwrap_err().code(), "damaged");
    repair(&ledger, Repair::CutAtDamage, RepairMode::Apply).unwrap();

    let fresh = ledger.stream::<Account>("a").unwrap();
    assert_eq!(fresh.state().unwrap().folded, [1, 2, 3]);
    let assert_cut_off = |when: &str| {
        for handle in [&old, &elsewhere] {
            for error in [
                handle.state().unwrap_err(),
                handle.settled_state().unwrap_err(),
                handle.head().map(drop).unwrap_err(),
                match handle.append(Expect::Any, "teller", vec![credited(1)]).unwrap_err() {
                    AppendError::Read(error) => error,
                    other => panic!("{when}: {other}"),
                },
            ] {
                let ReadError::Damaged { damage, .. } = &error else { panic!("{when}: {error}") };
                assert_eq!(damage.kind, DamageKind::CutOff { expected: length as u64 }, "{when}");
                assert!(error.hint().unwrap().contains("open the stream again"));
            }
        }
    };
    assert_cut_off("shorter");
    // The log grows again: to the very length that it had, and beyond it.
    let missing = length - read(&disk, &account("a").join(LOG)).len();
    let note = |length: usize| vec![crate::account::noted(1, &"x".repeat(length))];
    let plain = {
        let (disk, ledger) = in_memory();
        let stream = open_account(&ledger, "a");
        let before = read(&disk, &account("a").join(LOG)).len();
        stream.append(Expect::Any, "teller", note(1)).unwrap();
        read(&disk, &account("a").join(LOG)).len() - before - 1
    };
    fresh.append(Expect::Any, "teller", note(missing - plain)).unwrap();
    assert_eq!(read(&disk, &account("a").join(LOG)).len(), length);
    assert_cut_off("as long");
    fresh.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    assert_cut_off("longer");
    assert_eq!(fresh.state().unwrap().folded, [1, 2, 3, 5, 6]);
    assert_eq!(ledger.stream::<Account>("a").unwrap().state().unwrap(), fresh.state().unwrap());
    assert_sound(&ledger, "handles");
}

/// A handle that has read only what is kept goes on, and so does whoever holds the lease through it.
#[test]
fn a_handle_that_has_not_read_the_damage_goes_on() {
    let (_directory, root, ledger) = on_disk();
    let runner = open_account(&ledger, "a");
    let lease = runner.lease("a run").unwrap();
    let log = root.join("account/a").join(LOG);
    write(&OsDisk, &log, &[read(&OsDisk, &log), b"damage\n".to_vec()].concat());
    assert_eq!(runner.state().unwrap_err().code(), "damaged");
    let other = open(OsDisk, &root);
    assert_eq!(other.stream::<Account>("a").unwrap_err().code(), "damaged");
    repair(&other, Repair::CutAtDamage, RepairMode::Apply).unwrap();
    runner.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    assert_eq!(runner.state().unwrap().folded, [1, 3]);
    assert!(matches!(
        other.stream::<Account>("a").unwrap().lease_status().unwrap(),
        harn_ledger::LeaseStatus::HeldByOther(note) if note == "a run"
    ));
    drop(lease);
    assert_sound(&other, "a runner");
}

/// Under the lock a repair looks again: what another one did meanwhile is not done twice.
#[test]
fn two_repairs_at_once() {
    let (memory, ledger) = in_memory();
    six_events(&ledger);
    flip(&memory, 1000);
    let disk = ScriptedDisk::new(memory.clone());
    let second = open(disk.clone(), Path::new("/bank"));
    let first = ledger.clone();
    let repair_first = move || {
        repair(&first, Repair::CutAtDamage, RepairMode::Apply).unwrap();
        let stream = first.stream::<Account>("a").unwrap();
        for cents in 1..9 {
            stream.append(Expect::Any, "teller", vec![credited(cents)]).unwrap();
        }
    };
    disk.next(Call::TryLock, LOG, Act::First(Box::new(repair_first)));
    assert!(repair(&second, Repair::CutAtDamage, RepairMode::Apply).unwrap().is_nothing());
    assert_eq!(disk.left(), 0);
    assert_all_told(&memory, &ledger, "once");
    assert_sound(&ledger, "once");
}

/// A lock that is never given back.
#[test]
fn a_repair_waits_for_writers_and_gives_up() {
    let (disk, ledger) = in_memory();
    six_events(&ledger);
    let writer = disk.open(&account("a").join(LOG), harn_ledger::disk::Open::Write).unwrap();
    assert!(writer.try_lock(harn_ledger::disk::Lock::Exclusive).unwrap());
    std::thread::scope(|scope| {
        for mode in BOTH {
            let ledger = &ledger;
            scope.spawn(move || {
                assert_eq!(repair(ledger, Repair::CutAtDamage, mode).unwrap_err().code(), "busy");
            });
        }
    });
}

/// None of this runs by itself.
#[test]
fn damage_is_only_cut_on_request() {
    let (disk, ledger) = in_memory();
    six_events(&ledger);
    flip(&disk, 1000);
    let before = tree(&disk, Path::new("/bank"));
    let opened = open(disk.clone(), Path::new("/bank"));
    let Err(StreamError::Read(error)) = opened.stream::<Account>("a") else { panic!("it is damaged") };
    assert_eq!(error.hint().unwrap(), "the bytes are untouched; a repair can move the damaged end aside");
    drop(opened.verify(&VerifyOptions::default()));
    assert_eq!(tree(&disk, Path::new("/bank")), before);
}
