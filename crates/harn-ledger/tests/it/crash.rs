//! The crash matrix: each workload is stopped before, inside and after every operation on the disk, and fails at every
//! operation in every way that it can fail. Whatever is left then must hold all that was acknowledged, show nothing by
//! halves, and be fit to go on with.

mod book;
mod diary;
mod inspection;
mod lists;
mod repairs;
mod workloads;

use std::path::PathBuf;

use harn_ledger::disk::{Fault, FaultyDisk, Moment, Operation};

use self::book::{Book, stream_directory};
use self::inspection::{Left, inspect};
use self::workloads::{WORKLOADS, Workload};
use crate::store::LOG;

/// Losses of power tried at each place: everything unsynced lost, everything kept, and mixtures.
const SEEDS: u64 = 6;

/// The same, at the few places where one unsynced write lies over another and only certain mixtures do harm.
const MANY_SEEDS: u64 = 50;

/// A disk as the workload finds it, and what is in it.
fn prepared(workload: &Workload) -> (FaultyDisk, Book) {
    let disk = FaultyDisk::new();
    let book = Book::default();
    (workload.prepare)(&disk, &book);
    (disk.process_death(), book)
}

/// The operations that the workload takes when nothing goes wrong; then all of it must have been acknowledged.
fn operations(workload: &Workload, disk: &FaultyDisk, book: &Book) -> Vec<(Operation, PathBuf)> {
    let (disk, book) = (disk.process_death(), book.fork("undisturbed", false));
    (workload.run)(&disk, &book);
    book.assert_all_acknowledged();
    inspect_all(workload.name, &disk, &book, SEEDS);
    disk.operations()
}

/// Looks at what is left of a disk when the processes that used it die, and when the power fails.
fn inspect_all(place: &str, disk: &FaultyDisk, book: &Book, seeds: u64) {
    let died = book.fork(&format!("{place}, process death"), false);
    inspect(&disk.process_death(), &died, Left::Everything);
    for seed in 0..seeds {
        let book = book.fork(&format!("{place}, power loss {seed}"), false);
        inspect(&disk.power_loss(seed), &book, if seed == 0 { Left::AllLost } else { Left::Some });
    }
}

fn stop_everywhere(workload: &Workload) {
    let (base, prepared) = prepared(workload);
    for operation in 0..operations(workload, &base, &prepared).len() {
        for moment in [Moment::Before, Moment::Inside, Moment::After] {
            let disk = base.process_death();
            disk.cut_at(operation, moment);
            let book = prepared.fork("", false);
            (workload.run)(&disk, &book);
            let (last, path) = disk.operations().pop().unwrap();
            let path = path.display();
            inspect_all(
                &format!("{}: {moment:?} operation {operation}, {last:?} {path}", workload.name),
                &disk,
                &book,
                SEEDS,
            );
        }
    }
}

fn fail_everywhere(workload: &Workload) {
    let (base, prepared) = prepared(workload);
    for (number, (operation, _)) in operations(workload, &base, &prepared).into_iter().enumerate() {
        for &fault in faults(operation) {
            let disk = base.process_death();
            disk.fail_at(number, fault);
            let name = workload.name;
            let book = prepared.fork(&format!("{name}: {fault:?} at operation {number}"), true);
            (workload.run)(&disk, &book);
            book.assert_all_acknowledged_or_unknown();
            let (_, path) = disk.operations().swap_remove(number);
            let path = path.display();
            inspect_all(
                &format!("{name}: {fault:?} at operation {number}, {operation:?} {path}"),
                &disk,
                &book,
                SEEDS,
            );
        }
    }
}

/// What a write to a log that failed left of itself must not come back between the bytes of the next one: everything
/// stops when that is written, and not yet synced.
fn stop_after_a_failed_write(workload: &Workload) {
    let (base, prepared) = prepared(workload);
    let run = |number, fault, stop| {
        let (disk, book) = (base.process_death(), prepared.fork("", false));
        disk.fail_at(number, fault);
        disk.cut_at(stop, Moment::After);
        (workload.run)(&disk, &book);
        (disk, book)
    };
    let log = stream_directory("a").join(LOG);
    for (number, done) in operations(workload, &base, &prepared).into_iter().enumerate() {
        if done != (Operation::Write, log.clone()) {
            continue;
        }
        for fault in [Fault::ShortWrite, Fault::WriteError] {
            for stop in number + 1.. {
                let (disk, book) = run(number, fault, stop);
                let Some((last, path)) = disk.operations().get(stop).cloned() else {
                    break;
                };
                if (last, &path) == (Operation::Write, &log) {
                    let place =
                        format!("{}: {fault:?} at operation {number}, stopped after {stop}", workload.name);
                    inspect_all(&place, &disk, &book, MANY_SEEDS);
                }
            }
        }
    }
}

/// How an operation can go wrong.
const fn faults(operation: Operation) -> &'static [Fault] {
    match operation {
        Operation::Write => &[Fault::StorageFull, Fault::ShortWrite, Fault::WriteError],
        Operation::CreateFile | Operation::CreateDir | Operation::Rename | Operation::Link => {
            &[Fault::StorageFull]
        }
        Operation::Sync | Operation::SyncDir => &[Fault::SyncError],
        _ => &[],
    }
}

/// One test for each workload and each kind of trouble, so that they run side by side.
macro_rules! matrix {
    ($($name:ident: $index:expr,)*) => {
        mod stopped {
            $(#[test] fn $name() { super::stop_everywhere(&super::WORKLOADS[$index]); })*
        }
        mod failing {
            $(#[test] fn $name() { super::fail_everywhere(&super::WORKLOADS[$index]); })*
        }
        mod stopped_after_a_failed_write {
            $(#[test] fn $name() { super::stop_after_a_failed_write(&super::WORKLOADS[$index]); })*
        }
        #[test]
        fn every_workload_is_in_the_matrix() {
            let indices = [$($index),*];
            assert!((0..WORKLOADS.len()).all(|index| indices.contains(&index)));
        }
    };
}

matrix! {
    create: 0,
    append: 1,
    batch: 2,
    tail_move: 3,
    two_handles: 4,
    blob: 5,
    lease: 6,
    between_write_and_sync: 7,
    between_rename_and_sync: 8,
    checkpoint_of_an_append: 9,
    checkpoint_of_a_new_stream: 10,
    repair_tail: 11,
    repair_cut: 12,
    repair_resync: 13,
    repair_cut_suspect: 14,
    catalog: 15,
    catalog_between_write_and_sync: 16,
}
