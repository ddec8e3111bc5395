//! Judging anew whether an attempt counts.

use harn_workflow::work::{Class, Command, Role, RunShows};

use crate::work_harness::{Desk, accept, cancel, failed, retry};

fn recharge(attempt: u32, class: Option<Class>) -> Command {
    Command::Recharge { attempt, class, reason: "the log of the machine shows it".to_owned() }
}

#[test]
fn w28_the_budget_follows_the_judgement() {
    let mut desk = Desk::with_attempts(1);
    desk.attempts(failed(None, "no login"));
    desk.assert_stands("blocked", "none");
    assert_eq!(desk.refuses(retry()), "attempts_exhausted");

    assert_eq!(desk.does(recharge(1, Some(Class::Environment))), ["attempt.recharged"]);
    let projection = desk.projection();
    assert_eq!(projection.attempts_text(), "0/1 (+1 uncharged)");
    assert_eq!(projection.reason, "attempt 1 stopped at a missing precondition: no login");
    let row = &projection.attempts[0];
    assert_eq!((row.class, row.recorded_class, row.charged), (Some(Class::Environment), None, false));
    assert_eq!(row.charge_reason, "operator judged so: the log of the machine shows it");
    desk.does(retry());
}

#[test]
fn a_judgement_can_be_judged_again() {
    let mut desk = Desk::new();
    desk.attempts(failed(Some(Class::Upstream), "HTTP 503"));
    assert!(desk.projection().next_eligible_at.is_some());
    desk.does(recharge(1, None));
    let projection = desk.projection();
    assert_eq!((projection.charged_attempts, projection.next_eligible_at), (1, None));
    assert_eq!(projection.attempts[0].recorded_class, Some(Class::Upstream));
    desk.assert_stands("blocked", "retry");
    desk.does(recharge(1, Some(Class::Decision)));
    desk.assert_stands("blocked", "none");
    assert_eq!(desk.projection().blocked_on_decision.as_deref(), Some(""));
    assert!(desk.does(recharge(1, Some(Class::Decision))).is_empty(), "the same word again adds nothing");
    desk.does(recharge(1, Some(Class::Upstream)));
    assert_eq!(desk.projection().charged_attempts, 0);
}

#[test]
fn only_a_person_judges_and_only_what_did_not_pass() {
    let mut desk = Desk::with_attempts(2);
    assert_eq!(
        desk.refusal(recharge(1, None)).to_string(),
        "`w1` has no attempt 1, expected none, because none was started"
    );
    desk.attempts(failed(Some(Class::Upstream), "HTTP 503"));
    for (role, code) in [(Role::Automation, "not_a_person"), (Role::WorkflowChild, "workflow_child")] {
        desk.facts.caller.role = role;
        assert_eq!(desk.refuses(recharge(1, None)), code);
    }
    desk.facts.caller.role = Role::Person;
    assert_eq!(desk.refusal(recharge(2, None)).to_string(), "`w1` has no attempt 2, expected 1");
    assert_eq!(desk.refuses(recharge(0, None)), "no_such_attempt");
    let blank = Command::Recharge { attempt: 1, class: None, reason: " ".to_owned() };
    assert_eq!(desk.refuses(blank), "text_blank");

    desk.attempts(failed(None, "boom"));
    desk.passes();
    assert_eq!(desk.refuses(recharge(3, Some(Class::Environment))), "passed_counts");
    // Two of two are spent: the first cannot count as well.
    let overdrawn = desk.refusal(recharge(1, None));
    assert_eq!(overdrawn.code(), "overdrawn");
    assert!(overdrawn.hint().unwrap().starts_with("harn work grant w1"));
    desk.does(Command::Grant { attempts: 1, reason: "one more".to_owned() });
    desk.does(recharge(1, None));
    assert_eq!(desk.projection().attempts_text(), "3/3");
    desk.facts.proof = desk.projection().proof;
    desk.does(accept(&[]));
    assert_eq!(desk.refuses(recharge(2, Some(Class::Environment))), "finished");
}

#[test]
fn whoever_judges_an_open_attempt_says_that_it_is_over() {
    let mut desk = Desk::new();
    desk.loses(Some(RunShows::Open { worked: true }));
    let mut held = desk.clone();
    held.facts.observed.held_by_other = true;
    assert_eq!(held.refuses(recharge(1, Some(Class::Environment))), "running");
    let written = desk.does(recharge(1, Some(Class::Environment)));
    assert_eq!(written, ["attempt.ended", "attempt.recharged"]);
    assert_eq!(desk.projection().attempts_text(), "0/3 (+1 uncharged)");
    assert_eq!(desk.refuses(Command::Resume), "no_open_attempt");
    desk.does(cancel());
}

#[test]
fn the_streak_follows_too() {
    let mut desk = Desk::new();
    for _ in 0..3 {
        desk.attempts(failed(Some(Class::Upstream), "HTTP 503"));
    }
    desk.assert_stands("blocked", "none");
    desk.does(recharge(2, None));
    assert_eq!(desk.projection().uncharged_in_a_row, 1);
    desk.assert_stands("blocked", "retry");
}
