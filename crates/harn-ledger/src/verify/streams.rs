//! Every stream of a ledger: its files, its lines, what it cites, and whether it extends the checkpoint.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::against::Followed;
use super::blobs::Pass;
use super::problem::{Problem, ProblemKind};
use super::{Problems, VerifyOptions};
use crate::blob_ref::citations;
use crate::blobs::BLOBS;
use crate::catalog::CATALOG;
use crate::checkpoint::Checkpoint;
use crate::disk::FileKind;
use crate::id::{StreamId, StreamName, check_kind};
use crate::ledger::Ledger;
use crate::log::{
    CUT_PREFIX, EVENTS_FILE, INTENT_FILE, LEASE_FILE, Log, ReadError, SUSPECT_FILE, TORN_PREFIX,
};
use crate::parallel;
use crate::scan::{Position, UnfinishedTail};
use crate::staging::STAGING;

/// What every stream is looked at with.
pub(super) struct Walk<'a> {
    pub(super) ledger: &'a Ledger,
    pub(super) options: &'a VerifyOptions,
    pub(super) threads: NonZero<usize>,
    /// What takes note of the citations.
    pub(super) pass: &'a Pass,
    /// Streams looked at.
    pub(super) streams: AtomicU64,
    /// Events that verify.
    pub(super) events: AtomicU64,
}

impl Walk<'_> {
    /// Looks at all of them, and at what else stands between them.
    pub(super) fn verify(&self) -> Vec<Problem> {
        let mut found = Problems::new(self.ledger);
        let root = self.ledger.root();
        if let Err(problem) = self.ledger.check_ground() {
            found.add(".", ProblemKind::UnsafePlace(problem));
        }
        found.check_place(root, ".", FileKind::Directory);
        found.check_place(&root.join(STAGING), STAGING, FileKind::Directory);
        let mut kinds = found.names(root, ".");
        insert(&mut kinds, self.known().map(StreamName::kind));
        for kind in kinds {
            if kind == CATALOG {
                found.check_catalogs();
                continue;
            }
            if kind.starts_with('.') || kind == BLOBS {
                continue;
            }
            if check_kind(&kind).is_err() {
                found.add(kind, ProblemKind::ForeignFile);
                continue;
            }
            let directory = root.join(&kind);
            let known = self.known().filter(|name| name.kind() == kind);
            if found.is_file(&directory) {
                found.add(&*kind, ProblemKind::ForeignFile);
                for (name, removed) in known.filter_map(|name| Some((name, self.removed(name)?))) {
                    found.add(name.to_string(), removed);
                }
                continue;
            }
            found.check_place(&directory, &kind, FileKind::Directory);
            let mut ids = found.names(&directory, &kind);
            insert(&mut ids, known.map(|name| name.id().as_str()));
            let threads = parallel::for_each_of(ids.len(), self.threads);
            let entry = |id: &String| self.entry(&directory, &kind, id, threads);
            found.all.extend(parallel::flat_map(&ids, self.threads, entry));
        }
        found.all
    }

    fn against(&self) -> Option<&Checkpoint> {
        self.options.against.as_ref()
    }

    /// The streams of the checkpoint: those that are gone are missed only by their names.
    fn known(&self) -> impl Iterator<Item = &StreamName> {
        self.against().into_iter().flat_map(|checkpoint| checkpoint.heads().keys())
    }

    /// One entry of the directory of a kind.
    fn entry(&self, directory: &Path, kind: &str, id: &str, threads: NonZero<usize>) -> Vec<Problem> {
        let mut found = Problems::new(self.ledger);
        let name = StreamId::new(id).ok().and_then(|id| StreamName::new(kind, id).ok());
        match name {
            Some(name) if !found.is_file(&directory.join(id)) => self.stream(name, threads, &mut found),
            name => {
                let place = format!("{kind}/{id}");
                found.add(&*place, ProblemKind::ForeignFile);
                if let Some(removed) = name.and_then(|name| self.removed(&name)) {
                    found.add(place, removed);
                }
            }
        }
        found.all
    }

    fn removed(&self, name: &StreamName) -> Option<ProblemKind> {
        let known = self.against()?.heads().get(name)?.seq;
        Some(ProblemKind::Removed { known })
    }

    fn stream(&self, name: StreamName, threads: NonZero<usize>, found: &mut Problems<'_>) {
        let limits = self.options.limits_of(name.kind());
        let place = name.to_string();
        let removed = self.removed(&name);
        let known = self.against().and_then(|checkpoint| checkpoint.heads().get(&name)).copied();
        let mut followed = known.map(Followed::new);
        let log = self.ledger.log_for(threads, name, limits);
        found.check_place(&log.directory, &place, FileKind::Directory);
        for file in found.names(&log.directory, &place) {
            if file == SUSPECT_FILE {
                found.add(&*place, ProblemKind::Suspect);
            }
            let own = [INTENT_FILE, EVENTS_FILE, LEASE_FILE, SUSPECT_FILE];
            if own.contains(&&*file) || file.starts_with(TORN_PREFIX) || file.starts_with(CUT_PREFIX) {
                found.check_place(&log.path(&file), &place, FileKind::File);
            } else {
                found.add(format!("{place}/{file}"), ProblemKind::ForeignFile);
            }
        }
        let read = self.lines(&log, &place, &mut followed, found);
        let to_its_end = read.is_ok();
        let problem = match read {
            Ok(tail) => tail.map(ProblemKind::UnfinishedTail),
            Err(ReadError::Damaged { damage, .. }) => Some(ProblemKind::Damaged(damage)),
            Err(ReadError::Newer { seq, what, .. }) => Some(ProblemKind::Newer { seq, what }),
            Err(ReadError::NotFound { .. }) => {
                return found.add(place, removed.unwrap_or(ProblemKind::ForeignFile));
            }
            Err(error) => Some(ProblemKind::unreadable(&error)),
        };
        self.streams.fetch_add(1, Ordering::Relaxed);
        let contradiction = followed.and_then(|followed| followed.problem(to_its_end));
        for problem in problem.into_iter().chain(contradiction) {
            found.add(&*place, problem);
        }
    }

    fn lines(
        &self,
        log: &Log,
        place: &str,
        followed: &mut Option<Followed>,
        found: &mut Problems<'_>,
    ) -> Result<Option<UnfinishedTail>, ReadError> {
        let (intent, digest) = log.intent()?;
        let place: Arc<str> = place.into();
        self.citations(&intent, &place, 0, found);
        let mut events = 0;
        let end = log.read(&mut Position::start(digest), &mut |line| {
            events += 1;
            self.citations(line.data(), &place, line.seq(), found);
            if let Some(followed) = followed {
                followed.line(line);
            }
            ControlFlow::Continue(())
        });
        self.events.fetch_add(events, Ordering::Relaxed);
        end
    }

    fn citations(&self, json: &[u8], place: &Arc<str>, seq: u64, found: &mut Problems<'_>) {
        match citations(json) {
            Some(cited) => self.pass.note(&cited, place, seq),
            None => found.add(&**place, ProblemKind::FalseCitation { seq }),
        }
    }
}

/// Adds names to a sorted list; those that are added are sorted too.
fn insert<'a>(names: &mut Vec<String>, more: impl Iterator<Item = &'a str>) {
    for name in more {
        // A kind comes once for each of its streams.
        if names.last().is_none_or(|last| last != name) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    names.dedup();
}
