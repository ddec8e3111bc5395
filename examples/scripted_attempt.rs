//! An attempt on `harn-engine`: a script sends a process at a work item, and its proof says what came of it.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::collections::BTreeMap;
use std::error::Error;
use std::num::NonZeroU32;

use harn_engine::adapter::Exec;
use harn_engine::attempt::{AttemptOptions, AttemptRequest, read_script, run_attempt};
use harn_engine::run::{Adapters, Stopper};
use harn_ledger::{Ledger, SystemClock, SystemIds};
use harn_workflow::run::Isolation;
use harn_workflow::work::{Caller, ItemState, Role, Trigger};
use harn_workflow::{Draft, WorkLedger};

const SCRIPT: &str = r#"
    export const meta = { name: "shout", acceptance: [{ id: "loud", statement: "The reply is loud" }] };
    export default async ({ work, agent, evidence }) => {
        const reply = await agent(work.objective);
        const status = reply === work.objective.toUpperCase() ? "passed" : "failed";
        evidence({ kind: "observation", status, label: "compared", acceptanceIds: ["loud"] });
        return reply;
    };
"#;

/// Runs one attempt with `tr` as the agent.
pub fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let script = directory.path().join("shout.mjs");
    std::fs::write(&script, SCRIPT)?;

    let ledger = Ledger::open(directory.path().join("state"))?;
    let works = WorkLedger::new(ledger, SystemClock, SystemIds);
    let ann = Caller { actor: "ann".parse()?, role: Role::Person };
    let mut files = read_script(&script)?;
    let item = works.create(&ann, Draft::new("Shout", "say hello", files.remove(0)))?;

    let options = AttemptOptions {
        cwd: directory.path().to_owned(),
        max_agents: NonZeroU32::MIN,
        concurrency: NonZeroU32::MIN,
        deadline: None,
        subscription_only: false,
        allow_api_billing: false,
        approval_to: None,
        isolation: Isolation::Shared,
        require_acceptance: false,
    };
    let report = run_attempt(AttemptRequest {
        works: &works,
        caller: &ann,
        id: &item.projection.id,
        trigger: Trigger::Initial,
        options: &options,
        adapters: &Adapters::none().with(Exec::new("exec", ["tr", "a-z", "A-Z"])?).with_default("exec"),
        environment: &BTreeMap::from([("PATH".into(), std::env::var_os("PATH").unwrap_or_default())]),
        preparation: None,
        lease_note: "an example",
        stopper: &Stopper::new(),
        observer: &mut |recorded| println!("{}  {}", recorded.seq, recorded.event.name()),
    })?;
    let shown = &report.item.projection;
    println!("{} is {}: {}", shown.id, shown.state, shown.reason);
    let proven = report.proof.passes() && shown.state == ItemState::InReview;
    if proven { Ok(()) } else { Err("the attempt did not pass".into()) }
}
