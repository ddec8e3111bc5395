//! Every stored blob against what cites it, with a bounded number of them in memory.
//!
//! Blobs are stored in 256 directories by the first two digits of their digests. A *pass* covers a range of these that
//! holds at most [`STORED_MAX`] blobs (or one directory, if that alone holds more): their digests are listed, all streams
//! are read and take note of what they cite in this range, and then the cited blobs are hashed. Nearly every ledger needs
//! one pass; in each further one the streams are read once more. Besides the stored blobs only those citations are kept
//! that no stored blob answers: they are problems, or blobs that were stored while this went on.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Problems;
use super::problem::{Problem, ProblemKind};
use crate::blob_ref::BlobRef;
use crate::blobs::BLOBS;
use crate::digest::Digest;
use crate::disk::{FileKind, Open};
use crate::ledger::Ledger;
use crate::parallel;
use crate::tail::hash_file;

/// Most stored blobs in one pass; each takes 64 bytes.
const STORED_MAX: usize = 1 << 15;

/// The passes that it takes to cover all blobs.
pub(super) struct Passes<'a> {
    ledger: &'a Ledger,
    /// What is wrong with the blobs' directories.
    found: Problems<'a>,
    /// The directories that are there and not listed yet, the next one last.
    parts: Vec<u8>,
    /// What was listed, and did not fit the pass before.
    carried: Vec<Digest>,
    /// Where the next pass begins; nothing if all is covered.
    next: Option<u8>,
}

/// One pass.
pub(super) struct Pass {
    parts: RangeInclusive<u8>,
    table: Mutex<Table>,
}

struct Table {
    /// Sorted by digest.
    stored: Vec<Stored>,
    /// Citations that no stored blob answers, or one that is cited with another length first.
    others: BTreeMap<BlobRef, Citer>,
}

struct Stored {
    blob: Digest,
    cited: Option<(u64, Citer)>,
}

/// The first event that cites a blob, in the order of streams and events.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Citer {
    place: Arc<str>,
    /// 0 for the intent.
    seq: u64,
}

/// What a pass found.
pub(super) struct Checked {
    /// Different citations.
    pub(super) cited: u64,
    /// Stored blobs that nothing cites.
    pub(super) orphans: u64,
    /// In the order of the digests.
    pub(super) problems: Vec<Problem>,
}

impl<'a> Passes<'a> {
    pub(super) fn new(ledger: &'a Ledger) -> Self {
        let mut found = Problems::new(ledger);
        let directory = ledger.root().join(BLOBS);
        found.check_place(&directory, BLOBS, FileKind::Directory);
        let mut parts = Vec::new();
        for name in found.names(&directory, BLOBS) {
            let (path, place) = (directory.join(&name), format!("{BLOBS}/{name}"));
            match part(&name) {
                Some(part) if !found.is_file(&path) => {
                    found.check_place(&path, &place, FileKind::Directory);
                    parts.push(part);
                }
                _ => found.add(place, ProblemKind::ForeignFile),
            }
        }
        parts.reverse();
        Self { ledger, found, parts, carried: Vec::new(), next: Some(0) }
    }

    /// The next pass; there is always one.
    pub(super) fn next(&mut self) -> Option<Pass> {
        let from = self.next?;
        let mut stored = std::mem::take(&mut self.carried);
        let mut to = u8::MAX;
        while let Some(part) = self.parts.pop() {
            let blobs = self.list(part);
            if stored.len() + blobs.len() > STORED_MAX && part > from {
                self.carried = blobs;
                to = part - 1;
                break;
            }
            stored.extend(blobs);
        }
        self.next = to.checked_add(1);
        let stored = stored.into_iter().map(|blob| Stored { blob, cited: None }).collect();
        Some(Pass { parts: from..=to, table: Mutex::new(Table { stored, others: BTreeMap::new() }) })
    }

    /// The blobs in one directory, sorted.
    fn list(&mut self, part: u8) -> Vec<Digest> {
        let place = format!("{BLOBS}/{part:02x}");
        let directory = self.ledger.root().join(&place);
        let mut blobs = Vec::new();
        for name in self.found.names(&directory, &place) {
            let path = directory.join(&name);
            let place = format!("{place}/{name}");
            match name.parse::<Digest>() {
                Ok(blob) if blob.first_byte() == part => {
                    self.found.check_place(&path, &place, FileKind::File);
                    blobs.push(blob);
                }
                _ => self.found.add(place, ProblemKind::ForeignFile),
            }
        }
        blobs
    }

    /// What is wrong with the blobs' directories, and what stands in them besides blobs.
    pub(super) fn problems(self) -> Vec<Problem> {
        self.found.all
    }
}

/// The number of a directory of blobs.
fn part(name: &str) -> Option<u8> {
    let part = u8::from_str_radix(name, 16).ok()?;
    (format!("{part:02x}") == name).then_some(part)
}

impl Pass {
    /// Takes note of citations in event `seq` of the stream `place`.
    pub(super) fn note(&self, citations: &[BlobRef], place: &Arc<str>, seq: u64) {
        let mut table = None;
        for citation in citations.iter().filter(|citation| self.parts.contains(&citation.blob.first_byte())) {
            let citer = Citer { place: Arc::clone(place), seq };
            table.get_or_insert_with(|| self.table()).note(*citation, citer);
        }
    }

    /// A panic elsewhere cannot leave it half changed.
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hashes the cited blobs.
    pub(super) fn check(self, ledger: &Ledger, threads: NonZero<usize>) -> Checked {
        let Table { stored, others } = self.table.into_inner().unwrap_or_else(PoisonError::into_inner);
        let count = stored.len();
        let mut cited: Vec<(BlobRef, Citer)> = stored
            .into_iter()
            .filter_map(|Stored { blob, cited }| cited.map(|(bytes, citer)| (BlobRef { blob, bytes }, citer)))
            .collect();
        let orphans = (count - cited.len()) as u64;
        cited.extend(others);
        cited.sort_unstable();
        let problems =
            parallel::flat_map(&cited, threads, |(citation, citer)| check(ledger, *citation, citer));
        Checked { cited: cited.len() as u64, orphans, problems }
    }
}

impl Table {
    /// Each citation keeps the first event that makes it, in whatever order they come.
    fn note(&mut self, citation: BlobRef, citer: Citer) {
        let BlobRef { blob, bytes } = citation;
        if let Ok(index) = self.stored.binary_search_by_key(&blob, |stored| stored.blob) {
            let (length, first) = self.stored[index].cited.get_or_insert_with(|| (bytes, citer.clone()));
            if *length == bytes {
                *first = citer.min(first.clone());
                return;
            }
        }
        let first = self.others.entry(citation).or_insert_with(|| citer.clone());
        *first = citer.min(first.clone());
    }
}

/// What is wrong with a cited blob.
fn check(ledger: &Ledger, citation: BlobRef, citer: &Citer) -> Option<Problem> {
    let BlobRef { blob, bytes } = citation;
    let seq = citer.seq;
    let path = ledger.blobs().path(&blob);
    let (place, kind) = match ledger.disk().open(&path, Open::Read).and_then(|file| hash_file(&*file)) {
        Ok(found) if found == (bytes, blob) => return None,
        Ok(_) => (citer.place.to_string(), ProblemKind::DamagedBlob { blob, seq }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            (citer.place.to_string(), ProblemKind::MissingBlob { blob, seq })
        }
        Err(error) => (blob.to_string(), ProblemKind::unreadable(&error)),
    };
    Some(Problem { place, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::MemDisk;

    /// Threads come in any order; the first event that cites is the first in the ledger. One blob
    /// is stored and damaged, the other is missing: both problems name the event.
    #[test]
    fn the_first_citer_is_the_first_in_order() {
        let ledger = Ledger::builder("/bank").disk(MemDisk::new()).open().unwrap();
        let stored = ledger.blobs().put(b"stored").unwrap();
        let missing = BlobRef::of(b"missing");
        let path = ledger.blobs().path(&stored.blob);
        ledger.disk().open(&path, Open::Write).unwrap().truncate(0).unwrap();
        let citers =
            [("account/b", 1), ("account/a", 7), ("account/a", 3), ("account/c", 0), ("account/a", 5)];
        for first in 0..citers.len() {
            let pass = Passes::new(&ledger).next().unwrap();
            for (place, seq) in citers.iter().cycle().skip(first).take(citers.len()) {
                pass.note(&[stored, missing], &Arc::from(*place), *seq);
            }
            let checked = pass.check(&ledger, NonZero::<usize>::MIN);
            let mut kinds = [
                ProblemKind::DamagedBlob { blob: stored.blob, seq: 3 },
                ProblemKind::MissingBlob { blob: missing.blob, seq: 3 },
            ];
            if missing < stored {
                kinds.reverse();
            }
            let expected = kinds.map(|kind| Problem { place: "account/a".to_owned(), kind });
            assert_eq!(checked.problems, expected, "{first}");
            assert_eq!((checked.cited, checked.orphans), (2, 0));
        }
    }
}
