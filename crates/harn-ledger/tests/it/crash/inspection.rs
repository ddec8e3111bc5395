//! What must hold on a disk that was left behind, and what must be possible on it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use harn_ledger::disk::{Disk as _, FaultyDisk};
use harn_ledger::{
    BlobRef, DamageKind, Digest, Entry, Expect, LeaseStatus, Ledger, LedgerEvent, ProblemKind, ReadError,
    StreamError, VerifyOptions,
};

use super::book::{Batch, Book, CHECKPOINT, open, stream_directory};
use super::diary::{Diary, DiaryEvent};
use super::lists::assert_listed;
use super::repairs::repair_to_the_end;
use crate::store::{moved_files, read};

/// What of the unsynced changes is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    Everything,
    Some,
    AllLost,
}

/// How a stream is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Absent,
    InOrder,
    /// A hole stands where unacknowledged bytes were lost.
    Hole,
}

pub(crate) fn inspect(disk: &FaultyDisk, book: &Book, left: Left) {
    let place = book.place();
    let ledger = open(disk).unwrap_or_else(|| panic!("{place}: the ledger does not open"));
    repair_to_the_end(disk, &ledger, book);
    let found: BTreeMap<String, Found> = book
        .streams()
        .iter()
        .map(|(id, batches)| (id.clone(), look(&ledger, id, batches, left, &place)))
        .collect();
    assert_problems(&ledger, &found, true, &place);
    assert_blobs(&ledger, book);
    assert_checkpoint(disk, &ledger, book);
    assert_listed(disk, book);
    if left == Left::Everything {
        settle(disk, &ledger, book, &found);
    }
    go_on(disk, &ledger, book, &found);
    assert_in_order(disk, &ledger, book, &found);
    let ledger = open(&disk.power_loss(0)).unwrap_or_else(|| panic!("{place}: the ledger is lost"));
    assert_in_order(&disk.power_loss(0), &ledger, &book.fork(&format!("{place}, later lost"), false), &found);
}

fn suspect(disk: &FaultyDisk, id: &str) -> bool {
    disk.stat(&stream_directory(id).join("suspect")).is_ok()
}

/// Reads a stream: all that was acknowledged must be there, in order, and of the rest each batch as a whole or not at
/// all. A hole may stand behind all that was acknowledged.
fn look(ledger: &Ledger, id: &str, batches: &[Batch], left: Left, place: &str) -> Found {
    let raw = ledger.raw("diary", id).unwrap();
    let mut seen = Vec::new();
    let visited = raw.visit(|line| {
        if !line.event.starts_with("ledger.") {
            seen.push(serde_json::from_str(&format!("{{\"{}\":{}}}", line.event, line.data)).unwrap());
        }
        ControlFlow::Continue(())
    });
    assert_shown(&seen, batches, &format!("{place}: {id}"));
    let typed = ledger.stream::<Diary>(id);
    match visited {
        Ok(_) => {
            assert_eq!(typed.unwrap().state().unwrap(), seen, "{place}: {id}");
            Found::InOrder
        }
        Err(ReadError::NotFound { .. }) => {
            assert_eq!(typed.unwrap_err().code(), "not_found", "{place}: {id}");
            Found::Absent
        }
        Err(ReadError::Damaged { damage, .. }) if left == Left::Some && damage.kind == DamageKind::Hole => {
            let Err(StreamError::Read(ReadError::Damaged { damage: again, .. })) = typed else {
                panic!("{place}: {id} is opened though it is damaged");
            };
            assert_eq!(again, damage, "{place}: {id}");
            Found::Hole
        }
        Err(error) => panic!("{place}: {id}: {error:?}"),
    }
}

fn assert_shown(seen: &[DiaryEvent], batches: &[Batch], place: &str) {
    let mut rest = seen;
    for Batch { events, acknowledged } in batches {
        match rest.strip_prefix(&**events) {
            Some(behind) => rest = behind,
            None => assert!(!acknowledged, "{place}: an acknowledged event is lost: {} seen", seen.len()),
        }
    }
    assert!(rest.is_empty(), "{place}: something is shown that nobody wrote, or half of it");
}

/// Verification finds nothing but what a crash may leave.
fn assert_problems(ledger: &Ledger, found: &BTreeMap<String, Found>, tails: bool, place: &str) {
    for problem in ledger.verify(&VerifyOptions::default()).problems {
        let id = problem.place.trim_start_matches("diary/");
        let expected = match &problem.kind {
            ProblemKind::UnfinishedTail(_) => tails || suspect_in(ledger, id),
            ProblemKind::Damaged(_) => found.get(id) == Some(&Found::Hole),
            ProblemKind::Suspect => true,
            _ => false,
        };
        assert!(expected, "{place}: {problem:?}");
    }
}

fn suspect_in(ledger: &Ledger, id: &str) -> bool {
    let problems = ledger.verify(&VerifyOptions::default()).problems;
    problems
        .iter()
        .any(|problem| problem.kind == ProblemKind::Suspect && problem.place == format!("diary/{id}"))
}

fn assert_blobs(ledger: &Ledger, book: &Book) {
    let place = book.place();
    for (bytes, acknowledged) in book.blobs() {
        match ledger.blobs().get(&BlobRef::of(&bytes)) {
            Ok(found) => assert_eq!(found, bytes, "{place}"),
            Err(error) => assert!(!acknowledged && error.code() == "blob_missing", "{place}: {error:?}"),
        }
    }
}

/// Whatever is lost, the ledger extends every checkpoint that was taken of it, and the file is whole or not there.
fn assert_checkpoint(disk: &FaultyDisk, ledger: &Ledger, book: &Book) {
    let place = book.place();
    let Some((checkpoint, acknowledged)) = book.checkpoint_taken() else {
        return;
    };
    match disk.stat(Path::new(CHECKPOINT)) {
        Ok(_) => assert_eq!(read(disk, Path::new(CHECKPOINT)), checkpoint.to_bytes(), "{place}"),
        Err(error) => assert!(!acknowledged, "{place}: the checkpoint is lost: {error}"),
    }
    let mut options = VerifyOptions::default();
    options.against = Some(checkpoint);
    for problem in ledger.verify(&options).problems {
        let contradicts = ["removed", "cut_off", "rewritten"].contains(&problem.kind.code());
        assert!(!contradicts, "{place}: {problem:?}");
    }
}

/// What a reader settled does not go away, whoever wrote it.
fn settle(disk: &FaultyDisk, ledger: &Ledger, book: &Book, found: &BTreeMap<String, Found>) {
    let disk = disk.process_death();
    let place = format!("{}, settled", book.place());
    let readers = open(&disk).unwrap();
    for id in found.iter().filter(|(_, found)| **found == Found::InOrder).map(|(id, _)| id) {
        let shown = ledger.stream::<Diary>(id).unwrap().state().unwrap();
        match readers.stream::<Diary>(id).unwrap().settled_state() {
            Ok(state) => {
                assert!(!suspect(&disk, id) && !book.is_unknown(id), "{place}: {id} may be lost");
                assert_eq!(state, shown, "{place}: {id}");
                let later = open(&disk.power_loss(0)).unwrap();
                let lasting = later.stream::<Diary>(id).map(|stream| stream.state().unwrap());
                assert_eq!(lasting.map_err(|error| error.to_string()), Ok(shown), "{place}: {id}");
            }
            Err(error) => {
                assert_eq!(error.code(), "durability_unknown", "{place}: {id}");
                assert!(suspect(&disk, id), "{place}: {id}: {error:?}");
            }
        }
    }
}

/// Nothing has to be mended by hand before work goes on, and where it does not go on, it says why.
fn go_on(disk: &FaultyDisk, ledger: &Ledger, book: &Book, found: &BTreeMap<String, Found>) {
    let place = book.place();
    for (id, found) in found {
        match found {
            Found::Absent => {
                book.forget(id);
                let stream =
                    book.create(ledger, id).unwrap_or_else(|| panic!("{place}: {id} is not created"));
                assert!(book.append(disk, &stream, &[40]), "{place}: {id}");
            }
            Found::InOrder => {
                let stream = ledger.stream::<Diary>(id).unwrap();
                assert!(suspect(disk, id) || !book.is_unknown(id), "{place}: {id} has no mark");
                if suspect(disk, id) {
                    let mark = String::from_utf8(read(disk, &stream_directory(id).join("suspect"))).unwrap();
                    let safe = mark.strip_suffix('\n').and_then(|offset| offset.parse::<u64>().ok());
                    assert!(safe.is_some(), "{place}: {id}: the mark says `{mark}`");
                    let events = vec![DiaryEvent::Wrote { text: "refused".to_owned() }];
                    let error = stream.append(Expect::Any, "writer", events).unwrap_err();
                    assert_eq!(error.code(), "durability_unknown", "{place}: {id}");
                } else {
                    assert!(book.append(disk, &stream, &[40]), "{place}: {id}");
                    assert!(book.append(disk, &stream, &[30, 4000]), "{place}: {id}");
                }
                assert_eq!(stream.lease_status().unwrap(), LeaseStatus::Free, "{place}: {id}");
                drop(stream.lease("later").unwrap());
            }
            Found::Hole => {}
        }
    }
    for bytes in book.blobs().keys() {
        book.put(ledger, bytes).unwrap_or_else(|| panic!("{place}: a blob is not stored"));
    }
    book.create(ledger, "later").unwrap_or_else(|| panic!("{place}: nothing is created"));
    let staged = disk.read_dir(Path::new("/bank/.new")).unwrap();
    assert_eq!(staged, [""; 0], "{place}: half-built things are left");
}

/// All that was acknowledged is there, nothing else is wrong, and moved tails are where the log says.
fn assert_in_order(disk: &FaultyDisk, ledger: &Ledger, book: &Book, found: &BTreeMap<String, Found>) {
    let place = book.place();
    assert_problems(ledger, found, false, &place);
    assert_blobs(ledger, book);
    assert_checkpoint(disk, ledger, book);
    for (id, batches) in book.streams() {
        let before = found.get(&id);
        let now = look(
            ledger,
            &id,
            &batches,
            if before == Some(&Found::Hole) { Left::Some } else { Left::AllLost },
            &place,
        );
        let expected = if before == Some(&Found::Hole) { Found::Hole } else { Found::InOrder };
        assert_eq!(now, expected, "{place}: {id}");
        if now == Found::InOrder && !suspect(disk, &id) {
            assert_moved_tails(disk, ledger, &id, &place);
        }
    }
}

fn assert_moved_tails(disk: &FaultyDisk, ledger: &Ledger, id: &str, place: &str) {
    let mut told = BTreeMap::new();
    for entry in ledger.stream::<Diary>(id).unwrap().history().unwrap() {
        if let Entry::Ledger(recorded) = entry {
            let (LedgerEvent::TailMoved { file, bytes, sha256 } | LedgerEvent::Cut { file, bytes, sha256 }) =
                recorded.event
            else {
                panic!("{place}: {id}: {:?}", recorded.event);
            };
            assert_eq!(told.insert(file, (bytes, sha256)), None, "{place}: {id}: told twice");
        }
    }
    let directory = stream_directory(id);
    let stored: BTreeMap<String, (u64, Digest)> = moved_files(disk, &directory)
        .into_iter()
        .map(|name| {
            let bytes = read(disk, &directory.join(&name));
            (name, (bytes.len() as u64, Digest::of(&bytes)))
        })
        .collect();
    assert_eq!(stored, told, "{place}: {id}: moved tails");
}
