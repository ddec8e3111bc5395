//! Clocks that go back, stand still or run far ahead: a log's times never do the first.

use std::path::Path;

use harn_ledger::disk::MemDisk;
use harn_ledger::{Expect, FixedClock, Ledger, Timestamp, VerifyOptions};

use crate::account::{Account, credited, open_account};

fn at(disk: &MemDisk, time: &str) -> Ledger {
    let clock = FixedClock(time.parse::<Timestamp>().unwrap());
    Ledger::builder(Path::new("/bank")).disk(disk.clone()).clock(clock).open().unwrap()
}

#[test]
fn a_line_is_never_older_than_the_one_before() {
    let disk = MemDisk::new();
    // The time that a clock tells, and the time that is recorded.
    let times = [
        ("2026-07-22T12:00:00.000000Z", "2026-07-22T12:00:00.000000Z"),
        ("2026-07-22T12:00:00.000001Z", "2026-07-22T12:00:00.000001Z"),
        ("2026-07-22T11:59:59.999999Z", "2026-07-22T12:00:00.000001Z"),
        ("1970-01-01T00:00:00.000000Z", "2026-07-22T12:00:00.000001Z"),
        ("2026-07-22T12:00:00.000001Z", "2026-07-22T12:00:00.000001Z"),
        ("9999-12-30T00:00:00.000000Z", "9999-12-30T00:00:00.000000Z"),
        ("2026-07-22T12:00:01.000000Z", "9999-12-30T00:00:00.000000Z"),
    ];
    open_account(&at(&disk, times[0].0), "a");
    for (told, recorded) in &times[1..] {
        let stream = at(&disk, told).stream::<Account>("a").unwrap();
        let committed = stream.append(Expect::Any, "teller", vec![credited(1), credited(2)]).unwrap();
        assert!(committed.events.iter().all(|event| event.ts.to_string() == *recorded), "{told}");
    }
    let ledger = at(&disk, times[0].0);
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
    assert_eq!(ledger.stream::<Account>("a").unwrap().history().unwrap().len(), 1 + 2 * (times.len() - 1));
}

/// A clock that was never set.
#[test]
fn a_time_before_the_epoch_is_the_epoch() {
    let disk = MemDisk::new();
    let stream = open_account(&at(&disk, "1969-12-31T23:59:59.000000Z"), "a");
    assert_eq!(stream.history().unwrap()[0].domain().unwrap().ts, Timestamp::UNIX_EPOCH);
    assert_eq!(at(&disk, "2026-07-22T12:00:00.000000Z").verify(&VerifyOptions::default()).problems, []);
}
