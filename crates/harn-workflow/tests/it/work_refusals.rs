//! What refusals say: a stable code, a message that says what was expected, and the next command.

use harn_workflow::work::{Accept, Carry, Command, Reopen, ReviewFact, Role, Trigger};

use crate::work_harness::{
    Desk, accept, accepting, begin, cancel, closed, failed, id, new_item, proof, reopen, reopening, retry,
    run,
};

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn every_refusal_in_words() {
    let fresh = Desk::new();
    let mut exhausted = Desk::with_attempts(1);
    exhausted.attempts(failed(None, "boom"));
    let mut blocked = Desk::new();
    blocked.attempts(failed(None, "boom"));
    let mut reviewed = Desk::new();
    reviewed.passes();
    let mut found = reviewed.clone();
    found.does(reopen(&["a", "b"]));
    found.passes();
    let mut held = Desk::new();
    held.does(run());
    held.facts.observed.held_by_other = true;
    let mut lost = held.clone();
    lost.facts.observed.held_by_other = false;
    let mut done = Desk::new();
    done.does(cancel());
    let mut child = reviewed.clone();
    child.facts.caller.role = Role::WorkflowChild;
    let mut unread = Desk::of(harn_workflow::work::NewItem { require_review: true, ..new_item() });
    unread.passes();
    let gate = |review| Command::Accept(Accept { review: Some(review), ..accepting(&[]) });
    let waiting = Desk::of(harn_workflow::work::NewItem { dependencies: vec![id("base")], ..new_item() });
    let mut other = reviewed.clone();
    other.facts.proof = Some(proof(8));
    let digest = |number| proof(number).blob.to_string();

    let cases: Vec<(&Desk, Command, String, &str)> = vec![
        (
            &child,
            accept(&[]),
            "a process started by a workflow may not accept a work item, expected a person outside of it"
                .into(),
            "",
        ),
        (&done, run(), "cannot run `w1`: it is cancelled".into(), "harn work reopen w1"),
        (&waiting, run(), "cannot run `w1`: it waits for `base` (unknown)".into(), "harn work show base"),
        (&held, retry(), "cannot retry `w1`: somebody else runs it".into(), "harn work show w1"),
        (
            &blocked,
            run(),
            "cannot run `w1`: it is blocked, expected an explicit retry (attempt 1 failed: boom)".into(),
            "harn work retry w1",
        ),
        (&fresh, retry(), "cannot retry `w1`: it is ready, expected `blocked`".into(), "harn work run w1"),
        (
            &blocked,
            accept(&[]),
            "cannot accept `w1`: it is blocked, expected `in_review`".into(),
            "harn work retry w1",
        ),
        (
            &exhausted,
            retry(),
            "cannot retry `w1`: no charged attempt is left (1/1)".into(),
            "harn work grant w1 --attempts 1 --reason \"why one more\"",
        ),
        (
            &blocked,
            begin("wf-1", Trigger::Retry),
            "the run `wf-1` is attempt 1 already, expected a new run".into(),
            "",
        ),
        (
            &blocked,
            Command::Resume,
            "cannot resume `w1`: it has no such open attempt".into(),
            "harn work show w1",
        ),
        (
            &lost,
            Command::Resume,
            "attempt 1 of `w1` cannot go on: its run left no stream that can be read".into(),
            "harn work retry w1",
        ),
        (
            &other,
            accept(&[]),
            format!("the stored proof has the digest {}, but {} was recorded", digest(8), digest(1)),
            "",
        ),
        (
            &unread,
            accept(&[]),
            "cannot accept `w1`: it requires a clean review, and none was looked up".into(),
            "open one with `harn review open --work-item w1`",
        ),
        (
            &unread,
            gate(closed(&["R1 is open", "check `suite` was not run"])),
            "cannot accept `w1`: review `rv-1` is not clean: R1 is open; check `suite` was not run".into(),
            "harn review gate rv-1",
        ),
        (
            &unread,
            gate(ReviewFact::Closed { review: None, reasons: Vec::new() }),
            "cannot accept `w1`: no review of it is clean".into(),
            "",
        ),
        (
            &found,
            accept(&["f2=fixed"]),
            "cannot accept `w1` while findings are open: `f1`".into(),
            "harn work accept w1 --dispose f1=fixed",
        ),
        (&found, accept(&["f7=fixed"]), "the finding `f7` is not open, expected `f1`, `f2`".into(), ""),
        (
            &reviewed,
            accept(&["f1=fixed"]),
            "the finding `f1` is not open, expected no finding, none is open".into(),
            "",
        ),
        (
            &found,
            accept(&["f1=fixed", "f1=fixed"]),
            "the finding `f1` is named twice, expected one word on each".into(),
            "",
        ),
        (
            &found,
            Command::Reopen(Reopen { supersede_all: true, carry: Carry::All, ..reopening(&[]) }),
            "findings are to be carried and all to be superseded, expected one of the two".into(),
            "",
        ),
        (&found, reopen(&["x"; 21]), "there would be 21 open findings, expected at most 20".into(), ""),
        (
            &reviewed,
            Command::Grant { attempts: 101, reason: "x".into() },
            "101 attempts are to be granted, expected 1 to 100".into(),
            "",
        ),
        (
            &reviewed,
            Command::Cancel { reason: Some(" ".into()) },
            "reason is blank, expected 1 to 2000 characters".into(),
            "",
        ),
    ];
    for (desk, command, message, hint) in cases {
        let refusal = desk.refusal(command);
        assert_eq!(refusal.to_string(), message);
        assert_eq!(refusal.hint().unwrap_or_default(), hint, "{message}");
        assert!(!refusal.code().is_empty());
    }
}

#[test]
fn the_hint_of_open_findings_names_all_of_them_when_followed() {
    let mut desk = Desk::new();
    desk.passes();
    desk.does(reopen(&["a", "b"]));
    desk.passes();
    assert_eq!(
        desk.refusal(accept(&[])).hint().as_deref(),
        Some("harn work accept w1 --dispose f1=fixed --dispose f2=fixed")
    );
    desk.does(Command::Accept(accepting(&["f1=fixed", "f2=fixed"])));
}
