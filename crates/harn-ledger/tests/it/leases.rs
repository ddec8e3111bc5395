//! Leases: the kernel decides who runs a stream, and no text, process id or clock does.

use std::path::Path;

use harn_ledger::disk::{Disk, MemDisk, OsDisk};
use harn_ledger::{LeaseError, LeaseStatus, Ledger, Stream};

use crate::account::{Account, open_account};
use crate::process::{Player, listen, say};
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{account, in_memory, on_disk, open, read, tree, write};

fn other(disk: &MemDisk) -> Stream<Account> {
    open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap()
}

fn holder(error: LeaseError) -> String {
    match error {
        LeaseError::Held { stream, holder } => {
            assert_eq!(stream.to_string(), "account/a");
            holder
        }
        other => panic!("{other}"),
    }
}

#[test]
fn one_holds_it_and_the_others_are_told_who() {
    let (disk, ledger) = in_memory();
    let mine = open_account(&ledger, "a");
    let theirs = other(&disk);
    assert_eq!(mine.lease_status().unwrap(), LeaseStatus::Free);
    let lease = mine.lease("run r1 by teller").unwrap();
    assert_eq!(mine.lease_status().unwrap(), LeaseStatus::HeldByMe);
    assert_eq!(theirs.lease_status().unwrap(), LeaseStatus::HeldByOther("run r1 by teller".to_owned()));
    assert_eq!(holder(theirs.lease("me too").unwrap_err()), "run r1 by teller");
    assert_eq!(holder(mine.lease("me again").unwrap_err()), "run r1 by teller");
    assert_eq!(mine.lease_status().unwrap(), LeaseStatus::HeldByMe, "asking twice changes nothing");
    drop(lease);
    assert_eq!(mine.lease_status().unwrap(), LeaseStatus::Free);
    let lease = theirs.lease("").unwrap();
    assert_eq!(holder(mine.lease("x").unwrap_err()), "its holder left no note");
    assert_eq!(mine.lease_status().unwrap(), LeaseStatus::HeldByOther(String::new()));
    drop(lease);
    // A shorter note leaves nothing of a longer one.
    let _lease = mine.lease("a").unwrap();
    assert_eq!(read(&disk, &account("a").join("lease")), b"a\n");
}

/// A lease outlives the handle that it was taken with, and this process still knows it for its own.
#[test]
fn a_lease_outlives_its_handle() {
    let (disk, ledger) = in_memory();
    let lease = open_account(&ledger, "a").lease("mine").unwrap();
    assert_eq!(ledger.stream::<Account>("a").unwrap().lease_status().unwrap(), LeaseStatus::HeldByMe);
    assert_eq!(other(&disk).lease_status().unwrap(), LeaseStatus::HeldByOther("mine".to_owned()));
    drop(lease);
    assert_eq!(other(&disk).lease_status().unwrap(), LeaseStatus::Free);
}

/// A note is one line without anything that could act on a terminal, whoever wrote it.
#[test]
fn a_note_is_only_text() {
    let long = "ñ".repeat(600);
    let cases = [
        ("a\nb\r\tc", "abc"),
        ("\u{1b}[2J\u{7}\u{85}\0gone", "[2Jgone"),
        ("Ñandú 👤", "Ñandú 👤"),
        (" spaced ", "spaced"),
        (&long, &long[..1000]),
    ];
    for (note, expected) in cases {
        let (disk, ledger) = in_memory();
        let _lease = open_account(&ledger, "a").lease(note).unwrap();
        let held = LeaseStatus::HeldByOther(expected.to_owned());
        assert_eq!(other(&disk).lease_status().unwrap(), held, "{note:?}");
        // The same text in the file, as somebody else may have put it there.
        write(&disk, &account("a").join("lease"), note.as_bytes());
        assert_eq!(other(&disk).lease_status().unwrap(), held, "{note:?}");
    }
    let (disk, ledger) = in_memory();
    let _lease = open_account(&ledger, "a").lease("note").unwrap();
    write(&disk, &account("a").join("lease"), b"\xff\xfeno text");
    let replaced = LeaseStatus::HeldByOther("\u{fffd}\u{fffd}no text".to_owned());
    assert_eq!(other(&disk).lease_status().unwrap(), replaced);
    write(&disk, &account("a").join("lease"), &[b'x'; 10_000]);
    assert_eq!(other(&disk).lease_status().unwrap(), LeaseStatus::HeldByOther(String::new()));
}

/// N-04: what the file holds decides nothing. Empty or half-written under a live holder, it is not for the taking; and
/// whatever a dead one left, it is free.
#[test]
fn the_text_decides_nothing() {
    let (disk, ledger) = in_memory();
    let lease = open_account(&ledger, "a").lease("pid 12345").unwrap();
    for text in [&b""[..], b"pid 1", b"\n", b"free"] {
        write(&disk, &account("a").join("lease"), text);
        assert!(matches!(other(&disk).lease("steal").unwrap_err(), LeaseError::Held { .. }), "{text:?}");
        assert!(matches!(other(&disk).lease_status().unwrap(), LeaseStatus::HeldByOther(_)), "{text:?}");
    }
    drop(lease);
    for text in [&b"held by pid 1 since ever\n"[..], b"", b"\0\0\0"] {
        write(&disk, &account("a").join("lease"), text);
        assert_eq!(other(&disk).lease_status().unwrap(), LeaseStatus::Free, "{text:?}");
        drop(other(&disk).lease("taken").unwrap());
    }
}

#[test]
fn asking_creates_nothing_and_holds_nothing() {
    let (_directory, root, ledger) = on_disk();
    let stream = open_account(&ledger, "a");
    let before = tree(&OsDisk, &root);
    assert_eq!(stream.lease_status().unwrap(), LeaseStatus::Free);
    assert_eq!(tree(&OsDisk, &root), before);
    drop(stream.lease("once").unwrap());
    let before = tree(&OsDisk, &root);
    for _ in 0..3 {
        assert_eq!(stream.lease_status().unwrap(), LeaseStatus::Free);
        drop(stream.lease("once").unwrap());
    }
    assert_eq!(tree(&OsDisk, &root), before);
    assert!(before.contains_key(&root.join("account/a/lease")), "the file stays");
}

/// Somebody who only asks does not make a take fail: it tries for a while.
#[test]
fn a_take_outlasts_a_question() {
    let (memory, ledger) = in_memory();
    open_account(&ledger, "a");
    drop(other(&memory).lease("earlier").unwrap());
    let disk = ScriptedDisk::new(memory.clone());
    let stream = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
    let file = memory.open(&account("a").join("lease"), harn_ledger::disk::Open::Read).unwrap();
    assert!(file.try_lock(harn_ledger::disk::Lock::Shared).unwrap());
    // The one who asks lets go after the third try of the one who takes.
    disk.after(3, Call::TryLock, "lease", Act::First(Box::new(move || file.unlock().unwrap())));
    let _lease = stream.lease("taken").unwrap();
    assert_eq!(disk.count(Call::TryLock, "lease"), 4);
}

/// A lease whose note cannot be written is not held.
#[test]
fn a_failed_take_holds_nothing() {
    let (memory, ledger) = in_memory();
    open_account(&ledger, "a");
    for (call, name) in [(Call::Open, "lease"), (Call::Truncate, "lease"), (Call::Write, "lease")] {
        let disk = ScriptedDisk::new(memory.clone());
        let stream = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
        disk.next(call, name, Act::Fail(std::io::ErrorKind::StorageFull));
        assert_eq!(stream.lease("x").unwrap_err().code(), "lease_failed", "{call:?}");
        assert_eq!(stream.lease_status().unwrap(), LeaseStatus::Free, "{call:?}");
        drop(stream.lease("x").unwrap());
    }
}

const STREAMS: usize = 20;
const RACES: usize = 3;

/// The role of a child: takes the leases of all streams at once, whenever it is told to, and says which it got.
pub(crate) fn race(root: &Path) {
    let ledger = Ledger::open(root).unwrap();
    let streams: Vec<_> =
        (0..STREAMS).map(|number| ledger.stream::<Account>(&format!("a{number}")).unwrap()).collect();
    say("ready");
    while listen().is_some() {
        let leases: Vec<_> = std::thread::scope(|scope| {
            let takers: Vec<_> =
                streams.iter().map(|stream| scope.spawn(|| stream.lease("racer").ok())).collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).collect()
        });
        let won: String = leases.iter().map(|lease| if lease.is_some() { 'x' } else { '.' }).collect();
        say(&won);
        // Held until the parent has heard both.
        listen().unwrap();
        drop(leases);
        say("given back");
    }
}

/// N-03: two processes race for the leases of twenty streams, three times: each time one of them gets each.
#[test]
fn one_of_two_processes_gets_a_lease() {
    let (_directory, root, ledger) = on_disk();
    for number in 0..STREAMS {
        open_account(&ledger, &format!("a{number}"));
    }
    let mut racers = ["race for leases"; 2].map(|role| Player::start(role, &root));
    for racer in &mut racers {
        assert_eq!(racer.listen().as_deref(), Some("ready"));
    }
    for _ in 0..RACES {
        for racer in &mut racers {
            racer.say("go");
        }
        let [first, second] = racers.each_mut().map(|racer| racer.listen().unwrap());
        for (stream, won) in first.chars().zip(second.chars()).enumerate() {
            assert!(matches!(won, ('x', '.') | ('.', 'x')), "stream {stream}: {first} {second}");
        }
        for racer in &mut racers {
            racer.say("give back");
            assert_eq!(racer.listen().as_deref(), Some("given back"));
        }
    }
    for racer in racers {
        racer.finish();
    }
}

/// The role of a child: holds a lease until it is killed.
pub(crate) fn hold(root: &Path) {
    let lease = Ledger::open(root).unwrap().stream::<Account>("a").unwrap().lease("the child").unwrap();
    say("held");
    // Never told anything.
    listen();
    drop(lease);
}

/// N-05: a holder that was killed holds nothing, at once and whatever process takes its id.
#[test]
fn a_dead_process_holds_nothing() {
    let (_directory, root, ledger) = on_disk();
    let stream = open_account(&ledger, "a");
    for _ in 0..5 {
        let mut child = Player::start("hold a lease", &root);
        assert_eq!(child.listen().as_deref(), Some("held"));
        assert_eq!(stream.lease_status().unwrap(), LeaseStatus::HeldByOther("the child".to_owned()));
        assert_eq!(holder(stream.lease("me").unwrap_err()), "the child");
        child.kill();
        assert_eq!(stream.lease_status().unwrap(), LeaseStatus::Free);
        drop(stream.lease("me").unwrap());
    }
}
