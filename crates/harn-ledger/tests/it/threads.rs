//! Long logs, which several threads read at once: the answers are those of one thread.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use harn_ledger::disk::{Disk as _, MemDisk};
use harn_ledger::{Expect, FixedClock, Head, Ledger, ReadError, UnfinishedTail};

use crate::account::{AccountEvent, open_account};
use crate::forge::lines;
use crate::store::{LOG, account, in_memory, noon, read, write};

/// A log of 2 MiB in batches of several sizes, so that batches lie across the pieces in which a log is read.
fn long_log() -> (MemDisk, Vec<u8>) {
    let (disk, ledger) = in_memory();
    let stream = open_account(&ledger, "a");
    let note = |number: u64| AccountEvent::Credited {
        cents: number,
        note: Some(format!("{number} {}", "é🚀 \"\\".repeat(usize::try_from(number % 40).unwrap()))),
    };
    for batch in 0..70 {
        let events = (0..=batch * 2).map(|number| note(batch * 100 + number)).collect();
        stream.append(Expect::Any, "teller \"one\"", events).unwrap();
    }
    let log = read(&disk, &account("a").join(LOG));
    assert!(log.len() > 2 << 20, "{} bytes are too few for several threads", log.len());
    (disk, log)
}

/// Where a log ends and what lies behind that, or its damage.
type End = Result<(Head, Option<UnfinishedTail>), String>;

/// What a reader with some threads says of the log: everything that it shows, and how it ends.
fn told(disk: &MemDisk, threads: usize) -> (Vec<(u64, String)>, End) {
    let ledger = Ledger::builder("/bank")
        .disk(disk.clone())
        .clock(FixedClock(noon()))
        .threads(threads.try_into().unwrap())
        .open()
        .unwrap();
    let mut shown = Vec::new();
    let end = ledger.raw("account", "a").unwrap().visit(|event| {
        shown.push((event.seq, format!("{event:?}")));
        ControlFlow::Continue(())
    });
    let end = end.map_err(|error| match error {
        ReadError::Damaged { damage, .. } => format!("{damage:?}"),
        other => panic!("not damage: {other}"),
    });
    (shown, end)
}

fn assert_all_agree(disk: &MemDisk, what: &str) -> End {
    let alone = told(disk, 1);
    for threads in 2..=4 {
        assert!(told(disk, threads) == alone, "{what}: {threads} threads say something else");
    }
    alone.1
}

#[test]
fn every_line_is_shown_once_and_in_order() {
    let (disk, log) = long_log();
    let (head, tail) = assert_all_agree(&disk, "whole").unwrap();
    let lines = lines(&log).len() as u64;
    assert_eq!((head.seq, tail), (lines, None));
    let (shown, _) = told(&disk, 3);
    assert!(shown.iter().map(|(seq, _)| *seq).eq(1..=lines));
}

#[test]
fn damage_and_tails_are_found_at_the_same_place() {
    let (disk, log) = long_log();
    let path = account("a").join(LOG);
    for part in 1..7 {
        let at = log.len() * part / 7;
        let mut flipped = log.clone();
        flipped[at] ^= 1;
        write(&disk, &path, &flipped);
        let damage = assert_all_agree(&disk, &format!("byte {at} flipped")).unwrap_err();
        assert!(damage.contains("kind: Hash") || damage.contains("kind: Shape"), "{damage}");

        write(&disk, &path, &log[..at]);
        let (_, tail) = assert_all_agree(&disk, &format!("cut at byte {at}")).unwrap();
        let tail = tail.unwrap();
        assert_eq!(tail.offset + tail.bytes, at as u64);

        let line = at + to_the_next_line(&log[at..]);
        write(&disk, &path, &[&log[..line], b"\n", &log[line..]].concat());
        assert_all_agree(&disk, &format!("a blank line at byte {line}")).unwrap_err();
    }
}

fn to_the_next_line(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1
}

#[test]
fn a_visitor_that_breaks_or_panics_ends_the_reading() {
    let (disk, _) = long_log();
    let ledger =
        Ledger::builder(Path::new("/bank")).disk(disk).threads(4.try_into().unwrap()).open().unwrap();
    let raw = ledger.raw("account", "a").unwrap();
    for stop_at in [1, 2, 700, 3000] {
        let mut last = 0;
        let (head, _) = raw
            .visit(|event| {
                last = event.seq;
                if event.seq == stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        assert_eq!((last, head.seq), (stop_at, stop_at));
        let visit = || {
            raw.visit(
                |event| if event.seq == stop_at { panic!("at {stop_at}") } else { ControlFlow::Continue(()) },
            )
        };
        let panic = catch_unwind(AssertUnwindSafe(visit)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&format!("at {stop_at}")));
    }
}

#[test]
fn a_log_that_shrinks_while_it_is_read_has_a_tail() {
    let (disk, log) = long_log();
    let path = account("a").join(LOG);
    let ledger =
        Ledger::builder(Path::new("/bank")).disk(disk.clone()).threads(2.try_into().unwrap()).open().unwrap();
    let cut = log.len() as u64 / 2;
    let (head, tail) = ledger
        .raw("account", "a")
        .unwrap()
        .visit(|event| {
            if event.seq == 1 {
                let file = disk.open(&path, harn_ledger::disk::Open::Write).unwrap();
                file.truncate(cut).unwrap();
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(head.seq > 1);
    let tail = tail.unwrap();
    assert_eq!(tail.offset + tail.bytes, cut);
}
