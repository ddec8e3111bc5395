//! An attempt is stopped before, inside and after every operation on the disk, by the death of its process and by a loss
//! of power. Whatever is left tells the truth about the attempt, is reconciled to it once, and can be gone on with.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::cell::Cell;

use harn_ledger::disk::{FaultyDisk, Moment, Operation};
use harn_ledger::{CountingIds, FixedClock, Ledger, StreamId, Timestamp, VerifyOptions};
use harn_workflow::run::{Captured, CheckOutcome, Command as RunCommand, Manifest, ManifestParts, Run};
use harn_workflow::work::{Accept, Caller, Class, ItemState, Projection, Role, Trigger};
use harn_workflow::{Begun, Draft, ScriptText, WorkLedger};

use crate::run_samples::{
    actor, agent_started, agent_succeeded, check_ended, check_started, id, loaded, parts, succeeded,
};

/// Losses of power tried at each place: all that was not synced, nothing, and mixtures.
const SEEDS: u64 = 4;

const SCRIPT: &[u8] = b"export default async () => 'done'\n";

fn ann() -> Caller {
    Caller { actor: actor("ann"), role: Role::Person }
}

/// The work items on a disk, for a process that draws its ids from `seed`.
fn works(disk: &FaultyDisk, seed: u64) -> Option<WorkLedger> {
    let clock = FixedClock(Timestamp::UNIX_EPOCH);
    let ledger = Ledger::builder("/state").disk(disk.clone()).clock(clock).open().ok()?;
    Some(WorkLedger::new(ledger, clock, CountingIds::from_seed(seed)))
}

/// How far an attempt was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Done {
    Nothing,
    Begun,
    RunCreated,
    AgentStarted,
    AgentAnswered,
    CheckStarted,
    RunEnded,
    Ended,
    Accepted,
}

fn manifest(begun: &Begun) -> Manifest {
    let path = crate::run_samples::path("/release.mjs");
    let mut script = parts().script;
    script = harn_workflow::run::Script { path, modules: Vec::new(), ..script };
    Manifest::new(ManifestParts {
        run_id: begun.run_id.clone(),
        work_item_id: Some(id("alpha")),
        work_context: Some(begun.work_context.clone()),
        attempt_context: Some(begun.attempt_context.clone()),
        started_at: begun.started_at,
        script,
        repository_before: None,
        ..parts()
    })
    .unwrap()
}

/// One attempt from its start to its acceptance, in the order in which the engine does it; as far as the disk goes.
fn attempt(works: &WorkLedger, done: &Cell<Done>) -> Option<()> {
    let begun = works.begin(&ann(), &id("alpha"), Trigger::Initial).ok()?;
    done.set(Done::Begun);
    let run = works.create_run(&ann(), &manifest(&begun)).ok()?;
    done.set(Done::RunCreated);
    let record = |command| run.execute("ann", command).ok().map(drop);
    record(RunCommand::Record(vec![loaded(&["c"])]))?;
    record(RunCommand::Record(vec![agent_started(1)]))?;
    done.set(Done::AgentStarted);
    let reply = "long ".repeat(2_000);
    works.blobs().put(reply.as_bytes()).ok()?;
    record(RunCommand::Record(vec![agent_succeeded(1, &reply)]))?;
    done.set(Done::AgentAnswered);
    record(RunCommand::Record(vec![check_started(1, &["c"])]))?;
    done.set(Done::CheckStarted);
    let output = Captured::of(&[b'x'; 9_000]);
    works.blobs().put(&[b'x'; 9_000]).ok()?;
    record(RunCommand::Record(vec![harn_workflow::run::Event::Log { message: output }]))?;
    record(check_ended(1, CheckOutcome::Passed))?;
    record(succeeded())?;
    done.set(Done::RunEnded);
    works.end(&ann(), &id("alpha"), &run).ok()?;
    done.set(Done::Ended);
    works.accept(&ann(), &id("alpha"), Accept::default()).ok()?;
    done.set(Done::Accepted);
    Some(())
}

/// A disk with the item and nothing else.
fn prepared() -> FaultyDisk {
    let disk = FaultyDisk::new();
    let works = works(&disk, 1).unwrap();
    let script = ScriptText { path: "/release.mjs".to_owned(), bytes: SCRIPT.to_vec() };
    let mut draft = Draft::new("Release", "Publish", script);
    draft.id = Some("alpha".to_owned());
    works.create(&ann(), draft).unwrap();
    disk.process_death()
}

/// What a run's own stream shows, if there is one: whether anything was started, and whether it ended.
fn run_of(works: &WorkLedger, run_id: &StreamId) -> Option<(bool, bool)> {
    let state = works.ledger().stream::<Run>(run_id.as_str()).ok()?.state().ok()?;
    Some((state.worked(), state.ended()))
}

fn assert_true(works: &WorkLedger, shown: &Projection, done: Done, place: &str) {
    let attempt = match &*shown.attempts {
        [] => {
            assert!(done < Done::Begun, "{place}: an acknowledged attempt is gone");
            assert_eq!(shown.state, ItemState::Ready, "{place}");
            return;
        }
        [attempt] => attempt,
        more => panic!("{place}: {} attempts", more.len()),
    };
    let run = run_of(works, &attempt.run_id);
    match shown.state {
        ItemState::InReview | ItemState::Succeeded => {
            let (_, ended) = run.unwrap_or_else(|| panic!("{place}: it passed without a run"));
            assert!(ended, "{place}: it passed and its run has not ended");
            let computed = works.compute_proof(&attempt.run_id).unwrap();
            assert_eq!(attempt.proof, Some(computed.blob_ref()), "{place}");
            assert!(computed.passes(), "{place}");
            assert!(attempt.charged, "{place}");
        }
        ItemState::Blocked => {
            assert!(done < Done::RunEnded, "{place}: an acknowledged end is gone");
            let worked = run.is_some_and(|(worked, _)| worked);
            assert!(done < Done::AgentStarted || worked, "{place}: an acknowledged agent is gone");
            // N-01: what was cut off before it did anything costs nothing.
            let class = if worked { None } else { Some(Class::Interrupted) };
            assert_eq!((attempt.class, attempt.charged), (class, worked), "{place}");
        }
        other => panic!("{place}: it is {other}"),
    }
    assert!((done == Done::Accepted) <= (shown.state == ItemState::Succeeded), "{place}");
}

/// Looks at what is left of a disk.
fn inspect(disk: &FaultyDisk, done: Done, place: &str) {
    let works = works(disk, 2).unwrap_or_else(|| panic!("{place}: the ledger does not open"));
    let before = works.get(&id("alpha")).unwrap_or_else(|error| panic!("{place}: {error}")).projection;
    assert_true(&works, &before, done, place);

    // Reconciled, it stands where it was seen to stand; a second time not one byte is written.
    let reconciled = works.reconcile(&ann(), &id("alpha")).unwrap_or_else(|error| panic!("{place}: {error}"));
    let after = reconciled.item.projection;
    let stands = |shown: &Projection| (shown.state, shown.next_action, shown.attempts_text());
    assert_eq!(stands(&after), stands(&before), "{place}");
    // Syncing what somebody else may not have synced changes no byte.
    let writes = || {
        let is_sync = |operation| matches!(operation, Operation::Sync | Operation::SyncDir);
        disk.operations().iter().filter(|(operation, _)| !is_sync(*operation)).count()
    };
    let before_again = writes();
    let again = works.reconcile(&ann(), &id("alpha")).unwrap();
    assert!(again.events.is_empty(), "{place}: {:?}", again.events);
    assert_eq!(writes(), before_again, "{place}: a second reconcile wrote");

    let found = works.ledger().verify(&VerifyOptions::default());
    let damage: Vec<_> = found.problems.iter().filter(|it| it.kind.code() != "unfinished_tail").collect();
    assert!(damage.is_empty(), "{place}: {damage:?}");
    assert!(works.verify_proofs().is_empty(), "{place}");

    // And it goes on.
    match after.state {
        ItemState::Ready => drop(works.begin(&ann(), &id("alpha"), Trigger::Initial).unwrap()),
        ItemState::Blocked => {
            let begun = works.begin(&ann(), &id("alpha"), Trigger::Retry).unwrap();
            let charged = works.get(&id("alpha")).unwrap().projection.charged_attempts;
            // Nobody runs the new one here, so it is as untouched as it looks.
            assert_eq!(charged, u32::from(before.attempts[0].charged), "{place}");
            assert_ne!(begun.run_id, before.attempts[0].run_id, "{place}");
        }
        ItemState::InReview => {
            works
                .accept(&ann(), &id("alpha"), Accept::default())
                .unwrap_or_else(|error| panic!("{place}: {error}"));
        }
        _ => {}
    }
}

#[test]
fn n_01_an_attempt_that_is_stopped_anywhere_tells_the_truth() {
    let base = prepared();
    let disk = base.process_death();
    let done = Cell::new(Done::Nothing);
    attempt(&works(&disk, 1).unwrap(), &done);
    assert_eq!(done.get(), Done::Accepted, "it goes through when nothing stops it");
    let operations = disk.operations();
    assert!(operations.len() > 30, "{}", operations.len());
    let mut seen = Vec::new();
    for (number, (operation, path)) in operations.iter().enumerate() {
        for moment in [Moment::Before, Moment::Inside, Moment::After] {
            let disk = base.process_death();
            disk.cut_at(number, moment);
            let done = Cell::new(Done::Nothing);
            if let Some(works) = works(&disk, 1) {
                attempt(&works, &done);
            }
            let done = done.get();
            seen.push(done);
            let place = format!("{moment:?} operation {number}, {operation:?} {}", path.display());
            inspect(&disk.process_death(), done, &format!("{place}, process death"));
            for seed in 0..SEEDS {
                inspect(&disk.power_loss(seed), done, &format!("{place}, power loss {seed}"));
            }
        }
    }
    // It was stopped after each of its steps. The acceptance looks at the item once more before it says so.
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), Done::Accepted as usize, "{seen:?}");
}
