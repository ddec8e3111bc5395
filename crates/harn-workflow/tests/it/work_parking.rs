//! Attempts that are parked for an approval, and how they go on.

use harn_workflow::work::{ApprovalStatus, Command, End, Outcome, RunShows};

use crate::work_harness::{Desk, accept, cancel, failed, id, proof, reopen, retry, run};

fn park(approval: &str) -> Command {
    Command::Park { run_id: id("wf-1"), approval_id: id(approval) }
}

fn parked() -> Desk {
    let mut desk = Desk::new();
    desk.loses(Some(RunShows::Open { worked: false }));
    assert_eq!(desk.does(park("apr-1")), ["attempt.parked"]);
    desk.facts.observed.approval = Some(ApprovalStatus::Pending);
    desk
}

#[test]
fn k16_a_parked_attempt_goes_on_uncounted_once_it_is_decided() {
    for decided in [ApprovalStatus::Approved, ApprovalStatus::Denied] {
        let mut desk = parked();
        desk.assert_stands("awaiting_approval", "resolve_approval");
        assert_eq!(desk.projection().approval_id, Some(id("apr-1")));
        let refusal = desk.refusal(Command::Resume);
        assert_eq!(
            (refusal.code(), refusal.hint().as_deref()),
            ("awaiting_approval", Some("harn work show w1"))
        );

        desk.facts.observed.approval = Some(decided);
        desk.assert_stands("awaiting_approval", "resume");
        assert_eq!(desk.refusal(run()).code(), "awaiting_approval");
        assert_eq!(desk.does(Command::Resume), ["attempt.resumed"]);
        assert_eq!(desk.projection().attempts_used, 1);
        desk.does(Command::End { run_id: id("wf-1"), end: End::passed(proof(1)) });
        desk.assert_stands("in_review", "review");
        assert_eq!(desk.projection().approval_id, None);
    }
}

#[test]
fn an_approval_that_cannot_be_read_hides_nothing() {
    let mut desk = parked();
    desk.facts.observed.approval = None;
    desk.assert_stands("awaiting_approval", "resolve_approval");
    assert!(desk.projection().reason.ends_with("which cannot be read"));
}

#[test]
fn k17_a_parked_attempt_is_closed_by_a_cancel_and_stays_counted() {
    let mut desk = parked();
    for refused in [retry(), run(), reopen(&[]), accept(&[])] {
        assert_eq!(desk.refuses(refused), "awaiting_approval");
    }
    assert_eq!(desk.does(cancel()), ["attempt.ended", "work.cancelled"]);
    desk.assert_stands("cancelled", "none");
    assert_eq!(desk.projection().attempts_used, 1);
    assert_eq!(desk.projection().charged_attempts, 0);
    // W-19: nothing resumes it any more.
    desk.facts.observed.approval = Some(ApprovalStatus::Approved);
    assert_eq!(desk.refuses(Command::Resume), "finished");
}

#[test]
fn parking_again_for_the_same_approval_changes_nothing() {
    let mut desk = parked();
    assert!(desk.does(park("apr-1")).is_empty());
    assert_eq!(desk.refuses(park("apr-2")), "contradicts_run");
    let other_run = Command::Park { run_id: id("wf-9"), approval_id: id("apr-1") };
    assert_eq!(desk.refuses(other_run), "no_open_attempt");
}

#[test]
fn an_attempt_may_park_more_than_once() {
    let mut desk = parked();
    desk.facts.observed.approval = Some(ApprovalStatus::Approved);
    desk.does(Command::Resume);
    desk.does(park("apr-2"));
    desk.facts.observed.approval = Some(ApprovalStatus::Pending);
    desk.assert_stands("awaiting_approval", "resolve_approval");
    assert_eq!(desk.projection().approval_id, Some(id("apr-2")));
}

#[test]
fn a_park_that_only_the_run_knows_of_is_recorded_before_it_is_resumed() {
    let mut desk = Desk::new();
    desk.loses(Some(RunShows::Parked { approval_id: id("apr-1"), worked: true }));
    desk.facts.observed.approval = Some(ApprovalStatus::Approved);
    desk.assert_stands("awaiting_approval", "resume");
    assert_eq!(desk.projection().approval_id, Some(id("apr-1")));
    assert_eq!(desk.does(Command::Resume), ["attempt.parked", "attempt.resumed"]);
}

#[test]
fn a_parked_run_that_ended_without_the_log_is_taken_at_its_word() {
    let mut desk = parked();
    desk.facts.observed.run = Some(RunShows::Ended(failed(None, "reattach failed")));
    desk.assert_stands("blocked", "retry");
    assert_eq!(desk.does(retry()), ["attempt.ended", "attempt.started"]);
    assert_eq!(desk.state.attempts()[0].end.as_ref().map(End::outcome), Some(Outcome::Failed));
}

#[test]
fn w71_a_dependency_hides_neither_a_parked_nor_a_reviewed_attempt() {
    let mut desk = Desk::of(harn_workflow::work::NewItem {
        dependencies: vec![id("base")],
        ..crate::work_harness::new_item()
    });
    let base = |state| harn_workflow::work::Dependency {
        id: id("base"),
        state: Some(state),
        reopened: false,
        why: "accepted".to_owned(),
    };
    desk.facts.observed.dependencies = vec![base(harn_workflow::work::ItemState::Succeeded)];
    desk.loses(Some(RunShows::Open { worked: true }));
    desk.does(park("apr-1"));
    desk.facts.observed.approval = Some(ApprovalStatus::Approved);
    desk.facts.observed.dependencies = vec![base(harn_workflow::work::ItemState::Ready)];
    desk.assert_stands("awaiting_approval", "resume");
    assert_eq!(desk.projection().unresolved_dependencies, [base(harn_workflow::work::ItemState::Ready)]);
    desk.facts.observed.held_by_other = true;
    desk.assert_stands("running", "wait_for_run");
    desk.facts.observed.held_by_other = false;
    desk.does(Command::Resume);
    desk.does(Command::End { run_id: id("wf-1"), end: End::passed(proof(1)) });
    desk.assert_stands("in_review", "review");
    desk.facts.proof = Some(proof(1));
    desk.does(accept(&[]));
    desk.assert_stands("succeeded", "none");
    assert_eq!(desk.projection().unresolved_dependencies.len(), 1);
}
