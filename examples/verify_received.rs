//! Verifying a ledger that someone sent: by itself it can only prove that it agrees with itself, and with a checkpoint
//! that came another way, that nothing is missing.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::convert::Infallible;
use std::error::Error;
use std::path::Path;

use harn_ledger::{Checkpoint, Decider, Expect, Ledger, Recorded, VerifyOptions};
use serde::{Deserialize, Serialize};

/// The sender's domain: a log of measurements. Whoever verifies does not need it.
struct Log;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Station {
    place: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum Event {
    #[serde(rename = "measured")]
    Measured { degrees: i64 },
}

impl Decider for Log {
    const KIND: &'static str = "station";
    type Intent = Station;
    type Event = Event;
    type State = ();
    type Command = Infallible;
    type Facts = ();
    type Refusal = Infallible;

    fn init(_: &Station) {}

    fn decide((): &(), command: Infallible, (): &()) -> Result<Vec<Event>, Infallible> {
        match command {}
    }

    fn evolve((): &mut (), _: &Recorded<Event>) {}
}

/// What the sender does: measures, takes a checkpoint, and leaves out the end before sending the directory.
fn send(root: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let ledger = Ledger::open(root)?;
    let station = Station { place: "Harbour".to_owned() };
    let harbour = ledger.create::<Log>("harbour", "sensor", &station, &[Event::Measured { degrees: 12 }])?;
    for degrees in [14, 41] {
        harbour.append(Expect::Any, "sensor", vec![Event::Measured { degrees }])?;
    }
    let checkpoint = ledger.checkpoint()?.to_bytes();

    let log = root.join("station/harbour/events.jsonl");
    let text = std::fs::read_to_string(&log)?;
    let without_the_last: Vec<&str> = text.split_inclusive('\n').take(2).collect();
    std::fs::write(&log, without_the_last.concat())?;
    Ok(checkpoint)
}

/// Receives a ledger and a checkpoint, and verifies one against the other.
pub fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let root = directory.path().join("received");
    // The directory came as an archive, the checkpoint by a letter, a chat, or a registry: not through the same hands.
    let received_checkpoint = send(&root)?;

    // Read-only: nothing is created or changed in what was received.
    let ledger = Ledger::builder(&root).read_only(true).open()?;
    let alone = ledger.verify(&VerifyOptions::default());
    println!("by itself: {} events, {} problems", alone.events, alone.problems.len());

    let mut options = VerifyOptions::default();
    options.against = Some(Checkpoint::parse(&received_checkpoint)?);
    let found = ledger.verify(&options);
    println!("against the checkpoint:");
    for problem in &found.problems {
        println!("  {}: {}", problem.place, problem.kind);
    }
    match found.problems.iter().map(|problem| problem.kind.code()).collect::<Vec<_>>()[..] {
        ["cut_off"] if alone.problems.is_empty() => Ok(()),
        _ => Err("the missing end was not found".into()),
    }
}
