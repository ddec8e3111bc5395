//! Writes a project with many work items, for `benches/list.sh`: `list-store DIR ITEMS EVENTS`.

use std::error::Error;

use clap::Parser;
use harn_ledger::{BlobRef, FixedClock, Ledger, StreamId, Timestamp};
use harn_workflow::work::{
    Event, Intent, ItemState, NewItem, NextAction, Outcome, ScriptFile, Trigger, Work, Workflow,
};

/// Writes a project with many work items.
#[derive(Debug, Parser)]
struct Args {
    /// A directory that is a project already.
    directory: std::path::PathBuf,
    /// How many items.
    items: u32,
    /// How many events each has.
    events: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let now = Timestamp::from_rfc3339("2026-07-22T12:00:00Z")?;
    let root = args.directory.join(".harn/state");
    let ledger = Ledger::builder(root).clock(FixedClock(now)).open()?;
    let script = b"export default () => 1;\n";
    let proof = ledger.blobs().put(b"a proof\n")?;
    ledger.blobs().put(script)?;
    for number in 0..args.items {
        let id: StreamId = format!("work-2026-07-22T12-00-00-000Z-{number:06}").parse()?;
        let intent = intent(&id, number, script, now)?;
        ledger.create::<Work>(id.as_str(), "operator", &intent, &history(&id, args.events, proof)?)?;
    }
    Ok(())
}

/// One item in eight waits for the one before it.
fn intent(id: &StreamId, number: u32, script: &[u8], now: Timestamp) -> Result<Intent, Box<dyn Error>> {
    let workflow = Workflow::of(ScriptFile::of("/project/workflows/release.mjs", script));
    let mut item = NewItem::new(format!("Release package {number}"), "Publish a verified release", workflow);
    item.acceptance = vec!["The full suite passes".to_owned()];
    if number % 8 == 7 {
        item.dependencies = vec![format!("work-2026-07-22T12-00-00-000Z-{:06}", number - 1).parse()?];
    }
    Ok(item.into_intent(id.clone(), now)?)
}

/// A creation, and then attempts that failed, each with the note of where the item stood; a remark now and then.
fn history(id: &StreamId, events: usize, proof: BlobRef) -> Result<Vec<Event>, Box<dyn Error>> {
    let mut history = vec![Event::Created {}];
    for attempt in 1.. {
        let run_id: StreamId = format!("run-{attempt:06}-of-{}", &id.as_str()[29..]).parse()?;
        let trigger = if attempt == 1 { Trigger::Initial } else { Trigger::Retry };
        history.push(Event::AttemptStarted { run_id: run_id.clone(), attempt, trigger });
        history.push(Event::AttemptEnded {
            run_id,
            attempt,
            outcome: Outcome::Failed,
            class: None,
            proof: Some(proof),
            error: Some("the suite fails: 3 of 812 tests".to_owned()),
            decision: None,
            next_eligible_at: None,
        });
        history.push(Event::Reconciled {
            state: ItemState::Blocked,
            next_action: NextAction::Retry,
            reason: format!("attempt {attempt} failed: the suite fails: 3 of 812 tests"),
        });
        history.push(Event::Noted { text: format!("looked at attempt {attempt}; the parser is to blame") });
        if history.len() >= events {
            history.truncate(events);
            return Ok(history);
        }
    }
    Ok(history)
}
