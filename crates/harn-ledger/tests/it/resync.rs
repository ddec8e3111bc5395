//! Resync: the end of a stream whose sync failed is written again, and lasts then.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use harn_ledger::disk::{Disk, Fault, FaultyDisk, MemDisk, Open, Operation};
use harn_ledger::{AppendError, Expect, Ledger, ProblemKind, Repair, RepairMode, Stream, VerifyOptions};

use crate::account::{Account, AccountEvent, Owner, credited, noted, open_account};
use crate::repair::repair;
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{LOG, account, cut, in_memory, open, read, tree, write};

fn root() -> &'static Path {
    Path::new("/bank")
}

fn suspect() -> PathBuf {
    account("a").join("suspect")
}

fn credit(stream: &Stream<Account>) -> Result<(), AppendError> {
    stream.append(Expect::Any, "teller", vec![credited(1)]).map(drop)
}

fn assert_unknown(result: &Result<(), AppendError>) {
    assert!(matches!(result, Err(AppendError::DurabilityUnknown { .. })), "{result:?}");
}

/// Lets the next operation of this kind on a file of this name fail, given that the same work would be done on a copy.
fn fail_next(disk: &FaultyDisk, operation: Operation, path: &Path, work: impl Fn(&FaultyDisk)) {
    let (done, copy) = (disk.operations().len(), disk.process_death());
    work(&copy);
    let wanted = (operation, path.to_owned());
    let found = copy.operations().iter().rposition(|made| *made == wanted).expect("it is done on the copy");
    disk.fail_at(done + found, Fault::SyncError);
}

/// A way to a stream that is suspect, and what its log holds.
type Way = fn(&FaultyDisk, &Ledger);

/// More than a page, so that the lost pages are not only the last one.
fn long_append(disk: &FaultyDisk) {
    let stream = open(disk.clone(), root()).stream::<Account>("a").unwrap();
    let batch = vec![noted(1, &"x".repeat(5000)), noted(2, &"y".repeat(5000))];
    let _ = stream.append(Expect::Any, "teller", batch);
}

fn create(disk: &FaultyDisk) {
    let owner = Owner { owner: "Alice".to_owned(), contract: None };
    let _ = open(disk.clone(), root()).create::<Account>("a", "teller", &owner, &[AccountEvent::Opened {}]);
}

fn credit_anew(disk: &FaultyDisk) {
    let _ = credit(&open(disk.clone(), root()).stream::<Account>("a").unwrap());
}

const WAYS: [(&str, Way, u64); 3] = [
    (
        "an append",
        |disk, ledger| {
            credit(&open_account(ledger, "a")).unwrap();
            fail_next(disk, Operation::Sync, &account("a").join(LOG), long_append);
            long_append(disk);
        },
        4,
    ),
    (
        "a tail that is cut off",
        |disk, ledger| {
            open_account(ledger, "a");
            long_append(disk);
            cut(disk, &account("a").join(LOG), 7);
            disk.open(&account("a").join(LOG), Open::Read).unwrap().sync().unwrap();
            // The last sync of the log is that of the new event, the one before it that of the cut.
            let done = disk.operations().len();
            let copy = disk.process_death();
            credit_anew(&copy);
            let log = (Operation::Sync, account("a").join(LOG));
            let found = copy.operations().iter().position(|made| *made == log).unwrap();
            disk.fail_at(done + found, Fault::SyncError);
            credit_anew(disk);
        },
        1,
    ),
    (
        "the stream's name",
        |disk, ledger| {
            open_account(ledger, "b");
            fail_next(disk, Operation::SyncDir, Path::new("/bank/account"), create);
            create(disk);
        },
        1,
    ),
];

/// What is shown of the account on this disk by another process, and whether it may be written.
fn shown(disk: &FaultyDisk) -> Result<(Vec<u64>, Vec<u8>), String> {
    let stream =
        open(disk.clone(), root()).stream::<Account>("a").map_err(|error| error.code().to_owned())?;
    let state = stream.state().map_err(|error| error.code().to_owned())?;
    Ok((state.folded, read(disk, &account("a").join(LOG))))
}

/// G10. Whatever a failed sync may have lost is on stable storage after a resync, and not before: syncing again is no
/// help, because the machine takes what it failed to write for written.
#[test]
fn a_resync_brings_what_is_shown_to_stable_storage() {
    for (what, way, events) in WAYS {
        let disk = FaultyDisk::new();
        let ledger = open(disk.clone(), root());
        way(&disk, &ledger);
        assert!(disk.stat(&suspect()).is_ok(), "{what}");
        let (folded, log) = shown(&disk).unwrap();
        assert_eq!(folded.len() as u64, events, "{what}");

        let synced = disk.process_death();
        synced.open(&account("a").join(LOG), Open::Write).unwrap().sync().unwrap();
        synced.sync_dir(&account("a")).unwrap();
        let lost = shown(&synced.power_loss(0));
        assert_ne!(lost, Ok((folded.clone(), log.clone())), "{what}: a sync alone is enough");

        let before = disk.operations();
        let would = repair(&ledger, Repair::Resync, RepairMode::DryRun).unwrap();
        assert_eq!(disk.operations(), before, "{what}");
        let done = repair(&ledger, Repair::Resync, RepairMode::Apply).unwrap();
        assert_eq!(would, done, "{what}");
        let part = done.rewritten.unwrap();
        assert_eq!(part.offset + part.bytes, log.len() as u64, "{what}");
        assert!((done.moved, done.told) == (None, Vec::new()), "{what}");

        assert_eq!(shown(&disk).unwrap(), (folded.clone(), log.clone()), "{what}: the bytes are the same");
        for seed in 0..20 {
            let later = disk.power_loss(seed);
            assert_eq!(shown(&later).unwrap(), (folded.clone(), log.clone()), "{what}: power loss {seed}");
            assert!(later.stat(&suspect()).is_err(), "{what}");
            credit(&open(later, root()).stream::<Account>("a").unwrap()).unwrap();
        }
        assert!(repair(&ledger, Repair::Resync, RepairMode::Apply).unwrap().is_nothing(), "{what}");
    }
}

/// In the process that saw the failure, through the handle that saw it and through a new one; and in another process.
#[test]
fn after_a_resync_writes_are_accepted_again() {
    let disk = FaultyDisk::new();
    let ledger = open(disk.clone(), root());
    let stream = open_account(&ledger, "a");
    let elsewhere = open(disk.clone(), root()).stream::<Account>("a").unwrap();
    disk.fail_at(disk.operations().len() + 1, Fault::SyncError);
    assert_unknown(&credit(&stream));
    for repair_it in [Repair::MoveTail, Repair::CutAtDamage] {
        for mode in [RepairMode::DryRun, RepairMode::Apply] {
            let refused = repair(&ledger, repair_it, mode).unwrap_err();
            assert_eq!(refused.code(), "durability_unknown", "{repair_it:?}");
        }
    }
    assert_unknown(&credit(&stream));
    let other = open(disk.clone(), root());
    repair(&other, Repair::Resync, RepairMode::Apply).unwrap();
    // Who saw the failure refuses the stream until it has brought it to stable storage itself.
    assert_unknown(&credit(&stream));
    assert!(!repair(&ledger, Repair::Resync, RepairMode::Apply).unwrap().is_nothing());
    let fresh = ledger.stream::<Account>("a").unwrap();
    assert_eq!(fresh.settled_state().unwrap().folded, [1, 2]);
    credit(&stream).unwrap();
    credit(&fresh).unwrap();
    assert_eq!(stream.settled_state().unwrap().folded, [1, 2, 3, 4]);
    assert_eq!(elsewhere.state().unwrap().folded, [1, 2, 3, 4]);
    assert_eq!(shown(&disk.power_loss(0)).unwrap().0, [1, 2, 3, 4]);
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
}

/// Where no mark could be left, the process that saw the failure still knows, and so does its repair.
#[test]
fn a_failed_sync_without_a_mark_is_repaired() {
    let (memory, _) = in_memory();
    let disk = ScriptedDisk::new(memory.clone());
    let ledger = open(disk.clone(), root());
    let stream = open_account(&ledger, "a");
    disk.next(Call::Sync, LOG, Act::Fail(ErrorKind::Other));
    disk.next(Call::Open, "suspect", Act::Fail(ErrorKind::StorageFull));
    assert_unknown(&credit(&stream));
    assert!(repair(&open(memory.clone(), root()), Repair::Resync, RepairMode::Apply).unwrap().is_nothing());
    let done = repair(&ledger, Repair::Resync, RepairMode::Apply).unwrap();
    assert_eq!(done.rewritten.unwrap().offset, 0);
    credit(&stream).unwrap();
}

/// The mark says from where on; one that does not is as good as none.
#[test]
fn a_mark_that_cannot_be_read_means_everything() {
    let (disk, ledger) = in_memory();
    let stream = open_account(&ledger, "a");
    credit(&stream).unwrap();
    let length = read(&disk, &account("a").join(LOG)).len() as u64;
    let end = format!("{length}\n");
    let beyond = format!("{}\n", length + 1);
    let long = "0".repeat(200);
    let cases: [(&[u8], u64); 14] = [
        (b"100\n", 100),
        (b"0\n", 0),
        (end.as_bytes(), length),
        (beyond.as_bytes(), 0),
        (b"", 0),
        (b"100", 0),
        (b"\n", 0),
        (b"+5\n", 0),
        (b"-1\n", 0),
        (b" 7\n", 0),
        (b"7\n\n", 0),
        (b"99999999999999999999\n", 0),
        (b"\xff\n", 0),
        (long.as_bytes(), 0),
    ];
    for (mark, from) in cases {
        write(&disk, &suspect(), mark);
        let before = read(&disk, &account("a").join(LOG));
        let done = repair(&ledger, Repair::Resync, RepairMode::Apply).unwrap();
        let part = done.rewritten.unwrap();
        assert_eq!((part.offset, part.bytes), (from, length - from), "{mark:?}");
        assert_eq!(read(&disk, &account("a").join(LOG)), before);
        assert!(disk.stat(&suspect()).is_err());
    }
}

type Make = fn(ErrorKind) -> Act;

/// The steps of a resync, each failing once. The stream refuses writes until one has gone through.
#[test]
fn a_failure_during_a_resync_leaves_the_mark() {
    let changed = |memory: &MemDisk| {
        let memory = memory.clone();
        Act::First(Box::new(move || {
            memory.open(&account("a").join(LOG), Open::Write).unwrap().write_at(500, b"!").map(drop).unwrap();
        }))
    };
    let cases: [(&str, Call, &str, Option<Make>, &str); 7] = [
        ("the length", Call::Truncate, LOG, Some(Act::Fail), "write_failed"),
        ("the bytes", Call::Write, LOG, Some(Act::Fail), "write_failed"),
        ("the sync", Call::Sync, LOG, Some(Act::Fail), "durability_unknown"),
        ("the files' names", Call::SyncDir, "a", Some(Act::Fail), "durability_unknown"),
        ("the stream's name", Call::SyncDir, "account", Some(Act::Fail), "durability_unknown"),
        ("what is read back", Call::SyncDir, "account", None, "not_read_back"),
        ("bytes in pieces", Call::Write, LOG, Some(|_| Act::Short(10)), ""),
    ];
    for (what, call, name, act, code) in cases {
        let (memory, _) = in_memory();
        let disk = ScriptedDisk::new(memory.clone());
        let ledger = open(disk.clone(), root());
        let stream = open_account(&ledger, "a");
        credit(&stream).unwrap();
        write(&memory, &suspect(), b"400\n");
        let log = read(&memory, &account("a").join(LOG));
        disk.next(call, name, act.map_or_else(|| changed(&memory), |act| act(ErrorKind::Other)));
        let done = repair(&ledger, Repair::Resync, RepairMode::Apply);
        assert_eq!(disk.left(), 0, "{what}");
        if code.is_empty() {
            assert!(!done.unwrap().is_nothing());
        } else {
            let error = done.unwrap_err();
            assert_eq!(error.code(), code, "{what}");
            assert!(error.hint().is_some() || code == "write_failed", "{what}");
            assert_eq!(read(&memory, &suspect()), b"400\n", "{what}");
            write(&memory, &account("a").join(LOG), &log);
            assert_unknown(&credit(&ledger.stream::<Account>("a").unwrap()));
            assert_unknown(&credit(&open(memory.clone(), root()).stream::<Account>("a").unwrap()));
            assert!(!repair(&ledger, Repair::Resync, RepairMode::Apply).unwrap().is_nothing(), "{what}");
        }
        assert_eq!(read(&memory, &account("a").join(LOG)), log, "{what}");
        credit(&stream).unwrap();
    }
    // Once the mark is removed, all is safe; at worst it comes back.
    let (memory, _) = in_memory();
    let disk = ScriptedDisk::new(memory.clone());
    let ledger = open(disk.clone(), root());
    let stream = open_account(&ledger, "a");
    write(&memory, &suspect(), b"400\n");
    disk.after(1, Call::SyncDir, "a", Act::Fail(ErrorKind::Other));
    assert_eq!(repair(&ledger, Repair::Resync, RepairMode::Apply).unwrap_err().code(), "write_failed");
    credit(&stream).unwrap();
}

/// A log that is marked and damaged: what is kept is written again, then the damage is cut. The other way round each of
/// the two would wait for the other.
#[test]
fn a_suspect_and_damaged_stream_is_cut() {
    let disk = FaultyDisk::new();
    let ledger = open(disk.clone(), root());
    let stream = open_account(&ledger, "a");
    credit(&stream).unwrap();
    let safe = read(&disk, &account("a").join(LOG)).len();
    fail_next(&disk, Operation::Sync, &account("a").join(LOG), credit_anew);
    credit_anew(&disk);
    let kept = read(&disk, &account("a").join(LOG));
    let log = disk.open(&account("a").join(LOG), Open::Write).unwrap();
    log.write_at(kept.len() as u64, b"damage\n").unwrap();
    drop(log);
    write(&disk, &suspect(), format!("{safe}\n").as_bytes());
    for repair_it in [Repair::MoveTail, Repair::Resync] {
        for mode in [RepairMode::DryRun, RepairMode::Apply] {
            assert_eq!(repair(&ledger, repair_it, mode).unwrap_err().code(), "damaged", "{repair_it:?}");
        }
    }
    let would = repair(&ledger, Repair::CutAtDamage, RepairMode::DryRun).unwrap();
    let done = repair(&ledger, Repair::CutAtDamage, RepairMode::Apply).unwrap();
    assert_eq!(would, done);
    assert_eq!(done.rewritten.unwrap().offset, safe as u64);
    assert_eq!(done.moved.unwrap().part.offset, kept.len() as u64);
    assert!(disk.stat(&suspect()).is_err());
    for seed in 0..20 {
        let later = disk.power_loss(seed);
        let (folded, log) = shown(&later).unwrap();
        assert_eq!((folded, &log[..kept.len()]), (vec![1, 2, 3], &*kept));
        assert_eq!(open(later.clone(), root()).verify(&VerifyOptions::default()).problems, []);
        credit_anew(&later);
        assert_eq!(shown(&later).unwrap().0, [1, 2, 3, 5]);
    }
}

/// A tail is no damage: it is written again like the rest, and moved by the next append.
#[test]
fn a_tail_behind_a_mark_stays() {
    let (disk, ledger) = in_memory();
    credit(&open_account(&ledger, "a")).unwrap();
    cut(&disk, &account("a").join(LOG), 7);
    write(&disk, &suspect(), b"0\n");
    let log = read(&disk, &account("a").join(LOG));
    repair(&ledger, Repair::Resync, RepairMode::Apply).unwrap();
    assert_eq!(read(&disk, &account("a").join(LOG)), log);
    let problems = ledger.verify(&VerifyOptions::default()).problems;
    assert!(matches!(problems[..], [ref only] if matches!(only.kind, ProblemKind::UnfinishedTail(_))));
    assert!(!repair(&ledger, Repair::MoveTail, RepairMode::Apply).unwrap().is_nothing());
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
}

/// A stream without a mark is not touched, whatever else is wrong with it.
#[test]
fn there_is_nothing_to_resync_without_a_mark() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    let log = read(&disk, &account("a").join(LOG));
    for behind in [&b""[..], b"half a li", b"damage\n"] {
        write(&disk, &account("a").join(LOG), &[&*log, behind].concat());
        let before = tree(&disk, root());
        assert!(repair(&ledger, Repair::Resync, RepairMode::Apply).unwrap().is_nothing());
        assert_eq!(tree(&disk, root()), before);
    }
}
