//! Reconciling records what is known and never acts.

use harn_workflow::work::{
    ApprovalStatus, Command, Dependency, End, ItemState, NewItem, NextAction, RunShows,
};

use crate::work_harness::{Desk, accept, cancel, failed, id, new_item, proof, reopen};

/// Reconciles, then again: the second time writes nothing, and neither changes what is shown.
fn reconciles(desk: &mut Desk) -> Vec<String> {
    let before = desk.projection();
    let names = desk.does(Command::Reconcile);
    assert!(desk.does(Command::Reconcile).is_empty());
    let after = desk.projection();
    assert_eq!(
        (before.state, before.next_action, before.reason),
        (after.state, after.next_action, after.reason)
    );
    names
}

#[test]
fn k24_the_first_one_records_and_the_second_writes_nothing() {
    let mut desk = Desk::new();
    assert_eq!(reconciles(&mut desk), ["work.reconciled"]);
    assert_eq!(desk.names(), ["work.created", "work.reconciled"]);
    let json = serde_json::to_string(&desk.log[1].event).unwrap();
    assert_eq!(
        json,
        r#"{"work.reconciled":{"state":"ready","next_action":"run","reason":"nothing stands in its way"}}"#
    );
}

#[test]
fn it_appends_what_the_run_proves_and_nothing_else() {
    let cases: [(RunShows, &[&str]); 5] = [
        (RunShows::Ended(End::passed(proof(1))), &["attempt.ended", "work.reconciled"]),
        (RunShows::Ended(failed(None, "boom")), &["attempt.ended", "work.reconciled"]),
        (RunShows::Parked { approval_id: id("apr-1"), worked: true }, &["attempt.parked", "work.reconciled"]),
        // Lost is derived, never written by a reconcile.
        (RunShows::Absent, &["work.reconciled"]),
        (RunShows::Open { worked: true }, &["work.reconciled"]),
    ];
    for (shows, written) in cases {
        let mut desk = Desk::new();
        desk.loses(Some(shows.clone()));
        desk.facts.observed.approval = Some(ApprovalStatus::Pending);
        assert_eq!(reconciles(&mut desk), written, "{shows:?}");
        assert_eq!(desk.state.open_attempt().is_some(), !written.contains(&"attempt.ended"));
    }
}

#[test]
fn it_leaves_a_running_attempt_alone() {
    let mut desk = Desk::new();
    desk.loses(Some(RunShows::Ended(End::passed(proof(1)))));
    desk.facts.observed.held_by_other = true;
    assert!(desk.does(Command::Reconcile).is_empty());
}

#[test]
fn a_note_about_the_state_is_never_an_input_to_it() {
    let mut desk = Desk::new();
    desk.does(Command::Reconcile);
    let shown = desk.projection();
    desk.record(vec![harn_workflow::work::Event::Reconciled {
        state: ItemState::Succeeded,
        next_action: NextAction::None,
        reason: "a lie".to_owned(),
    }]);
    let after = desk.projection();
    assert_eq!((shown.state, shown.reason), (after.state, after.reason));
}

#[test]
fn another_reason_alone_is_recorded() {
    let item = NewItem { dependencies: vec![id("base")], ..new_item() };
    let mut desk = Desk::of(item);
    assert_eq!(reconciles(&mut desk), ["work.reconciled"]);
    let why = "cancelled".to_owned();
    desk.facts.observed.dependencies =
        vec![Dependency { id: id("base"), state: Some(ItemState::Cancelled), reopened: false, why }];
    desk.assert_stands("waiting", "wait_for_dependencies");
    assert_eq!(reconciles(&mut desk), ["work.reconciled"]);
}

#[test]
fn the_log_of_a_straightforward_item() {
    let mut desk = Desk::new();
    desk.passes();
    desk.does(Command::Reconcile);
    desk.does(accept(&[]));
    desk.does(Command::Reconcile);
    assert_eq!(
        desk.names(),
        [
            "work.created",
            "attempt.started",
            "attempt.ended",
            "work.reconciled",
            "work.accepted",
            "work.reconciled"
        ]
    );
}

#[test]
fn every_command_rests_on_what_the_run_proves() {
    let passed = || Some(RunShows::Ended(End::passed(proof(1))));
    let cases =
        [(accept(&[]), "work.accepted"), (cancel(), "work.cancelled"), (reopen(&["wrong"]), "work.reopened")];
    for (command, written) in cases {
        let mut desk = Desk::new();
        desk.loses(passed());
        desk.facts.proof = Some(proof(1));
        desk.assert_stands("in_review", "review");
        assert_eq!(desk.does(command), ["attempt.ended", written]);
    }
}
