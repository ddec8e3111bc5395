//! The ledger itself under the commands: two processes on one disk.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use harn_ledger::disk::{Disk, FileKind, Open, OsDisk};
use harn_ledger::{
    BlobRef, ExecuteError, FixedClock, Lease, Ledger, ProblemKind, Stream, StreamError, VerifyOptions,
};

use super::command::{ACTORS, Command, PROCESSES, STREAMS, What};
use super::plain::{Answer, Plain, Reading, Remains, lease_note, now, owner};
use crate::account::{Account, AccountRefusal};
use crate::store::{LOG, tree};

pub(super) struct Machine {
    pub(super) name: &'static str,
    disk: Box<dyn Disk>,
    root: PathBuf,
    start: Box<dyn Fn(usize) -> Ledger>,
    /// Makes it show that a file was changed, where the clock of the disk is too coarse.
    touch: fn(&Path),
    processes: Vec<Process>,
}

/// What one process has in memory.
struct Process {
    ledger: Ledger,
    streams: BTreeMap<usize, Stream<Account>>,
    leases: BTreeMap<usize, Lease>,
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Process {
    fn new(ledger: Ledger) -> Self {
        Self { ledger, streams: BTreeMap::new(), leases: BTreeMap::new() }
    }

    fn stream(&mut self, stream: usize) -> Result<Stream<Account>, StreamError> {
        if let Some(known) = self.streams.get(&stream) {
            return Ok(known.clone());
        }
        let opened = self.ledger.stream::<Account>(STREAMS[stream])?;
        self.streams.insert(stream, opened.clone());
        Ok(opened)
    }
}

impl Machine {
    pub(super) fn new(name: &'static str, disk: impl Disk + Clone + 'static, root: &Path) -> Self {
        let (builder_disk, builder_root) = (disk.clone(), root.to_owned());
        let start = Box::new(move |process| {
            let builder = Ledger::builder(&builder_root).disk(builder_disk.clone());
            builder.clock(FixedClock(now(process))).open().unwrap()
        });
        let processes = (0..PROCESSES).map(|process| Process::new(start(process))).collect();
        Self { name, disk: Box::new(disk), root: root.to_owned(), start, touch: |_| {}, processes }
    }

    /// The machine's own disk.
    pub(super) fn real(name: &'static str, root: &Path) -> Self {
        Self { touch: touch_file, ..Self::new(name, OsDisk, root) }
    }

    /// Does what the command says; `plain` tells what it means at this point.
    pub(super) fn obey(&mut self, command: &Command, plain: &Plain) -> Answer {
        let stream = command.stream;
        match &command.what {
            What::Crash(left) => {
                if let Some(remains) = plain.remains(stream, command.process, left) {
                    self.leave(stream, &remains);
                }
                return Answer::Done;
            }
            What::Restart => {
                // The old process is gone before the new one comes.
                let ledger = (self.start)(command.process);
                self.processes[command.process] = Process::new(ledger);
                return Answer::Done;
            }
            _ => {}
        }
        let process = &mut self.processes[command.process];
        match &command.what {
            What::Create { actor, owner: name, events } => {
                match process.ledger.create(STREAMS[stream], ACTORS[*actor], &owner(name), events) {
                    Ok(created) => {
                        process.streams.insert(stream, created);
                        Answer::Done
                    }
                    Err(error) => Answer::Refused(error.code()),
                }
            }
            What::CheckNew { actor, owner: name, events } => {
                let ledger = &process.ledger;
                match ledger.check_new::<Account>(STREAMS[stream], ACTORS[*actor], &owner(name), events) {
                    Ok(()) => Answer::Done,
                    Err(error) => Answer::Refused(error.code()),
                }
            }
            What::PutBlob(bytes) => Answer::Stored(process.ledger.blobs().put(bytes).unwrap()),
            What::GetBlob(index) => {
                let citation = BlobRef::of(plain.blob(*index).unwrap_or(b"a blob that nobody put, ever"));
                match process.ledger.blobs().get(&citation) {
                    Ok(bytes) => Answer::Bytes(bytes),
                    Err(error) => Answer::Refused(error.code()),
                }
            }
            What::LetGo => {
                process.streams.remove(&stream);
                Answer::Done
            }
            of_a_stream => match process.stream(stream) {
                Ok(handle) => {
                    let answer = ask(process, &handle, command, of_a_stream, plain);
                    // It may have moved a tail aside, and left the log as long as it was before the crash.
                    if answer == Answer::Refused("limit_reached") {
                        (self.touch)(&self.log(stream));
                    }
                    answer
                }
                Err(error) => Answer::Refused(error.code()),
            },
        }
    }

    fn log(&self, stream: usize) -> PathBuf {
        self.root.join("account").join(STREAMS[stream]).join(LOG)
    }

    fn leave(&mut self, stream: usize, Remains { file, bytes }: &Remains) {
        let path = self.log(stream);
        let log = self.disk.open(&path, Open::Write).unwrap();
        let end = log.stat().unwrap().length;
        assert_eq!(log.write_at(end, bytes).unwrap(), bytes.len());
        if let Some(name) = file {
            let moved = self.disk.open(&path.with_file_name(name), Open::CreateNew).unwrap();
            assert_eq!(moved.write_at(0, bytes).unwrap(), bytes.len());
            log.truncate(end).unwrap();
            (self.touch)(&path);
        }
    }

    /// Every file below the root.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let all = tree(&*self.disk, &self.root);
        let is_file = |path: &Path| self.disk.stat(path).unwrap().kind == FileKind::File;
        all.into_iter()
            .filter(|(path, _)| is_file(path))
            .map(|(path, bytes)| (path.strip_prefix(&self.root).unwrap().to_owned(), bytes))
            .collect()
    }

    /// Every process, and one that starts now, reads the same of every stream; and nothing is wrong but the tails.
    pub(super) fn assert_agrees_in_the_end(&mut self, plain: &Plain) {
        self.processes.push(Process::new((self.start)(0)));
        for (stream, expected) in plain.readings() {
            for process in &mut self.processes {
                assert_eq!(reading(&process.stream(stream).unwrap(), 0), expected, "{}", self.name);
            }
        }
        let found = self.processes[0].ledger.verify(&VerifyOptions::default());
        assert_eq!((found.streams, found.events, found.orphan_blobs), plain.counts(), "{}", self.name);
        let tails: Vec<_> = found
            .problems
            .into_iter()
            .map(|problem| match problem.kind {
                ProblemKind::UnfinishedTail(tail) => (problem.place, tail),
                other => panic!("{}: {}: {other}", self.name, problem.place),
            })
            .collect();
        assert_eq!(tails, plain.tails(), "{}", self.name);
    }
}

/// Sets the time of the last change, which may not have moved since the one before.
fn touch_file(path: &Path) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let changed = file.metadata().unwrap().modified().unwrap();
    file.set_modified(changed + Duration::from_secs(1)).unwrap();
}

fn ask(
    process: &mut Process,
    handle: &Stream<Account>,
    command: &Command,
    what: &What,
    plain: &Plain,
) -> Answer {
    let stream = command.stream;
    match what {
        What::Append { expect, actor, events } => {
            match handle.append(plain.expect(stream, expect), ACTORS[*actor], events.clone()) {
                Ok(committed) => Answer::Committed(committed),
                Err(error) => Answer::Refused(error.code()),
            }
        }
        What::Execute(decided) => match handle.execute(ACTORS[0], decided.clone()) {
            Ok(committed) => Answer::Committed(committed),
            Err(error) => declined(error),
        },
        What::Look { after } => Answer::Read(Box::new(reading(handle, *after))),
        What::Lease { contest } if *contest || plain.holder(stream).is_none() => {
            match handle.lease(&lease_note(command.process)) {
                Ok(lease) => {
                    process.leases.insert(stream, lease);
                    Answer::Done
                }
                Err(error) => Answer::Refused(error.code()),
            }
        }
        What::GiveLeaseBack => {
            process.leases.remove(&stream);
            Answer::Done
        }
        What::Lease { .. } | What::AskForLease => Answer::Lease(handle.lease_status().unwrap()),
        other => unreachable!("{other:?} is not about a stream that exists"),
    }
}

fn declined(error: ExecuteError<AccountRefusal>) -> Answer {
    match error {
        ExecuteError::Refused(refusal) => Answer::Declined(refusal),
        ExecuteError::Facts(error) => Answer::Refused(error.code()),
        ExecuteError::Append(error) => Answer::Refused(error.code()),
    }
}

fn reading(handle: &Stream<Account>, after: u64) -> Reading {
    Reading {
        intent: handle.intent().clone(),
        state: handle.state().unwrap(),
        settled: handle.settled_state().unwrap(),
        head: handle.head().unwrap(),
        tail: handle.unfinished_tail().unwrap(),
        history: handle.history().unwrap(),
        after: handle.events_after(after).unwrap(),
    }
}
