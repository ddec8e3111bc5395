//! What is recorded: a job that takes one step after the other. Its lines are about 300 bytes long.

use std::convert::Infallible;
use std::path::Path;
use std::time::{Duration, Instant};

use harn_ledger::disk::{Disk as _, MemDisk, Open};
use harn_ledger::{Decider, Expect, Ledger, Limits, Recorded, Stream, VerifyOptions};
use serde::{Deserialize, Serialize};

use crate::setting::Result;

/// The domain.
#[derive(Debug)]
pub struct Job;

/// What a job is for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Purpose {
    /// In words.
    pub purpose: String,
}

/// What happens in a job.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Event {
    /// A step was done.
    #[serde(rename = "step.done")]
    Done {
        /// Its number.
        step: u64,
        /// What there is to say about it.
        note: String,
    },
}

/// Who acts in every event.
pub const ACTOR: &str = "worker";

/// A step that was done.
#[must_use]
pub fn done(step: u64) -> Event {
    Event::Done { step, note: format!("part {}", step % 10) }
}

impl Decider for Job {
    const KIND: &'static str = "job";
    const LIMITS: Limits = Limits { events: 4_000_000, log_bytes: 4 << 30, ..Limits::DEFAULT };
    type Intent = Purpose;
    type Event = Event;
    /// How many steps were done.
    type State = u64;
    type Command = u64;
    type Facts = ();
    type Refusal = Infallible;

    fn init(_: &Purpose) -> u64 {
        0
    }

    fn decide(_: &u64, step: u64, (): &()) -> std::result::Result<Vec<Event>, Infallible> {
        Ok(vec![done(step)])
    }

    fn evolve(steps: &mut u64, _: &Recorded<Event>) {
        *steps += 1;
    }
}

/// A new stream that holds `events` events.
pub fn create(ledger: &Ledger, id: &str, events: u64) -> Result<Stream<Job>> {
    let purpose = Purpose { purpose: "to be measured".to_owned() };
    let events: Vec<Event> = (1..=events).map(done).collect();
    Ok(ledger.create(id, ACTOR, &purpose, &events)?)
}

/// Appends one event wherever the stream ends, and tells how long that took.
pub fn append(stream: &Stream<Job>, step: u64) -> Result<Duration> {
    let event = vec![done(step)];
    let start = Instant::now();
    stream.append(Expect::Any, ACTOR, event)?;
    Ok(start.elapsed())
}

/// Makes sure that the ledger at `root` is without fault and holds `events` events.
pub fn check(root: &Path, events: u64) -> Result<()> {
    let found = Ledger::builder(root).read_only(true).open()?.verify(&VerifyOptions::default());
    if let Some(problem) = found.problems.first() {
        return Err(format!("`{}`: {}", problem.place, problem.kind).into());
    }
    if found.events == events {
        Ok(())
    } else {
        Err(format!("the ledger holds {} events, expected {events}", found.events).into())
    }
}

/// The lines of a log whose events were appended one by one.
#[derive(Debug)]
pub struct Lines(Vec<Vec<u8>>);

impl Lines {
    /// As many lines.
    pub fn new(count: u64) -> Result<Self> {
        let disk = MemDisk::new();
        let ledger = Ledger::builder("/lines").disk(disk.clone()).open()?;
        let stream = create(&ledger, "one", 1)?;
        for step in 2..=count {
            append(&stream, step)?;
        }
        let file = disk.open(Path::new("/lines/job/one/events.jsonl"), Open::Read)?;
        let mut log = vec![0; usize::try_from(file.stat()?.length)?];
        let read = file.read_at(0, &mut log)?;
        Ok(Self(log[..read].split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()))
    }

    /// The line with this number, from 1, and its line feed.
    #[must_use]
    pub fn number(&self, number: u64) -> &[u8] {
        &self.0[usize::try_from(number - 1).expect("they fit into memory")]
    }
}
