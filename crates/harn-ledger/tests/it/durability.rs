//! Syncs: what is acknowledged was synced, and a sync that failed is not retried into a lie.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::mpsc;

use harn_ledger::disk::{Disk as _, MemDisk};
use harn_ledger::{AppendError, Expect, ProblemKind, ReadError, Stream, VerifyOptions};

use crate::account::{Account, AccountCommand, credited, open_account};
use crate::forge::lines;
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{LOG, account, in_memory, open, read, torn_files};

/// A disk with one account on it, under a script, and a handle through that script.
fn scripted() -> (MemDisk, ScriptedDisk, Stream<Account>) {
    let (memory, ledger) = in_memory();
    open_account(&ledger, "a").append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    let disk = ScriptedDisk::new(memory.clone());
    let stream = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
    (memory, disk, stream)
}

fn credit(stream: &Stream<Account>) -> Result<(), AppendError> {
    stream.append(Expect::Any, "teller", vec![credited(1)]).map(drop)
}

fn assert_unknown(result: Result<(), AppendError>, just_now: bool) {
    match result {
        Err(AppendError::DurabilityUnknown { stream, source }) => {
            assert_eq!((stream.to_string(), source.is_some()), ("account/a".to_owned(), just_now));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_append_is_one_write_and_one_sync() {
    let (_, disk, stream) = scripted();
    let counts = || [Call::Write, Call::Sync].map(|call| disk.count(call, LOG));
    assert_eq!(counts(), [0, 0]);
    credit(&stream).unwrap();
    assert_eq!(counts(), [1, 1]);
    stream.append(Expect::Any, "teller", vec![credited(1), credited(2), credited(3)]).unwrap();
    assert_eq!(counts(), [2, 2], "a batch too");
    stream.state().unwrap();
    stream.history().unwrap();
    stream.execute("teller", AccountCommand::Debit(1_000)).unwrap_err();
    assert_eq!(counts(), [2, 2], "neither looking nor a refusal");
}

/// G10: the events are in the file, but nobody may build on them.
#[test]
fn a_failed_sync_marks_the_stream() {
    let (memory, disk, stream) = scripted();
    credit(&stream).unwrap();
    let safe = read(&memory, &account("a").join(LOG)).len();
    disk.next(Call::Sync, LOG, Act::Fail(ErrorKind::Other));
    assert_unknown(credit(&stream), true);
    assert_eq!(read(&memory, &account("a").join("suspect")), format!("{safe}\n").as_bytes());
    assert_eq!(memory.stat(&account("a").join("suspect")).unwrap().mode, 0o600);
    assert_eq!(disk.count(Call::SyncDir, "a"), 1, "the mark's own name is synced");

    let log = read(&memory, &account("a").join(LOG));
    assert_eq!(lines(&log).len(), 4);
    let other = open(memory.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
    for handle in [&stream, &other] {
        assert_unknown(credit(handle), false);
        assert_eq!(handle.state().unwrap().cents, 3, "what is in the file is shown");
        let settled = handle.settled_state().unwrap_err();
        assert!(matches!(settled, ReadError::DurabilityUnknown { source: None, .. }), "{settled}");
    }
    assert_eq!(read(&memory, &account("a").join(LOG)), log);
    let problems = open(memory, Path::new("/bank")).verify(&VerifyOptions::default()).problems;
    assert_eq!(problems.len(), 1);
    assert_eq!((&*problems[0].place, &problems[0].kind), ("account/a", &ProblemKind::Suspect));
}

/// Without a mark the process that saw the failure still knows, for as long as its ledger is open.
#[test]
fn a_failed_sync_without_a_mark_is_remembered() {
    let (memory, ledger) = in_memory();
    drop(open_account(&ledger, "a"));
    drop(open_account(&ledger, "b"));
    for (call, name) in [(Call::Open, "suspect"), (Call::Write, "suspect"), (Call::Sync, "suspect")] {
        let disk = ScriptedDisk::new(memory.clone());
        let ledger = open(disk.clone(), Path::new("/bank"));
        let stream = ledger.stream::<Account>("a").unwrap();
        disk.next(Call::Sync, LOG, Act::Fail(ErrorKind::Other));
        disk.next(call, name, Act::Fail(ErrorKind::StorageFull));
        assert_unknown(credit(&stream), true);
        assert_eq!(disk.left(), 0);
        let _ = memory.unlink(&account("a").join("suspect"));
        assert_unknown(credit(&stream), false);
        drop(stream);
        let again = ledger.stream::<Account>("a").unwrap();
        assert_unknown(credit(&again), false);
        assert_eq!(again.settled_state().unwrap_err().code(), "durability_unknown");
        credit(&ledger.stream::<Account>("b").unwrap()).unwrap();
        assert!(memory.stat(&account("a").join("suspect")).is_err());
    }
}

/// The machine reports a failed sync once. A second thread whose sync would succeed after it must not be told that all
/// is well: its event follows from one that may be lost.
#[test]
fn a_sync_after_a_failed_one_is_no_success() {
    let (memory, disk, stream) = scripted();
    let (sender, receiver) = mpsc::channel();
    let second = stream.clone();
    let second = std::thread::spawn(move || {
        receiver.recv().unwrap();
        credit(&second)
    });
    // The second thread's event is in the file before the first thread's sync fails.
    let wait_for_the_second = {
        let memory = memory.clone();
        move || {
            sender.send(()).unwrap();
            while lines(&read(&memory, &account("a").join(LOG))).len() < 4 {
                std::thread::yield_now();
            }
        }
    };
    disk.next(Call::Sync, LOG, Act::First(Box::new(wait_for_the_second)));
    disk.next(Call::Sync, LOG, Act::Fail(ErrorKind::Other));
    assert_unknown(credit(&stream), true);
    assert_unknown(second.join().unwrap(), false);
    assert_eq!(disk.left(), 0);
    assert!(memory.stat(&account("a").join("suspect")).is_ok());
}

/// Disk full: the log is byte for byte as it was, and so is what everybody sees.
#[test]
fn a_write_that_does_not_fit_is_taken_back() {
    let acts = [
        ("short by one", Act::Short(898), "storage_full"),
        ("a whole line of the batch", Act::Short(300), "storage_full"),
        ("one byte", Act::Short(1), "storage_full"),
        ("nothing", Act::Short(0), "storage_full"),
        ("no room", Act::Fail(ErrorKind::StorageFull), "storage_full"),
        ("another failure", Act::Fail(ErrorKind::PermissionDenied), "write_failed"),
    ];
    for (what, act, code) in acts {
        let (memory, disk, stream) = scripted();
        let before = read(&memory, &account("a").join(LOG));
        let state = stream.state().unwrap();
        disk.next(Call::Write, LOG, act);
        let batch = vec![credited(1), credited(2), credited(3)];
        let error = stream.append(Expect::Any, "teller", batch.clone()).unwrap_err();
        assert_eq!((error.code(), disk.left()), (code, 0), "{what}");
        assert_eq!(read(&memory, &account("a").join(LOG)), before, "{what}");
        assert_eq!(stream.state().unwrap(), state, "{what}");
        assert_eq!(stream.unfinished_tail().unwrap(), None, "{what}");
        stream.append(Expect::Any, "teller", batch).unwrap();
        assert_eq!(stream.state().unwrap().folded, [1, 2, 3, 4, 5], "{what}");
        assert_eq!(torn_files(&memory, &account("a")), Vec::<String>::new(), "{what}");
    }
}

/// If not even that works, what was written stays as a tail, and the next append moves it.
#[test]
fn a_write_that_cannot_be_taken_back_is_a_tail() {
    let (memory, disk, stream) = scripted();
    let before = read(&memory, &account("a").join(LOG));
    disk.next(Call::Write, LOG, Act::Short(100));
    disk.next(Call::Truncate, LOG, Act::Fail(ErrorKind::Other));
    assert_eq!(credit(&stream).unwrap_err().code(), "storage_full");
    assert_eq!(disk.left(), 0);
    let tail = stream.unfinished_tail().unwrap().unwrap();
    assert_eq!((tail.offset, tail.bytes), (before.len() as u64, 100));
    assert_eq!(stream.state().unwrap().cents, 1);
    credit(&stream).unwrap();
    let torn = torn_files(&memory, &account("a"));
    assert_eq!(torn.len(), 1);
    assert_eq!(read(&memory, &account("a").join(&torn[0])).len(), 100);
    assert_eq!(stream.state().unwrap().folded, [1, 2, 4]);
    let ledger = open(memory, Path::new("/bank"));
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
}

/// A fact that another decision rests on is on stable storage: what somebody else wrote is synced by who relies on it.
#[test]
fn a_settled_state_syncs_what_others_wrote() {
    let (memory, disk, stream) = scripted();
    let syncs = || disk.count(Call::Sync, LOG);
    assert_eq!((stream.state().unwrap().cents, syncs()), (1, 0));
    assert_eq!((stream.settled_state().unwrap().cents, syncs()), (1, 1), "never synced by this process");
    assert_eq!((stream.settled_state().unwrap().cents, syncs()), (1, 1), "known to be synced now");
    credit(&stream).unwrap();
    assert_eq!((stream.settled_state().unwrap().cents, syncs()), (2, 2), "synced by the append itself");
    credit(&open(memory, Path::new("/bank")).stream::<Account>("a").unwrap()).unwrap();
    assert_eq!((stream.state().unwrap().cents, syncs()), (3, 2), "showing needs no sync");
    assert_eq!((stream.settled_state().unwrap().cents, syncs()), (3, 3));
}

/// A sync for a fact that fails is a failed sync like any other.
#[test]
fn a_settled_state_that_cannot_be_synced() {
    for read_only in [false, true] {
        let (memory, _) = in_memory();
        open_account(&open(memory.clone(), Path::new("/bank")), "a");
        let disk = ScriptedDisk::new(memory.clone());
        let builder = harn_ledger::Ledger::builder("/bank").disk(disk.clone()).read_only(read_only);
        let stream = builder.open().unwrap().stream::<Account>("a").unwrap();
        disk.next(Call::Sync, LOG, Act::Fail(ErrorKind::Other));
        let error = stream.settled_state().unwrap_err();
        assert!(matches!(error, ReadError::DurabilityUnknown { source: Some(_), .. }), "{error}");
        let error = stream.settled_state().unwrap_err();
        assert!(matches!(error, ReadError::DurabilityUnknown { source: None, .. }), "{error}");
        assert_eq!(memory.stat(&account("a").join("suspect")).is_ok(), !read_only);
        assert_eq!(stream.state().unwrap().folded, [1]);
    }
}

#[test]
fn a_mark_left_by_another_process_is_seen_before_each_write() {
    let (memory, _, stream) = scripted();
    credit(&stream).unwrap();
    crate::store::write(&memory, &account("a").join("suspect"), b"");
    assert_unknown(credit(&stream), false);
    memory.unlink(&account("a").join("suspect")).unwrap();
    credit(&stream).unwrap();
}

/// The mark waits for whoever is writing, so that nobody writes past it unawares.
#[test]
fn the_mark_is_left_under_the_lock() {
    let (memory, disk, stream) = scripted();
    disk.next(Call::Sync, LOG, Act::Fail(ErrorKind::Other));
    let (sender, receiver) = mpsc::channel();
    let log = account("a").join(LOG);
    disk.next(
        Call::Open,
        "suspect",
        Act::First(Box::new(move || {
            let writer = memory.open(&log, harn_ledger::disk::Open::Write).unwrap();
            sender.send(writer.try_lock(harn_ledger::disk::Lock::Exclusive).unwrap()).unwrap();
        })),
    );
    assert_unknown(credit(&stream), true);
    assert!(!receiver.recv().unwrap(), "somebody could have written meanwhile");
}
