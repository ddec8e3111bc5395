//! Unfinished tails: readers pass over them and report them, the next append moves them aside and tells of it.

use std::path::Path;

use harn_ledger::disk::{Disk, MemDisk, Open, OsDisk};
use harn_ledger::{
    Digest, Entry, Expect, Ledger, LedgerEvent, ProblemKind, Stream, UnfinishedTail, VerifyOptions,
};

use crate::account::{Account, AccountEvent, Ballot, credited, open_account, open_ballot, voted};
use crate::forge::lines;
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{INTENT, LOG, account, cut, in_memory, on_disk, open, read, torn_files, tree, write};

/// An account with four events, the last three of them credits of 1, 2 and 3 cents; the last two in one batch.
fn history(ledger: &Ledger) -> Stream<Account> {
    let stream = open_account(ledger, "a");
    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    stream.append(Expect::Any, "teller", vec![credited(2), credited(3)]).unwrap();
    stream
}

/// What the ledger recorded about moved tails.
fn moved(stream: &Stream<Account>) -> Vec<(String, u64, Digest)> {
    let history = stream.history().unwrap();
    let ledger_events = history.into_iter().filter_map(|entry| match entry {
        Entry::Ledger(recorded) => Some((recorded.actor, recorded.event)),
        Entry::Domain(_) => None,
    });
    ledger_events
        .map(|(actor, event)| match event {
            LedgerEvent::TailMoved { file, bytes, sha256 } => {
                assert_eq!(actor, "ledger");
                (file, bytes, sha256)
            }
            other => panic!("not a moved tail: {other:?}"),
        })
        .collect()
}

fn assert_sound(ledger: &Ledger) {
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
}

/// R01: a reader folds what is whole, reports the tail and writes nothing.
#[test]
fn reading_passes_over_a_torn_line() {
    let (_directory, root, ledger) = on_disk();
    let stream = open_account(&ledger, "a");
    for cents in 1..=3 {
        stream.append(Expect::Any, "teller", vec![credited(cents)]).unwrap();
    }
    let log = root.join("account/a").join(LOG);
    let whole = read(&OsDisk, &log);
    cut(&OsDisk, &log, 7);
    let before = tree(&OsDisk, &root);

    let ledger = open(OsDisk, &root);
    let stream = ledger.stream::<Account>("a").unwrap();
    assert_eq!(stream.state().unwrap().cents, 3);
    assert_eq!(stream.settled_state().unwrap().folded, [1, 2, 3]);
    assert_eq!(stream.history().unwrap().len(), 3);
    let last = lines(&whole)[3];
    let tail = UnfinishedTail { offset: (whole.len() - last.len()) as u64, bytes: last.len() as u64 - 7 };
    assert_eq!(stream.unfinished_tail().unwrap(), Some(tail));
    let (head, raw_tail) = ledger.raw("account", "a").unwrap().verify().unwrap();
    assert_eq!((head, raw_tail), (stream.head().unwrap(), Some(tail)));
    let problems = ledger.verify(&VerifyOptions::default()).problems;
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].kind, ProblemKind::UnfinishedTail(tail));
    assert_eq!(ledger.ids("account").unwrap(), [stream.id().clone()]);
    assert_eq!(tree(&OsDisk, &root), before, "reading wrote something");
}

/// R02: an append never lands behind half a line.
#[test]
fn appending_moves_a_torn_line_aside() {
    let (_directory, root, ledger) = on_disk();
    history(&ledger);
    let directory = root.join("account/a");
    cut(&OsDisk, &directory.join(LOG), 7);
    let log = read(&OsDisk, &directory.join(LOG));
    let tail = lines(&log)[2..].concat();

    let ledger = open(OsDisk, &root);
    let stream = ledger.stream::<Account>("a").unwrap();
    stream.append(Expect::Any, "teller", vec![credited(10)]).unwrap();
    let torn = torn_files(&OsDisk, &directory);
    assert_eq!(torn, ["events.torn-20260722T120000000000Z-1"]);
    assert_eq!(read(&OsDisk, &directory.join(&torn[0])), tail);
    assert_eq!(OsDisk.stat(&directory.join(&torn[0])).unwrap().mode, 0o600);
    assert_eq!(moved(&stream), [(torn[0].clone(), tail.len() as u64, Digest::of(&tail))]);
    assert_eq!(stream.state().unwrap().cents, 11);
    assert_eq!(stream.state().unwrap().folded, [1, 2, 4]);
    assert_eq!(stream.unfinished_tail().unwrap(), None);
    for line in lines(&read(&OsDisk, &directory.join(LOG))) {
        let line: serde_json::Value = serde_json::from_slice(line).expect("every line is whole");
        assert!(line.is_object());
    }
    assert_sound(&ledger);
}

/// N-02: wherever the last line or the last batch is cut, the events before it stay usable.
#[test]
fn every_cut_through_the_last_batch_leaves_a_tail() {
    let (disk, ledger) = in_memory();
    let kept = history(&ledger).history().unwrap();
    let log = read(&disk, &account("a").join(LOG));
    let batch = lines(&log)[..2].concat().len();
    let before_last = lines(&log)[..1].concat().len();
    // Where whole batches end, with the number of events up to there.
    let borders = [(before_last, 1), (batch, 2), (log.len(), 4)];
    for cut_at in before_last..=log.len() {
        let (end, events) = *borders.iter().rfind(|(border, _)| *border <= cut_at).unwrap();
        let copy = MemDisk::new();
        copy_stream(&disk, &copy, &log[..cut_at]);
        let (disk, ledger) = (copy.clone(), open(copy, Path::new("/bank")));

        let stream = ledger.stream::<Account>("a").unwrap();
        assert_eq!(stream.history().unwrap(), kept[..events], "cut at {cut_at}");
        let bytes = (cut_at - end) as u64;
        let tail = (bytes > 0).then_some(UnfinishedTail { offset: end as u64, bytes });
        assert_eq!(stream.unfinished_tail().unwrap(), tail, "cut at {cut_at}");

        let committed = stream.append(Expect::Any, "teller", vec![credited(10)]).unwrap();
        assert_eq!(committed.head.seq, events as u64 + 1 + u64::from(bytes > 0));
        let torn = torn_files(&disk, &account("a"));
        assert_eq!(torn.len(), usize::from(bytes > 0), "cut at {cut_at}");
        for name in torn {
            assert_eq!(read(&disk, &account("a").join(name)), &log[end..cut_at]);
        }
        let reread = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
        assert_eq!(reread.state().unwrap(), stream.state().unwrap(), "cut at {cut_at}");
        assert_sound(&ledger);
    }
}

/// A log that a crash left without one whole event has lost what it was created with.
#[test]
fn a_cut_through_the_first_line_is_damage() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    let log = read(&disk, &account("a").join(LOG));
    for length in 0..log.len() {
        write(&disk, &account("a").join(LOG), &log[..length]);
        let error = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap_err();
        assert_eq!(error.code(), "damaged", "cut at {length}");
    }
}

/// Names one after the other, even within one microsecond.
#[test]
fn every_tail_gets_a_file_of_its_own() {
    let (disk, ledger) = in_memory();
    let stream = history(&ledger);
    for count in 1..=3 {
        cut(&disk, &account("a").join(LOG), 1);
        // The handle was verified beyond this cut, so for it the log is damaged; a new one sees only a tail.
        drop(stream.history());
        let stream = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
        stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
        let torn = torn_files(&disk, &account("a"));
        assert_eq!(torn.len(), count);
        assert_eq!(moved(&stream).into_iter().map(|(file, ..)| file).collect::<Vec<_>>(), torn);
    }
    assert_sound(&ledger);
}

/// A handle that has verified an event does not take its loss for a tail.
#[test]
fn a_cut_before_what_a_handle_has_seen_is_damage() {
    let (disk, ledger) = in_memory();
    let stream = history(&ledger);
    cut(&disk, &account("a").join(LOG), 1);
    assert_eq!(stream.state().unwrap_err().code(), "damaged");
    assert_eq!(stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap_err().code(), "damaged");
}

/// A writer that died between moving a tail and recording it leaves a file that the log does not tell of. Whoever
/// appends next tells of it, also with a handle that has appended before.
#[test]
fn a_moved_tail_that_nobody_recorded_is_recorded_by_the_next_append() {
    for old_handle in [false, true] {
        let (disk, ledger) = in_memory();
        let mut stream = history(&ledger);
        write(&disk, &account("a").join("events.torn-20260101T000000000000Z-1"), b"half a li");
        let log = disk.open(&account("a").join(LOG), Open::Write).unwrap();
        let end = log.stat().unwrap().length;
        log.write_at(end, b"half a li").unwrap();
        log.truncate(end).unwrap();
        if !old_handle {
            stream = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
        }
        stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
        stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
        let file = "events.torn-20260101T000000000000Z-1".to_owned();
        assert_eq!(moved(&stream), [(file, 9, Digest::of(b"half a li"))], "recorded once");
        assert_sound(&ledger);
    }
}

/// A moved tail that a handle has not read about yet is not recorded a second time.
#[test]
fn a_moved_tail_is_recorded_once_by_all_together() {
    let (disk, ledger) = in_memory();
    let first = history(&ledger);
    let second = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
    write(&disk, &account("a").join("events.torn-20260101T000000000000Z-1"), b"half");
    first.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    second.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    assert_eq!(moved(&second).len(), 1);
    assert_eq!(first.state().unwrap(), second.state().unwrap());
}

/// Only files are moved tails, and what else has such a name does not keep anybody from writing.
#[test]
fn a_directory_with_the_name_of_a_moved_tail_is_passed_over() {
    let (disk, ledger) = in_memory();
    let stream = history(&ledger);
    disk.create_dir(&account("a").join("events.torn-x")).unwrap();
    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    assert_eq!(moved(&stream), []);
}

/// The steps of moving a tail, each failing once. Nothing is lost, and the next append makes up for it.
#[test]
fn a_failure_while_a_tail_is_moved_loses_nothing() {
    let torn = "events.torn-*";
    let full = std::io::ErrorKind::StorageFull;
    let cases = [
        ("the copy cannot be made", Call::Open, torn, Act::Fail(full)),
        ("the copy falls short", Call::Write, torn, Act::Fail(full)),
        ("the copy is not synced", Call::Sync, torn, Act::Fail(full)),
        ("its name is not synced", Call::SyncDir, "a", Act::Fail(full)),
        ("the log is not cut", Call::Truncate, LOG, Act::Fail(full)),
        ("the lines are not written", Call::Write, LOG, Act::Fail(full)),
        ("the lines fall short", Call::Write, LOG, Act::Short(100)),
        ("only the last byte is missing", Call::Write, LOG, Act::Short(696)),
    ];
    for (what, call, file, act) in cases {
        let (memory, ledger) = in_memory();
        history(&ledger);
        cut(&memory, &account("a").join(LOG), 7);
        let log = read(&memory, &account("a").join(LOG));
        let tail = lines(&log)[2..].concat();
        let disk = ScriptedDisk::new(memory.clone());
        let stream = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
        let watcher = open(memory.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();

        disk.next(call, file, act);
        let error = stream.append(Expect::Any, "teller", vec![credited(10)]).unwrap_err();
        assert_eq!((error.code(), disk.left()), ("storage_full", 0), "{what}");
        assert_eq!(watcher.state().unwrap().cents, 1, "{what}");
        assert_eq!(stream.state().unwrap(), watcher.state().unwrap(), "{what}");

        stream.append(Expect::Any, "teller", vec![credited(10)]).unwrap();
        let moved = moved(&stream);
        assert!(moved.contains(&(moved[0].0.clone(), tail.len() as u64, Digest::of(&tail))), "{what}");
        assert_eq!(moved.len(), torn_files(&memory, &account("a")).len(), "{what}");
        assert_eq!(watcher.state().unwrap().cents, 11, "{what}");
        assert_eq!(watcher.state().unwrap(), stream.state().unwrap(), "{what}");
        assert_sound(&ledger);
    }
}

/// A write that falls short is no batch, wherever it ends: also the ledger's own line in it is not seen before it is
/// taken back.
#[test]
fn a_write_that_is_taken_back_was_never_visible() {
    for length in [1, 100, 430, 440, 450, 700] {
        let (memory, ledger) = in_memory();
        history(&ledger);
        cut(&memory, &account("a").join(LOG), 7);
        let disk = ScriptedDisk::new(memory.clone());
        let stream = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
        let watcher = open(memory.clone(), Path::new("/bank")).raw("account", "a").unwrap();
        let head = stream.head().unwrap();
        let log = read(&memory, &account("a").join(LOG));
        let seen_so_far = lines(&log)[..2].concat().len();
        disk.next(Call::Write, LOG, Act::Short(length));
        // The first cut takes the tail out of the log, the second takes back what was written.
        disk.after(
            1,
            Call::Truncate,
            LOG,
            Act::First(Box::new({
                let memory = memory.clone();
                move || {
                    let written = read(&memory, &account("a").join(LOG)).len() - seen_so_far;
                    assert_eq!(written, length);
                    let mut last = 0;
                    // On a copy, because the lock is held that a reader takes before it reports a tail.
                    let copy = MemDisk::new();
                    copy_stream(&memory, &copy, &read(&memory, &account("a").join(LOG)));
                    open(copy, Path::new("/bank"))
                        .raw("account", "a")
                        .unwrap()
                        .visit(|event| {
                            last = event.seq;
                            std::ops::ControlFlow::Continue(())
                        })
                        .unwrap();
                    assert_eq!(last, 2, "a line of a write of {length} bytes");
                }
            })),
        );
        let error = stream.append(Expect::Any, "teller", vec![credited(10), credited(20)]).unwrap_err();
        assert_eq!((error.code(), disk.left()), ("storage_full", 0));
        assert_eq!(watcher.verify().unwrap(), (head, None));
    }
}

/// A stream with the intent of `a` and this log, on another disk.
fn copy_stream(from: &MemDisk, to: &MemDisk, log: &[u8]) {
    for directory in ["/bank", "/bank/account", "/bank/account/a"] {
        to.create_dir(Path::new(directory)).unwrap();
    }
    write(to, &account("a").join(INTENT), &read(from, &account("a").join(INTENT)));
    write(to, &account("a").join(LOG), log);
}

/// The tail is moved and then there is no room for events: what was moved is told by whoever may still write.
#[test]
fn a_tail_moved_out_of_a_full_stream_is_recorded_by_a_closing_event() {
    let (disk, ledger) = in_memory();
    let ballot = open_ballot(&ledger, "b");
    for voter in ["a", "b", "c"] {
        ballot.append(Expect::Any, "clerk", vec![voted(voter)]).unwrap();
    }
    let path = Path::new("/bank/ballot/b");
    let mut log = read(&disk, &path.join(LOG));
    log.extend_from_slice(b"{\"schema");
    write(&disk, &path.join(LOG), &log);
    let error = ballot.append(Expect::Any, "clerk", vec![voted("d")]).unwrap_err();
    assert_eq!(error.code(), "limit_reached");
    let closing = crate::account::BallotEvent::Counted { votes: 3 };
    ballot.append(Expect::Any, "clerk", vec![closing]).unwrap();
    let entries = ledger.stream::<Ballot>("b").unwrap().history().unwrap();
    assert!(matches!(&entries[4], Entry::Ledger(moved) if moved.seq == 5));
    assert_eq!(torn_files(&disk, path).len(), 1);
    assert_sound(&ledger);
}

/// A read that meets half a line takes the lock and looks again, so a write that is going on is never called a tail.
#[test]
fn a_write_that_is_going_on_is_no_tail() {
    let (memory, ledger) = in_memory();
    let stream = history(&ledger);
    stream.append(Expect::Any, "teller", vec![credited(10)]).unwrap();
    let whole = read(&memory, &account("a").join(LOG));
    cut(&memory, &account("a").join(LOG), 40);
    let disk = ScriptedDisk::new(memory.clone());
    // The rest of the line comes while the reader waits for the lock.
    disk.next(
        Call::TryLock,
        LOG,
        Act::First(Box::new({
            let memory = memory.clone();
            move || write(&memory, &account("a").join(LOG), &whole)
        })),
    );
    let reader = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
    assert_eq!(reader.state().unwrap().cents, 16);
    assert_eq!((reader.unfinished_tail().unwrap(), disk.left()), (None, 0));
}

/// Whoever gives a lock back does not take it from another thread that reads through the same handle.
#[test]
fn readers_of_one_handle_do_not_unlock_each_other() {
    let (memory, ledger) = in_memory();
    history(&ledger);
    let log = account("a").join(LOG);
    cut(&memory, &log, 7);
    let disk = ScriptedDisk::new(memory.clone());
    let stream = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    // Reads of the log: two without the lock, then, under it, one that is disturbed.
    disk.after(
        2,
        Call::Read,
        LOG,
        Act::First(Box::new({
            let (stream, memory, log) = (stream.clone(), memory.clone(), log.clone());
            move || {
                stream.history().unwrap();
                let writer = memory.open(&log, harn_ledger::disk::Open::Write).unwrap();
                sender.send(writer.try_lock(harn_ledger::disk::Lock::Exclusive).unwrap()).unwrap();
            }
        })),
    );
    stream.history().unwrap();
    assert!(!receiver.recv().unwrap(), "the first reader's lock was gone while it still read");
}

/// The domain's code and the caller's run without a lock, so they may append while they are shown a history.
#[test]
fn a_visitor_may_append() {
    let (memory, ledger) = in_memory();
    history(&ledger);
    let log = account("a").join(LOG);
    let whole = read(&memory, &log);
    cut(&memory, &log, 7);
    let disk = ScriptedDisk::new(memory.clone());
    let stream = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
    // The batch becomes whole while the reader waits for the lock, so that it is shown after the second look.
    disk.next(Call::TryLock, LOG, Act::First(Box::new(move || write(&memory, &log, &whole))));
    let mut seen = Vec::new();
    stream
        .visit(|entry| {
            if let Entry::Domain(recorded) = &entry
                && recorded.event == credited(2)
            {
                stream.append(Expect::Any, "visitor", vec![AccountEvent::Closed {}]).unwrap();
            }
            seen.push(entry.seq());
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(seen[..4], [1, 2, 3, 4]);
    assert_eq!(disk.left(), 0);
    assert!(stream.state().unwrap().closed);
}
