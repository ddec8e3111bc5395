//! Tampering: whatever is done to the bytes of a small stream, it shows.
//!
//! One thing does not: a log that was cut off at the end of a batch is a whole, shorter log. Only a checkpoint taken
//! before can tell, which is why the tests below except that case and say so.

use std::path::Path;

use harn_ledger::disk::{Disk as _, MemDisk};
use harn_ledger::{Expect, Ledger, VerifyOptions};

use crate::account::{Account, credited, noted, open_account};
use crate::forge::{Forged, hash_of, lines};
use crate::store::{INTENT, LOG, account, in_memory, open, read, torn_files, write};

/// A ledger with one stream whose bytes are changed, and another.
struct Bench {
    disk: MemDisk,
    intent: Vec<u8>,
    log: Vec<u8>,
}

impl Bench {
    /// Two single events, one of them with escapes in its actor and its data, a batch of two, and the ledger's own line
    /// about a tail that was moved, in one batch with a last event.
    fn new() -> Self {
        let disk = MemDisk::new();
        let ledger = open(disk.clone(), Path::new("/bank"));
        let stream = open_account(&ledger, "a");
        let note = noted(1, "first \"deposit\"\n\u{2028}");
        stream.append(Expect::Any, "auditor \"B\" \\ ñ", vec![note]).unwrap();
        stream.append(Expect::Any, "teller", vec![credited(2), credited(3)]).unwrap();
        let path = account("a").join(LOG);
        write(&disk, &path, &[&read(&disk, &path)[..], b"{\"half"].concat());
        stream.append(Expect::Any, "teller", vec![credited(4)]).unwrap();
        open_account(&ledger, "b");
        let [intent, log] = [INTENT, LOG].map(|file| read(&disk, &account("a").join(file)));
        assert_eq!(torn_files(&disk, &account("a")).len(), 1);
        Self { disk, intent, log }
    }

    /// What the changed bytes come to: the number of events read, if nobody says that anything is wrong.
    fn silently_read(&self, intent: &[u8], log: &[u8]) -> Option<usize> {
        write(&self.disk, &account("a").join(INTENT), intent);
        write(&self.disk, &account("a").join(LOG), log);
        let ledger = Ledger::builder("/bank").disk(self.disk.clone()).read_only(true).open().unwrap();
        let verified = ledger.verify(&VerifyOptions::default()).problems.is_empty();
        let opened = ledger.stream::<Account>("a").ok();
        let silent = opened.filter(|stream| stream.unfinished_tail().unwrap().is_none());
        assert_eq!(verified, silent.is_some(), "reading and verifying disagree");
        silent.map(|stream| stream.history().unwrap().len())
    }

    fn assert_shows(&self, log: &[u8], what: &str) {
        assert_eq!(self.silently_read(&self.intent, log), None, "{what}");
    }
}

#[test]
fn the_bench_itself_is_in_order() {
    let bench = Bench::new();
    assert_eq!(bench.silently_read(&bench.intent, &bench.log), Some(6));
}

#[test]
fn every_changed_byte_shows() {
    let bench = Bench::new();
    for index in 0..bench.log.len() {
        let byte = bench.log[index];
        let changes = (0..8).map(|bit| byte ^ (1 << bit)).chain([0, b'\n']);
        for change in changes.filter(|change| *change != byte) {
            let mut log = bench.log.clone();
            log[index] = change;
            bench.assert_shows(&log, &format!("byte {index} changed to {change}"));
        }
    }
}

/// Not only single bits: each of the 255 other values, of each byte of a log of one event.
#[test]
fn every_other_value_of_a_byte_shows() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    let path = account("a").join(LOG);
    let log = read(&disk, &path);
    let raw = || ledger.raw("account", "a").unwrap().verify();
    assert!(matches!(raw(), Ok((_, None))));
    for index in 0..log.len() {
        let mut changed = log.clone();
        for change in 1..=u8::MAX {
            changed[index] = log[index] ^ change;
            write(&disk, &path, &changed);
            assert!(!matches!(raw(), Ok((_, None))), "byte {index} changed to {}", changed[index]);
        }
    }
}

#[test]
fn every_removed_or_inserted_byte_shows() {
    let bench = Bench::new();
    for index in 0..bench.log.len() {
        let mut log = bench.log.clone();
        let byte = log.remove(index);
        bench.assert_shows(&log, &format!("byte {index} removed"));
        for insert in [b'\n', b' ', byte] {
            let mut log = bench.log.clone();
            log.insert(index, insert);
            bench.assert_shows(&log, &format!("{insert} inserted at {index}"));
        }
    }
    for behind in [&b"\n"[..], b" ", b"\0", b"{}\n"] {
        bench.assert_shows(&[&bench.log[..], behind].concat(), &format!("{behind:?} appended"));
    }
}

#[test]
fn every_changed_byte_of_the_intent_shows() {
    let bench = Bench::new();
    for index in 0..bench.intent.len() {
        for bit in 0..8 {
            let mut intent = bench.intent.clone();
            intent[index] ^= 1 << bit;
            assert_eq!(bench.silently_read(&intent, &bench.log), None, "byte {index}, bit {bit}");
        }
        assert_eq!(bench.silently_read(&bench.intent[..index], &bench.log), None, "cut at {index}");
    }
    let longer = [&bench.intent[..], b"\n"].concat();
    assert_eq!(bench.silently_read(&longer, &bench.log), None);
}

#[test]
fn every_dropped_duplicated_or_swapped_line_shows() {
    let bench = Bench::new();
    let whole = lines(&bench.log);
    for first in 0..whole.len() {
        let mut dropped = whole.clone();
        dropped.remove(first);
        bench.assert_shows(&dropped.concat(), &format!("line {first} dropped"));
        for at in 0..=whole.len() {
            let mut duplicated = whole.clone();
            duplicated.insert(at, whole[first]);
            bench.assert_shows(&duplicated.concat(), &format!("line {first} again at {at}"));
        }
        for second in first + 1..whole.len() {
            let mut swapped = whole.clone();
            swapped.swap(first, second);
            bench.assert_shows(&swapped.concat(), &format!("lines {first} and {second} swapped"));
            let replaced = [&whole[..first], &[whole[second]], &whole[first + 1..]].concat().concat();
            bench.assert_shows(&replaced, &format!("line {first} replaced by {second}"));
        }
    }
}

/// A cut-off end shows as a tail, except at the end of a batch: there, what is left is a whole log.
#[test]
fn a_cut_off_end_shows_unless_it_is_a_whole_log() {
    let bench = Bench::new();
    let whole = lines(&bench.log);
    let batches = [1, 2, 4, 6];
    let ends = batches.map(|count| whole[..count].concat().len());
    for length in 0..=bench.log.len() {
        let silent = bench.silently_read(&bench.intent, &bench.log[..length]);
        let expected = ends.iter().position(|end| *end == length).map(|index| batches[index]);
        assert_eq!(silent, expected, "cut at {length}");
    }
}

#[test]
fn every_inserted_line_shows() {
    let bench = Bench::new();
    let whole = lines(&bench.log);
    let other = read(&bench.disk, &account("b").join(LOG));
    for at in 0..=whole.len() {
        let before = at
            .checked_sub(1)
            .map_or_else(|| harn_ledger::Digest::of(&bench.intent), |index| hash_of(whole[index]));
        let number = at as u64 + 1;
        let forged = |stream: &str, seq| {
            Forged::new(stream, seq, before, "account.credited", r#"{"cents":1000000}"#).line()
        };
        let mut cases = vec![
            ("of another stream", other.clone()),
            ("with another name", forged("account/b", number)),
            ("with the number before", forged("account/a", number - 1)),
            ("with the number behind", forged("account/a", number + 1)),
        ];
        if at < whole.len() {
            // At the end of the log this would be an event like any other: a hash is not a signature.
            cases.push(("that fits what is before it", forged("account/a", number)));
        }
        for (what, line) in cases {
            let mut log = whole.clone();
            log.insert(at, &line);
            bench.assert_shows(&log.concat(), &format!("a line {what} at {at}"));
        }
    }
}

/// A line that was written anew, with a hash that matches and at the right place: the line behind it does not follow from
/// it. Behind the last line nothing stands, which is what a checkpoint is for.
#[test]
fn every_rewritten_line_shows_but_the_last() {
    let bench = Bench::new();
    let whole = lines(&bench.log);
    let mut before = harn_ledger::Digest::of(&bench.intent);
    for (index, line) in whole.iter().enumerate() {
        let mut forged =
            Forged::new("account/a", index as u64 + 1, before, "account.credited", r#"{"cents":1000000}"#);
        forged.more = line.windows(12).any(|part| part == br#","more":true"#);
        let mut log = whole.clone();
        let forged = forged.line();
        log[index] = &forged;
        let silent = bench.silently_read(&bench.intent, &log.concat());
        assert_eq!(silent.is_some(), index == whole.len() - 1, "line {index}");
        before = hash_of(line);
    }
}

/// Whole streams that changed places: each line says whose it is.
#[test]
fn a_stream_under_another_name_shows() {
    let bench = Bench::new();
    bench.disk.rename(&account("a"), &account("c")).unwrap();
    let ledger = open(bench.disk.clone(), Path::new("/bank"));
    assert_eq!(ledger.stream::<Account>("c").unwrap_err().code(), "damaged");
    let problems = ledger.verify(&VerifyOptions::default()).problems;
    assert_eq!(problems.len(), 1);
    assert_eq!(
        problems[0].kind.to_string(),
        "damaged at line 1, byte 0: the line belongs to the stream `account/a` (5 lines behind it)"
    );
}
