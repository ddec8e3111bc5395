//! What closes a finding, which repair is offered, and when the gate is open.

use harn_ledger::Decider as _;
use harn_review::check::{CheckOutcome, Scope};
use harn_review::event::{Decision, Publication};
use harn_review::{Command, Gate, Offer, Outside, Reason, Refusal, Review, Revision, TurnId};
use serde_json::{Value, json};

use super::cases::{BASE, Desk, OPEN, account, accounts, check, defect, id, new, other_plan, with};

fn places(count: usize) -> Vec<Value> {
    let places = ["src/a.rs:2", "src/a.rs:3", "src/a.rs:4", "src/b.rs:2", "src/b.rs:3", "src/b.rs:4"];
    places[..count].iter().map(|place| defect(place, &format!("At {place}"))).collect()
}

/// A review with so many defects of one task.
fn raised(count: usize) -> Desk {
    let mut desk = Desk::new();
    assert_eq!(desk.turn("findings", &[], &places(count)), "accepted");
    desk
}

#[test]
fn a01_a02_a_finding_that_is_raised_again_keeps_its_id() {
    let mut desk = raised(1);
    assert_eq!(desk.stands(), ["R1 open defect"]);
    let again = defect("src/a.rs:2", "The same in other words");
    assert_eq!(desk.turn("findings", &accounts(&["R1 open"]), &[again]), "accepted");
    assert_eq!(desk.stands(), ["R1 open defect"]);
    assert_eq!(desk.finding("R1").evidence.len(), 3);
}

#[test]
fn a_finding_keeps_its_id_when_its_line_moves() {
    let mut desk = raised(1);
    let moved = format!("// one\n// two\n{}", desk.text("src/a.rs"));
    desk.edits("src/a.rs", Some(&moved));
    let again = defect("src/a.rs:4", "Called otherwise");
    assert_eq!(desk.turn("findings", &accounts(&["R1 open"]), &[again]), "accepted");
    assert_eq!(desk.stands(), ["R1 open defect"]);
    assert_eq!(desk.finding("R1").place.as_ref().map(|place| place.line), Some(4));
    // Another line is another finding, whatever it is called.
    let other = defect("src/a.rs:5", "Called otherwise");
    assert_eq!(desk.turn("findings", &accounts(&["R1 open"]), &[other]), "accepted");
    assert_eq!(desk.stands().len(), 2);
}

#[test]
fn a09_a19_a20_a42_a43_rulings_and_what_reopens_them() {
    let mut desk = Desk::new();
    let suspicion = |place| new("uncertain", place, place);
    let _ = desk.turn("findings", &[], &[suspicion("src/a.rs:2"), suspicion("src/a.rs:3")]);
    let judged = accounts(&["R1 dismissed", "R2 confirmed"]);
    assert_eq!(desk.turn("findings", &judged, &[]), "accepted");
    assert_eq!(desk.stands(), ["R1 dismissed uncertain", "R2 open defect"]);
    // Raised with nothing new it stays where it is; with something new it is open again.
    let again = suspicion("src/a.rs:2");
    assert_eq!(desk.turn("findings", &accounts(&["R2 open"]), std::slice::from_ref(&again)), "accepted");
    assert_eq!((desk.stands()[0].as_str(), desk.finding("R1").seen_again), ("R1 dismissed uncertain", 1));
    let with_news = with(&again, json!({"cites": [{"file": "src/b.rs", "line": 3}]}));
    assert_eq!(desk.turn("findings", &accounts(&["R2 open"]), &[with_news]), "accepted");
    assert_eq!(desk.stands()[0], "R1 open uncertain");
    let mut fixed = raised(1);
    fixed.repairs(&["R1"]);
    assert_eq!(fixed.turn("clean", &accounts(&["R1 fixed"]), &[]), "accepted");
    assert_eq!(fixed.turn("findings", &[], &[suspicion("src/a.rs:2")]), "accepted");
    assert_eq!(fixed.stands(), ["R1 open defect"]);
}

/// What is done between the first report and the one that says `fixed`.
type Steps = fn(&mut Desk);

#[test]
fn a12_to_a16_fixed_is_red_before_and_green_now_by_the_same_check() {
    use CheckOutcome::{Failed, Passed};
    let cases: [(&str, Steps, &str); 8] = [
        ("A14", |desk| desk.repairs(&["R1"]), "accepted"),
        (
            "A12",
            |desk| {
                desk.repairs(&["R1"]);
                desk.edits("src/b.rs", Some("later\n"));
            },
            "V11 check_not_here",
        ),
        (
            "A13",
            |desk| {
                desk.regression("R1", "one", Failed);
                desk.regression("R1", "two", Failed);
                desk.pass();
                desk.regression("R1", "one", Passed);
                desk.regression("R1", "two", Failed);
            },
            "V11 check_not_green",
        ),
        (
            "A15",
            |desk| {
                desk.regression("R1", "one", Passed);
                desk.pass();
                desk.regression("R1", "one", Passed);
            },
            "V11 never_red",
        ),
        (
            "A15: red after the repair only",
            |desk| {
                desk.regression("R1", "one", Passed);
                desk.pass();
                desk.regression("R1", "one", Failed);
                desk.edits("src/b.rs", Some("later\n"));
                desk.regression("R1", "one", Passed);
            },
            "V11 never_red",
        ),
        (
            "A15: excused by a person",
            |desk| {
                desk.regression("R1", "one", Passed);
                desk.does(Desk::decision("R1", Decision::NotReproduced {}));
                desk.pass();
                desk.regression("R1", "one", Passed);
            },
            "accepted",
        ),
        (
            "A16",
            |desk| {
                desk.regression("R1", "one", Failed);
                desk.pass();
                let mut result = Box::new(desk.result(Scope::Final, "R1", "one", Passed));
                result.script = check("one").script([("one.sh", result.fingerprint)]);
                desk.does(Command::RecordCheck { result });
            },
            "V11 check_changed",
        ),
        ("A10", |desk| desk.regression("R1", "one", Failed), "V10 not_attempted"),
    ];
    for (case, steps, expected) in cases {
        let mut desk = raised(1);
        steps(&mut desk);
        assert_eq!(desk.turn("clean", &accounts(&["R1 fixed"]), &[]), expected, "{case}");
    }
}

#[test]
fn a18_a21_to_a27_which_repair_is_offered() {
    let fixes = |desk: &mut Desk, fixed: &[&str], left: &[&str], raised: &[Value]| {
        desk.repairs(fixed);
        let judged = fixed.iter().map(|id| account(id, "fixed"));
        let judged: Vec<Value> = judged.chain(left.iter().map(|id| account(id, "open"))).collect();
        let status = if left.is_empty() && raised.is_empty() { "clean" } else { "findings" };
        assert_eq!(desk.turn(status, &judged, raised), "accepted");
    };
    let pass = |offer: Offer| match offer {
        Offer::Pass { number, .. } => number,
        offer => panic!("{offer:?}"),
    };
    let progress = |fixed, came_up| Offer::Revise { why: Revision::NoProgress { fixed, came_up } };

    let mut desk = raised(3);
    assert_eq!(pass(desk.offer()), 1);
    let mut a21 = desk.clone();
    fixes(&mut a21, &["R1"], &["R2", "R3"], &[]);
    assert_eq!(pass(a21.offer()), 2, "A21");
    fixes(&mut a21, &["R2"], &["R3"], &[]);
    assert_eq!(a21.offer(), Offer::Revise { why: Revision::PassesUsed }, "A25");
    a21.does(Command::AcceptPlan { plan: Box::new(other_plan()), reason: "Anew.".to_owned() });
    assert!(matches!(a21.offer(), Offer::Review { .. }), "A27: the review is of another plan");
    assert_eq!(a21.turn("findings", &accounts(&["R3 open"]), &[]), "accepted");
    assert_eq!((pass(a21.offer()), a21.stands().len()), (1, 3), "A27");

    let mut a22 = desk.clone();
    fixes(&mut a22, &[], &["R1", "R2", "R3"], &[]);
    assert_eq!(a22.offer(), progress(0, 0), "A22");
    assert!(matches!(a22.refusal(a22.begin_repair()), Refusal::RepairNotOffered { .. }));

    let mut a23 = desk.clone();
    let fresh: Vec<Value> = places(6).drain(3..).collect();
    fixes(&mut a23, &["R1"], &["R2", "R3"], &fresh);
    assert_eq!(a23.offer(), progress(1, 3), "A23");

    let mut a24 = desk.clone();
    fixes(&mut a24, &["R1", "R2", "R3"], &[], &[]);
    assert_eq!(a24.offer(), Offer::Nothing, "A24");

    let mut dismissed = desk.clone();
    dismissed.pass();
    let _ = dismissed.turn("findings", &accounts(&["R1 dismissed", "R2 open", "R3 open"]), &[]);
    assert_eq!(dismissed.offer(), progress(0, 0), "what is dismissed is no progress");

    let perhaps = new("uncertain", "cli/main.rs:2", "Perhaps");
    let _ = desk.turn("findings", &accounts(&["R1 open", "R2 open", "R3 open"]), &[perhaps]);
    assert_eq!(desk.offer(), Offer::Investigate { findings: vec![id("R4")] }, "A18");
    assert_eq!(Desk::new().offer(), Offer::Nothing);
}

#[test]
fn a26_the_passes_are_counted_from_the_log() {
    let mut desk = raised(3);
    desk.repairs(&["R1"]);
    let _ = desk.turn("findings", &accounts(&["R1 fixed", "R2 open", "R3 open"]), &[]);
    desk.repairs(&["R2"]);
    let _ = desk.turn("findings", &accounts(&["R2 fixed", "R3 open"]), &[]);
    let mut again = Review::init(&desk.intent);
    desk.log.iter().for_each(|recorded| Review::evolve(&mut again, recorded));
    assert_eq!(again, desk.state);
    let offer = harn_review::next(&again, &desk.source.fingerprint);
    assert_eq!(offer, Offer::Revise { why: Revision::PassesUsed });
}

#[test]
fn a28_a29_owners_come_one_after_the_other_and_dependents_recheck() {
    let mut desk = Desk::new();
    let raised = [defect("cli/main.rs:2", "Late"), defect("src/a.rs:2", "Early")];
    let _ = desk.turn("findings", &[], &raised);
    let Offer::Pass { owners, rechecks, .. } = desk.offer() else { panic!("{:?}", desk.offer()) };
    assert_eq!((owners, rechecks), (vec!["lib".to_owned(), "cli".to_owned()], vec!["docs".to_owned()]));
    desk.does(desk.begin_repair());
    assert_eq!(desk.refusal(desk.begin_command()).code(), "review_busy");
    desk.attempts("lib");
    assert_eq!(desk.finding("R1").attempts.len(), 0);
    desk.attempts("cli");
    assert_eq!((desk.finding("R1").attempts.len(), desk.finding("R2").attempts.len()), (1, 1));
}

fn clean() -> Desk {
    let mut desk = Desk::new();
    desk.combined(CheckOutcome::Passed);
    assert_eq!(desk.turn("clean", &[], &[]), "accepted");
    desk
}

fn reasons(gate: &Gate) -> Vec<String> {
    let code =
        |reason: &Reason| serde_json::to_value(reason).map(|it| it["code"].as_str().map(str::to_owned));
    gate.reasons().iter().filter_map(|reason| code(reason).ok().flatten()).collect()
}

#[test]
fn c16_to_c20_and_every_other_reason_of_the_gate() {
    assert!(clean().gate().is_open());
    let cases: [(&str, Steps, &[&str]); 13] = [
        (
            "C16",
            |desk| {
                *desk = {
                    let mut new = Desk::new();
                    new.combined(CheckOutcome::Passed);
                    new
                }
            },
            &["not_reviewed"],
        ),
        (
            "C17",
            |desk| desk.edits("src/a.rs", Some("x\n")),
            &["review_of_other_source", "check_not_run", "check_not_run"],
        ),
        ("running", |desk| drop(desk.does(desk.begin_command())), &["review_running"]),
        ("findings", |desk| drop(desk.turn("findings", &[], &places(1))), &["not_clean", "findings_open"]),
        ("blocked", |desk| drop(desk.turn("blocked", &[], &[])), &["not_clean"]),
        (
            "a check failed",
            |desk| desk.combined(CheckOutcome::Failed),
            &["check_not_passed", "check_not_passed"],
        ),
        (
            "a check that did not end",
            |desk| desk.combined(CheckOutcome::Timeout),
            &["check_not_passed", "check_not_passed"],
        ),
        ("queued", |desk| desk.source.queued.push("finding f1".to_owned()), &["queued"]),
        ("nothing changed", |desk| desk.source.changed.clear(), &["nothing_to_publish"]),
        (
            "another plan",
            |desk| {
                drop(
                    desk.does(Command::AcceptPlan {
                        plan: Box::new(other_plan()),
                        reason: "Anew.".to_owned(),
                    }),
                );
            },
            &["review_of_other_plan", "check_not_run"],
        ),
        (
            "reopened by a person",
            |desk| {
                let _ = desk.turn("findings", &[], &places(1));
                let _ = desk.turn("clean", &accounts(&["R1 dismissed"]), &[]);
                desk.does(Desk::decision("R1", Decision::Reopen {}));
            },
            &["raised_since", "findings_open"],
        ),
        (
            "A48: reopened and closed again by a person",
            |desk| {
                let _ = desk.turn("findings", &[], &places(1));
                let _ = desk.turn("clean", &accounts(&["R1 dismissed"]), &[]);
                desk.does(Desk::decision("R1", Decision::Reopen {}));
                desk.does(Desk::decision("R1", Decision::Close {}));
            },
            &["raised_since"],
        ),
        (
            "a failed check is repaired",
            |desk| {
                desk.combined(CheckOutcome::Failed);
                let fingerprint = desk.source.fingerprint;
                desk.does(Command::BeginFixCheck { name: "test".to_owned(), fingerprint });
            },
            &["check_not_run", "check_not_run", "fixing_check"],
        ),
    ];
    for (case, steps, expected) in cases {
        let mut desk = clean();
        steps(&mut desk);
        assert_eq!(reasons(&desk.gate()), expected, "{case}");
    }
    let desk = clean();
    let outside = desk.outside();
    for (outside, expected) in [
        (Outside { base: Some("2222222222222222222222222222222222222222"), ..outside.clone() }, "base_moved"),
        (Outside { base: None, ..outside.clone() }, "base_moved"),
        (Outside { request: Some("Something else."), ..outside.clone() }, "request_changed"),
        (Outside { require_coverage: true, ..outside.clone() }, "unread"),
    ] {
        assert_eq!(reasons(&harn_review::gate(&desk.state, &outside)), [expected]);
    }
}

fn publication(desk: &Desk, replaces: Option<&str>) -> Box<Publication> {
    let commit = "3333333333333333333333333333333333333333".to_owned();
    Box::new(Publication {
        preview: desk.source.fingerprint,
        fingerprint: desk.source.fingerprint,
        turn: TurnId::after(desk.state.turns().len() - 1),
        tree: commit.clone(),
        commit,
        remote: "origin".to_owned(),
        branch: "work".to_owned(),
        base: "main".to_owned(),
        base_commit: BASE.to_owned(),
        replaces: replaces.map(str::to_owned),
        pull_request: false,
        body: harn_ledger::BlobRef::of(b"body"),
        title: "Work".to_owned(),
    })
}

#[test]
fn c18_to_c20_a_publication_begins_only_behind_an_open_gate() {
    let mut desk = clean();
    let begin = |desk: &Desk, replaces: Option<&str>, base: &str| Command::BeginPublication {
        publication: publication(desk, replaces),
        source: Box::new(desk.source.clone()),
        base: Some(base.to_owned()),
        require_coverage: false,
    };
    let moved = begin(&desk, None, "2222222222222222222222222222222222222222");
    assert_eq!(desk.refusal(moved).code(), "gate_closed", "C20");
    let mut edited = desk.clone();
    edited.edits("src/a.rs", Some("x\n"));
    assert_eq!(edited.refusal(begin(&edited, None, BASE)).code(), "gate_closed", "C19");
    desk.does(begin(&desk, None, BASE));
    assert_eq!(desk.refusal(begin(&desk, None, BASE)).code(), "review_busy");
    assert_eq!(desk.refusal(Command::Published { url: None, adopted: false }).code(), "no_publication");
    desk.does(Command::Pushed { adopted: false });
    desk.does(Command::Published { url: None, adopted: false });
    desk.edits("src/a.rs", Some("x\n"));
    let update = begin(&desk, Some("3333333333333333333333333333333333333333"), BASE);
    assert_eq!(desk.refusal(update).code(), "gate_closed", "C18");
}

#[test]
fn a44_a45_a48_merges_priorities_and_what_a_person_closes() {
    let mut desk = Desk::museum();
    let mut judged = accounts(&OPEN);
    judged[0] = with(&judged[0], json!({"priority": "P2", "reason": "Rarely."}));
    judged[2] = account("R7", "merged R1");
    assert_eq!(desk.turn("findings", &judged, &[]), "accepted");
    assert_eq!(desk.finding("R1").priority.as_str(), "P2", "A45");
    assert_eq!(desk.finding("R7").merged_into, Some(id("R1")), "A44");
    let copied = desk.finding("R1").evidence.iter().any(|it| it.what.text.starts_with("Line 3"));
    assert!(copied, "what was seen of R7 is kept with R1");
    desk.does(Desk::decision("R8", Decision::Close {}));
    assert!(desk.finding("R8").closed_by_person(), "A48");
    assert_eq!(desk.refusal(Desk::decision("R8", Decision::Close {})).code(), "finding_not_decidable");
}
