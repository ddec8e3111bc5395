//! Operator findings: raised, carried, superseded, disposed of.

use harn_ledger::Digest;
use harn_workflow::work::{Carry, Command, Event, PastOutcome, Reopen};

use crate::work_harness::{Desk, accept, accepting, actor, at, new_item, proof, reopen, reopening};

fn open(desk: &Desk) -> Vec<(String, String, String)> {
    let findings = &desk.projection().findings;
    let row = |it: &harn_workflow::work::OpenFinding| {
        (it.id.to_string(), it.actor.to_string(), it.statement.clone())
    };
    findings.open.iter().map(row).collect()
}

fn ids(desk: &Desk) -> Vec<String> {
    open(desk).into_iter().map(|(id, ..)| id).collect()
}

fn past(desk: &Desk) -> Vec<(String, PastOutcome)> {
    desk.projection().findings.past.iter().map(|it| (it.id.to_string(), it.outcome)).collect()
}

fn reviewed(findings: &[&str]) -> Desk {
    let mut desk = Desk::with_attempts(100);
    desk.passes();
    desk.does(reopen(findings));
    desk
}

#[test]
fn k11_a_finding_stands_open_with_its_actor_and_stays_for_every_attempt() {
    let mut desk = reviewed(&["The writer throws instead of truncating."]);
    let expected =
        [("f1".to_owned(), "operator".to_owned(), "The writer throws instead of truncating.".to_owned())];
    assert_eq!(open(&desk), expected);
    desk.assert_stands("ready", "run");
    desk.attempts(crate::work_harness::failed(None, "boom"));
    desk.passes();
    assert_eq!(open(&desk), expected);
}

#[test]
fn k12_acceptance_fails_closed_until_every_finding_has_its_word() {
    let mut desk = reviewed(&["The writer throws."]);
    desk.passes();
    let refusal = desk.refusal(accept(&[]));
    assert_eq!(refusal.code(), "findings_open");
    assert!(refusal.to_string().contains("`f1`"));
    assert_eq!(refusal.hint().as_deref(), Some("harn work accept w1 --dispose f1=fixed"));
    assert_eq!(desk.refuses(accept(&["f1=deferred"])), "deferred_without_reason");
    assert_eq!(desk.refuses(accept(&["f1=deferred: "])), "deferred_without_reason");
    desk.does(accept(&["f1=fixed"]));
    desk.assert_stands("succeeded", "none");
    assert!(open(&desk).is_empty());
    assert_eq!(past(&desk), [("f1".to_owned(), PastOutcome::Fixed)]);
}

#[test]
fn dispositions_are_recorded_with_who_and_why() {
    let mut desk = reviewed(&["a", "b"]);
    desk.passes();
    desk.facts.caller.actor = actor("reviewer");
    desk.does(accept(&["f2=deferred:tracked separately, out of scope here", "f1=fixed"]));
    let Event::Accepted { dispositions, proof: accepted, attempt, .. } = &desk.log.last().unwrap().event
    else {
        panic!("{:?}", desk.log.last());
    };
    assert_eq!(
        serde_json::to_string(dispositions).unwrap(),
        r#"[{"id":"f1","outcome":"fixed"},{"id":"f2","outcome":"deferred","reason":"tracked separately, out of scope here"}]"#
    );
    assert_eq!((*accepted, *attempt), (proof(2), 2));
    let findings = desk.projection().findings;
    let second = &findings.past[1];
    assert_eq!((second.actor.as_str(), second.closed_by.as_str()), ("operator", "reviewer"));
    assert_eq!(second.reason.as_deref(), Some("tracked separately, out of scope here"));
    assert_eq!(second.closed_at, desk.log.last().unwrap().ts);
    assert!(second.closed_at > at(0));
}

#[test]
fn n11_w52_one_word_on_each_finding_and_on_no_other() {
    let mut desk = reviewed(&["a"]);
    desk.passes();
    for (dispositions, code) in [
        (&["f1=fixed", "f1=fixed"][..], "finding_twice"),
        (&["f1=fixed", "f1=deferred:later"], "finding_twice"),
        (&["f1=fixed", "f2=fixed"], "unknown_finding"),
        (&["f9=fixed"], "unknown_finding"),
    ] {
        assert_eq!(desk.refuses(accept(dispositions)), code, "{dispositions:?}");
    }
    let long = format!("f1=deferred:{}", "x".repeat(501));
    assert_eq!(desk.refuses(accept(&[&long])), "text_too_long");

    let mut nothing_open = Desk::of(new_item());
    nothing_open.passes();
    assert_eq!(nothing_open.refuses(accept(&["f1=fixed"])), "unknown_finding");
}

#[test]
fn w50_w51_n10_a_new_set_replaces_the_old_one_on_record_and_ids_are_never_used_again() {
    let mut desk = reviewed(&["a", "b"]);
    desk.passes();
    desk.does(reopen(&["c"]));
    assert_eq!(ids(&desk), ["f3"]);
    assert_eq!(
        past(&desk),
        [("f1".to_owned(), PastOutcome::Superseded), ("f2".to_owned(), PastOutcome::Superseded)]
    );
    let json = serde_json::to_string(&desk.log.last().unwrap().event).unwrap();
    assert_eq!(
        json,
        r#"{"work.reopened":{"findings":[{"id":"f3","actor":"operator","statement":"c"}],"superseded":["f1","f2"]}}"#
    );
    desk.passes();
    desk.does(accept(&["f3=fixed"]));
    desk.does(reopen(&["d"]));
    assert_eq!(ids(&desk), ["f4"]);
}

#[test]
fn w51_a_reopen_without_findings_leaves_the_set_as_it_is() {
    let mut desk = reviewed(&["a"]);
    desk.passes();
    desk.does(reopen(&[]));
    assert_eq!(ids(&desk), ["f1"]);
    assert!(past(&desk).is_empty());
}

#[test]
fn carrying_and_superseding() {
    let carry = |carry, findings: &[&str]| Reopen { carry, ..reopening(findings) };
    let these = |ids: &[&str]| Carry::These(ids.iter().map(|id| id.parse().unwrap()).collect());
    let cases: [(Reopen, &[&str], &[&str]); 6] = [
        (carry(these(&["f1"]), &["c"]), &["f1", "f3"], &["f2"]),
        (carry(these(&["f2"]), &[]), &["f2"], &["f1"]),
        (carry(Carry::All, &["c"]), &["f1", "f2", "f3"], &[]),
        (carry(Carry::All, &[]), &["f1", "f2"], &[]),
        (Reopen { supersede_all: true, ..reopening(&[]) }, &[], &["f1", "f2"]),
        (Reopen { supersede_all: true, ..reopening(&["c"]) }, &["f3"], &["f1", "f2"]),
    ];
    for (request, open_ids, superseded) in cases {
        let mut desk = reviewed(&["a", "b"]);
        desk.passes();
        desk.facts.caller.actor = actor("second");
        desk.does(Command::Reopen(request.clone()));
        assert_eq!(ids(&desk), open_ids, "{request:?}");
        let ended: Vec<_> = past(&desk).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ended, superseded, "{request:?}");
        for (id, raised_by, _) in open(&desk) {
            assert_eq!(raised_by, if id == "f3" { "second" } else { "operator" });
        }
    }

    let mut desk = reviewed(&["a", "b"]);
    desk.passes();
    for (request, code) in [
        (carry(these(&["f9"]), &[]), "unknown_finding"),
        (carry(these(&["f1", "f1"]), &[]), "finding_twice"),
        (Reopen { supersede_all: true, ..carry(Carry::All, &[]) }, "carry_and_supersede"),
        (reopening(&[" "]), "text_blank"),
        (reopening(&[&"x".repeat(1_001)]), "text_too_long"),
        (reopening(&["a\u{7}b"]), "text_control_character"),
        (reopening(&["x"; 21]), "too_many_findings"),
        (carry(Carry::All, &["x"; 19]), "too_many_findings"),
    ] {
        assert_eq!(desk.refuses(Command::Reopen(request.clone())), code, "{request:?}");
    }
    desk.does(Command::Reopen(carry(Carry::All, &["x"; 18])));
    assert_eq!(ids(&desk).len(), 20);
}

#[test]
fn a_new_set_stands_whole_in_its_event() {
    let mut desk = reviewed(&["a", "b"]);
    desk.passes();
    desk.does(Command::Reopen(Reopen {
        carry: Carry::These(vec!["f2".parse().unwrap()]),
        ..Reopen::default()
    }));
    let json = serde_json::to_string(&desk.log.last().unwrap().event).unwrap();
    assert_eq!(
        json,
        r#"{"work.reopened":{"findings":[{"id":"f2","actor":"operator","statement":"b"}],"superseded":["f1"]}}"#
    );
}

#[test]
fn w51_what_a_log_replaces_without_a_word_counts_as_superseded() {
    let mut desk = reviewed(&["a", "b"]);
    let kept = desk.state.findings().open[1].clone();
    desk.record(vec![Event::Reopened { reason: None, findings: vec![kept], superseded: vec![] }]);
    assert_eq!(ids(&desk), ["f2"]);
    assert_eq!(past(&desk), [("f1".to_owned(), PastOutcome::Superseded)]);
}

#[test]
fn the_same_reopen_again_writes_nothing() {
    let mut desk = reviewed(&["a"]);
    desk.facts.caller.actor = actor("somebody else");
    for again in [reopen(&["a"]), reopen(&[" a "]), reopen(&[]), reopen(&["a"])] {
        assert!(desk.does(again).is_empty());
    }
    let carrying = Reopen { carry: Carry::All, ..reopening(&["b"]) };
    desk.does(Command::Reopen(carrying));
    assert_eq!(ids(&desk), ["f1", "f2"]);
    let twice = Reopen { carry: Carry::These(vec!["f1".parse().unwrap()]), ..reopening(&["b"]) };
    assert!(desk.does(Command::Reopen(twice)).is_empty());
    assert!(desk.does(reopen(&["b", "a"])).is_empty());
    desk.does(reopen(&["b"]));
    assert_eq!(ids(&desk), ["f3"]);
    desk.does(Command::Reopen(Reopen { supersede_all: true, ..Reopen::default() }));
    assert!(ids(&desk).is_empty());
    assert_eq!(past(&desk).len(), 3);
    desk.assert_stands("ready", "run");
}

#[test]
fn a_new_item_is_not_reopened() {
    assert_eq!(Desk::new().refuses(reopen(&["a"])), "wrong_state");
}

#[test]
fn only_the_raiser_where_that_is_configured() {
    let mut desk = reviewed(&["a"]);
    desk.passes();
    desk.facts.caller.actor = actor("another");
    let strict = harn_workflow::work::Accept { only_raiser: true, ..accepting(&["f1=fixed"]) };
    assert_eq!(desk.refuses(Command::Accept(strict.clone())), "not_raiser");
    desk.facts.caller.actor = actor("operator");
    desk.does(Command::Accept(strict));
}

#[test]
fn w57_n15_acceptance_is_bound_to_the_proof_that_was_reviewed() {
    let mut desk = Desk::new();
    desk.passes();
    let expecting = |digest| {
        Command::Accept(harn_workflow::work::Accept { expect_proof: Some(digest), ..accepting(&[]) })
    };
    assert_eq!(desk.refuses(expecting(Digest::of(b"another"))), "other_proof");

    let mut changed = desk.clone();
    changed.facts.proof = Some(proof(7));
    assert_eq!(changed.refuses(accept(&[])), "proof_changed");
    changed.facts.proof = None;
    assert_eq!(changed.refuses(accept(&[])), "proof_missing");

    desk.does(expecting(proof(1).blob));
    desk.assert_stands("succeeded", "none");
}

#[test]
fn accepted_unknowns_are_sorted_and_each_stands_once() {
    let mut desk = Desk::new();
    desk.passes();
    let accepting = |codes: &[&str]| {
        let accepted_unknowns = codes.iter().map(|&code| code.to_owned()).collect();
        Command::Accept(harn_workflow::work::Accept { accepted_unknowns, ..accepting(&[]) })
    };
    assert_eq!(desk.refuses(accepting(&["a\nb"])), "text_control_character");
    let many: Vec<_> = (0..51).map(|number| format!("code-{number}")).collect();
    assert_eq!(
        desk.refuses(accepting(&many.iter().map(String::as_str).collect::<Vec<_>>())),
        "too_many_unknowns"
    );
    desk.does(accepting(&["no_criteria", " network ", "no_criteria"]));
    let Event::Accepted { accepted_unknowns, .. } = &desk.log.last().unwrap().event else { panic!() };
    assert_eq!(accepted_unknowns, &["network", "no_criteria"]);
}
