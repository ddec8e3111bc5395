//! Lists of the diaries: what a catalog says of them is what they say themselves.

use harn_ledger::disk::FaultyDisk;
use harn_ledger::{Decider as _, Digest, Ledger, ReadError, StreamError};

use super::book::{Book, open};
use super::diary::{Diary, DiaryEvent};

/// What a diary holds, or why it cannot be read. Short, so that a catalog is one page that may survive.
type Told = Result<Digest, &'static str>;

fn summary(state: &Vec<DiaryEvent>) -> Digest {
    Digest::of(&serde_json::to_vec(state).unwrap())
}

/// Lists all diaries, as far as that goes. If only a single call fails, nothing keeps it from being right.
pub(crate) fn list(disk: &FaultyDisk, book: &Book) -> Option<()> {
    let ledger = book.open(disk)?;
    let listed = listed(&ledger);
    if book.is_persistent() {
        assert_eq!(listed.ok()?, read(disk), "{}", book.place());
        return Some(());
    }
    listed.ok().map(drop)
}

/// Whatever is left of the catalog, the list is the one without it, now and again.
pub(crate) fn assert_listed(disk: &FaultyDisk, book: &Book) {
    let disk = disk.process_death();
    let expected = read(&disk);
    for again in [false, true] {
        let listed = listed(&open(&disk).unwrap()).unwrap();
        assert_eq!(listed, expected, "{}, listed, again: {again}", book.place());
    }
}

fn listed(ledger: &Ledger) -> Result<Vec<(String, Told)>, StreamError> {
    let listed = ledger.catalog::<Diary>(1).refresh(|_, state, _| summary(state))?;
    let code = |error: ReadError| error.code();
    Ok(listed.into_iter().map(|it| (it.id.to_string(), it.summary.map_err(code))).collect())
}

fn read(disk: &FaultyDisk) -> Vec<(String, Told)> {
    let ledger = open(disk).unwrap();
    let told = |id: &str| -> Told {
        let stream = ledger.stream::<Diary>(id).map_err(|error| error.code())?;
        stream.state().map(|state| summary(&state)).map_err(|error| error.code())
    };
    let ids = ledger.ids(Diary::KIND).unwrap();
    ids.iter().map(|id| (id.to_string(), told(id.as_str()))).collect()
}
