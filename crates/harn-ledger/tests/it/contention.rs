//! Many writers at once: threads that share a handle, threads that share nothing, and other processes.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Barrier};

use harn_ledger::disk::OsDisk;
use harn_ledger::{AppendError, Digest, Expect, Head, Ledger, Stream, VerifyOptions};

use crate::account::{Account, credited, noted, open_account};
use crate::process::{Player, listen, say};
use crate::store::{on_disk, open};

const EACH: usize = 10;

/// Appends ten notes that begin with `name`; every third one is a batch of two.
fn append_notes(stream: &Stream<Account>, name: &str) {
    for number in 0..EACH {
        let mut events = vec![noted(1, &format!("{name} {number}"))];
        if number % 3 == 0 {
            events.push(credited(1));
        }
        stream.append(Expect::Any, name, events).unwrap();
    }
}

/// The role of a child: says that it is ready, waits for a word, appends.
pub(crate) fn append_ten(root: &Path) {
    let stream = Ledger::open(root).unwrap().stream::<Account>("a").unwrap();
    say("ready");
    let name = listen().unwrap();
    append_notes(&stream, &name);
}

/// R07: no event is lost, numbers have no gaps, the chain holds, and batches stay together.
#[test]
fn twelve_writers_lose_nothing() {
    let (_directory, root, ledger) = on_disk();
    let shared = open_account(&ledger, "a");
    let mut children: Vec<Player> = (0..4).map(|_| Player::start("append", &root)).collect();
    for child in &mut children {
        assert_eq!(child.listen().as_deref(), Some("ready"));
    }
    let start = Arc::new(Barrier::new(9));
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let stream =
                if number < 4 { shared.clone() } else { open(OsDisk, &root).stream::<Account>("a").unwrap() };
            let start = Arc::clone(&start);
            std::thread::spawn(move || {
                start.wait();
                append_notes(&stream, &format!("thread {number}"));
                stream.state().unwrap()
            })
        })
        .collect();
    start.wait();
    for (number, child) in children.iter_mut().enumerate() {
        child.say(&format!("process {number}"));
    }
    for child in children {
        child.finish();
    }
    let states: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();

    let fresh = open(OsDisk, &root).stream::<Account>("a").unwrap();
    let state = fresh.state().unwrap();
    let expected: BTreeSet<String> = (0..8)
        .map(|number| format!("thread {number}"))
        .chain((0..4).map(|number| format!("process {number}")))
        .flat_map(|name| (0..EACH).map(move |number| format!("{name} {number}")))
        .collect();
    assert_eq!(state.notes.len(), expected.len());
    assert_eq!(state.notes.iter().cloned().collect::<BTreeSet<_>>(), expected);
    let events = 1 + 12 * (EACH as u64 + 4);
    assert_eq!(state.folded, (1..=events).collect::<Vec<u64>>());
    assert_eq!(shared.state().unwrap(), state);
    for seen in states {
        assert_eq!(seen.folded, state.folded[..seen.folded.len()], "a handle folded out of order");
    }
    // A batch of two is never torn apart by somebody else's event.
    let history = fresh.history().unwrap();
    for (index, entry) in history.iter().enumerate().skip(1) {
        let recorded = entry.domain().unwrap();
        if recorded.event == credited(1) {
            assert_eq!(history[index - 1].domain().unwrap().actor, recorded.actor);
        }
    }
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
}

/// The role of a child: for every head that it is told, tries to append behind it.
pub(crate) fn contend_for_the_head(root: &Path) {
    let stream = Ledger::open(root).unwrap().stream::<Account>("a").unwrap();
    say("ready");
    while let Some(line) = listen() {
        let (seq, hash) = line.split_once(' ').unwrap();
        let head = Head { seq: seq.parse().unwrap(), hash: hash.parse::<Digest>().unwrap() };
        say(if wins(&stream, head) { "won" } else { "lost" });
    }
}

fn wins(stream: &Stream<Account>, head: Head) -> bool {
    match stream.append(Expect::Head(head), "contender", vec![credited(1)]) {
        Ok(_) => true,
        Err(AppendError::Conflict { .. }) => false,
        Err(other) => panic!("{other}"),
    }
}

/// R08: of all who compare and append at the same head, exactly one wins.
#[test]
fn exactly_one_wins_a_head() {
    const ROUNDS: u64 = 15;
    let (_directory, root, ledger) = on_disk();
    let shared = open_account(&ledger, "a");
    let mut children: Vec<Player> = (0..4).map(|_| Player::start("contend", &root)).collect();
    for child in &mut children {
        assert_eq!(child.listen().as_deref(), Some("ready"));
    }
    let own: Vec<_> = (0..4).map(|_| open(OsDisk, &root).stream::<Account>("a").unwrap()).collect();
    for round in 0..ROUNDS {
        let head = shared.head().unwrap();
        assert_eq!(head.seq, round + 1);
        let start = Barrier::new(9);
        let threads_won = std::thread::scope(|scope| {
            let streams = own.iter().chain([&shared; 4]);
            let threads: Vec<_> = streams
                .map(|stream| {
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        wins(stream, head)
                    })
                })
                .collect();
            for child in &mut children {
                child.say(&format!("{} {}", head.seq, head.hash));
            }
            start.wait();
            threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count()
        });
        let children_won =
            children.iter_mut().filter_map(Player::listen).filter(|answer| answer == "won").count();
        assert_eq!(threads_won + children_won, 1, "round {round}");
    }
    assert_eq!(shared.state().unwrap().cents, ROUNDS);
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
}

/// Whole logs only, for a reader that looks all the time while others write.
#[test]
fn a_reader_never_sees_half_a_batch() {
    let (_directory, root, ledger) = on_disk();
    let stream = open_account(&ledger, "a");
    let reader = open(OsDisk, &root);
    let raw = reader.raw("account", "a").unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..40 {
                let batch = vec![noted(1, &"x".repeat(20_000)), noted(1, &"y".repeat(20_000)), credited(1)];
                stream.append(Expect::Any, "teller", batch).unwrap();
            }
        });
        let mut reads = 0;
        while !writer.is_finished() || reads == 0 {
            let (head, tail) = raw.verify().unwrap();
            assert_eq!((head.seq % 3, tail), (1, None));
            let state = reader.stream::<Account>("a").unwrap().state().unwrap();
            assert_eq!(state.folded.len() % 3, 1);
            reads += 1;
        }
    });
    assert_eq!(reader.stream::<Account>("a").unwrap().state().unwrap().cents, 120);
}

/// Somebody who holds the lock for good: a writer, and a reader that met half a line, give up and say so.
#[test]
fn a_lock_that_is_never_given_back() {
    let (_directory, root, ledger) = on_disk();
    let stream = open_account(&ledger, "a");
    let log = root.join("account/a/events.jsonl");
    let mut holder = std::fs::File::options().append(true).open(&log).unwrap();
    let length = holder.metadata().unwrap().len();
    holder.lock().unwrap();
    assert_eq!(stream.state().unwrap().cents, 0, "reading what is whole needs no lock");
    std::thread::scope(|scope| {
        let other = open_account(&ledger, "b");
        let elsewhere =
            std::fs::File::options().append(true).open(root.join("account/b/events.jsonl")).unwrap();
        elsewhere.lock().unwrap();
        let writer = scope.spawn(move || {
            let error = other.append(Expect::Any, "teller", vec![credited(1)]).unwrap_err();
            assert!(matches!(error, AppendError::Busy { .. }), "{error}");
            drop(elsewhere);
            other.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
        });
        holder.write_all(b"{\"half").unwrap();
        assert_eq!(stream.state().unwrap_err().code(), "busy");
        writer.join().unwrap();
    });
    holder.set_len(length).unwrap();
    drop(holder);
    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    assert_eq!(stream.state().unwrap().folded, [1, 2]);
}
