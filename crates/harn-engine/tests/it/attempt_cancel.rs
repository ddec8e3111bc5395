//! While an attempt runs: what others see of it, what they may do, and that a cancelled item ends it.

use std::thread;

use harn_engine::attempt::AttemptReport;
use harn_ledger::StreamId;
use harn_workflow::WorkLedger;
use harn_workflow::run::{Class, Failure};
use harn_workflow::work::{Accept, AttemptStatus, ItemState, NextAction, Reopen};

use crate::attempt_fixture::{Attempt, Project, is_alive, wait_until};

/// An agent that does not end by itself, and a child of it.
const ENDLESS: &str = "sleep 600 & echo $$ $! >pids.new; mv pids.new pids; wait";

/// Runs an attempt, and does `meanwhile` once its agent runs.
fn while_running(
    project: &Project,
    id: &StreamId,
    meanwhile: impl FnOnce() + Send,
) -> Result<AttemptReport, harn_engine::attempt::AttemptError> {
    let pids = project.cwd().join("pids");
    thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("the agent runs", || pids.exists());
            assert!(is_alive(&pids));
            meanwhile();
        });
        let report = Attempt::of(project, id).agent(ENDLESS).run();
        assert!(!is_alive(&pids), "a child survived its run");
        report
    })
}

#[test]
fn n_19_cancelling_ends_the_run_whoever_does_it() {
    // Another process, and another part of this one.
    let ways: [fn(&Project) -> WorkLedger; 2] = [Project::reopened, |project| project.works.clone()];
    for works in ways {
        let project = Project::new();
        let id = project.item("export default ({agent}) => agent('p');");
        let others = works(&project);
        let cancel = || {
            let cancelled = others.cancel(&project.ann, &id, Some("not needed".to_owned())).unwrap();
            let item = cancelled.item.projection;
            assert_eq!((item.state, item.attempts[0].status), (ItemState::Cancelled, AttemptStatus::Running));
        };
        let report = while_running(&project, &id, cancel).unwrap();
        assert_eq!((report.proof.run.failure, report.proof.run.class), (Some(Failure::Cancelled), None));
        assert_eq!(
            project.work_events(&id),
            ["work.created", "attempt.started", "work.cancelled", "attempt.ended"]
        );
        assert_eq!(
            project.events(&report.run_id),
            ["run.started", "script.loaded", "agent.started", "agent.try", "agent.ended", "run.ended"]
        );
        let item = report.item.projection;
        assert_eq!((item.state, item.next_action), (ItemState::Cancelled, NextAction::None));
        assert_eq!((item.attempts_used, item.charged_attempts), (1, 1));
        assert_eq!(item.attempts[0].status, AttemptStatus::Failed);
        assert!(project.reopened().verify_proofs().is_empty());
    }
}

#[test]
fn a_run_that_is_cancelled_before_it_did_anything_is_not_charged() {
    let project = Project::new();
    let id = project.item("export default () => { while (true); }");
    let mut cancelled = false;
    let report = Attempt::of(&project, &id).observer(|_| {
        if !std::mem::replace(&mut cancelled, true) {
            project.reopened().cancel(&project.ann, &id, None).unwrap();
        }
    });
    let report = report.run().unwrap();
    assert_eq!(report.proof.run.class, Some(Class::Interrupted));
    assert_eq!(report.item.projection.charged_attempts, 0);
}

#[test]
fn a_running_item_is_shown_as_running_and_is_left_alone() {
    let project = Project::new();
    let id = project.item("export default ({agent}) => agent('p');");
    let meanwhile = || {
        for works in [&project.works, &project.reopened()] {
            let item = works.get(&id).unwrap().projection;
            assert_eq!((item.state, item.next_action), (ItemState::Running, NextAction::WaitForRun));
            assert_eq!(works.list().unwrap().items[0].state, ItemState::Running);
            assert!(works.reconcile(&project.ann, &id).unwrap().events.is_empty());
            let refusals = [
                works.accept(&project.ann, &id, Accept::default()).unwrap_err().code(),
                works.reopen(&project.ann, &id, Reopen::default()).unwrap_err().code(),
            ];
            assert_eq!(refusals, ["running", "running"]);
        }
        let busy = Attempt::of(&project, &id).run().unwrap_err();
        assert_eq!((busy.code(), busy.to_string().contains("a test")), ("lease_held", true), "{busy}");
        assert_eq!(Attempt::of(&project, &id).retry().run().unwrap_err().code(), "lease_held");
        assert_eq!(project.work_events(&id), ["work.created", "attempt.started"]);
        project.works.cancel(&project.ann, &id, None).unwrap();
    };
    while_running(&project, &id, meanwhile).unwrap();
    assert_eq!(std::fs::read_dir(project.state().join("run")).unwrap().count(), 1);
}

#[test]
fn two_items_run_at_the_same_time() {
    let project = Project::new();
    // Each agent waits for the other one to have begun.
    let script = "export default ({agent, work}) => agent(work.objective);";
    let agent = "read me; touch $me; while [ ! -e a ] || [ ! -e b ]; do sleep 0.01; done; echo $me";
    let ids = ["a\n", "b\n"].map(|objective| {
        project.item_with(script, |draft| objective.trim().clone_into(&mut draft.objective))
    });
    thread::scope(|scope| {
        let runs = ids.each_ref().map(|id| {
            let project = &project;
            scope.spawn(move || Attempt::of(project, id).agent(agent).run().unwrap())
        });
        let results = runs.map(|run| project.result(&run.join().unwrap().run_id));
        assert_eq!(results, ["a", "b"]);
    });
}
