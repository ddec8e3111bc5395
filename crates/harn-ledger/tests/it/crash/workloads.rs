//! What the ledger is doing when things go wrong.

use harn_ledger::disk::{Disk as _, Fault, FaultyDisk, Lock, Moment, Open, Operation};
use harn_ledger::{Decider as _, FixedClock, Ledger, Repair, Stream};

use super::book::{Book, stream_directory};
use super::diary::{Diary, DiaryEvent};
use super::lists::list;
use super::repairs::Evidence;
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{LOG, noon};

pub(crate) struct Workload {
    pub(crate) name: &'static str,
    /// Sets the stage on an empty disk where nothing goes wrong.
    pub(crate) prepare: fn(&FaultyDisk, &Book),
    /// Goes as far as it gets.
    pub(crate) run: fn(&FaultyDisk, &Book),
}

pub(crate) const WORKLOADS: &[Workload] = &[
    Workload { name: "create", prepare: |_, _| {}, run: |disk, book| _ = create(disk, book) },
    Workload { name: "append", prepare: one_diary, run: |disk, book| _ = append(disk, book, &[&[300]]) },
    Workload {
        name: "batch",
        prepare: one_diary,
        // The last append touches none of the pages of the batch but the last.
        run: |disk, book| _ = append(disk, book, &[&[3900, 3900, 3900, 3900], &[300, 30]]),
    },
    Workload {
        name: "tail move",
        prepare: diary_with_a_tail,
        run: |disk, book| _ = append(disk, book, &[&[4400, 4400, 30], &[30]]),
    },
    Workload { name: "two handles", prepare: one_diary, run: |disk, book| _ = two_handles(disk, book) },
    Workload { name: "blob", prepare: one_diary, run: |disk, book| _ = blob(disk, book) },
    Workload { name: "lease", prepare: one_diary, run: |disk, book| _ = lease(disk, book) },
    Workload {
        name: "between write and sync",
        prepare: one_diary,
        run: |disk, book| _ = between_write_and_sync(disk, book),
    },
    Workload {
        name: "between rename and sync",
        prepare: |_, _| {},
        run: |disk, book| _ = between_rename_and_sync(disk, book),
    },
    Workload {
        name: "checkpoint of an append",
        prepare: unsynced_append,
        run: |disk, book| _ = checkpoint(disk, book),
    },
    Workload {
        name: "checkpoint of a new stream",
        prepare: unsynced_name,
        run: |disk, book| _ = checkpoint(disk, book),
    },
    Workload {
        name: "repair tail",
        prepare: |disk, book| needs_repair(disk, book, diary_with_a_tail),
        run: |disk, book| _ = repair(disk, book, Repair::MoveTail),
    },
    Workload {
        name: "repair cut",
        prepare: |disk, book| needs_repair(disk, book, damaged_diary),
        run: |disk, book| _ = repair(disk, book, Repair::CutAtDamage),
    },
    Workload {
        name: "repair resync",
        prepare: suspect_diary,
        run: |disk, book| _ = repair(disk, book, Repair::Resync),
    },
    Workload {
        name: "repair cut, suspect",
        prepare: |disk, book| {
            suspect_diary(disk, book);
            damage_the_end(disk);
        },
        run: |disk, book| _ = repair(disk, book, Repair::CutAtDamage),
    },
    Workload { name: "catalog", prepare: listed_diary, run: |disk, book| _ = lists(disk, book) },
    Workload {
        name: "catalog between write and sync",
        prepare: listed_diary,
        run: |disk, book| _ = list_between_write_and_sync(disk, book),
    },
];

fn one_diary(disk: &FaultyDisk, book: &Book) {
    let ledger = book.open(disk).unwrap();
    let stream = book.create(&ledger, "a").unwrap();
    assert!(book.append(disk, &stream, &[100]));
}

fn listed_diary(disk: &FaultyDisk, book: &Book) {
    one_diary(disk, book);
    list(disk, book).unwrap();
}

/// What stands in the log behind the one diary's events needs a repair.
fn needs_repair(disk: &FaultyDisk, book: &Book, prepare: fn(&FaultyDisk, &Book)) {
    let kept = {
        let disk = FaultyDisk::new();
        one_diary(&disk, &Book::default());
        usize::try_from(log_length(&disk)).unwrap()
    };
    prepare(disk, book);
    let log = crate::store::read(disk, &stream_directory("a").join(LOG));
    book.needs_repair("a", Evidence { log, kept });
}

/// Several pages of events, whose first batch is damaged in its second line.
fn damaged_diary(disk: &FaultyDisk, book: &Book) {
    one_diary(disk, book);
    let start = log_length(disk);
    let stream = book.open(disk).unwrap().stream::<Diary>("a").unwrap();
    let lost = book.fork("", false);
    assert!(lost.append(disk, &stream, &[3000, 3000]) && lost.append(disk, &stream, &[4400, 100]));
    let log = disk.open(&stream_directory("a").join(LOG), Open::Write).unwrap();
    log.write_at(start + 4000, b"!").unwrap();
    log.sync().unwrap();
}

/// Several pages of events are shown, and are not on stable storage.
fn suspect_diary(disk: &FaultyDisk, book: &Book) {
    one_diary(disk, book);
    let log = crate::store::read(disk, &stream_directory("a").join(LOG));
    book.needs_repair("a", Evidence { kept: log.len(), log });
    let stream = book.open(disk).unwrap().stream::<Diary>("a").unwrap();
    disk.fail_at(disk.operations().len() + 2, Fault::SyncError);
    assert!(!book.append(disk, &stream, &[4400, 4400, 30]));
    assert!(disk.stat(&stream_directory("a").join("suspect")).is_ok());
}

/// And behind them stands what is no line, and is not on stable storage either.
fn damage_the_end(disk: &FaultyDisk) {
    let log = disk.open(&stream_directory("a").join(LOG), Open::Write).unwrap();
    log.write_at(log_length(disk), &[b"damage\n".repeat(700), b"damage".to_vec()].concat()).unwrap();
}

/// The tail is longer than a page, consists of the whole lines of an unfinished batch and a torn one, and is on stable
/// storage.
fn diary_with_a_tail(disk: &FaultyDisk, book: &Book) {
    one_diary(disk, book);
    let torn = disk.process_death();
    let start = log_length(&torn);
    let stream = book.open(&torn).unwrap().stream::<Diary>("a").unwrap();
    assert!(book.fork("", false).append(&torn, &stream, &[3000, 3000, 3000, 3000]));
    let bytes = crate::store::read(&torn, &stream_directory("a").join(LOG));
    let log = disk.open(&stream_directory("a").join(LOG), Open::Write).unwrap();
    log.write_at(start, &bytes[usize::try_from(start).unwrap()..bytes.len() - 500]).unwrap();
    log.sync().unwrap();
}

/// A writer died between write and sync: all who look see what it wrote, and a loss of power takes it back.
fn unsynced_append(disk: &FaultyDisk, book: &Book) {
    one_diary(disk, book);
    die_before_the_last(Operation::Sync, disk, book, |disk, book| _ = append(disk, book, &[&[4000, 300]]));
}

/// A creator died between rename and sync; the same holds for its whole stream.
fn unsynced_name(disk: &FaultyDisk, book: &Book) {
    die_before_the_last(Operation::SyncDir, disk, book, |disk, book| {
        book.create(&book.open(disk).unwrap(), "a");
    });
}

/// Does as `act` does, until the last time that it does `operation`.
fn die_before_the_last(
    operation: Operation,
    disk: &FaultyDisk,
    book: &Book,
    act: impl Fn(&FaultyDisk, &Book),
) {
    let trial = disk.process_death();
    act(&trial, &book.fork("", false));
    let last = trial.operations().iter().rposition(|(done, _)| *done == operation).unwrap();
    disk.cut_at(disk.operations().len() + last, Moment::Before);
    act(disk, book);
}

fn log_length(disk: &FaultyDisk) -> u64 {
    disk.stat(&stream_directory("a").join(LOG)).unwrap().length
}

fn create(disk: &FaultyDisk, book: &Book) -> Option<()> {
    let ledger = book.open(disk)?;
    let stream = book.create(&ledger, "a")?;
    book.append(disk, &stream, &[30]).then_some(())?;
    // Its kind is there already.
    book.create(&ledger, "b").map(drop)
}

fn stream(disk: &FaultyDisk, book: &Book) -> Option<(Ledger, Stream<Diary>)> {
    let ledger = book.open(disk)?;
    let stream = ledger.stream::<Diary>("a").ok()?;
    Some((ledger, stream))
}

fn append(disk: &FaultyDisk, book: &Book, batches: &[&[usize]]) -> Option<()> {
    let (_, stream) = stream(disk, book)?;
    for lengths in batches {
        // If the ledger refuses one, the next one asks again.
        book.append(disk, &stream, lengths);
    }
    Some(())
}

fn two_handles(disk: &FaultyDisk, book: &Book) -> Option<()> {
    let (_first, one) = stream(disk, book)?;
    let (_second, two) = stream(disk, book)?;
    for (stream, length) in [(&two, 40), (&one, 4300), (&two, 4000), (&one, 30), (&two, 50)] {
        book.append(disk, stream, &[length]);
    }
    Some(())
}

fn blob(disk: &FaultyDisk, book: &Book) -> Option<()> {
    let (ledger, stream) = stream(disk, book)?;
    let bytes: Vec<u8> = (0..10_000_u32).map(|n| n.to_be_bytes()[3]).collect();
    let paper = book.put(&ledger, &bytes)?;
    book.append_events(disk, &stream, &[DiaryEvent::Filed { paper }]).then_some(())?;
    book.put(&ledger, &bytes).map(drop)
}

fn lease(disk: &FaultyDisk, book: &Book) -> Option<()> {
    let (_, stream) = stream(disk, book)?;
    let lease = stream.lease("the matrix").or_else(|_| stream.lease("the matrix")).ok()?;
    book.append(disk, &stream, &[30]).then_some(())?;
    drop(lease);
    stream.lease("the matrix again").ok().map(drop)
}

fn checkpoint(disk: &FaultyDisk, book: &Book) -> Option<()> {
    let ledger = book.open(disk)?;
    book.checkpoint(disk, &ledger)?;
    let stream = ledger.stream::<Diary>("a").ok()?;
    book.append(disk, &stream, &[30]).then_some(())
}

/// The repaired diary takes events again, through the process that repaired it.
fn repair(disk: &FaultyDisk, book: &Book, repair: Repair) -> Option<()> {
    let ledger = book.open(disk)?;
    book.repair(&ledger, "a", repair).then_some(())?;
    book.append(disk, &ledger.stream::<Diary>("a").ok()?, &[4000, 200]).then_some(())
}

/// The ledger of a process that lets a second process append just before its next call of a kind, unless it holds the
/// lock then.
fn interrupted(disk: &FaultyDisk, book: &Book, call: Call, name: &str) -> Option<Ledger> {
    interrupted_by(disk, book, call, name, |disk, book| {
        if let Some((_, stream)) = stream(disk, book)
            && is_unlocked(disk)
        {
            book.append(disk, &stream, &[4000, 200]);
        }
    })
}

/// The ledger of a process that lets a second process act just before its next call of a kind.
fn interrupted_by(
    disk: &FaultyDisk,
    book: &Book,
    call: Call,
    name: &str,
    second: fn(&FaultyDisk, &Book),
) -> Option<Ledger> {
    let scripted = ScriptedDisk::new(disk.clone());
    let (disk, book) = (disk.clone(), book.clone());
    scripted.next(call, name, Act::First(Box::new(move || second(&disk, &book))));
    let open = || Ledger::builder("/bank").disk(scripted.clone()).clock(FixedClock(noon())).open();
    open().or_else(|_| open()).ok()
}

fn is_unlocked(disk: &FaultyDisk) -> bool {
    let log = disk.open(&stream_directory("a").join(LOG), Open::Read);
    log.is_ok_and(|log| log.try_lock(Lock::Exclusive).is_ok_and(|taken| taken))
}

/// A second process appends behind what the first has written and not yet synced.
fn between_write_and_sync(disk: &FaultyDisk, book: &Book) -> Option<()> {
    let ledger = interrupted(disk, book, Call::Sync, LOG)?;
    let stream = ledger.stream::<Diary>("a").ok()?;
    book.append(disk, &stream, &[4300, 4300]);
    book.append(disk, &stream, &[30]).then_some(())
}

/// A second process finds a new diary, and writes into it, before the first has made sure of its name.
fn between_rename_and_sync(disk: &FaultyDisk, book: &Book) -> Option<()> {
    let ledger = interrupted(disk, book, Call::SyncDir, Diary::KIND)?;
    let stream = book.create(&ledger, "a")?;
    book.append(disk, &stream, &[30]).then_some(())
}

/// A list makes the catalog anew each time that a diary has changed.
fn lists(disk: &FaultyDisk, book: &Book) -> Option<()> {
    append(disk, book, &[&[300]])?;
    list(disk, book)?;
    let ledger = book.open(disk)?;
    book.create(&ledger, "b")?;
    list(disk, book)
}

/// A second process lists what the first has written and not yet synced.
fn list_between_write_and_sync(disk: &FaultyDisk, book: &Book) -> Option<()> {
    let ledger = interrupted_by(disk, book, Call::Sync, LOG, |disk, book| _ = list(disk, book))?;
    let stream = ledger.stream::<Diary>("a").ok()?;
    book.append(disk, &stream, &[4300, 4300]).then_some(())
}
