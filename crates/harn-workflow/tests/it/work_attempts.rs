//! Attempts, what they cost, and where they leave the item.

use harn_workflow::work::{Budget, Class, Command, End, Event, NewItem, Outcome, Role, RunShows, Trigger};

use crate::work_harness::{Desk, at, begin, blocked_on, failed, id, new_item, retry, run};

#[test]
fn k01_creation_writes_one_event_and_the_item_is_ready() {
    let desk = Desk::new();
    assert_eq!(desk.names(), ["work.created"]);
    desk.assert_stands("ready", "run");
    assert_eq!(desk.projection().attempts_text(), "0/3");
}

#[test]
fn k04_a_passing_attempt_waits_for_a_person() {
    let mut desk = Desk::new();
    desk.passes();
    desk.assert_stands("in_review", "review");
    assert_eq!(desk.names(), ["work.created", "attempt.started", "attempt.ended"]);
    let projection = desk.projection();
    assert_eq!(projection.attempts_used, 1);
    assert_eq!(projection.latest_run_id, Some(id("wf-1")));
    assert_eq!(projection.proof, desk.facts.proof);
    assert_eq!(desk.refuses(run()), "wrong_state");
    assert_eq!(desk.refuses(retry()), "wrong_state");
}

#[test]
fn k05_only_an_explicit_retry_goes_on_and_the_ceiling_holds() {
    let mut desk = Desk::with_attempts(2);
    desk.attempts(failed(None, "boom"));
    desk.assert_stands("blocked", "retry");
    assert_eq!(desk.projection().reason, "attempt 1 failed: boom");
    assert_eq!(desk.refuses(run()), "needs_retry");
    desk.attempts(failed(None, "boom again"));
    desk.assert_stands("blocked", "none");
    assert_eq!(desk.projection().attempts_used, 2);
    assert_eq!(desk.projection().reason, "attempt 2 failed: boom again; no charged attempt is left (2/2)");
    assert_eq!(desk.refuses(retry()), "attempts_exhausted");
}

#[test]
fn k06_a_retry_is_the_next_number_with_its_own_trigger() {
    let mut desk = Desk::new();
    desk.attempts(failed(None, "not yet"));
    desk.passes();
    let attempts: Vec<_> = desk.state.attempts().iter().map(|it| (it.number, it.trigger)).collect();
    assert_eq!(attempts, [(1, Trigger::Initial), (2, Trigger::Retry)]);
    desk.assert_stands("in_review", "review");
}

#[test]
fn k10_an_attempt_after_a_reopen_is_an_initial_one() {
    let mut desk = Desk::new();
    desk.passes();
    desk.does(crate::work_harness::reopen(&[]));
    desk.passes();
    let attempts: Vec<_> = desk.state.attempts().iter().map(|it| (it.number, it.trigger)).collect();
    assert_eq!(attempts, [(1, Trigger::Initial), (2, Trigger::Initial)]);
}

#[test]
fn k18_k19_k20_k21_k23_the_class_decides_what_is_charged_and_what_comes_next() {
    let cases = [
        (
            "K-18",
            failed(Some(Class::Environment), "no `codex` on the path"),
            "none",
            0_u32,
            "attempt 1 stopped at a missing precondition: no `codex` on the path",
            None,
        ),
        (
            "K-19",
            blocked_on("Which licence?", Some("d-7")),
            "none",
            0,
            "a person must rule: Which licence? (decision `d-7`)",
            Some("d-7"),
        ),
        (
            "K-20",
            blocked_on("Which licence?", None),
            "none",
            0,
            "a person must rule: Which licence?",
            Some(""),
        ),
        (
            "K-21",
            failed(Some(Class::Upstream), "HTTP 503"),
            "retry",
            0,
            "an outside service refused attempt 1: HTTP 503",
            None,
        ),
        ("K-23", failed(None, "exit 3"), "retry", 1, "attempt 1 failed: exit 3", None),
        (
            "stopped before it began",
            failed(Some(Class::Interrupted), "SIGTERM"),
            "retry",
            0,
            "attempt 1 was cut short before any agent or check started: SIGTERM",
            None,
        ),
    ];
    for (case, end, next, charged, reason, decision) in cases {
        let mut desk = Desk::new();
        desk.attempts(end.clone());
        desk.assert_stands("blocked", next);
        let projection = desk.projection();
        assert_eq!(projection.reason, reason, "{case}");
        assert_eq!(
            (projection.attempts_used, projection.charged_attempts, projection.attempts_remaining),
            (1, charged, 3 - charged),
            "{case}"
        );
        assert_eq!(projection.blocked_on_decision.as_deref(), decision, "{case}");
        let row = &projection.attempts[0];
        assert_eq!(
            (row.class, row.charged, row.decision.as_deref()),
            (end.class(), charged == 1, end.decision())
        );
        // A person's explicit retry works from any `blocked`.
        desk.passes();
        desk.assert_stands("in_review", "review");
    }
}

#[test]
fn k22_uncharged_attempts_in_a_row_are_bounded_for_programs_only() {
    for (class, words) in [
        (
            Class::Upstream,
            "blocked waiting on an outside service after 2 uncharged attempts in a row: HTTP 503",
        ),
        (
            Class::Interrupted,
            "2 uncharged attempts in a row, the last one cut short before any agent or check started",
        ),
    ] {
        let mut desk = Desk::of(NewItem { max_attempts: 5, max_uncharged_attempts: 2, ..new_item() });
        desk.attempts(failed(Some(class), "HTTP 503"));
        desk.assert_stands("blocked", "retry");
        desk.attempts(failed(Some(class), "HTTP 503"));
        desk.assert_stands("blocked", "none");
        let projection = desk.projection();
        assert_eq!(projection.reason, words);
        assert_eq!((projection.attempts_used, projection.charged_attempts), (2, 0));
        assert_eq!((projection.attempts_remaining, projection.uncharged_in_a_row), (5, 2));
        assert_eq!(projection.attempts_text(), "0/5 (+2 uncharged)");
        assert_eq!(projection.next_eligible_at, None);

        desk.facts.caller.role = Role::Automation;
        desk.facts.now = at(1_000_000);
        assert_eq!(desk.refuses(retry()), "needs_person");
        desk.facts.caller.role = Role::Person;
        desk.attempts(failed(None, "the work itself"));
        desk.assert_stands("blocked", "retry");
        assert_eq!(desk.projection().uncharged_in_a_row, 0);
    }
}

#[test]
fn k22_any_uncharged_attempt_counts_towards_the_bound_and_a_reopen_starts_afresh() {
    let mut desk = Desk::of(NewItem { max_uncharged_attempts: 2, ..new_item() });
    desk.attempts(failed(Some(Class::Environment), "no codex"));
    desk.attempts(failed(Some(Class::Upstream), "HTTP 429"));
    desk.assert_stands("blocked", "none");
    desk.does(crate::work_harness::reopen(&[]));
    desk.attempts(failed(Some(Class::Upstream), "HTTP 429"));
    desk.assert_stands("blocked", "retry");
}

#[test]
fn w31_a_program_pauses_before_it_asks_an_outside_service_again() {
    let mut desk = Desk::of(NewItem { max_uncharged_attempts: 100, ..new_item() });
    for minutes in [1, 4, 16, 60, 60] {
        desk.attempts(failed(Some(Class::Upstream), "HTTP 503"));
        let ended = desk.log.last().unwrap();
        let due = desk.projection().next_eligible_at.unwrap();
        // It counts from the decision to record the end, which the desk writes a second later.
        assert_eq!(due.as_microseconds() - ended.ts.as_microseconds(), minutes * 60_000_000 - 1_000_000);
        let Event::AttemptEnded { next_eligible_at, .. } = ended.event else { panic!("{ended:?}") };
        assert_eq!(next_eligible_at, Some(due), "it is on record");

        desk.facts.caller.role = Role::Automation;
        assert_eq!(desk.refuses(retry()), "too_early");
        let mut later = desk.clone();
        later.facts.now = due;
        later.does(retry());
        desk.facts.caller.role = Role::Person;
    }
    desk.attempts(failed(None, "the work"));
    assert_eq!(desk.projection().next_eligible_at, None);
}

#[test]
fn a_child_of_a_workflow_is_a_program_too() {
    let mut desk = Desk::new();
    desk.attempts(failed(Some(Class::Environment), "no codex"));
    desk.facts.caller.role = Role::WorkflowChild;
    assert_eq!(desk.refuses(retry()), "needs_person");
}

#[test]
fn upstream_without_a_charged_attempt_left_stops() {
    let mut desk = Desk::with_attempts(1);
    desk.attempts(failed(Some(Class::Upstream), "HTTP 503"));
    desk.attempts(failed(None, "boom"));
    desk.assert_stands("blocked", "none");
    let mut granted = desk.clone();
    granted.does(Command::Grant { attempts: 1, reason: "one more".to_owned() });
    granted.assert_stands("blocked", "retry");
    granted.attempts(failed(Some(Class::Upstream), "HTTP 503"));
    granted.assert_stands("blocked", "retry");
}

#[test]
fn w27_a_lost_attempt_is_charged_unless_nothing_was_started() {
    let absent = || Some(RunShows::Absent);
    let open = |worked| Some(RunShows::Open { worked });
    let unreadable = || Some(RunShows::Unreadable { why: "line 3 is damaged".to_owned() });
    let plain = "attempt 1 ended without terminal evidence";
    let short = "attempt 1 was cut short before any agent or check started";
    let damaged = "attempt 1 ended without terminal evidence: its run cannot be read: line 3 is damaged";
    let cases = [
        (absent(), 0, short, false),
        (open(false), 0, short, true),
        (open(true), 1, plain, true),
        (unreadable(), 1, damaged, false),
        (None, 1, plain, false),
    ];
    for (shows, charged, reason, resumable) in cases {
        let mut desk = Desk::new();
        desk.loses(shows.clone());
        desk.assert_stands("blocked", "retry");
        let projection = desk.projection();
        assert_eq!(projection.charged_attempts, charged, "{shows:?}");
        assert_eq!(projection.reason, reason);
        assert_eq!(projection.attempts[0].status.to_string(), "lost");
        let (resume, retry_it) = ("harn work resume w1", "harn work retry w1");
        let suggested: &[&str] = if resumable { &[resume, retry_it] } else { &[retry_it] };
        assert_eq!(projection.suggestions, suggested, "{shows:?}");
        assert_eq!(desk.clone().tries(Command::Resume).is_ok(), resumable, "{shows:?}");

        // K-08: the retry closes it first, and from then on the run is not looked at again.
        assert_eq!(desk.does(retry()), ["attempt.ended", "attempt.started"]);
        desk.facts.observed.held_by_other = true;
        desk.facts.observed.run = Some(RunShows::Ended(End::passed(crate::work_harness::proof(9))));
        desk.assert_stands("running", "wait_for_run");
        let projection = desk.projection();
        assert_eq!(projection.attempts[0].status.to_string(), "lost");
        assert_eq!(projection.attempts[0].charged, charged == 1);
        assert_eq!(projection.attempts[1].number, 2);
    }
}

#[test]
fn a_lost_attempt_goes_on_as_the_same_attempt() {
    let mut desk = Desk::with_attempts(1);
    desk.loses(Some(RunShows::Open { worked: true }));
    desk.assert_stands("blocked", "none");
    assert_eq!(desk.refuses(retry()), "attempts_exhausted");
    assert_eq!(desk.does(Command::Resume), ["attempt.resumed"]);
    desk.does(Command::End { run_id: id("wf-1"), end: End::passed(crate::work_harness::proof(1)) });
    assert_eq!(desk.projection().attempts_text(), "1/1");
    desk.assert_stands("in_review", "review");
}

#[test]
fn the_same_end_again_changes_nothing_and_another_is_refused() {
    let mut desk = Desk::new();
    desk.passes();
    let end = |end| Command::End { run_id: id("wf-1"), end };
    assert!(desk.does(end(End::passed(crate::work_harness::proof(1)))).is_empty());
    assert_eq!(desk.refuses(end(End::passed(crate::work_harness::proof(2)))), "already_ended");
    assert_eq!(desk.refuses(end(End::lost(false))), "already_ended");
    let unknown = Command::End { run_id: id("wf-7"), end: End::lost(false) };
    assert_eq!(desk.refuses(unknown), "no_open_attempt");
}

#[test]
fn an_end_cannot_say_otherwise_than_the_run() {
    let mut desk = Desk::new();
    let run_id = desk.begins(Trigger::Initial);
    let interrupted = failed(Some(Class::Interrupted), "SIGTERM");
    assert_eq!(desk.refuses(Command::End { run_id: run_id.clone(), end: interrupted }), "contradicts_run");
    desk.facts.observed.run = Some(RunShows::Ended(failed(None, "boom")));
    let passed = End::passed(crate::work_harness::proof(1));
    assert_eq!(desk.refuses(Command::End { run_id: run_id.clone(), end: passed }), "contradicts_run");
    assert_eq!(desk.does(Command::End { run_id, end: failed(None, "boom") }), ["attempt.ended"]);
}

#[test]
fn two_runners_cannot_both_start() {
    let mut desk = Desk::new();
    desk.does(run());
    desk.facts.observed.held_by_other = true;
    assert_eq!(desk.refuses(begin("wf-b", Trigger::Initial)), "running");
    assert_eq!(desk.refuses(begin("wf-b", Trigger::Retry)), "running");
    desk.facts.observed.held_by_other = false;
    desk.facts.observed.run = Some(RunShows::Open { worked: true });
    assert_eq!(desk.refuses(begin("wf-new", Trigger::Retry)), "run_id_used");
}

#[test]
fn k36_the_budget_in_words() {
    for (charged, used, max_attempts, granted, words) in [
        (1, 1, 3, 0, "1/3"),
        (1, 3, 3, 0, "1/3 (+2 uncharged)"),
        (0, 2, 3, 0, "0/3 (+2 uncharged)"),
        (3, 3, 3, 2, "3/5"),
    ] {
        let budget = Budget { used, charged, max_attempts, granted };
        assert_eq!(budget.to_string(), words);
    }
}

#[test]
fn w24_w25_no_text_of_a_script_keeps_an_attempt_from_being_ended() {
    let blank = End::new(Outcome::Failed, None, None, Some(" \n"), None).unwrap();
    assert_eq!(blank.error(), None);
    let wild = format!("\u{1b}[31m{}", "𝕏".repeat(5_000));
    let end = End::new(Outcome::Failed, Some(Class::Decision), None, Some(&wild), Some(&wild)).unwrap();
    assert_eq!(end.error().map(|text| text.chars().count()), Some(2_000));
    assert_eq!(end.decision().map(|text| text.chars().count()), Some(1_000));

    let mut desk = Desk::new();
    desk.attempts(end);
    let reason = desk.projection().reason;
    assert!(reason.chars().count() <= 2_000 && reason.ends_with("`)"), "{reason}");
    assert_eq!(desk.does(Command::Reconcile), ["work.reconciled"]);
}
