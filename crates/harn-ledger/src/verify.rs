//! Proving a whole ledger: every line of every stream, and every blob that they cite.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use crate::blob_ref::{BlobRef, citations};
use crate::blobs::BLOBS;
use crate::digest::Digest;
use crate::disk::{FileKind, Open};
use crate::id::{StreamId, StreamName, check_kind};
use crate::ledger::Ledger;
use crate::limits::Limits;
use crate::log::{EVENTS_FILE, INTENT_FILE, LEASE_FILE, Log, ReadError, SUSPECT_FILE, TORN_PREFIX};
use crate::place::{self, UnsafePlace};
use crate::scan::{Damage, Position, UnfinishedTail};
use crate::staging::STAGING;
use crate::tail::hash_file;

/// What to verify.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// Limits to hold streams of a kind to; other kinds are read without limits on events and bytes.
    pub limits: BTreeMap<String, Limits>,
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

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where: a stream such as `work/a`, or a path below the root.
    pub place: String,
    /// What.
    pub kind: ProblemKind,
}

/// What is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A crash left bytes behind the last whole event.
    #[error("unfinished tail of {} bytes at byte {}", .0.bytes, .0.offset)]
    UnfinishedTail(UnfinishedTail),
    /// The log does not verify.
    #[error("damaged at line {}, byte {}: {} ({} lines behind it)", .0.line, .0.offset, .0.kind, .0.lines_behind)]
    Damaged(Damage),
    /// It verifies, but this build does not know its format.
    #[error("newer than this build at event {seq}: {what}")]
    Newer {
        /// The event.
        seq: u64,
        /// What is not known.
        what: String,
    },
    /// A cited blob is not there.
    #[error("blob {blob} is missing, cited by event {seq}")]
    MissingBlob {
        /// Its digest.
        blob: Digest,
        /// The first event that cites it; 0 for the intent.
        seq: u64,
    },
    /// A cited blob holds other bytes.
    #[error("blob {blob} does not hold the bytes that event {seq} cites")]
    DamagedBlob {
        /// Its digest.
        blob: Digest,
        /// The first event that cites it; 0 for the intent.
        seq: u64,
    },
    /// An object with a member `blob` is not a citation.
    #[error("event {seq} has a member `blob` that is not a citation")]
    FalseCitation {
        /// The event; 0 for the intent.
        seq: u64,
    },
    /// A sync failed earlier: the end of the log may not survive a power loss.
    #[error("a sync failed: the end of the log may not be on stable storage")]
    Suspect,
    /// Others could read or change it.
    #[error("unsafe: {}", .0.problem)]
    UnsafePlace(UnsafePlace),
    /// The ledger did not put it there.
    #[error("foreign file")]
    ForeignFile,
    /// It cannot be read.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// What the machine said.
        reason: String,
    },
}

impl ProblemKind {
    /// A stable name.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnfinishedTail(_) => "unfinished_tail",
            Self::Damaged(_) => "damaged",
            Self::Newer { .. } => "newer",
            Self::MissingBlob { .. } => "missing_blob",
            Self::DamagedBlob { .. } => "damaged_blob",
            Self::FalseCitation { .. } => "false_citation",
            Self::Suspect => "suspect",
            Self::UnsafePlace(_) => "unsafe_place",
            Self::ForeignFile => "foreign_file",
            Self::Unreadable { .. } => "unreadable",
        }
    }
}

impl Ledger {
    /// Verifies every stream and every blob that they cite. Finds everything that is wrong; stops at nothing.
    #[must_use]
    pub fn verify(&self, options: &VerifyOptions) -> Verification {
        let mut run = Run { ledger: self, options, found: Verification::default(), cited: BTreeMap::new() };
        run.streams();
        run.blobs();
        run.found
    }
}

struct Run<'a> {
    ledger: &'a Ledger,
    options: &'a VerifyOptions,
    found: Verification,
    /// Cited blobs, with the stream and event that cites each first.
    cited: BTreeMap<BlobRef, (String, u64)>,
}

impl Run<'_> {
    fn problem(&mut self, place: impl Into<String>, kind: ProblemKind) {
        self.found.problems.push(Problem { place: place.into(), kind });
    }

    fn unreadable(&mut self, place: impl Into<String>, error: &io::Error) {
        self.problem(place, ProblemKind::Unreadable { reason: error.to_string() });
    }

    /// The entries of a directory, as text and sorted.
    fn names(&mut self, path: &Path, place: &str) -> Vec<String> {
        match self.ledger.disk().read_dir(path) {
            Ok(names) => {
                let mut names: Vec<String> =
                    names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
                names.sort();
                names
            }
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    self.unreadable(place, &error);
                }
                Vec::new()
            }
        }
    }

    fn check_place(&mut self, path: &Path, place: &str, expected: FileKind) {
        if let Err(problem) = place::check(self.ledger.disk(), path, expected) {
            self.problem(place, ProblemKind::UnsafePlace(problem));
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.ledger.disk().stat(path).is_ok_and(|stat| stat.kind == FileKind::File)
    }

    fn streams(&mut self) {
        let root = self.ledger.root().to_owned();
        if let Err(problem) = self.ledger.check_ground() {
            self.problem(".", ProblemKind::UnsafePlace(problem));
        }
        self.check_place(&root, ".", FileKind::Directory);
        self.check_place(&root.join(STAGING), STAGING, FileKind::Directory);
        for kind in self.names(&root, ".") {
            if kind.starts_with('.') || matches!(&*kind, BLOBS | "catalog") {
                continue;
            }
            if check_kind(&kind).is_err() {
                self.problem(kind, ProblemKind::ForeignFile);
                continue;
            }
            let directory = root.join(&kind);
            if self.is_file(&directory) {
                self.problem(kind, ProblemKind::ForeignFile);
                continue;
            }
            self.check_place(&directory, &kind, FileKind::Directory);
            for id in self.names(&directory, &kind) {
                match StreamId::new(&id).ok().and_then(|id| StreamName::new(&kind, id).ok()) {
                    Some(name) if !self.is_file(&directory.join(&id)) => self.stream(name),
                    _ => self.problem(format!("{kind}/{id}"), ProblemKind::ForeignFile),
                }
            }
        }
    }

    fn stream(&mut self, name: StreamName) {
        let limits = self.options.limits.get(name.kind()).copied().unwrap_or(Limits::WIDEST);
        let place = name.to_string();
        let log = self.ledger.log(name, limits);
        self.found.streams += 1;
        self.check_place(&log.directory, &place, FileKind::Directory);
        for file in self.names(&log.directory, &place) {
            if file == SUSPECT_FILE {
                self.problem(&*place, ProblemKind::Suspect);
            }
            let known = [INTENT_FILE, EVENTS_FILE, LEASE_FILE, SUSPECT_FILE];
            if known.contains(&&*file) || file.starts_with(TORN_PREFIX) || file.starts_with("events.cut-") {
                self.check_place(&log.path(&file), &place, FileKind::File);
            } else {
                self.problem(format!("{place}/{file}"), ProblemKind::ForeignFile);
            }
        }
        match self.lines(&log, &place) {
            Ok(Some(tail)) => self.problem(place, ProblemKind::UnfinishedTail(tail)),
            Ok(None) => {}
            Err(ReadError::Damaged { damage, .. }) => self.problem(place, ProblemKind::Damaged(damage)),
            Err(ReadError::Newer { seq, what, .. }) => self.problem(place, ProblemKind::Newer { seq, what }),
            Err(ReadError::NotFound { .. }) => self.problem(place, ProblemKind::ForeignFile),
            Err(error) => self.problem(place, ProblemKind::Unreadable { reason: error.to_string() }),
        }
    }

    fn lines(&mut self, log: &Log, place: &str) -> Result<Option<UnfinishedTail>, ReadError> {
        let (intent, digest) = log.intent()?;
        self.citations(&intent, place, 0);
        log.read(&mut Position::start(digest), &mut |line| {
            self.found.events += 1;
            self.citations(line.data(), place, line.seq());
            ControlFlow::Continue(())
        })
    }

    fn citations(&mut self, json: &[u8], place: &str, seq: u64) {
        match citations(json) {
            Some(found) => {
                for citation in found {
                    self.cited.entry(citation).or_insert_with(|| (place.to_owned(), seq));
                }
            }
            None => self.problem(place, ProblemKind::FalseCitation { seq }),
        }
    }

    fn blobs(&mut self) {
        let cited = std::mem::take(&mut self.cited);
        let blobs = self.ledger.blobs();
        self.found.blobs = cited.len() as u64;
        for (citation, (place, seq)) in &cited {
            let blob = citation.blob;
            match self.ledger.disk().open(&blobs.path(&blob), Open::Read).and_then(|file| hash_file(&*file)) {
                Ok(found) if found == (citation.bytes, blob) => {}
                Ok(_) => self.problem(&**place, ProblemKind::DamagedBlob { blob, seq: *seq }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.problem(&**place, ProblemKind::MissingBlob { blob, seq: *seq });
                }
                Err(error) => self.unreadable(blob.to_string(), &error),
            }
        }
        let cited: std::collections::BTreeSet<Digest> = cited.keys().map(|citation| citation.blob).collect();
        let directory = self.ledger.root().join(BLOBS);
        self.check_place(&directory, BLOBS, FileKind::Directory);
        for part in self.names(&directory, BLOBS) {
            let (path, place) = (directory.join(&part), format!("{BLOBS}/{part}"));
            if self.is_file(&path) {
                self.problem(place, ProblemKind::ForeignFile);
                continue;
            }
            self.check_place(&path, &place, FileKind::Directory);
            for name in self.names(&path, &place) {
                self.stored_blob(&part, &name, &cited);
            }
        }
    }

    fn stored_blob(&mut self, part: &str, name: &str, cited: &std::collections::BTreeSet<Digest>) {
        let place = format!("{BLOBS}/{part}/{name}");
        match name.parse::<Digest>() {
            Ok(blob) if name.starts_with(part) => {
                let path = self.ledger.blobs().path(&blob);
                self.check_place(&path, &place, FileKind::File);
                if !cited.contains(&blob) {
                    self.found.orphan_blobs += 1;
                }
            }
            _ => self.problem(place, ProblemKind::ForeignFile),
        }
    }
}
