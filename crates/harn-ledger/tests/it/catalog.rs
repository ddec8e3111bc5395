//! The catalog: the same answer as reading everything, for the price of what changed.

use std::path::Path;

use harn_ledger::disk::{Disk as _, Fault, FaultyDisk, FileKind, Moment, OsDisk};
use harn_ledger::{Decider as _, Digest, Expect, Ledger, Listed, StreamId, VerifyOptions};

use crate::account::{Account, AccountState, credited, open_account};
use crate::scripted_disk::{Call, ScriptedDisk};
use crate::store::{INTENT, LOG, account, cut, in_memory, on_disk, open, read, tree, write};

const CATALOG: &str = "/bank/catalog/account.jsonl";

/// What a listing says of each account: its id and its cents, or why it cannot be read.
type Told = Vec<(String, Result<u64, &'static str>)>;

fn refreshed(ledger: &Ledger, version: u32) -> Told {
    let listed =
        ledger.catalog::<Account>(version).refresh(|_, state: &AccountState, _| state.cents).unwrap();
    let told = |it: Listed<u64>| (it.id.to_string(), it.summary.map_err(|error| error.code()));
    listed.into_iter().map(told).collect()
}

/// The same without a catalog.
fn read_all(ledger: &Ledger) -> Told {
    let ids = ledger.ids(Account::KIND).unwrap();
    let told = |id: StreamId| match ledger.stream::<Account>(id.as_str()) {
        Ok(stream) => (id.to_string(), Ok(stream.state().unwrap().cents)),
        Err(error) => (id.to_string(), Err(error.code())),
    };
    ids.into_iter().map(told).collect()
}

fn credit(ledger: &Ledger, id: &str, cents: u64) {
    ledger.stream::<Account>(id).unwrap().append(Expect::Any, "teller", vec![credited(cents)]).unwrap();
}

/// How many streams a refresh reads.
fn streams_read(disk: &ScriptedDisk, refresh: impl FnOnce()) -> usize {
    let before = disk.count(Call::Open, INTENT);
    refresh();
    disk.count(Call::Open, INTENT) - before
}

#[test]
fn only_what_changed_is_read() {
    let (memory, ledger) = in_memory();
    for id in ["a", "b", "c", "d"] {
        open_account(&ledger, id);
    }
    let disk = ScriptedDisk::new(memory.clone());
    let reader = open(disk.clone(), Path::new("/bank"));
    let check = |what: &str, expected: usize| {
        let plain = read_all(&open(memory.clone(), Path::new("/bank")));
        let mut told = Vec::new();
        let read = streams_read(&disk, || told = refreshed(&reader, 1));
        assert_eq!(told, plain, "{what}");
        assert_eq!(read, expected, "{what}");
    };
    check("no catalog yet", 4);
    check("nothing changed", 0);
    credit(&ledger, "b", 5);
    check("one grew", 1);
    check("nothing changed again", 0);
    open_account(&ledger, "bb");
    check("one is new", 1);
    for name in [LOG, INTENT] {
        drop(memory.unlink(&account("c").join(name)));
    }
    memory.remove_dir(&account("c")).unwrap();
    check("one is gone", 0);

    // The same length again, but another time.
    let path = account("d").join(LOG);
    write(&memory, &path, &read(&memory, &path));
    check("one was written again", 1);
    check("and is known again", 0);

    // What is damaged or unfinished is looked at each time, and hides nothing else.
    let mut damaged = read(&memory, &path);
    damaged[40] ^= 1;
    write(&memory, &path, &damaged);
    cut(&memory, &account("b").join(LOG), 1);
    check("one is damaged, one has a tail", 2);
    check("still", 2);
    assert_eq!(read_all(&reader).iter().filter(|(_, told)| told.is_err()).count(), 1);

    let mut told = Vec::new();
    assert_eq!(streams_read(&disk, || told = refreshed(&reader, 2)), 4, "another version of the summaries");
    assert_eq!(told, read_all(&reader));
}

#[test]
fn a_tail_is_told() {
    let (memory, ledger) = in_memory();
    open_account(&ledger, "a");
    credit(&ledger, "a", 5);
    cut(&memory, &account("a").join(LOG), 1);
    for _ in 0..2 {
        let reader = open(memory.clone(), Path::new("/bank"));
        let listed = reader.catalog::<Account>(1).refresh(|_, state, head| (state.cents, head.seq)).unwrap();
        let expected = reader.stream::<Account>("a").unwrap().unfinished_tail().unwrap();
        assert!(expected.is_some());
        assert_eq!((listed[0].summary.as_ref().unwrap(), listed[0].tail), (&(0, 1), expected));
    }
}

/// Whatever stands in the place of the catalog, the answer is the one without it.
#[test]
fn a_catalog_that_is_none_is_made_anew() {
    let (memory, ledger) = in_memory();
    for id in ["a", "b"] {
        open_account(&ledger, id);
        credit(&ledger, id, 5);
    }
    let expected = refreshed(&ledger, 1);
    let good = read(&memory, Path::new(CATALOG));
    let check = |what: &str| {
        assert_eq!(refreshed(&open(memory.clone(), Path::new("/bank")), 1), expected, "{what}");
    };
    for index in (0..good.len()).step_by(7) {
        write(&memory, Path::new(CATALOG), &good[..index]);
        check(&format!("cut at byte {index}"));
        let mut changed = good.clone();
        changed[index] ^= 1;
        write(&memory, Path::new(CATALOG), &changed);
        check(&format!("byte {index} changed"));
    }
    // A lie under a digest that matches is believed only where others could not have written it.
    let lie = String::from_utf8(good.clone()).unwrap().replace("\"summary\":5", "\"summary\":6");
    let lines = lie.len() - 65;
    let lie = format!("{}{}\n", &lie[..lines], Digest::of(&lie.as_bytes()[..lines]));
    write(&memory, Path::new(CATALOG), lie.as_bytes());
    memory.set_mode(Path::new(CATALOG), 0o644).unwrap();
    check("open to others");
    assert_eq!(memory.stat(Path::new(CATALOG)).unwrap().mode, 0o600, "it was replaced");

    write(&memory, Path::new(CATALOG), lie.as_bytes());
    assert!(ledger.verify(&VerifyOptions::default()).problems.is_empty(), "verification does not look at it");
    memory.unlink(Path::new(CATALOG)).unwrap();
    memory.create_dir(Path::new(CATALOG)).unwrap();
    check("a directory");
}

#[test]
fn a_reader_writes_nothing() {
    let (memory, ledger) = in_memory();
    open_account(&ledger, "a");
    let reader = || Ledger::builder("/bank").disk(memory.clone()).read_only(true).open().unwrap();
    let before = tree(&memory, Path::new("/bank"));
    let expected = refreshed(&reader(), 1);
    assert_eq!(tree(&memory, Path::new("/bank")), before);
    // But it uses what is there.
    refreshed(&ledger, 1);
    let disk = ScriptedDisk::new(memory.clone());
    let reader = Ledger::builder("/bank").disk(disk.clone()).read_only(true).open().unwrap();
    let read = streams_read(&disk, || assert_eq!(refreshed(&reader, 1), expected));
    assert_eq!(read, 0);
}

/// A log may change again within the tick of the clock in which it was read, and look the same from outside; so what is as
/// young as the refresh that reads it is not taken for known.
#[test]
fn what_is_too_young_is_read_again() {
    let (memory, ledger) = in_memory();
    open_account(&ledger, "a");
    let disk = ScriptedDisk::new(memory);
    disk.stop_the_clock();
    let reader = open(disk.clone(), Path::new("/bank"));
    for _ in 0..2 {
        assert_eq!(streams_read(&disk, || _ = refreshed(&reader, 1)), 1);
    }
}

#[test]
fn refreshes_at_once_agree() {
    let (_directory, root, ledger) = on_disk();
    for number in 0..200 {
        open_account(&ledger, &format!("a{number}"));
    }
    let expected = read_all(&ledger);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let ledger = open(OsDisk, &root);
            let expected = &expected;
            scope.spawn(move || {
                for _ in 0..5 {
                    assert_eq!(&refreshed(&ledger, 1), expected);
                }
            });
        }
    });
    let left = std::fs::read_dir(root.join(".new")).unwrap().count();
    assert_eq!(left, 0, "nothing is left of what was built");
    let file = root.join("catalog/account.jsonl");
    let stat = OsDisk.stat(&file).unwrap();
    assert_eq!((stat.kind, stat.mode), (FileKind::File, 0o600));
    assert_eq!(OsDisk.stat(&root.join("catalog")).unwrap().mode, 0o700);
}

/// Writing the catalog fails at each operation, and everything stops there: the listing is right, and so is the next.
#[test]
fn trouble_with_the_catalog_is_no_trouble() {
    let prepared = || {
        let disk = FaultyDisk::new();
        let ledger = open(disk.clone(), Path::new("/bank"));
        for id in ["a", "b"] {
            open_account(&ledger, id);
        }
        refreshed(&ledger, 1);
        credit(&ledger, "a", 5);
        disk.process_death()
    };
    let base = prepared();
    let expected = read_all(&open(base.process_death(), Path::new("/bank")));
    let undisturbed = base.process_death();
    assert_eq!(refreshed(&open(undisturbed.clone(), Path::new("/bank")), 1), expected);
    let operations = undisturbed.operations().len();
    assert!(operations > 2, "the catalog is written");
    let answers = |disk: &FaultyDisk, what: &str| {
        let ledger = open(disk.clone(), Path::new("/bank"));
        assert_eq!(refreshed(&ledger, 1), expected, "{what}");
        assert!(ledger.verify(&VerifyOptions::default()).problems.is_empty(), "{what}");
    };
    for operation in 0..operations {
        for fault in [Fault::StorageFull, Fault::ShortWrite, Fault::WriteError] {
            let disk = base.process_death();
            disk.fail_at(operation, fault);
            let what = format!("{fault:?} at operation {operation}");
            assert_eq!(refreshed(&open(disk.clone(), Path::new("/bank")), 1), expected, "{what}");
            answers(&disk.process_death(), &what);
        }
        for moment in [Moment::Before, Moment::Inside, Moment::After] {
            let disk = base.process_death();
            disk.cut_at(operation, moment);
            drop(Ledger::builder("/bank").disk(disk.clone()).open().map(|ledger| {
                ledger.catalog::<Account>(1).refresh(|_, state: &AccountState, _| state.cents).map(drop)
            }));
            let what = format!("{moment:?} operation {operation}");
            answers(&disk.process_death(), &what);
            for seed in 0..6 {
                answers(&disk.power_loss(seed), &format!("{what}, power loss {seed}"));
            }
        }
    }
}
