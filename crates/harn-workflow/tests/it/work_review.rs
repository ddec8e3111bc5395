//! An item that requires a clean review: nothing completes it without one, and the record names the one it rested on.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use harn_ledger::disk::MemDisk;
use harn_ledger::{CountingIds, Digest, FixedClock, Ledger, Timestamp};
use harn_workflow::work::{
    Accept, AcceptedReview, Caller, Command, Event, Explanation, Intent, NewItem, Projection, Refusal,
    ReviewFact, Role, Work, bounds,
};
use harn_workflow::{Draft, ScriptText, WorkLedger};

use crate::work_harness::{Desk, accept, accepting, actor, at, clean, closed, id, new_item, proof, reopen};

/// An item in review that requires a clean one or does not.
fn in_review(require_review: bool) -> Desk {
    let mut desk = Desk::of(NewItem { require_review, ..new_item() });
    desk.passes();
    desk
}

fn accept_on(review: Option<ReviewFact>) -> Command {
    Command::Accept(Accept { review, ..Accept::default() })
}

fn clean_at(turn: &str) -> ReviewFact {
    ReviewFact::Clean { review: id("rv-1"), turn: turn.to_owned(), fingerprint: Digest::of(b"source") }
}

/// The review that `clean` names.
fn recorded() -> AcceptedReview {
    AcceptedReview { review: id("rv-1"), turn: "t2".to_owned(), fingerprint: Digest::of(b"source") }
}

/// What the last event of the log, an acceptance, says of a review.
fn on_record(desk: &Desk) -> Option<AcceptedReview> {
    let Event::Accepted { review, .. } = &desk.log.last().unwrap().event else {
        panic!("{:?}", desk.names())
    };
    review.clone()
}

#[test]
fn every_answer_of_the_gate() {
    let not_clean = |reasons: &[&str]| {
        let reasons = reasons.iter().map(|&reason| reason.to_owned()).collect();
        Err(Refusal::ReviewNotClean { id: id("w1"), review: Some(id("rv-1")), reasons })
    };
    let nowhere = ReviewFact::Closed { review: None, reasons: vec!["not reviewed".to_owned()] };
    let cases = [
        (true, None, Err(Refusal::ReviewMissing { id: id("w1") })),
        (true, Some(closed(&["R1 is open", "nothing ran"])), not_clean(&["R1 is open", "nothing ran"])),
        (true, Some(closed(&[])), not_clean(&[])),
        (
            true,
            Some(nowhere),
            Err(Refusal::ReviewNotClean {
                id: id("w1"),
                review: None,
                reasons: vec!["not reviewed".to_owned()],
            }),
        ),
        (true, Some(clean()), Ok(Some(recorded()))),
        (true, Some(clean_at(" t2 ")), Ok(Some(recorded()))),
        (false, None, Ok(None)),
        // What is not required is neither looked at nor put on record.
        (false, Some(closed(&["R1 is open"])), Ok(None)),
        (false, Some(clean()), Ok(None)),
        (false, Some(clean_at("")), Ok(None)),
    ];
    for (required, fact, expected) in cases {
        let mut desk = in_review(required);
        let before = (desk.state.clone(), desk.log.len());
        let case = format!("required: {required}, {fact:?}");
        let done = desk.tries(accept_on(fact)).map(|_| on_record(&desk));
        assert_eq!(done, expected, "{case}");
        if done.is_err() {
            assert_eq!((desk.state.clone(), desk.log.len()), before, "{case}: a refusal changed something");
            desk.assert_stands("in_review", "review");
        } else {
            desk.assert_stands("succeeded", "none");
        }
    }
}

#[test]
fn reasons_are_made_fit_and_a_turn_is_checked() {
    let desk = in_review(true);
    let refusal = desk.refusal(accept_on(Some(closed(&["two\nlines", " ", "\u{1b}[2J", &"x".repeat(501)]))));
    let Refusal::ReviewNotClean { reasons, .. } = &refusal else { panic!("{refusal}") };
    let cut = format!("{}…", "x".repeat(bounds::REVIEW_REASON - 1));
    assert_eq!(*reasons, ["two lines", "\u{fffd}[2J", &cut]);
    assert!(!refusal.to_string().contains(char::is_control));

    for (turn, code) in
        [("", "text_blank"), ("t\n2", "text_control_character"), (&"t".repeat(21), "text_too_long")]
    {
        assert_eq!(desk.refuses(accept_on(Some(clean_at(turn)))), code, "{turn:?}");
    }
    in_review(true).does(accept_on(Some(clean_at(&"t".repeat(20)))));
}

#[test]
fn it_is_asked_after_state_and_proof_and_before_findings() {
    let mut desk = Desk::of(NewItem { require_review: true, ..new_item() });
    assert_eq!(desk.refuses(accept(&[])), "wrong_state");
    desk.passes();
    desk.does(reopen(&["It throws."]));
    desk.passes();
    assert_eq!(desk.refuses(accept(&["f7=fixed"])), "review_missing");
    assert_eq!(desk.refuses(accept_on(Some(closed(&["R1 is open"])))), "review_not_clean");
    assert_eq!(desk.refuses(accept_on(Some(clean()))), "findings_open");

    let without = |change: fn(&mut Desk)| {
        let mut desk = desk.clone();
        change(&mut desk);
        desk.refuses(accept(&["f1=fixed"]))
    };
    assert_eq!(without(|desk| desk.facts.proof = None), "proof_missing");
    assert_eq!(without(|desk| desk.facts.proof = Some(proof(8))), "proof_changed");
    assert_eq!(without(|desk| desk.facts.unproven = Some("so".to_owned())), "unproven");
    assert_eq!(without(|desk| desk.facts.caller.role = Role::WorkflowChild), "workflow_child");

    desk.does(Command::Accept(Accept { review: Some(clean()), ..accepting(&["f1=fixed"]) }));
    assert_eq!(on_record(&desk), Some(recorded()));
}

#[test]
fn an_earlier_review_does_not_count_after_a_reopen() {
    let mut desk = in_review(true);
    desk.does(accept_on(Some(clean())));
    desk.does(reopen(&[]));
    desk.passes();
    assert_eq!(desk.refuses(accept(&[])), "review_missing");
    desk.does(accept_on(Some(clean_at("t3"))));
    assert_eq!(on_record(&desk), Some(AcceptedReview { turn: "t3".to_owned(), ..recorded() }));
    assert_eq!(desk.projection().reason, "accepted (it rests on review `rv-1`, turn `t3`)");
}

#[test]
fn what_was_written_before_keeps_its_bytes() {
    let plain = new_item().into_intent(id("w1"), at(0)).unwrap();
    let old = serde_json::to_string(&plain).unwrap();
    assert!(!old.contains("review"), "{old}");
    assert_eq!(serde_json::from_str::<Intent>(&old).unwrap(), plain);
    let required = NewItem { require_review: true, ..new_item() }.into_intent(id("w1"), at(0)).unwrap();
    let new = serde_json::to_string(&required).unwrap();
    assert_eq!(new, format!("{},\"require_review\":true}}", old.strip_suffix('}').unwrap()));
    assert_eq!(serde_json::from_str::<Intent>(&new).unwrap(), required);
    assert_ne!(plain, required);

    let (mut desk, mut other) = (in_review(false), in_review(true));
    desk.does(accept(&[]));
    other.does(accept_on(Some(clean())));
    let hex = proof(1).blob;
    let old = format!(
        r#"{{"work.accepted":{{"run_id":"wf-1","attempt":1,"proof":{{"blob":"{hex}","bytes":7}},"dispositions":[],"accepted_unknowns":[]}}}}"#
    );
    let source = Digest::of(b"source");
    let review = format!(r#","review":{{"review":"rv-1","turn":"t2","fingerprint":"{source}"}}"#);
    let new = format!("{}{review}}}}}", old.strip_suffix("}}").unwrap());
    for (desk, json) in [(&desk, &old), (&other, &new)] {
        let event = &desk.log.last().unwrap().event;
        assert_eq!(serde_json::to_string(event).unwrap(), **json);
        assert_eq!(serde_json::from_str::<Event>(json).unwrap(), *event);
    }

    // The reader checks what the writer checked.
    let cases = [
        (new.replace("\"t2\"", "\" t2\""), "white space"),
        (new.replace("\"t2\"", "\"\""), "turn is blank"),
        (new.replace("\"t2\"", &format!("\"{}\"", "t".repeat(21))), "expected at most 20"),
        (new.replace("\"t2\"", "\"t2\",\"more\":1"), "unknown field `more`"),
        (new.replace("\"rv-1\"", "\"../rv\""), "not an id"),
        (new.replace(&source.to_string(), "00"), "64 lower-case hexadecimal digits"),
    ];
    for (json, words) in cases {
        let error = serde_json::from_str::<Event>(&json).unwrap_err().to_string();
        assert!(error.contains(words), "{json}: {error}");
    }

    // The same holds for a state that a catalog keeps.
    let kept = |desk: &Desk| serde_json::to_string(&desk.state).unwrap();
    assert!(!kept(&desk).contains("review\""), "{}", kept(&desk));
    assert_eq!(serde_json::from_str::<harn_workflow::work::State>(&kept(&other)).unwrap(), other.state);
    assert!(other.state.brief().requires_review());
}

#[test]
fn what_is_shown_says_that_one_is_needed_and_which_it_was() {
    let explained = |desk: &Desk| Explanation::of(&desk.state, &desk.log, &desk.facts);
    let accepts = |desk: &Desk| {
        let moves = explained(desk).moves.into_iter();
        moves.filter(|it| it.command.starts_with("harn work accept")).map(|it| it.needs).collect::<Vec<_>>()
    };

    let mut plain = in_review(false);
    assert_eq!(plain.projection().reason, "attempt 1 passed and waits for a person to accept it");
    assert_eq!(accepts(&plain), [None]);
    let json = |shown: &Projection| serde_json::to_value(shown).unwrap();
    assert_eq!(json(&plain.projection()).get("review_required"), None);
    plain.does(accept(&[]));
    assert_eq!(plain.projection().reason, "accepted");
    assert_eq!(explained(&plain).because[0].says, "attempt 1");

    let mut desk = in_review(true);
    let reason = "attempt 1 passed and waits for a person to accept it, which needs a clean review";
    assert_eq!(desk.projection().reason, reason);
    assert_eq!(explained(&desk).reason, reason);
    assert_eq!(accepts(&desk), [Some("a clean review")]);
    assert_eq!(json(&desk.projection())["review_required"], true);
    assert_eq!(
        desk.projection().suggestions[..2],
        ["harn review open --work-item w1", "harn work accept w1"]
    );

    let reason = Some("Good.".to_owned());
    desk.does(Command::Accept(Accept { reason, review: Some(clean()), ..Accept::default() }));
    assert_eq!(desk.projection().reason, "Good. (it rests on review `rv-1`, turn `t2`)");
    assert_eq!(explained(&desk).because[0].says, "attempt 1, on review `rv-1`, turn `t2`: Good.");
    assert_eq!(desk.projection().suggestions, ["harn work reopen w1 --finding \"what is wrong\""]);

    // The longest reason gives way to the review.
    let mut desk = in_review(true);
    let reason = Some("x".repeat(bounds::REASON));
    desk.does(Command::Accept(Accept { reason, review: Some(clean()), ..Accept::default() }));
    let shown = desk.projection().reason;
    assert_eq!(shown.chars().count(), bounds::REASON);
    assert!(shown.ends_with("x… (it rests on review `rv-1`, turn `t2`)"), "{shown}");
}

#[test]
fn a_draft_that_requires_one_makes_such_an_item() {
    let clock = FixedClock(Timestamp::UNIX_EPOCH);
    let ledger = Ledger::builder("/state").disk(MemDisk::new()).clock(clock).open().unwrap();
    let works = WorkLedger::new(ledger, clock, CountingIds::from_seed(1));
    let ann = Caller { actor: actor("ann"), role: Role::Person };
    for require_review in [false, true] {
        let script =
            ScriptText { path: "/release.mjs".to_owned(), bytes: b"export default () => 1".to_vec() };
        let mut draft = Draft::new("Release", "Publish", script);
        assert!(!draft.require_review);
        draft.require_review = require_review;
        let created = works.create(&ann, draft).unwrap().projection;
        assert_eq!(created.review_required, require_review);
        let stream = works.ledger().stream::<Work>(created.id.as_str()).unwrap();
        assert_eq!(stream.intent().require_review, require_review);
        assert_eq!(stream.state().unwrap().requires_review(), require_review);
    }
}
