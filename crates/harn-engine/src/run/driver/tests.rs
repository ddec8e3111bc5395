//! Tests of what only the driver sees.

use harn_ledger::disk::MemDisk;
use harn_ledger::{Ledger, Timestamp};
use harn_workflow::run::{Command, Execution, Failure, ManifestParts, Run, Script, State, Version};

use super::super::ending::ending;
use super::*;
use crate::script::ScriptEnd;

/// A run without work.
pub(in crate::run) fn manifest_for_tests() -> Manifest {
    let script = b"export default () => 1";
    let content = harn_ledger::BlobRef::of(script);
    Manifest::new(ManifestParts {
        schema_version: Version,
        run_id: "r".parse().unwrap(),
        work_item_id: None,
        work_context: None,
        attempt_context: None,
        name: Label::clip("n").unwrap(),
        started_at: Timestamp::UNIX_EPOCH,
        script: Script {
            path: AbsolutePath::new("/a.mjs").unwrap(),
            sha256: content.blob,
            content,
            modules: Vec::new(),
        },
        repository_before: None,
        execution: Execution::in_dir(AbsolutePath::new("/").unwrap()),
    })
    .unwrap()
}

/// The state after a script that was told to stop for `reason` said at that very moment that it is blocked.
fn blocked_after(reason: Option<StopReason>) -> State {
    let ledger = Ledger::builder("/state").disk(MemDisk::new()).open().unwrap();
    let manifest = manifest_for_tests();
    let stream = ledger.create::<Run>("r", "ann", &manifest, &[Event::RunStarted {}]).unwrap();
    let stopper = Stopper::new();
    let (adapters, environment) = (Adapters::none(), BTreeMap::new());
    let mut observer = |_: &_| {};
    let recorder = Recorder::new(&stream, ledger.blobs(), "ann", &mut observer);
    let mut driver = Driver::new(recorder, &manifest, &adapters, &environment, stopper.clone());
    let meta = Meta { name: "n".to_owned(), description: None, objective: None, acceptance: Vec::new() };
    driver.loaded(&meta).unwrap();

    if let Some(reason) = reason {
        stopper.stop(reason);
    }
    driver.blocked(Blocked { reason: "which one?".to_owned(), decision: None }).unwrap();
    let ending = ending(&ScriptEnd::Stopped, stopper.reason());
    driver.into_recorder().command(Command::End(Box::new(ending))).unwrap();
    stream.state().unwrap()
}

#[test]
fn the_first_of_two_stops_at_one_moment_is_the_end_that_is_recorded() {
    let cases = [
        (None, Failure::Decision),
        (Some(StopReason::Deadline), Failure::Deadline),
        (Some(StopReason::Signal), Failure::Signal),
        (Some(StopReason::Cancelled), Failure::Cancelled),
    ];
    for (reason, expected) in cases {
        let state = blocked_after(reason);
        let harn_workflow::run::Phase::Ended { failure, .. } = state.phase() else {
            panic!("the run has not ended");
        };
        assert_eq!(*failure, Some(expected));
    }
}
