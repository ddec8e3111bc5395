//! One refresh of a catalog: look at every stream, read those that changed, keep what was found.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::file::{self, Header};
use super::stamp::Stamp;
use super::{Catalog, Listed};
use crate::decider::{Decider, Head};
use crate::disk::FileKind;
use crate::id::StreamId;
use crate::ledger::StreamError;
use crate::log::{EVENTS_FILE, INTENT_FILE, ReadError};
use crate::parallel;
use crate::place;
use crate::staging::{self, Staged};
use crate::stream::Inner;

/// How many streams there must be to read before other threads are worth starting.
const WORTH_THREADS: usize = 64;

pub(super) struct Refresh<'a, D> {
    catalog: &'a Catalog<D>,
    /// The streams, by id.
    found: Vec<Found>,
}

/// A stream as it stands on the disk.
struct Found {
    id: StreamId,
    /// Absent if a file is missing, or has nothing by which a change would show.
    stamp: Option<Stamp>,
}

/// What reading a stream, or not having to, gave.
struct Looked<S> {
    listed: Listed<S>,
    /// Of the files that the summary was made from.
    stamp: Option<Stamp>,
}

impl<'a, D: Decider> Refresh<'a, D> {
    /// Looks at every stream of the kind, without reading any.
    pub(super) fn new(catalog: &'a Catalog<D>) -> Result<Self, StreamError> {
        let (disk, directory) = (catalog.ledger.disk(), catalog.ledger.root().join(D::KIND));
        let mut ids: Vec<StreamId> = match disk.read_dir(&directory) {
            Ok(names) => names.iter().filter_map(|name| StreamId::new(name.to_str()?).ok()).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(ReadError::Io { path: directory, source }.into()),
        };
        ids.sort_unstable();
        // One path for all of them.
        let mut path = directory;
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            path.push(id.as_str());
            path.push(INTENT_FILE);
            let intent = disk.stat(&path);
            path.set_file_name(EVENTS_FILE);
            let log = disk.stat(&path);
            path.pop();
            let is_stream = log.is_ok() || disk.stat(&path).map_or(true, |stat| stat.kind != FileKind::File);
            path.pop();
            if is_stream {
                let stamp = intent.ok().zip(log.ok()).and_then(|(intent, log)| Stamp::of(&intent, &log));
                found.push(Found { id, stamp });
            }
        }
        Ok(Self { catalog, found })
    }

    pub(super) fn run<S: Serialize + DeserializeOwned + Send>(
        self,
        summarize: &(impl Fn(&D::Intent, &D::State, Head) -> S + Sync),
    ) -> Vec<Listed<S>> {
        let (ledger, path) = (&self.catalog.ledger, self.catalog.path());
        let header = Header::new(D::KIND, self.catalog.version, ledger.disk().boot());
        let known = file::read::<S>(ledger.disk(), &path, &header).unwrap_or_default();
        let mut outdated = known.len();
        let mut known = known.into_iter().peekable();
        let mut looked: Vec<Option<Looked<S>>> = Vec::with_capacity(self.found.len());
        for found in &self.found {
            while known.next_if(|entry| entry.id < found.id).is_some() {}
            let entry = known.next_if(|entry| entry.id == found.id && Some(entry.stamp) == found.stamp);
            outdated -= usize::from(entry.is_some());
            looked.push(entry.map(|entry| Looked {
                listed: Listed { id: entry.id, summary: Ok(entry.summary), tail: None },
                stamp: Some(entry.stamp),
            }));
        }

        let unknown: Vec<usize> = (0..looked.len()).filter(|&index| looked[index].is_none()).collect();
        // Before anything is read, because its time tells which files are too young to be sure of.
        let staged = if outdated > 0 || !unknown.is_empty() { self.stage() } else { None };
        let began = staged.as_ref().and_then(|staged| staged.file.stat().ok()).map(|stat| stat.modified);
        let threads = self.threads_for(unknown.len());
        let read =
            parallel::flat_map(&unknown, threads, |&index| Some(self.read(&self.found[index], summarize)));
        let mut learnt = 0;
        for (index, mut read) in unknown.into_iter().zip(read) {
            read.stamp = read.stamp.filter(|stamp| began.is_some_and(|began| stamp.is_older_than(began)));
            learnt += usize::from(read.stamp.is_some());
            looked[index] = Some(read);
        }
        let looked: Vec<Looked<S>> = looked.into_iter().flatten().collect();
        if let Some(staged) = staged {
            let entries = looked.iter().filter_map(|looked| {
                Some((&looked.listed.id, looked.stamp?, looked.listed.summary.as_ref().ok()?))
            });
            // What is never kept, such as a damaged stream, is no reason to write all of it again.
            let changed = outdated > 0 || learnt > 0;
            if !changed || file::write(ledger.disk(), &staged, &path, entries, &header).is_err() {
                // It only costs time; whoever builds next sweeps what cannot be removed now.
                drop(ledger.disk().unlink(&staged.path));
            }
        }
        looked.into_iter().map(|looked| looked.listed).collect()
    }

    /// A place for the new file, unless nothing may be written here.
    fn stage(&self) -> Option<Staged> {
        let (ledger, disk, root) =
            (&self.catalog.ledger, self.catalog.ledger.disk(), self.catalog.ledger.root());
        if ledger.is_read_only() {
            return None;
        }
        ledger.check_ground().ok()?;
        place::check(disk, root, FileKind::Directory).ok()?;
        staging::check_place(disk, root).ok()?;
        staging::file(disk, root).ok()
    }

    /// How many threads read so many streams.
    fn threads_for(&self, streams: usize) -> NonZeroUsize {
        if streams < WORTH_THREADS { NonZeroUsize::MIN } else { self.catalog.ledger.threads() }
    }

    /// Reads and verifies one stream.
    fn read<S>(&self, found: &Found, summarize: &impl Fn(&D::Intent, &D::State, Head) -> S) -> Looked<S> {
        let ledger = &self.catalog.ledger;
        let log = ledger.log(Catalog::<D>::name(&found.id), D::LIMITS);
        let opened = Inner::<D>::open(log, Arc::clone(ledger.clock()));
        match opened.map(|stream| stream.look(summarize)) {
            Ok((summary, length, tail)) => {
                // What was read is all that the stamp is of, unless somebody appended since, or a tail follows; that has to be
                // told each time.
                let stamp = found.stamp.filter(|stamp| stamp.log_length() == length);
                Looked { listed: Listed { id: found.id.clone(), summary: Ok(summary), tail }, stamp }
            }
            Err(error) => Looked {
                listed: Listed { id: found.id.clone(), summary: Err(error), tail: None },
                stamp: None,
            },
        }
    }
}
