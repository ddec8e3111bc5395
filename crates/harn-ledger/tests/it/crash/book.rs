//! What a test asked of a ledger and what the ledger acknowledged, kept outside of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use harn_ledger::disk::FaultyDisk;
use harn_ledger::{
    AppendError, BlobRef, Checkpoint, CheckpointError, CreateError, Expect, FixedClock, Ledger, ReadError,
    Repair, Stream, WriteCheckpointError,
};

use super::diary::{Diary, DiaryEvent, Title};
use super::repairs::{self, Evidence};
use crate::store::{LOG, noon, read};

/// Where a checkpoint is written.
pub(crate) const CHECKPOINT: &str = "/checkpoint.json";

/// Shared by its clones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Book {
    records: Arc<Mutex<Records>>,
}

#[derive(Debug, Clone, Default)]
struct Records {
    /// What is being tried, for messages.
    place: String,
    /// Whether whatever fails is tried again, and must succeed then.
    persistent: bool,
    streams: BTreeMap<String, Vec<Batch>>,
    blobs: BTreeMap<Vec<u8>, bool>,
    /// The checkpoint that was taken, and whether its file was acknowledged.
    checkpoint: Option<(Checkpoint, bool)>,
    /// Streams of which the ledger said that their end may be lost.
    unknown: BTreeSet<String>,
    /// Streams that need a repair.
    evidence: BTreeMap<String, Evidence>,
    numbers: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) events: Vec<DiaryEvent>,
    pub(crate) acknowledged: bool,
}

pub(crate) fn open(disk: &FaultyDisk) -> Option<Ledger> {
    Ledger::builder("/bank").disk(disk.clone()).clock(FixedClock(noon())).open().ok()
}

pub(crate) fn stream_directory(id: &str) -> PathBuf {
    Path::new("/bank/diary").join(id)
}

impl Book {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap()
    }

    /// A copy that goes its own way.
    pub(crate) fn fork(&self, place: &str, persistent: bool) -> Self {
        let records = Records { place: place.to_owned(), persistent, ..self.records().clone() };
        Self { records: Arc::new(Mutex::new(records)) }
    }

    pub(crate) fn place(&self) -> String {
        self.records().place.clone()
    }

    pub(crate) fn is_persistent(&self) -> bool {
        self.records().persistent
    }

    pub(crate) fn streams(&self) -> BTreeMap<String, Vec<Batch>> {
        self.records().streams.clone()
    }

    pub(crate) fn blobs(&self) -> BTreeMap<Vec<u8>, bool> {
        self.records().blobs.clone()
    }

    pub(crate) fn checkpoint_taken(&self) -> Option<(Checkpoint, bool)> {
        self.records().checkpoint.clone()
    }

    pub(crate) fn is_unknown(&self, id: &str) -> bool {
        self.records().unknown.contains(id)
    }

    pub(crate) fn evidence(&self) -> BTreeMap<String, Evidence> {
        self.records().evidence.clone()
    }

    /// Notes that a stream needs a repair, and what must not be lost by it.
    pub(crate) fn needs_repair(&self, id: &str, evidence: Evidence) {
        self.records().evidence.insert(id.to_owned(), evidence);
    }

    pub(crate) fn is_durable_again(&self, id: &str) {
        self.records().unknown.remove(id);
    }

    /// Opens the ledger; if that fails, once more.
    pub(crate) fn open(&self, disk: &FaultyDisk) -> Option<Ledger> {
        open(disk).or_else(|| self.records().persistent.then(|| open(disk).expect("the fault is gone")))
    }

    /// New events, of so many bytes of text each; no two events are alike.
    fn events(&self, lengths: &[usize]) -> Vec<DiaryEvent> {
        let mut records = self.records();
        let text = |&length: &usize| {
            records.numbers += 1;
            DiaryEvent::Wrote { text: format!("{:08} ", records.numbers).repeat(length.div_ceil(9)) }
        };
        lengths.iter().map(text).collect()
    }

    fn attempt(&self, id: &str, events: &[DiaryEvent]) -> usize {
        let mut records = self.records();
        let batches = records.streams.entry(id.to_owned()).or_default();
        batches.push(Batch { events: events.to_vec(), acknowledged: false });
        batches.len() - 1
    }

    fn acknowledge(&self, id: &str, batch: usize) {
        self.records().streams.get_mut(id).unwrap()[batch].acknowledged = true;
    }

    /// Creates a diary.
    pub(crate) fn create(&self, ledger: &Ledger, id: &str) -> Option<Stream<Diary>> {
        let events = self.events(&[20]);
        let create = || {
            let batch = self.attempt(id, &events);
            let created = ledger.create::<Diary>(id, "writer", &Title { title: id.to_owned() }, &events);
            if created.is_ok() {
                self.acknowledge(id, batch);
            }
            created
        };
        let error = match create() {
            Ok(stream) => return Some(stream),
            Err(error) => error,
        };
        if !self.records().persistent {
            return None;
        }
        if let CreateError::Append(AppendError::DurabilityUnknown { .. }) = error {
            self.records().unknown.insert(id.to_owned());
            return None;
        }
        self.records().streams.remove(id);
        Some(create().unwrap_or_else(|again| panic!("{}: {error:?}, then {again:?}", self.place())))
    }

    /// Appends events with so many bytes of text each, and tells whether they were acknowledged.
    pub(crate) fn append(&self, disk: &FaultyDisk, stream: &Stream<Diary>, lengths: &[usize]) -> bool {
        self.append_events(disk, stream, &self.events(lengths))
    }

    pub(crate) fn append_events(
        &self,
        disk: &FaultyDisk,
        stream: &Stream<Diary>,
        events: &[DiaryEvent],
    ) -> bool {
        let place = self.place();
        let id = stream.id().as_str();
        let append = |events: &[DiaryEvent]| {
            let batch = self.attempt(id, events);
            let unknown = self.is_unknown(id);
            let appended = stream.append(Expect::Any, "writer", events.to_vec());
            if appended.is_ok() {
                assert!(!unknown, "{place}: built on what may be lost");
                self.acknowledge(id, batch);
            }
            appended
        };
        let persistent = self.records().persistent;
        let log = stream_directory(id).join(LOG);
        let before = persistent.then(|| {
            let tail = stream.unfinished_tail().unwrap().map_or(0, |tail| tail.bytes);
            (read(disk, &log), usize::try_from(tail).unwrap())
        });
        let Err(error) = append(events) else {
            return true;
        };
        // Who was stopped has learnt nothing about the disk.
        let Some((before, tail)) = before else {
            return false;
        };
        if let AppendError::DurabilityUnknown { .. } = error {
            self.records().unknown.insert(id.to_owned());
            return false;
        }
        assert!(!self.is_unknown(id), "{place}: {error:?}, though the stream is marked");
        let after = read(disk, &log);
        let whole = &before[..before.len() - tail];
        assert!(
            [&before, whole].contains(&&*after),
            "{place}: {error:?}, and the log is neither as it was nor rid of its tail"
        );
        // No longer alike, so that the two cannot be mistaken for each other.
        let again: Vec<DiaryEvent> = match events {
            [DiaryEvent::Filed { .. }] => events.to_vec(),
            _ => self.events(&[700, 20]),
        };
        self.records().streams.get_mut(id).unwrap().pop();
        append(&again).unwrap_or_else(|again| panic!("{place}: {error:?}, then {again:?}"));
        true
    }

    /// Repairs a diary, and tells whether that was acknowledged. What the log shows is there for good then.
    pub(crate) fn repair(&self, ledger: &Ledger, id: &str, repair: Repair) -> bool {
        let place = self.place();
        if let Err(error) = repairs::apply(ledger, id, repair) {
            if !self.records().persistent {
                return false;
            }
            let again = repairs::to_the_end(ledger, id, repair);
            again.unwrap_or_else(|again| panic!("{place}: {error:?}, then {again:?}"));
        }
        let mut records = self.records();
        records.unknown.remove(id);
        records.streams.get_mut(id).unwrap().iter_mut().for_each(|batch| batch.acknowledged = true);
        true
    }

    pub(crate) fn put(&self, ledger: &Ledger, bytes: &[u8]) -> Option<BlobRef> {
        self.records().blobs.entry(bytes.to_vec()).or_insert(false);
        let persistent = self.records().persistent;
        let stored = ledger.blobs().put(bytes);
        let citation = match stored {
            Ok(citation) => citation,
            Err(error) if persistent => {
                let place = self.place();
                ledger.blobs().put(bytes).unwrap_or_else(|again| panic!("{place}: {error:?}, then {again:?}"))
            }
            Err(_) => return None,
        };
        self.records().blobs.insert(bytes.to_vec(), true);
        Some(citation)
    }

    /// Takes a checkpoint and writes it to its file. The ledger vouches for what is in a checkpoint, so all that is seen
    /// counts as acknowledged from then on, whoever wrote it.
    pub(crate) fn checkpoint(&self, disk: &FaultyDisk, ledger: &Ledger) -> Option<()> {
        let persistent = self.records().persistent;
        let checkpoint = match ledger.checkpoint() {
            Ok(checkpoint) => checkpoint,
            Err(CheckpointError::Stream(ReadError::DurabilityUnknown { stream, .. })) if persistent => {
                self.records().unknown.insert(stream.id().to_string());
                return None;
            }
            Err(error) => {
                assert!(!persistent, "{}: {error:?}", self.place());
                return None;
            }
        };
        for batch in self.records().streams.values_mut().flatten() {
            batch.acknowledged = true;
        }
        self.records().checkpoint = Some((checkpoint.clone(), false));
        let write = || checkpoint.write_new(disk, Path::new(CHECKPOINT));
        let written = match write() {
            Err(WriteCheckpointError::DurabilityUnknown { .. }) if persistent => return Some(()),
            Err(error) if persistent => {
                let place = self.place();
                write().unwrap_or_else(|again| panic!("{place}: {error:?}, then {again:?}"));
                true
            }
            written => written.is_ok(),
        };
        self.records().checkpoint = Some((checkpoint, written));
        written.then_some(())
    }

    /// The stream is gone, and what was known of it.
    pub(crate) fn forget(&self, id: &str) {
        let mut records = self.records();
        records.streams.remove(id);
        records.unknown.remove(id);
    }

    pub(crate) fn assert_all_acknowledged(&self) {
        let records = self.records();
        assert!(records.streams.values().flatten().all(|batch| batch.acknowledged), "{records:?}");
        assert!(records.blobs.values().all(|&acknowledged| acknowledged), "{records:?}");
        assert!(records.checkpoint.as_ref().is_none_or(|(_, acknowledged)| *acknowledged), "{records:?}");
    }

    pub(crate) fn assert_all_acknowledged_or_unknown(&self) {
        let records = self.records();
        for (id, batches) in &records.streams {
            let acknowledged = batches.iter().all(|batch| batch.acknowledged);
            assert!(acknowledged || records.unknown.contains(id), "{}: {id}", records.place);
        }
        assert!(records.blobs.values().all(|&acknowledged| acknowledged), "{}", records.place);
    }
}
