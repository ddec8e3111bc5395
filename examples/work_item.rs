//! A work item on `harn-workflow`, in memory: created, given up, reopened with a finding.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use harn_ledger::disk::MemDisk;
use harn_ledger::{CountingIds, Ledger, SystemClock};
use harn_workflow::work::{Accept, Caller, ItemState, Reopen, Role};
use harn_workflow::{Draft, ScriptText, WorkLedger};

/// Walks an item through what needs no run.
pub fn main() -> Result<(), Box<dyn Error>> {
    let ledger = Ledger::builder("/state").disk(MemDisk::new()).open()?;
    let works = WorkLedger::new(ledger, SystemClock, CountingIds::from_seed(1));
    let ann = Caller { actor: "ann".parse()?, role: Role::Person };

    let script =
        ScriptText { path: "/project/release.mjs".to_owned(), bytes: b"export default () => 1".to_vec() };
    let item = works.create(&ann, Draft::new("Release", "Publish a verified release", script))?;
    let id = item.projection.id;
    println!("{id} is {}", item.projection.state);

    // Nothing passed yet, so there is nothing to accept; the refusal changes nothing.
    match works.accept(&ann, &id, Accept::default()) {
        Err(refusal) => println!("refused: {refusal}"),
        Ok(_) => return Err("an item without an attempt was accepted".into()),
    }

    works.cancel(&ann, &id, Some("the release is postponed".to_owned()))?;
    let finding = "The changelog has no date.".to_owned();
    let reopened = works.reopen(&ann, &id, Reopen { findings: vec![finding], ..Reopen::default() })?;
    for finding in &reopened.item.projection.findings.open {
        println!("open: {} by {}: {}", finding.id, finding.actor, finding.statement);
    }
    for suggestion in &reopened.item.projection.suggestions {
        println!("next: {suggestion}");
    }
    let ready = reopened.item.projection.state == ItemState::Ready;
    if ready { Ok(()) } else { Err("a reopened item is not ready".into()) }
}
