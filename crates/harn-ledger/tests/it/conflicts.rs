//! Commands against changes that come in between, and handles that share what they know.

use std::cell::Cell;
use std::path::Path;
use std::sync::{Arc, Barrier};

use harn_ledger::disk::MemDisk;
use harn_ledger::{AppendError, Decider, Entry, ExecuteError, Expect, Ledger, Recorded, StreamError};
use serde::{Deserialize, Serialize};

use crate::account::{
    Account, AccountCommand, AccountEvent, AccountRefusal, Ballot, Owner, credited, open_account, open_ballot,
};
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{LOG, account, in_memory, open, read, write};

/// Another process, as far as a test in one process can have one: a ledger that shares nothing but the disk.
fn other(disk: &MemDisk) -> Ledger {
    open(disk.clone(), Path::new("/bank"))
}

#[test]
fn a_command_is_decided_on_what_is_there() {
    let (disk, ledger) = in_memory();
    let alice = open_account(&ledger, "a");
    let committed = alice.execute("teller", AccountCommand::Credit(100)).unwrap();
    assert_eq!((committed.events.len(), committed.head), (1, alice.head().unwrap()));
    let Recorded { seq, actor, hash, event, .. } = &committed.events[0];
    assert_eq!((*seq, actor.as_str(), *hash, event), (2, "teller", committed.head.hash, &credited(100)));
    other(&disk).stream::<Account>("a").unwrap().execute("teller", AccountCommand::Debit(70)).unwrap();

    let refused = alice.execute("teller", AccountCommand::Debit(31)).unwrap_err();
    assert!(matches!(refused, ExecuteError::Refused(AccountRefusal::Overdrawn { left: 30 })));
    alice.execute("teller", AccountCommand::Close).unwrap();
    let before = read(&disk, &account("a").join(LOG));
    let nothing = alice.execute("teller", AccountCommand::Close).unwrap();
    assert_eq!((nothing.events.len(), nothing.head), (0, alice.head().unwrap()));
    assert_eq!(read(&disk, &account("a").join(LOG)), before, "nothing to do writes nothing");
}

/// A change between the facts and the write: both run again, on the new state.
#[test]
fn a_change_in_between_is_decided_again() {
    let (disk, ledger) = in_memory();
    let alice = open_account(&ledger, "a");
    let elsewhere = other(&disk).stream::<Account>("a").unwrap();
    let seen = Cell::new(Vec::new());
    let committed = alice
        .execute_with("teller", AccountCommand::Debit(50), |state| {
            let mut cents = seen.take();
            cents.push(state.cents);
            if cents.len() <= 3 {
                elsewhere.append(Expect::Any, "other", vec![credited(100)]).unwrap();
            }
            seen.set(cents);
            Ok(())
        })
        .unwrap_err();
    // The first try has nothing to debit from, and its refusal is final: it was decided on what was there.
    assert!(matches!(committed, ExecuteError::Refused(AccountRefusal::Overdrawn { left: 0 })));
    assert_eq!(seen.take(), [0]);

    let committed = alice
        .execute_with("teller", AccountCommand::Debit(50), |state| {
            let mut cents = seen.take();
            cents.push(state.cents);
            if cents.len() <= 3 {
                elsewhere.append(Expect::Any, "other", vec![credited(100)]).unwrap();
            }
            seen.set(cents);
            Ok(())
        })
        .unwrap();
    assert_eq!(seen.take(), [100, 200, 300, 400]);
    assert_eq!((committed.head.seq, alice.state().unwrap().cents), (6, 350));
}

/// The same when the change comes from a thread with the same handle.
#[test]
fn a_change_through_the_same_handle_is_decided_again() {
    let (_, ledger) = in_memory();
    let alice = open_account(&ledger, "a");
    let tries = Cell::new(0);
    alice
        .execute_with("teller", AccountCommand::Credit(1), |_| {
            tries.set(tries.get() + 1);
            if tries.get() == 1 {
                let alice = alice.clone();
                let appended = std::thread::spawn(move || {
                    alice.append(Expect::Any, "other", vec![credited(10)]).map(drop)
                });
                appended.join().unwrap().unwrap();
            }
            Ok(())
        })
        .unwrap();
    assert_eq!((tries.get(), alice.state().unwrap().cents), (2, 11));
}

/// The last moment: after the expectation was checked without the lock, before the lock is taken.
#[test]
fn a_change_while_the_lock_is_waited_for() {
    for (expect_head, events) in [(true, 2), (false, 3)] {
        let (memory, ledger) = in_memory();
        open_account(&ledger, "a");
        let disk = ScriptedDisk::new(memory.clone());
        let alice = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
        let elsewhere = other(&memory).stream::<Account>("a").unwrap();
        let expect = if expect_head { Expect::Head(alice.head().unwrap()) } else { Expect::Any };
        let change = move || {
            elsewhere.append(Expect::Any, "other", vec![credited(10)]).unwrap();
        };
        disk.next(Call::TryLock, LOG, Act::First(Box::new(change)));
        let appended = alice.append(expect, "teller", vec![credited(1)]);
        assert_eq!(disk.left(), 0);
        assert_eq!(appended.is_ok(), !expect_head);
        if let Err(error) = appended {
            assert!(matches!(error, AppendError::Conflict { .. }), "{error}");
        }
        let folded: Vec<u64> = (1..=events).collect();
        assert_eq!(alice.state().unwrap().folded, folded);
        assert_eq!(other(&memory).stream::<Account>("a").unwrap().state().unwrap().folded, folded);
    }
}

/// Somebody who always comes in between ends a command after 16 tries.
#[test]
fn a_command_gives_up_after_sixteen_tries() {
    let (disk, ledger) = in_memory();
    let alice = open_account(&ledger, "a");
    let elsewhere = other(&disk).stream::<Account>("a").unwrap();
    let tries = Cell::new(0);
    let error = alice
        .execute_with("teller", AccountCommand::Credit(1), |_| {
            tries.set(tries.get() + 1);
            elsewhere.append(Expect::Any, "other", vec![credited(10)]).unwrap();
            Ok(())
        })
        .unwrap_err();
    assert!(matches!(error, ExecuteError::Append(AppendError::Conflict { .. })), "{error}");
    assert_eq!((tries.get(), alice.state().unwrap().cents), (16, 160));
}

/// What an append expects of the end, against what came after it.
#[test]
fn expectations() {
    let (disk, ledger) = in_memory();
    let alice = open_account(&ledger, "a");
    let first = alice.head().unwrap();
    let batch = alice.append(Expect::Head(first), "teller", vec![credited(1), credited(2)]).unwrap();
    assert_eq!(batch.head.seq, 3);
    let within = harn_ledger::Head { seq: batch.events[0].seq, hash: batch.events[0].hash };
    let mistaken = harn_ledger::Head { seq: 3, hash: first.hash };
    for (what, expect, met) in [
        ("the beginning", Expect::Head(first), false),
        ("a place within the batch", Expect::Head(within), false),
        ("a hash that is not there", Expect::Head(mistaken), false),
        ("the end", Expect::Head(batch.head), true),
        ("the end, once more", Expect::Head(batch.head), false),
        ("nothing", Expect::Any, true),
    ] {
        for stream in [&alice, &other(&disk).stream::<Account>("a").unwrap()] {
            let before = read(&disk, &account("a").join(LOG));
            match stream.append(expect, "teller", vec![credited(1)]) {
                Ok(_) => assert!(met, "{what}"),
                Err(AppendError::Conflict { .. }) => {
                    assert_eq!(read(&disk, &account("a").join(LOG)), before, "{what}");
                    assert!(!met, "{what}");
                }
                Err(other) => panic!("{what}: {other}"),
            }
            if met {
                break;
            }
        }
    }
}

/// Lines of the ledger itself are no conflict, wherever they stand.
#[test]
fn lines_of_the_ledger_are_no_conflict() {
    let (disk, ledger) = in_memory();
    let alice = open_account(&ledger, "a");
    let before = alice.head().unwrap();
    // An append of nothing records the moved tail and no event of the domain.
    let mut log = read(&disk, &account("a").join(LOG));
    log.extend_from_slice(b"{\"half");
    write(&disk, &account("a").join(LOG), &log);
    let recorded = other(&disk).stream::<Account>("a").unwrap().append(Expect::Any, "x", Vec::new()).unwrap();
    assert_eq!((recorded.events.len(), recorded.head.seq), (0, 2));

    let after = other(&disk).stream::<Account>("a").unwrap();
    assert_eq!(after.head().unwrap().seq, 2);
    assert!(matches!(after.history().unwrap()[1], Entry::Ledger(_)));
    let committed = alice.append(Expect::Head(before), "teller", vec![credited(1)]).unwrap();
    assert_eq!(committed.events[0].seq, 3);
    let conflict = after.append(Expect::Head(before), "teller", vec![credited(1)]).unwrap_err();
    assert!(matches!(conflict, AppendError::Conflict { .. }));

    // The line comes in the last moment.
    let memory = disk.clone();
    let disk = ScriptedDisk::new(memory.clone());
    let late = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
    let expected = late.head().unwrap();
    disk.next(
        Call::TryLock,
        LOG,
        Act::First(Box::new(move || {
            let path = account("a").join(LOG);
            let half = [&read(&memory, &path)[..], b"{"].concat();
            write(&memory, &path, &half);
            other(&memory).stream::<Account>("a").unwrap().append(Expect::Any, "x", Vec::new()).unwrap();
        })),
    );
    let committed = late.append(Expect::Head(expected), "teller", vec![credited(1)]).unwrap();
    assert_eq!((committed.events[0].seq, disk.left()), (5, 0));
    assert_eq!(late.state().unwrap().folded, [1, 3, 5]);
}

/// An append to wherever the stream ends never conflicts, however many append at once.
#[test]
fn appending_anywhere_never_conflicts() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    let start = Arc::new(Barrier::new(8));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (stream, start) = (other(&disk).stream::<Account>("a").unwrap(), Arc::clone(&start));
            std::thread::spawn(move || {
                start.wait();
                for _ in 0..50 {
                    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(ledger.stream::<Account>("a").unwrap().state().unwrap().cents, 400);
}

#[test]
fn handles_of_one_process_share_what_was_read() {
    let (memory, ledger) = in_memory();
    let first = open_account(&ledger, "a");
    drop(first);
    let disk = ScriptedDisk::new(memory);
    let ledger = open(disk.clone(), Path::new("/bank"));
    let first = ledger.stream::<Account>("a").unwrap();
    let opened = disk.count(Call::Open, "*");
    let second = ledger.stream::<Account>("a").unwrap();
    let third = ledger.clone().stream::<Account>("a").unwrap();
    assert_eq!(disk.count(Call::Open, "*"), opened, "a second handle opens nothing");
    let committed = first.append(Expect::Any, "teller", vec![credited(5)]).unwrap();
    for stream in [&second, &third] {
        assert_eq!(stream.head().unwrap(), committed.head);
        assert_eq!(stream.state().unwrap().cents, 5);
    }
    assert_eq!(format!("{first:?}"), "Stream(\"account/a\")");
    assert_eq!((first.id().as_str(), &*first.intent().owner), ("a", "Alice"));
}

/// No lock is held while facts are read: the ledger may be used there, this stream and others.
#[test]
fn facts_may_use_the_ledger() {
    let (_, ledger) = in_memory();
    let alice = open_account(&ledger, "a");
    let ballot = open_ballot(&ledger, "b");
    let committed = ballot
        .execute_with("clerk", "Alice".to_owned(), |votes| {
            assert_eq!(*votes, 0);
            assert_eq!(ballot.state()?, 0);
            assert_eq!(ledger.ids("ballot").unwrap().len(), 1);
            let lease = ballot.lease("nested").unwrap();
            drop(lease);
            alice.execute("clerk", AccountCommand::Credit(1)).unwrap();
            let citation = ledger.blobs().put(b"evidence").unwrap();
            assert_eq!(ledger.blobs().get(&citation).unwrap(), b"evidence");
            open_account(&ledger, "c");
            Ok(alice.settled_state()?.cents)
        })
        .unwrap();
    assert_eq!(committed.events.len(), 1);
    let full = ballot.execute_with("clerk", "Bob".to_owned(), |_| Ok(1)).unwrap_err();
    assert_eq!(full.to_string(), "all 1 people have voted");
}

/// A failure to read the facts is the caller's own, and nothing is recorded.
#[test]
fn facts_may_fail() {
    let (disk, ledger) = in_memory();
    let ballot = open_ballot(&ledger, "b");
    let missing = |_: &u64| match ledger.stream::<Account>("none") {
        Ok(account) => Ok(account.state()?.cents),
        Err(StreamError::Read(error)) => Err(error.into()),
        Err(other) => panic!("{other}"),
    };
    let before = read(&disk, Path::new("/bank/ballot/b/events.jsonl"));
    let error = ballot.execute_with("clerk", "Alice".to_owned(), missing).unwrap_err();
    assert!(matches!(&error, ExecuteError::Facts(_)));
    assert_eq!(error.to_string(), "`account/none` does not exist");
    assert_eq!(read(&disk, Path::new("/bank/ballot/b/events.jsonl")), before);
}

/// An actor or an event that cannot be recorded is refused before anything is written. (W-09)
#[test]
fn what_cannot_be_recorded_is_refused_first() {
    let (disk, ledger) = in_memory();
    let alice = open_account(&ledger, "a");
    let before = crate::store::tree(&disk, Path::new("/bank"));
    for actor in ["", " ", "a\nb", " a", "\u{1b}[2J", &"x".repeat(101)] {
        let error = alice.append(Expect::Any, actor, vec![credited(1)]).unwrap_err();
        assert!(matches!(error, AppendError::Actor(_)), "{actor:?}: {error}");
        let owner = Owner { owner: "Bob".to_owned(), contract: None };
        ledger.create::<Account>("b", actor, &owner, &[AccountEvent::Opened {}]).unwrap_err();
    }
    assert_eq!(crate::store::tree(&disk, Path::new("/bank")), before);
    alice.append(Expect::Any, &"ñ".repeat(100), vec![credited(1)]).unwrap();
}

/// A domain that says it speaks for the ledger, and another with the events of a newer build.
struct Newer;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum NewerEvent {
    #[serde(rename = "account.opened")]
    Opened {},
    #[serde(rename = "account.frozen")]
    Frozen {},
    #[serde(rename = "ledger.tail_moved")]
    Usurped {},
}

impl Decider for Newer {
    const KIND: &'static str = "account";
    type Intent = Owner;
    type Event = NewerEvent;
    type State = u64;
    type Command = ();
    type Facts = ();
    type Refusal = AccountRefusal;

    fn init(_: &Owner) -> u64 {
        0
    }

    fn decide(_: &u64, (): (), (): &()) -> Result<Vec<NewerEvent>, AccountRefusal> {
        Ok(vec![NewerEvent::Frozen {}])
    }

    fn evolve(frozen: &mut u64, recorded: &Recorded<NewerEvent>) {
        *frozen += u64::from(matches!(recorded.event, NewerEvent::Frozen {}));
    }
}

#[test]
fn a_name_of_the_ledger_is_refused() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    let before = read(&disk, &account("a").join(LOG));
    let newer = other(&disk).stream::<Newer>("a").unwrap();
    let error = newer.append(Expect::Any, "x", vec![NewerEvent::Usurped {}]).unwrap_err();
    assert!(matches!(&error, AppendError::ReservedName { name } if name == "ledger.tail_moved"), "{error}");
    assert_eq!(read(&disk, &account("a").join(LOG)), before);
}

/// An event that this build does not know: the stream is neither shown nor written, and not called damaged.
#[test]
fn an_event_of_a_newer_build_stops_reading_and_writing() {
    let (memory, ledger) = in_memory();
    let alice = open_account(&ledger, "a");
    let disk = ScriptedDisk::new(memory.clone());
    let late = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
    let newer = other(&memory).stream::<Newer>("a").unwrap();
    disk.next(
        Call::TryLock,
        LOG,
        Act::First(Box::new(move || {
            newer.execute("x", ()).unwrap();
        })),
    );
    let length = || read(&memory, &account("a").join(LOG)).len();
    let before = length();
    for (what, stream) in [("in the last moment", &late), ("again", &late), ("known before", &alice)] {
        let error = stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap_err();
        assert_eq!(error.code(), "newer", "{what}");
        assert_eq!(stream.state().unwrap_err().code(), "newer", "{what}");
        assert_eq!(stream.history().unwrap_err().code(), "newer", "{what}");
    }
    assert_eq!(lines_of(&memory), 2, "only the newer build wrote; before that there were {before} bytes");
    assert_eq!(other(&memory).raw("account", "a").unwrap().verify().unwrap().0.seq, 2);
}

fn lines_of(disk: &MemDisk) -> usize {
    crate::forge::lines(&read(disk, &account("a").join(LOG))).len()
}

/// Two domains may read one kind, each with a handle of its own.
#[test]
fn two_domains_on_one_stream() {
    let (_, ledger) = in_memory();
    let alice = open_account(&ledger, "a");
    let newer = ledger.stream::<Newer>("a").unwrap();
    assert_eq!(newer.state().unwrap(), 0);
    assert_eq!(alice.head().unwrap(), newer.head().unwrap());
    assert!(ledger.stream::<Ballot>("a").is_err());
}
