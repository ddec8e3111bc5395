//! What a ledger ought to hold and to answer, as lists: no files, no locks, nothing kept from one question to the next.

use std::collections::BTreeMap;
use std::path::PathBuf;

use harn_ledger::{
    Actor, BlobRef, Committed, Decider as _, Digest, Entry, Expect, Head, LeaseStatus, LedgerEvent, Recorded,
    Timestamp, UnfinishedTail,
};
use proptest::sample::Index;
use serde::Serialize;

use super::command::{ACTORS, Command, Expected, Left, STREAMS, What};
use crate::account::{Account, AccountCommand, AccountEvent, AccountRefusal, AccountState, Owner};
use crate::forge::{Forged, hash_of};
use crate::store::noon;

const LINE_LIMIT: usize = 64 << 10;
const INTENT_LIMIT: usize = 128 << 10;

/// What is answered to a command.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    Done,
    Committed(Committed<AccountEvent>),
    Read(Box<Reading>),
    Lease(LeaseStatus),
    Stored(BlobRef),
    Bytes(Vec<u8>),
    /// The domain refused.
    Declined(AccountRefusal),
    /// The ledger refused, with this code.
    Refused(&'static str),
}

/// All that can be read of a stream.
#[derive(Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) intent: Owner,
    pub(super) state: AccountState,
    pub(super) settled: AccountState,
    pub(super) head: Head,
    pub(super) tail: Option<UnfinishedTail>,
    pub(super) history: Vec<Entry<AccountEvent>>,
    pub(super) after: Vec<Entry<AccountEvent>>,
}

#[derive(Debug, Default)]
pub(super) struct Plain {
    streams: BTreeMap<usize, PlainStream>,
    blobs: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct PlainStream {
    owner: Owner,
    entries: Vec<Entry<AccountEvent>>,
    /// The lines of `entries`.
    log: Vec<u8>,
    /// What a crash left behind them.
    tail: Vec<u8>,
    /// Tails that were moved aside, and whether the log tells of them.
    moved: BTreeMap<String, (Vec<u8>, bool)>,
    holder: Option<usize>,
    /// What the lease says: its last holder's note.
    note: Option<String>,
}

/// What a crash leaves: bytes behind the log, or in a file beside it.
pub(super) struct Remains {
    pub(super) file: Option<String>,
    pub(super) bytes: Vec<u8>,
}

/// The clock of a process. One runs a second ahead of the other.
pub(super) fn now(process: usize) -> Timestamp {
    Timestamp::from_microseconds(noon().as_microseconds() + 1_000_000 * i64::try_from(process).unwrap())
}

pub(super) fn lease_note(process: usize) -> String {
    format!("process {process}")
}

pub(super) fn owner(name: &str) -> Owner {
    Owner { owner: name.to_owned(), contract: None }
}

impl Plain {
    pub(super) fn obey(&mut self, Command { process, stream, what }: &Command) -> Answer {
        match what {
            What::Create { actor, owner, events } => {
                match self.created(*stream, *process, ACTORS[*actor], owner, events) {
                    Ok(created) => {
                        self.streams.insert(*stream, created);
                        Answer::Done
                    }
                    Err(code) => Answer::Refused(code),
                }
            }
            What::CheckNew { actor, owner, events } => {
                match self.created(*stream, *process, ACTORS[*actor], owner, events) {
                    Ok(_) => Answer::Done,
                    Err(code) => Answer::Refused(code),
                }
            }
            What::PutBlob(bytes) => {
                if !self.blobs.contains(bytes) {
                    self.blobs.push(bytes.clone());
                }
                Answer::Stored(BlobRef::of(bytes))
            }
            What::GetBlob(index) => match self.blob(*index) {
                Some(bytes) => Answer::Bytes(bytes.to_vec()),
                None => Answer::Refused("blob_missing"),
            },
            What::Restart => {
                for stream in self.streams.values_mut() {
                    stream.holder = stream.holder.filter(|holder| holder != process);
                }
                Answer::Done
            }
            What::Crash(left) => {
                if let Some(Remains { file, bytes }) = self.remains(*stream, *process, left) {
                    let it = self.streams.get_mut(stream).unwrap();
                    match file {
                        None => it.tail.extend(bytes),
                        Some(name) => drop(it.moved.insert(name, (bytes, false))),
                    }
                }
                Answer::Done
            }
            What::LetGo => Answer::Done,
            What::Append { expect, actor, events } => {
                let expect = self.expect(*stream, expect);
                self.on(*stream, |it| it.append(*stream, *process, expect, ACTORS[*actor], events))
            }
            What::Execute(command) => self.on(*stream, |it| it.execute(*stream, *process, command)),
            What::Look { after } => self.on(*stream, |it| Answer::Read(Box::new(it.reading(*after)))),
            What::Lease { contest } => self.on(*stream, |it| it.lease(*process, *contest)),
            What::GiveLeaseBack => self.on(*stream, |it| {
                it.holder = it.holder.filter(|holder| holder != process);
                Answer::Done
            }),
            What::AskForLease => self.on(*stream, |it| Answer::Lease(it.lease_status(*process))),
        }
    }

    fn on(&mut self, stream: usize, answer: impl FnOnce(&mut PlainStream) -> Answer) -> Answer {
        self.streams.get_mut(&stream).map_or(Answer::Refused("not_found"), answer)
    }

    fn created(
        &self,
        stream: usize,
        process: usize,
        actor: &str,
        name: &str,
        events: &[AccountEvent],
    ) -> Result<PlainStream, &'static str> {
        let mut new = PlainStream {
            owner: owner(name),
            entries: Vec::new(),
            log: Vec::new(),
            tail: Vec::new(),
            moved: BTreeMap::new(),
            holder: None,
            note: None,
        };
        let actor = Actor::new(actor).map_err(|error| error.code())?;
        if new.intent().len() > INTENT_LIMIT {
            return Err("intent_too_large");
        }
        if events.is_empty() {
            return Err("no_events");
        }
        let (lines, entries) = new.lines(stream, process, &actor, Vec::new(), events, false)?;
        if self.streams.contains_key(&stream) {
            return Err("already_exists");
        }
        (new.log, new.entries) = (lines, entries);
        Ok(new)
    }

    /// The blob that is meant; `None` for one that nobody put.
    pub(super) fn blob(&self, index: Index) -> Option<&[u8]> {
        self.blobs.get(index.index(self.blobs.len() + 1)).map(Vec::as_slice)
    }

    pub(super) fn expect(&self, stream: usize, expected: &Expected) -> Expect {
        let entries = self.streams.get(&stream).map_or(&[][..], |it| &it.entries);
        match expected {
            Expected::AtTheEnd if !entries.is_empty() => Expect::Head(head(entries.last().unwrap())),
            Expected::Behind(index) if !entries.is_empty() => Expect::Head(head(index.get(entries))),
            Expected::Elsewhere => Expect::Head(Head { seq: 1, hash: Digest::of(b"elsewhere") }),
            _ => Expect::Any,
        }
    }

    /// What a crash leaves; nothing if there is no such stream.
    pub(super) fn remains(&self, stream: usize, process: usize, left: &Left) -> Option<Remains> {
        let it = self.streams.get(&stream)?;
        let bytes = match left {
            Left::Bytes(bytes) => bytes.clone(),
            Left::PartOfBatch { events, length } => {
                let actor = Actor::new("crashed").unwrap();
                let lines = it.lines(stream, process, &actor, Vec::new(), events, true);
                let mut lines = lines.map_or_else(|_| b"{".to_vec(), |(lines, _)| lines);
                lines.truncate(1 + length.index(lines.len()));
                lines
            }
            Left::MovedAside(bytes) => {
                return Some(Remains { file: Some(it.torn_name(process)), bytes: bytes.clone() });
            }
        };
        // Behind a torn line, a line feed would make it a damaged one.
        let bytes = bytes.into_iter().filter(|byte| *byte != b'\n' || it.tail.is_empty()).collect();
        Some(Remains { file: None, bytes })
    }

    /// What verification should find: the unfinished tails.
    pub(super) fn tails(&self) -> Vec<(String, UnfinishedTail)> {
        let named = |(stream, it): (&usize, &PlainStream)| {
            it.unfinished_tail().map(|tail| (format!("account/{}", STREAMS[*stream]), tail))
        };
        let mut tails: Vec<_> = self.streams.iter().filter_map(named).collect();
        tails.sort_by(|a, b| a.0.cmp(&b.0));
        tails
    }

    /// Streams, entries and blobs.
    pub(super) fn counts(&self) -> (u64, u64, u64) {
        let entries: usize = self.streams.values().map(|it| it.entries.len()).sum();
        (self.streams.len() as u64, entries as u64, self.blobs.len() as u64)
    }

    /// All that can be read of each stream.
    pub(super) fn readings(&self) -> Vec<(usize, Reading)> {
        self.streams.iter().map(|(stream, it)| (*stream, it.reading(0))).collect()
    }

    pub(super) fn holder(&self, stream: usize) -> Option<usize> {
        self.streams.get(&stream).and_then(|it| it.holder)
    }

    /// Every file below the root.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        for (stream, it) in &self.streams {
            let directory = PathBuf::from("account").join(STREAMS[*stream]);
            files.insert(directory.join("intent.json"), it.intent());
            files.insert(directory.join("events.jsonl"), [&it.log[..], &it.tail].concat());
            files.extend(it.moved.iter().map(|(name, (bytes, _))| (directory.join(name), bytes.clone())));
            files.extend(
                it.note.iter().map(|note| (directory.join("lease"), format!("{note}\n").into_bytes())),
            );
        }
        for bytes in &self.blobs {
            let digits = Digest::of(bytes).to_string();
            files.insert(PathBuf::from("blobs").join(&digits[..2]).join(digits), bytes.clone());
        }
        files
    }
}

impl PlainStream {
    fn append(
        &mut self,
        stream: usize,
        process: usize,
        expect: Expect,
        actor: &str,
        events: &[AccountEvent],
    ) -> Answer {
        let actor = match Actor::new(actor) {
            Ok(actor) => actor,
            Err(error) => return Answer::Refused(error.code()),
        };
        let last_event = self.entries.iter().rposition(|entry| entry.domain().is_some()).unwrap();
        if let Expect::Head(expected) = expect
            && !self.entries[last_event..].iter().any(|entry| head(entry) == expected)
        {
            return Answer::Refused("conflict");
        }
        // What an earlier append did not live to tell comes first.
        let untold = self.moved.iter().filter(|(_, (_, told))| !told);
        let mut moved: Vec<(String, Vec<u8>)> =
            untold.map(|(file, (bytes, _))| (file.clone(), bytes.clone())).collect();
        if !self.tail.is_empty() {
            moved.push((self.torn_name(process), std::mem::take(&mut self.tail)));
        }
        self.moved.extend(moved.iter().cloned().map(|(file, bytes)| (file, (bytes, false))));
        let ledger: Vec<LedgerEvent> = moved
            .into_iter()
            .map(|(file, bytes)| {
                let sha256 = Digest::of(&bytes);
                LedgerEvent::TailMoved { file, bytes: bytes.len() as u64, sha256 }
            })
            .collect();
        match self.lines(stream, process, &actor, ledger, events, false) {
            Err(code) => Answer::Refused(code),
            Ok((lines, entries)) => {
                self.log.extend(lines);
                let events = entries.iter().filter_map(|entry| entry.domain().cloned()).collect();
                self.entries.extend(entries);
                self.moved.values_mut().for_each(|(_, told)| *told = true);
                Answer::Committed(Committed { events, head: self.head() })
            }
        }
    }

    /// The name under which the process would move a tail aside.
    fn torn_name(&self, process: usize) -> String {
        let utc: String = now(process).to_string().chars().filter(char::is_ascii_alphanumeric).collect();
        let mut names = (1..).map(|number| format!("events.torn-{utc}-{number}"));
        names.find(|name| !self.moved.contains_key(name)).unwrap()
    }

    fn execute(&mut self, stream: usize, process: usize, command: &AccountCommand) -> Answer {
        match Account::decide(&self.state(), command.clone(), &()) {
            Err(refusal) => Answer::Declined(refusal),
            Ok(events) if events.is_empty() => {
                Answer::Committed(Committed { events: vec![], head: self.head() })
            }
            Ok(events) => self.append(stream, process, Expect::Any, ACTORS[0], &events),
        }
    }

    /// Lines that would follow, and their entries; every line says that there is more to come if the batch is not to be
    /// finished.
    fn lines(
        &self,
        stream: usize,
        process: usize,
        actor: &Actor,
        ledger: Vec<LedgerEvent>,
        events: &[AccountEvent],
        unfinished: bool,
    ) -> Result<(Vec<u8>, Vec<Entry<AccountEvent>>), &'static str> {
        let name = format!("account/{}", STREAMS[stream]);
        let mut seq = self.entries.len() as u64;
        let mut hash =
            self.entries.last().map_or_else(|| Digest::of(&self.intent()), |entry| head(entry).hash);
        let last_ts = self.entries.last().map(|entry| match entry {
            Entry::Domain(recorded) => recorded.ts,
            Entry::Ledger(recorded) => recorded.ts,
        });
        let ts = last_ts.map_or(now(process), |last| last.max(now(process)));
        let mut left = ledger.len() + events.len();
        let (mut lines, mut entries) = (Vec::new(), Vec::new());
        let mut write = |actor: &str, json: &str| {
            seq += 1;
            left -= 1;
            let (event, data) = json[2..json.len() - 1].split_once("\":").unwrap();
            let mut forged = Forged::new(&name, seq, hash, event, data);
            forged.ts = ts.to_string();
            let actor = json_of(&actor);
            actor[1..actor.len() - 1].clone_into(&mut forged.actor);
            forged.more = left > 0 || unfinished;
            let line = forged.line();
            hash = hash_of(&line);
            let fits = line.len() <= LINE_LIMIT;
            lines.extend(line);
            if fits { Ok((seq, hash)) } else { Err("limit_reached") }
        };
        for event in ledger {
            let (seq, hash) = write("ledger", &json_of(&event))?;
            let actor = Actor::new("ledger").unwrap();
            entries.push(Entry::Ledger(Recorded { seq, ts, actor, hash, event }));
        }
        for event in events {
            let (seq, hash) = write(actor.as_str(), &json_of(event))?;
            entries.push(Entry::Domain(Recorded {
                seq,
                ts,
                actor: actor.clone(),
                hash,
                event: event.clone(),
            }));
        }
        Ok((lines, entries))
    }

    fn intent(&self) -> Vec<u8> {
        format!("{}\n", serde_json::to_string_pretty(&self.owner).unwrap()).into_bytes()
    }

    fn state(&self) -> AccountState {
        let mut state = Account::init(&self.owner);
        for recorded in self.entries.iter().filter_map(Entry::domain) {
            Account::evolve(&mut state, recorded);
        }
        state
    }

    fn head(&self) -> Head {
        head(self.entries.last().unwrap())
    }

    fn unfinished_tail(&self) -> Option<UnfinishedTail> {
        let tail = UnfinishedTail { offset: self.log.len() as u64, bytes: self.tail.len() as u64 };
        (tail.bytes > 0).then_some(tail)
    }

    fn reading(&self, after: u64) -> Reading {
        Reading {
            intent: self.owner.clone(),
            state: self.state(),
            settled: self.state(),
            head: self.head(),
            tail: self.unfinished_tail(),
            history: self.entries.clone(),
            after: self.entries.iter().filter(|entry| entry.seq() > after).cloned().collect(),
        }
    }

    fn lease(&mut self, process: usize, contest: bool) -> Answer {
        match self.holder {
            Some(_) if contest => Answer::Refused("lease_held"),
            Some(_) => Answer::Lease(self.lease_status(process)),
            None => {
                self.holder = Some(process);
                self.note = Some(lease_note(process));
                Answer::Done
            }
        }
    }

    fn lease_status(&self, process: usize) -> LeaseStatus {
        match self.holder {
            None => LeaseStatus::Free,
            Some(holder) if holder == process => LeaseStatus::HeldByMe,
            Some(holder) => LeaseStatus::HeldByOther(lease_note(holder)),
        }
    }
}

fn json_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn head(entry: &Entry<AccountEvent>) -> Head {
    let (Entry::Domain(Recorded { seq, hash, .. }) | Entry::Ledger(Recorded { seq, hash, .. })) = entry;
    Head { seq: *seq, hash: *hash }
}
