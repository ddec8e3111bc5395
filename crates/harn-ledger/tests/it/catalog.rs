//! The catalog: the same answer as reading everything, for the price of what changed.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use harn_ledger::disk::{Disk as _, Fault, FaultyDisk, FileKind, Moment, Open, OsDisk};
use harn_ledger::{Decider as _, Digest, Expect, Ledger, Listed, StreamId, VerifyOptions};

use crate::account::{Account, AccountState, credited, open_account};
use crate::process::{Player, listen};
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

/// Refreshes until the catalog is there: what is too young for it is older at the next tick of the disk's clock.
fn settled(ledger: &Ledger, root: &Path) -> Told {
    loop {
        let told = refreshed(ledger, 1);
        if root.join("catalog/account.jsonl").exists() {
            return told;
        }
    }
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
    let left = String::from_utf8(read(&memory, Path::new(CATALOG))).unwrap();
    assert!(left.contains("\"id\":\"d\"") && !left.contains("\"id\":\"c\""), "{left}");

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

/// An intent is not appended to, but it may be replaced.
#[test]
fn a_replaced_intent_is_noticed() {
    let (memory, ledger) = in_memory();
    open_account(&ledger, "a");
    assert_eq!(refreshed(&ledger, 1), [("a".to_owned(), Ok(0))]);
    let path = account("a").join(INTENT);
    let intent = read(&memory, &path);
    write(&memory, &path, &intent);
    assert_eq!(refreshed(&ledger, 1), [("a".to_owned(), Ok(0))], "the same bytes again");
    let replaced = String::from_utf8(intent).unwrap().replace("Alice", "Mallo");
    write(&memory, &path, replaced.as_bytes());
    assert_eq!(refreshed(&ledger, 1), [("a".to_owned(), Err("damaged"))]);
    memory.unlink(&path).unwrap();
    assert_eq!(refreshed(&ledger, 1), [("a".to_owned(), Err("damaged"))]);
}

/// What is read each time, because it is never kept, is no reason to write all the rest again.
#[test]
fn it_is_written_only_when_it_says_something_else() {
    let (memory, ledger) = in_memory();
    for id in ["damaged", "sound", "torn"] {
        open_account(&ledger, id);
        credit(&ledger, id, 5);
    }
    cut(&memory, &account("torn").join(LOG), 1);
    write(&memory, &account("damaged").join(LOG), b"damage\n");
    let disk = ScriptedDisk::new(memory.clone());
    let reader = open(disk.clone(), Path::new("/bank"));
    let writes = |change: &dyn Fn()| {
        change();
        let before = disk.count(Call::Rename, "account.jsonl");
        let told = refreshed(&reader, 1);
        assert_eq!(told.iter().map(|(_, told)| *told).collect::<Vec<_>>(), [Err("damaged"), Ok(5), Ok(0)]);
        assert_eq!(memory.read_dir(Path::new("/bank/.new")).unwrap(), [""; 0]);
        disk.count(Call::Rename, "account.jsonl") - before
    };
    assert_eq!(writes(&|| ()), 1, "there is none yet");
    assert_eq!(writes(&|| ()), 0);
    let log = account("sound").join(LOG);
    assert_eq!(writes(&|| write(&memory, &log, &read(&memory, &log))), 1);
    assert_eq!(writes(&|| ()), 0);
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
    for index in 0..good.len() {
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

    let truth = ledger.verify(&VerifyOptions::default());
    write(&memory, Path::new(CATALOG), lie.as_bytes());
    let disk = ScriptedDisk::new(memory.clone());
    assert_eq!(open(disk.clone(), Path::new("/bank")).verify(&VerifyOptions::default()), truth);
    assert_eq!(disk.count(Call::Open, "account.jsonl"), 0, "verification does not read it");
}

/// What may stand in the place of a catalog, or of the directory of catalogs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instead {
    Directory,
    Pipe,
    /// To a catalog that would be believed if it stood there.
    Link,
    /// Longer than any catalog.
    Huge,
    File,
}

impl Instead {
    fn put(self, path: &Path, elsewhere: &Path) {
        std::fs::rename(path, elsewhere).unwrap();
        match self {
            Self::Directory => OsDisk.create_dir(path).unwrap(),
            Self::Pipe => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
            Self::Link => symlink(elsewhere, path).unwrap(),
            Self::Huge => {
                std::fs::copy(elsewhere, path).unwrap();
                std::fs::OpenOptions::new().append(true).open(path).unwrap().set_len((64 << 20) + 1).unwrap();
            }
            Self::File => std::fs::write(path, b"").unwrap(),
        }
    }
}

#[test]
fn whatever_stands_in_the_place_of_a_catalog() {
    use Instead::{Directory, File, Huge, Link, Pipe};
    // Each with whether there is a catalog in its place afterwards.
    let cases = [
        ("catalog/account.jsonl", Directory, false),
        ("catalog/account.jsonl", Pipe, true),
        ("catalog/account.jsonl", Link, true),
        ("catalog/account.jsonl", Huge, true),
        ("catalog/account.jsonl", File, true),
        ("catalog", Directory, true),
        ("catalog", Pipe, false),
        ("catalog", Link, false),
        ("catalog", File, false),
    ];
    for (place, instead, mended) in cases {
        let (directory, root, ledger) = on_disk();
        for id in ["a", "b"] {
            open_account(&ledger, id);
            credit(&ledger, id, 5);
        }
        let expected = settled(&ledger, &root);
        let elsewhere = directory.path().join("elsewhere");
        instead.put(&root.join(place), &elsewhere);
        let before = tree(&OsDisk, &elsewhere);
        let disk = ScriptedDisk::new(OsDisk);
        let reader = open(disk.clone(), &root);
        let read = streams_read(&disk, || assert_eq!(refreshed(&reader, 1), expected));
        assert_eq!(read, 2, "`{place}` {instead:?}: it was believed");
        let read = streams_read(&disk, || assert_eq!(refreshed(&reader, 1), expected));
        assert_eq!(read == 0, mended, "`{place}` {instead:?}");
        assert_eq!(
            tree(&OsDisk, &elsewhere),
            before,
            "`{place}` {instead:?}: something was written elsewhere"
        );
        assert!(disk.reads().0 < 1 << 20, "`{place}` {instead:?}: all of it was read");
        let left = std::fs::read_dir(root.join(".new")).unwrap().count();
        assert_eq!(left, 0, "`{place}` {instead:?}: something half-built is left");
    }
}

#[test]
fn a_catalog_of_somebody_else_is_not_believed() {
    for place in ["/bank/catalog", CATALOG] {
        let (memory, ledger) = in_memory();
        open_account(&ledger, "a");
        let expected = refreshed(&ledger, 1);
        let disk = ScriptedDisk::new(memory.clone());
        disk.give_away(Path::new(place), memory.user() + 1);
        let reader = open(disk.clone(), Path::new("/bank"));
        assert_eq!(streams_read(&disk, || assert_eq!(refreshed(&reader, 1), expected)), 1, "{place}");
    }
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
    let path = account("a").join(LOG);
    let opened = read(&disk, &path);
    for cents in [5, 6, 5] {
        write(&disk, &path, &opened);
        credit(&open(disk.clone(), Path::new("/bank")), "a", cents);
        for _ in 0..2 {
            let mut told = Vec::new();
            assert_eq!(streams_read(&disk, || told = refreshed(&reader, 1)), 1);
            assert_eq!(told, [("a".to_owned(), Ok(cents))]);
        }
    }
}

/// The same with the clock of the machine's disk, however coarse it is: two logs of one length take turns.
#[test]
fn what_changes_as_fast_as_it_is_listed() {
    let (_directory, root, ledger) = on_disk();
    let path = root.join("account/a").join(LOG);
    open_account(&ledger, "a");
    let opened = std::fs::read(&path).unwrap();
    let logs = [5, 6].map(|cents| {
        write(&OsDisk, &path, &opened);
        credit(&open(OsDisk, &root), "a", cents);
        (cents, std::fs::read(&path).unwrap())
    });
    assert_eq!(logs[0].1.len(), logs[1].1.len());
    for (cents, log) in logs.iter().cycle().take(400) {
        assert_eq!(OsDisk.open(&path, Open::Write).unwrap().write_at(0, log).unwrap(), log.len());
        for _ in 0..3 {
            assert_eq!(refreshed(&ledger, 1), [("a".to_owned(), Ok(*cents))]);
        }
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

/// Processes list while others append; what each of them keeps is right for all of them.
#[test]
fn lists_while_others_append() {
    let (_directory, root, ledger) = on_disk();
    let ids = ["a", "b", "c"];
    for id in ids {
        open_account(&ledger, id);
    }
    let players: Vec<Player> = (0..3).map(|_| Player::start("list", &root)).collect();
    for cents in 1..=60_u64 {
        for id in ids {
            credit(&ledger, id, 1);
        }
        let told = refreshed(&ledger, 1);
        assert_eq!(told, ids.map(|id| (id.to_owned(), Ok(cents))));
    }
    for mut player in players {
        player.say("enough");
        player.finish();
    }
    assert_eq!(refreshed(&ledger, 1), ids.map(|id| (id.to_owned(), Ok(60))));
}

/// Lists until it is told to stop; an account never has less than before.
pub(crate) fn list_until_told(root: &Path) {
    let enough = std::thread::spawn(listen);
    let ledger = open(OsDisk, root);
    let mut before = Vec::new();
    while !enough.is_finished() {
        let told: Vec<u64> = refreshed(&ledger, 1).into_iter().map(|(_, cents)| cents.unwrap()).collect();
        assert!(before.iter().zip(&told).all(|(before, now)| before <= now), "{before:?}, then {told:?}");
        before = told;
    }
}

/// What is listed before it is synced may be lost with the power, and leave length and times of the log as they were.
#[test]
fn a_list_from_before_a_loss_of_power_is_not_believed() {
    let disk = FaultyDisk::new();
    let ledger = open(disk.clone(), Path::new("/bank"));
    open_account(&ledger, "a");
    disk.cut_at(disk.operations().len() + 1, Moment::Before);
    let stream = ledger.stream::<Account>("a").unwrap();
    stream.append(Expect::Any, "teller", vec![credited(5)]).unwrap_err();
    let disk = disk.process_death();
    assert_eq!(refreshed(&open(disk.clone(), Path::new("/bank")), 1), [("a".to_owned(), Ok(5))]);
    let catalog = read(&disk, Path::new(CATALOG));
    let log = account("a").join(LOG);
    let length = disk.stat(&log).unwrap().length;
    let mut lost = 0;
    for seed in 0..200 {
        let disk = disk.power_loss(seed);
        let plain = read_all(&open(disk.process_death(), Path::new("/bank")));
        let survived =
            disk.stat(Path::new(CATALOG)).is_ok_and(|_| read(&disk, Path::new(CATALOG)) == catalog);
        let same_length = disk.stat(&log).is_ok_and(|stat| stat.length == length);
        lost += usize::from(survived && same_length && plain != [("a".to_owned(), Ok(5))]);
        assert_eq!(refreshed(&open(disk, Path::new("/bank")), 1), plain, "seed {seed}");
    }
    assert!(lost > 0, "the catalog never outlived what it was made from");
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
