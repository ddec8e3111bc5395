//! Cancelling, reopening, granting, noting, and who may.

use harn_workflow::work::{Command, End, Event, NewItem, Outcome, Reopen, Role, RunShows};

use crate::work_harness::{Desk, accept, actor, cancel, failed, id, new_item, proof, reopen, retry, run};

fn grant(attempts: u32, reason: &str) -> Command {
    Command::Grant { attempts, reason: reason.to_owned() }
}

fn reopen_with_grant(attempts: u32) -> Command {
    Command::Reopen(Reopen {
        reason: Some("the last one was nearly there".to_owned()),
        grant: Some(attempts),
        ..Reopen::default()
    })
}

#[test]
fn k25_cancel_and_reopen() {
    let mut desk = Desk::new();
    desk.does(Command::Cancel { reason: Some(" no longer needed ".to_owned()) });
    desk.assert_stands("cancelled", "none");
    assert_eq!(desk.projection().reason, "no longer needed");
    assert_eq!(desk.refuses(cancel()), "finished");
    assert_eq!(desk.refuses(run()), "finished");
    desk.does(reopen(&[]));
    desk.assert_stands("ready", "run");
    assert_eq!(desk.names(), ["work.created", "work.cancelled", "work.reopened"]);
}

#[test]
fn cancel_closes_what_nobody_runs() {
    let cases = [
        (RunShows::Absent, Outcome::Lost, 0),
        (RunShows::Open { worked: true }, Outcome::Lost, 1),
        (RunShows::Ended(End::passed(proof(1))), Outcome::Passed, 1),
    ];
    for (shows, outcome, charged) in cases {
        let mut desk = Desk::new();
        desk.loses(Some(shows.clone()));
        assert_eq!(desk.does(cancel()), ["attempt.ended", "work.cancelled"], "{shows:?}");
        assert_eq!(desk.state.attempts()[0].end.as_ref().map(End::outcome), Some(outcome));
        assert_eq!(desk.projection().charged_attempts, charged);
        desk.assert_stands("cancelled", "none");
    }
}

#[test]
fn n19_a_running_attempt_is_told_to_stop_and_says_how_it_ended() {
    let mut desk = Desk::new();
    desk.loses(Some(RunShows::Open { worked: true }));
    desk.facts.observed.held_by_other = true;
    assert_eq!(desk.does(cancel()), ["work.cancelled"]);
    desk.assert_stands("cancelled", "none");
    // Its runner has not stopped yet, so nothing new can begin.
    assert_eq!(desk.refuses(reopen(&[])), "running");
    desk.facts.observed.held_by_other = false;
    let parks = Command::Park { run_id: id("wf-1"), approval_id: id("apr-1") };
    assert_eq!(desk.refuses(parks), "finished");
    desk.does(Command::End { run_id: id("wf-1"), end: failed(None, "cancelled") });
    desk.assert_stands("cancelled", "none");
    assert_eq!(desk.names(), ["work.created", "attempt.started", "work.cancelled", "attempt.ended"]);
    desk.does(reopen(&[]));
    desk.assert_stands("ready", "run");
}

#[test]
fn a_cancelled_item_takes_in_an_end_and_waits_for_no_approval() {
    let mut desk = Desk::new();
    desk.loses(Some(RunShows::Open { worked: true }));
    desk.facts.observed.held_by_other = true;
    desk.does(cancel());
    desk.facts.observed.held_by_other = false;
    desk.facts.observed.run = Some(RunShows::Parked { approval_id: id("apr-1"), worked: true });
    assert_eq!(desk.does(Command::Reconcile), ["work.reconciled"]);
    assert_eq!(desk.projection().attempts[0].status.to_string(), "lost");
    desk.facts.observed.run = Some(RunShows::Ended(failed(None, "cancelled")));
    assert_eq!(desk.does(Command::Reconcile), ["attempt.ended"]);
    desk.assert_stands("cancelled", "none");
}

#[test]
fn a_reopen_closes_the_attempt_whose_runner_died_after_a_cancel() {
    let mut desk = Desk::new();
    desk.loses(Some(RunShows::Open { worked: true }));
    desk.facts.observed.held_by_other = true;
    desk.does(cancel());
    desk.facts.observed.held_by_other = false;
    assert_eq!(desk.does(reopen(&[])), ["attempt.ended", "work.reopened"]);
    desk.assert_stands("ready", "run");
    assert_eq!(desk.state.open_attempt(), None);
}

#[test]
fn w26_n09_a_reopen_is_refused_or_brings_its_own_attempts() {
    for finish in [accept(&[]), cancel()] {
        let mut desk = Desk::with_attempts(1);
        desk.passes();
        let mut in_review = desk.clone();
        desk.does(finish);
        for desk in [&mut desk, &mut in_review] {
            let refusal = desk.refusal(reopen(&["wrong"]));
            assert_eq!(refusal.code(), "attempts_exhausted");
            assert_eq!(
                refusal.hint().as_deref(),
                Some("harn work reopen w1 --grant 1 --reason \"why one more\"")
            );
            assert_eq!(desk.does(reopen_with_grant(2)), ["work.reopened", "work.granted"]);
            desk.assert_stands("ready", "run");
            let projection = desk.projection();
            assert_eq!((projection.max_attempts, projection.granted_attempts), (1, 2));
            assert_eq!(projection.attempts_text(), "1/3");
            assert_eq!(projection.grants[0].actor, actor("operator"));
            // The same again grants nothing more.
            assert!(desk.does(reopen_with_grant(2)).is_empty());
            assert_eq!(desk.does(reopen_with_grant(1)), ["work.granted"]);
            desk.passes();
            desk.assert_stands("in_review", "review");
        }
    }
}

#[test]
fn w26_a_grant_lets_a_blocked_item_go_on() {
    let mut desk = Desk::with_attempts(1);
    desk.attempts(failed(None, "boom"));
    assert_eq!(
        desk.refusal(retry()).hint().as_deref(),
        Some("harn work grant w1 --attempts 1 --reason \"why one more\"")
    );
    for (command, code) in [
        (grant(0, "why"), "grant_out_of_range"),
        (grant(101, "why"), "grant_out_of_range"),
        (grant(1, " "), "text_blank"),
        (Command::Reopen(Reopen { grant: Some(1), ..Reopen::default() }), "grant_without_reason"),
        (reopen_with_grant(101), "grant_out_of_range"),
    ] {
        assert_eq!(desk.refuses(command), code);
    }
    assert_eq!(desk.does(grant(1, "the service is back")), ["work.granted"]);
    desk.assert_stands("blocked", "retry");
    desk.attempts(failed(None, "boom"));
    desk.assert_stands("blocked", "none");
}

#[test]
fn w26_a_grant_of_an_earlier_window_does_not_stand_in_for_another() {
    let mut desk = Desk::with_attempts(1);
    desk.passes();
    desk.does(reopen_with_grant(2));
    desk.passes();
    desk.does(reopen(&[]));
    assert_eq!(desk.does(reopen_with_grant(2)), ["work.granted"]);
    assert_eq!(desk.projection().attempts_text(), "2/5");
}

#[test]
fn n09_a_log_that_reopened_without_attempts_left_is_never_shown_as_ready() {
    let mut desk = Desk::with_attempts(1);
    desk.passes();
    desk.record(vec![Event::Reopened { reason: None, findings: vec![], superseded: vec![] }]);
    desk.assert_stands("blocked", "none");
    assert_eq!(desk.projection().reason, "reopened; no charged attempt is left (1/1)");
    for refused in [run(), retry(), reopen(&[])] {
        assert_eq!(desk.refuses(refused), "attempts_exhausted");
    }
    assert_eq!(desk.projection().suggestions, ["harn work grant w1 --attempts 1 --reason \"why one more\""]);
    desk.does(grant(1, "one more"));
    desk.assert_stands("ready", "run");
}

#[test]
fn grants_only_ever_add() {
    let mut desk = Desk::with_attempts(100);
    for _ in 0..3 {
        desk.does(grant(100, "more"));
    }
    desk.attempts(failed(None, "boom"));
    assert_eq!(desk.projection().attempts_text(), "1/400");
    assert_eq!(desk.projection().max_attempts, 100);
    desk.does(cancel());
    assert_eq!(desk.refuses(grant(1, "more")), "finished");
}

#[test]
fn w56_the_team_does_not_judge_its_own_work() {
    let mut desk = Desk::new();
    desk.passes();
    for command in [accept(&[]), reopen(&["x"]), reopen_with_grant(1), grant(1, "why")] {
        let mut child = desk.clone();
        child.facts.caller.role = Role::WorkflowChild;
        assert_eq!(child.refuses(command.clone()), "workflow_child");
        let mut person = desk.clone();
        person.does(command);
    }
    desk.facts.caller.role = Role::Automation;
    assert_eq!(desk.refuses(grant(1, "why")), "not_a_person");
    assert_eq!(desk.refuses(reopen_with_grant(1)), "not_a_person");
    desk.does(accept(&[]));

    desk.facts.caller.role = Role::WorkflowChild;
    desk.does(Command::Note { text: "a child may remark".to_owned() });
}

#[test]
fn notes_change_no_state() {
    let mut desk = Desk::new();
    desk.attempts(failed(None, "boom"));
    let before = desk.projection();
    assert_eq!(desk.does(Command::Note { text: "  saw this\nbefore ".to_owned() }), ["work.noted"]);
    let after = desk.projection();
    assert_eq!((before.state, before.reason), (after.state, after.reason));
    assert_eq!(after.notes[0].text, "saw this\nbefore");
    assert_eq!(after.notes[0].actor, actor("operator"));
    assert_eq!(after.updated_at, desk.log.last().unwrap().ts);
    for (text, code) in [
        (" ".to_owned(), "text_blank"),
        ("x".repeat(2_001), "text_too_long"),
        ("\u{1b}[2J".to_owned(), "text_control_character"),
    ] {
        assert_eq!(desk.refuses(Command::Note { text }), code);
    }
    desk.does(cancel());
    desk.does(Command::Note { text: "also afterwards".to_owned() });
    desk.assert_stands("cancelled", "none");
}

#[test]
fn n08_reasons_are_bounded_before_anything_is_written() {
    let mut desk = Desk::new();
    desk.passes();
    let reason = |text: String| Some(text);
    for (text, code) in [
        (String::new(), "text_blank"),
        ("x".repeat(2_001), "text_too_long"),
        ("a\u{0}b".to_owned(), "text_control_character"),
    ] {
        let reopening = Reopen { reason: reason(text.clone()), ..Reopen::default() };
        let accepting = harn_workflow::work::Accept { reason: reason(text.clone()), ..Default::default() };
        for command in [
            Command::Cancel { reason: reason(text.clone()) },
            Command::Reopen(reopening),
            Command::Accept(accepting),
            grant(1, &text),
        ] {
            assert_eq!(desk.refuses(command), code);
        }
    }
    desk.does(Command::Cancel { reason: Some("𝕏".repeat(2_000)) });
}

#[test]
fn w63_a_finished_item_does_not_depend_on_its_runs() {
    let mut desk = Desk::new();
    desk.passes();
    desk.does(accept(&[]));
    let shown = desk.projection();
    desk.facts.observed.run = Some(RunShows::Unreadable { why: "gone".to_owned() });
    assert_eq!(desk.projection(), shown);
}

#[test]
fn n14_an_unreadable_run_confines_itself_to_its_attempt() {
    let damaged = || Some(RunShows::Unreadable { why: "line 3 is damaged".to_owned() });
    for command in [cancel(), reopen(&[]), retry()] {
        let mut desk = Desk::new();
        desk.loses(damaged());
        assert_eq!(desk.does(command)[0], "attempt.ended");
        let Event::AttemptEnded { error, class, .. } = &desk.log[2].event else { panic!("{:?}", desk.log) };
        assert_eq!((error.as_deref(), *class), (Some("its run cannot be read: line 3 is damaged"), None));
    }
}

#[test]
fn the_window_opens_anew_at_every_reopen() {
    // W-74
    let mut desk = Desk::of(NewItem { max_attempts: 5, ..new_item() });
    desk.passes();
    desk.does(reopen(&[]));
    let projection = desk.projection();
    assert_eq!((projection.latest_run_id, projection.approval_id, projection.proof), (None, None, None));
    assert_eq!(projection.attempts.len(), 1);
    assert_eq!(projection.attempts_used, 1);
}
