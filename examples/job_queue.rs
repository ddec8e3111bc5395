//! A job queue on `harn-ledger`: workers are processes, and one that dies loses its job to another at once.
//!
//! A job is a stream. Who works on it holds the stream's lease, a lock of the kernel, which ends with its holder however
//! that ends: no heartbeat, no time limit, no process id decides whether a worker still lives.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use harn_ledger::{Decider, Entry, LeaseError, LeaseStatus, Ledger, Recorded, VerifyOptions};
use serde::{Deserialize, Serialize};

struct Job;

/// What is asked for: how many words this text has.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    text: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum Event {
    #[serde(rename = "job.queued")]
    Queued {},
    #[serde(rename = "job.started")]
    Started { attempt: u32 },
    #[serde(rename = "job.finished")]
    Finished { words: usize },
}

#[derive(Clone, Default)]
struct State {
    attempts: u32,
    words: Option<usize>,
}

#[derive(Clone)]
enum Command {
    Start,
    Finish { words: usize },
}

#[derive(Debug, thiserror::Error)]
#[error("the job was finished by somebody else")]
struct AlreadyFinished;

impl Decider for Job {
    const KIND: &'static str = "job";
    type Intent = Task;
    type Event = Event;
    type State = State;
    type Command = Command;
    type Facts = ();
    type Refusal = AlreadyFinished;

    fn init(_: &Task) -> State {
        State::default()
    }

    fn decide(state: &State, command: Command, (): &()) -> Result<Vec<Event>, AlreadyFinished> {
        match (command, state.words) {
            // Whoever looks for work and finds none has nothing to record.
            (Command::Start, Some(_)) => Ok(Vec::new()),
            (Command::Start, None) => Ok(vec![Event::Started { attempt: state.attempts + 1 }]),
            (Command::Finish { .. }, Some(_)) => Err(AlreadyFinished),
            (Command::Finish { words }, None) => Ok(vec![Event::Finished { words }]),
        }
    }

    fn evolve(state: &mut State, recorded: &Recorded<Event>) {
        match recorded.event {
            Event::Queued {} => {}
            Event::Started { attempt } => state.attempts = attempt,
            Event::Finished { words } => state.words = Some(words),
        }
    }
}

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A worker is this program again, told by these variables which queue is meant and who it is.
const QUEUE: &str = "JOB_QUEUE";
const WORKER: &str = "JOB_QUEUE_WORKER";

/// The worker that gets stuck in its first job.
const STUCK: &str = "ann";

/// Does every job that is neither done nor in somebody else's hands.
fn work(ledger: &Ledger, worker: &str) -> Outcome<()> {
    for id in ledger.ids(Job::KIND)? {
        let job = ledger.stream::<Job>(id.as_str())?;
        // Held until the end of this turn, or of this process.
        let _lease = match job.lease(worker) {
            Err(LeaseError::Held { .. }) => continue,
            lease => lease?,
        };
        if job.execute(worker, Command::Start)?.events.is_empty() {
            continue;
        }
        if worker == STUCK {
            // Standard input ends with the process at its other end, so that nothing is left of this example.
            std::io::stdin().read_to_end(&mut Vec::new())?;
            return Ok(());
        }
        let words = job.intent().text.split_whitespace().count();
        job.execute(worker, Command::Finish { words })?;
    }
    Ok(())
}

fn start_worker(queue: &Path, worker: &str) -> Outcome<Child> {
    // The program does without arguments; where a test is the program, they select that test.
    let arguments = ["job_queue_runs", "--exact"];
    Ok(std::process::Command::new(std::env::current_exe()?)
        .args(arguments)
        .env(QUEUE, queue)
        .env(WORKER, worker)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?)
}

fn run_worker(queue: &Path, worker: &str) -> Outcome<()> {
    let status = start_worker(queue, worker)?.wait()?;
    if status.success() { Ok(()) } else { Err(format!("{worker} failed: {status}").into()) }
}

/// Queues three jobs, loses a worker in the middle of one, and has all of them done.
pub fn main() -> Outcome<()> {
    if let (Some(queue), Ok(worker)) = (std::env::var_os(QUEUE), std::env::var(WORKER)) {
        return work(&Ledger::open(queue)?, &worker);
    }
    let directory = tempfile::tempdir()?;
    let queue = directory.path().join("queue");
    let ledger = Ledger::open(&queue)?;
    for (id, text) in [("job-1", "one two three"), ("job-2", "four five"), ("job-3", "six")] {
        ledger.create::<Job>(id, "manager", &Task { text: text.to_owned() }, &[Event::Queued {}])?;
    }

    let first = ledger.stream::<Job>("job-1")?;
    let mut ann = start_worker(&queue, STUCK)?;
    while first.state()?.attempts == 0 {
        if let Some(status) = ann.try_wait()? {
            return Err(format!("ann ended early: {status}").into());
        }
        sleep(Duration::from_millis(5));
    }
    let LeaseStatus::HeldByOther(holder) = first.lease_status()? else {
        return Err("nobody holds the job that was started".into());
    };
    println!("job-1 is held by {holder}");
    run_worker(&queue, "bob")?;
    println!("bob did what was left: job-1 is {}", described(&first.state()?));

    ann.kill()?;
    ann.wait()?;
    if first.lease_status()? != LeaseStatus::Free {
        return Err("a dead worker holds its job".into());
    }
    println!("ann was killed: job-1 is free");
    run_worker(&queue, "cleo")?;

    for id in ledger.ids(Job::KIND)? {
        let job = ledger.stream::<Job>(id.as_str())?;
        println!("{id} is {}", described(&job.state()?));
        for entry in job.history()?.iter().filter_map(Entry::domain) {
            println!("  {}  {:7}  {:?}", entry.seq, entry.actor.as_str(), entry.event);
        }
    }
    let taken_over = first.state()?;
    let sound = ledger.verify(&VerifyOptions::default()).problems.is_empty();
    if sound && taken_over.attempts == 2 && taken_over.words == Some(3) {
        Ok(())
    } else {
        Err("the queue is wrong".into())
    }
}

fn described(state: &State) -> String {
    match state.words {
        Some(words) => format!("done in attempt {}: {words} words", state.attempts),
        None => format!("in attempt {}", state.attempts),
    }
}
