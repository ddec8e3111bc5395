//! A run in a real ledger: what is frozen and recorded there is what the proof is computed from.

use harn_ledger::disk::MemDisk;
use harn_ledger::{Entry, Ledger, Recorded, VerifyOptions};
use harn_workflow::context::{AttemptContext, Trigger};
use harn_workflow::run::{
    Captured, CheckOutcome, Command, Event, EvidenceStatus, Failure, Manifest, Proof, Run, prior_from,
};

use crate::run_limits::{widest_manifest, widest_meta};
use crate::run_samples::{
    agent_started, agent_succeeded, check_ended, check_started, evidence, failed, findings, id, loaded,
    manifest, parts, succeeded,
};

fn ledger(disk: &MemDisk) -> Ledger {
    Ledger::builder("/state").disk(disk.clone()).open().expect("an empty disk")
}

fn domain(history: &[Entry<Event>]) -> Vec<Recorded<Event>> {
    history.iter().filter_map(|entry| entry.domain().cloned()).collect()
}

/// A proof that is computed again from what was read from the disk is the same, byte for byte.
#[test]
fn a_proof_survives_the_disk() {
    let disk = MemDisk::new();
    let mut frozen = parts();
    frozen.attempt_context = Some(
        AttemptContext::new(2, Trigger::Retry, Some(prior_from(&id("run-0"), None).unwrap()), findings())
            .unwrap(),
    );
    let frozen = Manifest::new(frozen).unwrap();
    let first = ledger(&disk);
    for file in ["export default async () => 'done'\n", "export const x = 1\n"] {
        first.blobs().put(file.as_bytes()).unwrap();
    }
    let run = first.create::<Run>("run-1", "runner", &frozen, &[Event::RunStarted {}]).unwrap();
    let output = vec![b'x'; 100_000];
    let commands = [
        Command::Record(vec![loaded(&["c"]), agent_started(1)]),
        Command::Record(vec![Event::Log { message: Captured::of(&output) }]),
        Command::Record(vec![agent_succeeded(1, "done")]),
        Command::Record(vec![check_started(1, &["c", "item.1"])]),
        check_ended(1, CheckOutcome::Passed),
        Command::Record(vec![evidence(2, EvidenceStatus::Observed, &["c"])]),
        succeeded(),
    ];
    first.blobs().put(&output).unwrap();
    for command in commands {
        run.execute("runner", command).unwrap();
    }
    let proof = Proof::of(run.intent(), &domain(&run.history().unwrap())).unwrap();
    assert!(proof.passes());
    assert_eq!(proof.integrity.transcript.seq, run.head().unwrap().seq);
    assert_eq!(first.blobs().put(&proof.to_bytes()).unwrap(), proof.blob_ref());

    let second = ledger(&disk);
    let again = second.stream::<Run>("run-1").unwrap();
    assert_eq!(again.intent(), &frozen);
    assert_eq!(again.state().unwrap(), run.state().unwrap());
    let stored = Proof::from_bytes(&second.blobs().get(&proof.blob_ref()).unwrap()).unwrap();
    assert_eq!(stored.verify(again.intent(), &domain(&again.history().unwrap())), Ok(()));
    let verification = second.verify(&VerifyOptions::default());
    assert!(verification.problems.is_empty(), "{:?}", verification.problems);
}

/// N-12, with what the script may say about itself.
#[test]
fn the_widest_run_can_be_created_loaded_and_ended() {
    let ledger = ledger(&MemDisk::new());
    let run_id = "r".repeat(100);
    let run =
        ledger.create::<Run>(&run_id, &"a".repeat(100), &widest_manifest(), &[Event::RunStarted {}]).unwrap();
    run.execute("runner", Command::Record(vec![Event::ScriptLoaded { meta: widest_meta() }])).unwrap();
    run.execute("runner", failed(Failure::TranscriptFull, "full")).unwrap();
    assert!(run.state().unwrap().ended());
}

#[test]
fn what_the_rules_refuse_is_not_recorded() {
    let ledger = ledger(&MemDisk::new());
    let run = ledger.create::<Run>("run-1", "runner", &manifest(), &[Event::RunStarted {}]).unwrap();
    let head = run.head().unwrap();
    assert!(run.execute("runner", Command::Record(vec![loaded(&[]), agent_started(2)])).is_err());
    assert_eq!(run.head().unwrap(), head);
}
