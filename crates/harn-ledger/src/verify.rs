//! Proving a whole ledger: every line of every stream, every blob that they cite, and that it extends a checkpoint.
//!
//! Streams are read line by line and blobs piece by piece, on several threads, each of which holds one of them open. What
//! stays in memory is the names in one directory, the blobs of one pass, and the problems; it does not grow with the
//! number of events, the length of streams, or what they cite. The problems and their order do not depend on the threads.

pub(crate) mod against;
mod blobs;
mod catalogs;
mod problem;
mod streams;

use std::collections::BTreeMap;
use std::io;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use self::blobs::{Checked, Passes};
pub use self::problem::{Problem, ProblemKind};
use self::streams::Walk;
use crate::checkpoint::Checkpoint;
use crate::disk::FileKind;
use crate::ledger::Ledger;
use crate::limits::Limits;
use crate::place;

/// What to verify.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// Limits to hold streams of a kind to; other kinds are read without limits on events and bytes.
    pub limits: BTreeMap<String, Limits>,
    /// What the ledger must still hold: every stream of it must be there, and have the same event where it ended then.
    /// Streams that are new since are fine.
    pub against: Option<Checkpoint>,
    /// Most threads to read with; those that the ledger was opened with, or as many as the machine runs at once but at most
    /// 4, unless said otherwise. What is found does not depend on it.
    pub threads: Option<NonZero<usize>>,
}

impl VerifyOptions {
    /// The limits to hold a stream of this kind to.
    pub(crate) fn limits_of(&self, kind: &str) -> Limits {
        self.limits.get(kind).copied().unwrap_or(Limits::WIDEST)
    }
}

/// What verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// Streams looked at.
    pub streams: u64,
    /// Events that verify.
    pub events: u64,
    /// Different blobs cited.
    pub blobs: u64,
    /// Blobs that nothing cites: no failure, only a count.
    pub orphan_blobs: u64,
    /// Everything that is not as it should be, in order of place.
    pub problems: Vec<Problem>,
}

impl Ledger {
    /// Verifies every stream and every blob that they cite. Finds everything that is wrong; stops at nothing.
    #[must_use]
    pub fn verify(&self, options: &VerifyOptions) -> Verification {
        let threads = options.threads.unwrap_or_else(|| self.threads());
        let mut passes = Passes::new(self);
        let mut found: Option<Verification> = None;
        let mut of_blobs = Vec::new();
        while let Some(pass) = passes.next() {
            let (streams, events) = (AtomicU64::new(0), AtomicU64::new(0));
            let walk = Walk { ledger: self, options, threads, pass: &pass, streams, events };
            let problems = walk.verify();
            let (streams, events) = (walk.streams.into_inner(), walk.events.into_inner());
            let found = match &mut found {
                None => found.insert(Verification { streams, events, problems, ..Verification::default() }),
                Some(found) => {
                    add_unreadable(found, problems);
                    found
                }
            };
            let Checked { cited, orphans, problems } = pass.check(self, threads);
            found.blobs += cited;
            found.orphan_blobs += orphans;
            of_blobs.extend(problems);
        }
        let mut found = found.unwrap_or_default();
        if let Some(checkpoint) = &options.against {
            against::name_another_ledger(&mut found.problems, checkpoint);
        }
        found.problems.extend(of_blobs);
        found.problems.extend(passes.problems());
        found
    }
}

/// Streams were read before; what matters now is whether all that they cite was seen once more.
fn add_unreadable(found: &mut Verification, problems: Vec<Problem>) {
    for problem in problems {
        if matches!(problem.kind, ProblemKind::Unreadable { .. }) && !found.problems.contains(&problem) {
            found.problems.push(problem);
        }
    }
}

/// Collects problems.
struct Problems<'a> {
    ledger: &'a Ledger,
    all: Vec<Problem>,
}

impl<'a> Problems<'a> {
    const fn new(ledger: &'a Ledger) -> Self {
        Self { ledger, all: Vec::new() }
    }

    fn add(&mut self, place: impl Into<String>, kind: ProblemKind) {
        self.all.push(Problem { place: place.into(), kind });
    }

    /// The entries of a directory, as text and sorted; none if it is missing.
    fn names(&mut self, path: &Path, place: &str) -> Vec<String> {
        match self.ledger.disk().read_dir(path) {
            Ok(names) => {
                let mut names: Vec<String> =
                    names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect();
                names.sort();
                names
            }
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    self.add(place, ProblemKind::unreadable(&error));
                }
                Vec::new()
            }
        }
    }

    fn check_place(&mut self, path: &Path, place: &str, expected: FileKind) {
        if let Err(problem) = place::check(self.ledger.disk(), path, expected) {
            self.add(place, ProblemKind::UnsafePlace(problem));
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.ledger.disk().stat(path).is_ok_and(|stat| stat.kind == FileKind::File)
    }
}
