//! Reports: what is refused at which step, what is stale, and what is not recorded at all.

use std::collections::BTreeSet;

use harn_ledger::BlobRef;
use harn_review::event::{Decision, Moved};
use harn_review::{Command, Event, NotReviewed, Offer, Review, TurnId, TurnOutcome};
use serde_json::{Value, json};

use super::cases::{Desk, OPEN, account, accounts, defect, id, new, other_plan, plan, with};

/// What a report about [`Desk::museum`] says other than a valid one, and where it is refused.
type Row = (&'static str, Value, &'static str);

#[track_caller]
fn refuses(rows: Vec<Row>) {
    for (case, says, expected) in rows {
        let mut desk = Desk::museum();
        desk.does(desk.begin_command());
        let report = with(&desk.report("findings", &accounts(&OPEN), &[]), says.clone());
        assert_eq!(desk.answers(&report), expected, "{case}: {says}");
    }
}

/// The accounts of the museum with one more, instead of the one with the same id.
fn but(instead: Value) -> Vec<Value> {
    let mut all = accounts(&OPEN);
    all.retain(|it| it["id"] != instead["id"]);
    all.push(instead);
    all
}

/// The museum's accounts with one that has other members.
fn saying(short: &str, more: Value) -> Value {
    let (finding, verdict) = short.split_once(' ').unwrap_or_default();
    json!({"accounts": but(with(&account(finding, verdict), more))})
}

fn raising(more: Value) -> Value {
    json!({"new": [with(&defect("src/b.rs:4", "Fresh"), more)]})
}

/// The museum's accounts with one of a verdict that needs no more.
fn judging(short: &str) -> Value {
    saying(short, json!({}))
}

#[test]
fn a_report_that_says_what_the_rows_below_change_is_taken_in() {
    let mut desk = Desk::museum();
    assert_eq!(desk.turn("findings", &accounts(&OPEN), &[defect("src/b.rs:4", "Fresh")]), "accepted");
    assert_eq!(desk.finding("R11").title, "Fresh");
}

#[test]
fn accounts_that_are_refused() {
    let without_r7: Vec<_> = accounts(&OPEN).into_iter().filter(|it| it["id"] != "R7").collect();
    let fresh = [defect("src/b.rs:4", "Fresh")];
    let twice: Vec<_> = accounts(&OPEN).into_iter().chain([account("R1", "open")]).collect();
    let eleven: Vec<_> = (0..11).map(|_| account("R1", "open")).collect();
    let circle =
        accounts(&["R1 open", "R6 uncertain", "R7 merged R8", "R8 merged R7", "R9 open", "R10 open"]);
    refuses(vec![
        ("A03", json!({"accounts": without_r7, "new": fresh}), "V7 omitted"),
        ("A04", json!({"accounts": without_r7, "status": "clean"}), "V7 omitted"),
        ("A04: none at all", json!({"accounts": [], "status": "clean"}), "V7 omitted"),
        ("A05", json!({"status": "clean"}), "V13 clean_while_open"),
        ("A06", judging("R1 note"), "V8 becomes_note"),
        ("A06: a suspicion", judging("R6 note"), "V8 becomes_note"),
        ("A06: by another word", judging("R1 uncertain"), "V8 becomes_uncertain"),
        ("A07", saying("R1 dismissed", json!({"evidence": null})), "V9 dismissed_without_evidence"),
        ("A07: blank", saying("R1 dismissed", json!({"evidence": " \n"})), "V9 dismissed_without_evidence"),
        ("A07: a bare claim", saying("R1 dismissed", json!({"cites": []})), "V9 dismissed_without_evidence"),
        ("A08", saying("R1 dismissed", json!({"reason": null})), "V9 dismissed_without_reason"),
        ("A08: blank", saying("R1 dismissed", json!({"reason": "\t"})), "V9 dismissed_without_reason"),
        ("A10", judging("R7 fixed"), "V10 not_attempted"),
        ("A11", judging("R1 fixed"), "V11 no_regression_check"),
        ("A17", judging("R6 fixed"), "V12 uncertain_fixed"),
        ("A43", judging("R2 open"), "V9 no_new_evidence"),
        ("A44: itself", judging("R7 merged R7"), "V9 merged_into_itself"),
        ("A44: one that is dismissed", judging("R7 merged R2"), "V9 merged_into_closed"),
        ("A44: one that is fixed", judging("R7 merged R3"), "V9 merged_into_closed"),
        ("A44: one that is merged", judging("R7 merged R4"), "V9 merged_into_closed"),
        ("A44: a note", judging("R7 merged R5"), "V9 merged_into_closed"),
        ("A44: in a circle", json!({"accounts": circle}), "V9 merged_into_closed"),
        ("A44: nothing", judging("R7 merged R99"), "V9 merged_into_nothing"),
        ("A44: not said", saying("R7 merged R1", json!({"into": null})), "V9 merged_into_nothing"),
        ("A44: no reason", saying("R7 merged R1", json!({"reason": null})), "V9 merged_without_reason"),
        ("A44: a suspicion", judging("R7 merged R6"), "V9 merged_into_uncertain"),
        ("A45", saying("R1 open", json!({"priority": "P2"})), "V9 priority_without_reason"),
        ("no such finding", judging("R99 open"), "V6 unknown_finding"),
        ("no number", judging("R01 open"), "V6 unknown_finding"),
        ("twice", json!({"accounts": twice}), "V6 account_twice"),
        ("more accounts than findings", json!({"accounts": eleven}), "V3 too_many_accounts"),
        ("a note is never open", judging("R5 open"), "V6 finding_closed"),
        ("what is dismissed is not fixed", judging("R2 fixed"), "V6 finding_closed"),
        ("what is fixed is not dismissed", judging("R3 dismissed"), "V6 finding_closed"),
        ("what is fixed is not merged", judging("R3 merged R1"), "V6 finding_closed"),
        ("open without evidence", saying("R1 open", json!({"evidence": null})), "V5 evidence_missing"),
        ("blank evidence", saying("R6 uncertain", json!({"evidence": " "})), "V5 evidence_missing"),
        ("confirmed by nothing", saying("R6 confirmed", json!({"evidence": null})), "V5 evidence_missing"),
        ("long evidence", saying("R1 open", json!({"evidence": "e".repeat(8_001)})), "V5 text"),
    ]);
}

#[test]
fn what_a_ruling_cites_is_there() {
    let dismissing = |cites: Value| saying("R1 dismissed", json!({"cites": cites}));
    let many: Vec<_> = (0..33).map(|_| json!({"file": "src/a.rs", "line": 1})).collect();
    refuses(vec![
        ("no such file", dismissing(json!([{"file": "src/c.rs", "line": 1}])), "V5 no_such_line"),
        ("no such line", dismissing(json!([{"file": "src/a.rs", "line": 6}])), "V5 no_such_line"),
        ("line 0", dismissing(json!([{"file": "src/a.rs", "line": 0}])), "V5 no_such_line"),
        ("a check of nowhere", dismissing(json!([{"check": "test"}])), "V5 no_such_run"),
        ("half a place", dismissing(json!([{"file": "src/a.rs"}])), "V5 citation"),
        ("neither", dismissing(json!([{}])), "V5 citation"),
        ("both", dismissing(json!([{"check": "test", "file": "src/a.rs", "line": 1}])), "V5 citation"),
        ("one is wrong", dismissing(json!([{"file": "src/a.rs", "line": 1}, {}])), "V5 citation"),
        ("too many", dismissing(json!(many)), "V5 too_many_cites"),
    ]);
}

#[test]
fn new_findings_that_are_refused() {
    let nine: Vec<_> = (0..9).map(|it| new("note", "src/b.rs:4", &format!("Number {it}"))).collect();
    let twice = [defect("src/b.rs:4", "Fresh"), defect("src/b.rs:4", "fresh!")];
    let paths = [
        "../src/a.rs",
        "src/../src/a.rs",
        "/src/a.rs",
        "src\\a.rs",
        "src/*.rs",
        "",
        "./src/a.rs",
        "src//a.rs",
        "src/",
    ];
    refuses(paths.map(|path| ("A31", raising(json!({"file": path})), "V5 path")).into());
    refuses(vec![
        ("A30", raising(json!({"owner": "nobody"})), "V4 unknown_owner"),
        ("A32", raising(json!({"owner": "cli"})), "V5 out_of_scope"),
        ("A33: line 0", raising(json!({"line": 0})), "V5 line"),
        ("A33: past the end", raising(json!({"line": 6})), "V5 no_such_line"),
        ("A33: past every end", raising(json!({"line": 5_000_000_000_u64})), "V5 line"),
        ("no such file", raising(json!({"file": "src/c.rs"})), "V5 no_such_line"),
        ("no line", raising(json!({"line": null})), "V5 place_missing"),
        ("no place", raising(json!({"file": null, "line": null})), "V5 place_missing"),
        ("no owner, and half a place", raising(json!({"owner": null, "line": null})), "V5 place_missing"),
        ("A34", json!({"new": nine}), "V3 too_many_findings"),
        ("long title", raising(json!({"title": "t".repeat(201)})), "V5 title"),
        ("two lines of title", raising(json!({"title": "One\ntwo"})), "V5 title"),
        ("blank title", raising(json!({"title": " "})), "V5 title"),
        ("blank evidence", raising(json!({"evidence": " "})), "V5 text"),
        ("blank fix", raising(json!({"fix": ""})), "V5 text"),
        ("long fix", raising(json!({"fix": "f".repeat(8_001)})), "V5 text"),
        ("twice", json!({"new": twice}), "V5 new_twice"),
    ]);
}

#[test]
fn reports_that_are_refused_as_a_whole() {
    let first = json!({"accounts": [with(&account("R1", "open"), json!({"id_of": "R1"}))]});
    refuses(vec![
        ("A35: the report", json!({"verdict": "good"}), "V2 report_invalid"),
        ("A35: a finding", raising(json!({"severity": "high"})), "V2 report_invalid"),
        ("A35: an account", first, "V2 report_invalid"),
        ("A35: a citation", raising(json!({"cites": [{"url": "x"}]})), "V2 report_invalid"),
        ("another schema", json!({"schema": "review-report.v2"}), "V2 report_invalid"),
        ("no schema", json!({"schema": null}), "V2 report_invalid"),
        ("another status", json!({"status": "good"}), "V2 report_invalid"),
        ("another priority", raising(json!({"priority": "P3"})), "V2 report_invalid"),
        ("another verdict", judging("R1 gone"), "V2 report_invalid"),
        ("no summary", json!({"summary": null}), "V2 report_invalid"),
        ("a blank summary", json!({"summary": " \n"}), "V3 summary"),
        ("a long summary", json!({"summary": "s".repeat(8_001)}), "V3 summary"),
        ("another source", json!({"fingerprint": "0".repeat(64)}), "V3 fingerprint"),
        ("too many paths", json!({"read": vec!["src/a.rs"; 5_001]}), "V3 too_many_paths"),
        ("A36: blocked, with accounts", json!({"status": "blocked"}), "V3 blocked_with_findings"),
    ]);
}

#[test]
fn a36_status_and_lists_agree() {
    let fresh = [defect("src/a.rs:2", "Fresh")];
    let note = [new("note", "src/a.rs:2", "Just so")];
    let rows = [
        ("clean", &fresh[..], "V14 clean_with_new"),
        ("blocked", &fresh[..], "V3 blocked_with_findings"),
        ("blocked", &note[..], "V3 blocked_with_findings"),
        ("findings", &[], "V3 findings_without_any"),
        ("findings", &note[..], "V3 findings_without_any"),
        ("findings", &fresh[..], "accepted"),
        ("clean", &note[..], "accepted"),
        ("clean", &[], "accepted"),
        ("blocked", &[], "accepted"),
    ];
    for (status, raised, expected) in rows {
        assert_eq!(Desk::new().turn(status, &[], raised), expected, "{status} {raised:?}");
    }
    let suspicion = [new("uncertain", "src/a.rs:2", "Perhaps")];
    assert_eq!(Desk::new().turn("clean", &[], &suspicion), "V14 clean_with_new");
}

/// One fault of each step, in the order of the steps. Each is about another finding, so that they can be put together.
type Fault = (&'static str, fn(&mut Value));

const FAULTS: [Fault; 13] = [
    ("V2 report_invalid", |report| report["more"] = json!(1)),
    ("V3 summary", |report| report["summary"] = json!("")),
    ("V4 unknown_owner", |report| {
        raise(report, with(&defect("src/b.rs:4", "4"), json!({"owner": "nobody"})));
    }),
    ("V5 line", |report| raise(report, with(&defect("src/b.rs:4", "5"), json!({"line": 0})))),
    ("V6 finding_closed", |report| judge(report, &account("R2", "fixed"))),
    ("V7 omitted", |report| judge(report, &json!({"id": "R8"}))),
    ("V8 becomes_note", |report| judge(report, &account("R9", "note"))),
    ("V9 dismissed_without_reason", |report| {
        judge(report, &with(&account("R10", "dismissed"), json!({"reason": null})));
    }),
    ("V10 not_attempted", |report| judge(report, &account("R7", "fixed"))),
    ("V11 no_regression_check", |report| judge(report, &account("R1", "fixed"))),
    ("V12 uncertain_fixed", |report| judge(report, &account("R6", "fixed"))),
    ("V13 clean_while_open", |report| report["status"] = json!("clean")),
    // V14 alone needs that nothing is open; here it breaks V13 as well.
    ("V13 clean_while_open", |report| {
        report["status"] = json!("clean");
        raise(report, defect("src/b.rs:4", "14"));
    }),
];

fn raise(report: &mut Value, new: Value) {
    if let Some(all) = report["new"].as_array_mut() {
        all.push(new);
    }
}

/// Puts an account in place of another; one without a verdict leaves it out.
fn judge(report: &mut Value, account: &Value) {
    if let Some(all) = report["accounts"].as_array_mut() {
        all.retain(|it| it["id"] != account["id"]);
        all.extend(account.get("verdict").map(|_| account.clone()));
    }
}

#[test]
fn of_two_broken_steps_the_earlier_one_is_told() {
    let museum = Desk::museum();
    for (at, (expected, fault)) in FAULTS.iter().enumerate() {
        let alone: Fault = (expected, |_| {});
        for (_, later) in FAULTS[at + 1..].iter().chain([&alone]) {
            let mut desk = museum.clone();
            desk.does(desk.begin_command());
            let mut report = desk.report("findings", &accounts(&OPEN), &[]);
            later(&mut report);
            fault(&mut report);
            // V1 comes before everything, V15 after it.
            let other = with(&report, json!({"turn": "t9"}));
            assert_eq!(desk.clone().answers(&other), "ignored", "{report}");
            let mut edited = desk.clone();
            edited.edits("docs/guide.md", Some("# Edited\n"));
            assert_eq!(edited.answers(&report), *expected, "edited: {report}");
            assert_eq!(desk.answers(&report), *expected, "{report}");
        }
    }
    let mut desk = Desk::new();
    desk.does(desk.begin_command());
    let report = desk.report("clean", &[], &[defect("src/b.rs:4", "14")]);
    desk.edits("docs/guide.md", None);
    assert_eq!(desk.answers(&report), "V14 clean_with_new");
}

#[test]
fn every_problem_of_the_step_is_listed_and_no_other() {
    let mut desk = Desk::museum();
    let judged = accounts(&["R1 open", "R6 fixed", "R9 open", "R10 note"]);
    assert_eq!(desk.turn("findings", &judged, &[]), "V7 omitted");
    assert_eq!(desk.problems().len(), 2);
    assert!(desk.problems()[0].starts_with("R7 \u{201c}Line 3\u{201d} is open"), "{:?}", desk.problems());
    assert!(desk.problems()[1].starts_with("R8 \u{201c}Line 4\u{201d} is open"));
    let mut desk = Desk::museum();
    let silent = with(&account("R7", "dismissed"), json!({"reason": null, "evidence": null}));
    let lowered = with(&account("R8", "open"), json!({"priority": "P2"}));
    let mut judged = accounts(&["R1 open", "R2 open", "R6 uncertain", "R9 open", "R10 open"]);
    judged.extend([silent, lowered]);
    assert_eq!(desk.turn("findings", &judged, &[]), "V9 dismissed_without_evidence");
    let starts = [
        "R7 is dismissed without evidence",
        "R7 is dismissed without a reason",
        "R2 was dismissed",
        "the priority of R8",
    ];
    let told = desk.problems().iter().zip(starts).filter(|(told, start)| told.starts_with(start));
    assert_eq!((told.count(), desk.problems().len()), (4, 4), "{:?}", desk.problems());
}

#[test]
fn a30_the_owner_is_named_and_the_rest_is_kept_as_raw_text_only() {
    let mut desk = Desk::new();
    desk.does(desk.begin_command());
    let nobody = with(&defect("src/a.rs:2", "First"), json!({"owner": "nobody"}));
    let report = desk.report("findings", &[], &[nobody, defect("src/a.rs:3", "Second")]);
    assert_eq!(desk.answers(&report), "V4 unknown_owner");
    let expected = "the owner `nobody` of \u{201c}First\u{201d} is not a task of the plan, expected `docs`, `cli`, `lib`";
    assert_eq!(desk.problems(), [expected]);
    assert_eq!(desk.state.findings().count(), 0);
    let Some(Event::ReportRejected { raw, .. }) = desk.log.last().map(|it| &it.event) else { panic!() };
    assert_eq!(*raw, BlobRef::of(report.to_string().as_bytes()));
}

#[test]
fn a34_what_is_over_the_bound_goes_into_the_next_turn() {
    let mut desk = Desk::new();
    let places =
        ["src/a.rs", "src/b.rs", "cli/main.rs"].iter().flat_map(|file| (2..5).map(move |line| (file, line)));
    let raised: Vec<_> =
        places.map(|(file, line)| defect(&format!("{file}:{line}"), &format!("{file} {line}"))).collect();
    assert_eq!(desk.turn("findings", &[], &raised), "V3 too_many_findings");
    assert_eq!(desk.turn("findings", &[], &raised[..8]), "accepted");
    let judged: Vec<_> = (1..9).map(|it| account(&format!("R{it}"), "open")).collect();
    assert_eq!(desk.turn("findings", &judged, &raised[8..]), "accepted");
    assert_eq!(desk.stands()[8], "R9 open defect");
}

#[test]
fn a37_a_report_of_an_older_turn_is_ignored() {
    let mut desk = Desk::new();
    desk.does(desk.begin_command());
    let late = desk.report("findings", &[], &[defect("src/a.rs:2", "Late")]);
    desk.does(desk.begin_command());
    assert_eq!(desk.answers(&late), "ignored");
    assert_eq!(desk.state.turns()[0].outcome, TurnOutcome::Superseded);
    for turn in [json!("t3"), json!("t01"), json!("")] {
        assert_eq!(desk.answers(&with(&late, json!({"turn": turn}))), "ignored");
    }
    assert_eq!(desk.answers(&with(&late, json!({"turn": "t2"}))), "accepted");
}

#[test]
fn a38_to_a40_what_moved_makes_a_report_stale() {
    type Moves = fn(&mut Desk);
    let edited: Moves = |desk| desk.edits("src/a.rs", None);
    let queued: Moves = |desk| desk.source.queued = vec!["a message".to_owned(), "another".to_owned()];
    let replaced: Moves = |desk| {
        desk.does(Command::AcceptPlan { plan: Box::new(other_plan()), reason: "Better.".to_owned() });
    };
    let rows = [
        ("A38", edited, BTreeSet::from(["source"])),
        ("A39", queued, BTreeSet::from(["queued"])),
        ("A40", replaced, BTreeSet::from(["plan"])),
        (
            "all of it",
            |desk: &mut Desk| {
                desk.edits("src/a.rs", None);
                desk.source.queued.push("a message".to_owned());
                desk.does(Command::AcceptPlan { plan: Box::new(other_plan()), reason: "Better.".to_owned() });
            },
            BTreeSet::from(["plan", "queued", "source"]),
        ),
    ];
    for (case, moves, expected) in rows {
        let mut desk = Desk::new();
        assert_eq!(desk.turn("findings", &[], &[defect("src/b.rs:2", "First")]), "accepted");
        desk.does(desk.begin_command());
        let report = desk.report("findings", &accounts(&["R1 open"]), &[defect("src/a.rs:3", "Second")]);
        moves(&mut desk);
        assert_eq!(desk.answers(&report), "stale", "{case}");
        assert_eq!(desk.stands(), ["R1 open defect"], "{case}");
        let TurnOutcome::Stale { raw, moved, .. } = &desk.state.turns()[1].outcome else { panic!("{case}") };
        assert_eq!(*raw, BlobRef::of(report.to_string().as_bytes()), "{case}");
        let words = moved.iter().map(|it| match it {
            Moved::Source { now } => {
                if *now == desk.source.fingerprint {
                    "source"
                } else {
                    ""
                }
            }
            Moved::Plan { now } => {
                if now == desk.state.plan_digest() {
                    "plan"
                } else {
                    ""
                }
            }
            Moved::Queued { count } => {
                if *count as usize == desk.source.queued.len() {
                    "queued"
                } else {
                    ""
                }
            }
        });
        assert_eq!(words.collect::<BTreeSet<_>>(), expected, "{case}");
        if !expected.contains("queued") {
            assert_eq!(desk.offer(), Offer::Review { why: NotReviewed::OtherSource }, "{case}");
        }
        assert_eq!(desk.answers(&report), "ignored", "{case}");
    }
}

/// The reviewer was given the plan of before, so that its tasks are the ones that count.
#[test]
fn a40_a_report_is_stale_although_the_new_plan_has_no_such_task() {
    let mut desk = Desk::new();
    desk.does(desk.begin_command());
    let report = desk.report("findings", &[], &[defect("docs/guide.md:3", "First")]);
    let mut without = plan();
    without.tasks.remove(0);
    desk.does(Command::AcceptPlan { plan: Box::new(without), reason: "Less.".to_owned() });
    assert_eq!(desk.answers(&report), "stale");
}

#[test]
fn a41_the_same_version_reviewed_again_does_not_erase_what_is_open() {
    let mut desk = Desk::new();
    assert_eq!(desk.turn("findings", &[], &[defect("src/a.rs:2", "First")]), "accepted");
    assert_eq!(desk.turn("clean", &[], &[]), "V7 omitted");
    assert_eq!(desk.turn("clean", &accounts(&["R1 open"]), &[]), "V13 clean_while_open");
    assert_eq!(desk.stands(), ["R1 open defect"]);
}

#[test]
fn a46_a_report_that_is_delivered_twice_counts_once() {
    let mut desk = Desk::new();
    desk.does(desk.begin_command());
    let report = desk.report("findings", &[], &[defect("src/a.rs:2", "First")]);
    assert_eq!(desk.answers(&report), "accepted");
    let events = desk.log.len();
    assert_eq!(desk.answers(&report), "ignored");
    assert_eq!(desk.log.len(), events);
    assert_eq!(desk.stands(), ["R1 open defect"]);
}

#[test]
fn a47_a_malformed_report_may_be_corrected_once() {
    let rows: [&[u8]; 5] = [b"", b"All is well.", b"{\"turn\": \"t1\"", b"[]", b"\xff\xfe"];
    for bytes in rows {
        let mut desk = Desk::new();
        desk.does(desk.begin_command());
        assert_eq!(desk.answers_bytes(bytes), "V2 report_invalid");
        assert!(desk.state.live_turn().is_some());
        let mut corrected = desk.clone();
        assert_eq!(corrected.answers(&corrected.report("clean", &[], &[])), "accepted");
        assert_eq!(desk.answers_bytes(bytes), "V2 report_invalid");
        let TurnOutcome::Paused { raw, .. } = &desk.state.turns()[0].outcome else { panic!() };
        assert_eq!(*raw, BlobRef::of(bytes));
        assert_eq!(desk.answers(&desk.report("clean", &[], &[])), "ignored");
        assert!(!desk.gate().is_open());
        assert_eq!(desk.turn("clean", &[], &[]), "accepted");
        assert_eq!(desk.state.turns()[1].id, TurnId::after(1));
    }
    let mut desk = Desk::new();
    desk.does(desk.begin_command());
    let large = vec![b' '; (4 << 20) + 1];
    assert_eq!(desk.answers_bytes(&large), "V2 report_too_large");
}

/// What is refused is recorded whatever it holds; else nobody would be told.
#[test]
fn a47_what_is_wrong_can_be_recorded_whatever_the_report_holds() {
    let long = format!("R{}", " ".repeat(5_000));
    let rows = [
        ("a member that controls a terminal", json!({"\u{1b}[2J": 1}), "V2 report_invalid"),
        ("such a word", json!({"status": "\u{7}"}), "V2 report_invalid"),
        ("such an id", json!({"accounts": [account("\u{1b}", "open")]}), "V5 text"),
        ("an id that is cut off", json!({"accounts": [account(&long, "open")]}), "V6 unknown_finding"),
        ("a member that is cut off", json!({long.clone(): 1}), "V2 report_invalid"),
        ("such an owner", raising(json!({"owner": "\u{1b}", "title": "A\u{1b}"})), "V4 unknown_owner"),
        ("such a path", raising(json!({"file": "src/\u{1b}", "title": "A\u{1b}"})), "V5 path"),
    ];
    let answer = |says: Value| {
        let mut desk = Desk::museum();
        desk.does(desk.begin_command());
        let bytes = with(&desk.report("findings", &accounts(&OPEN), &[]), says).to_string().into_bytes();
        let (raw, source) = (BlobRef::of(&bytes), Box::new(desk.source.clone()));
        match desk.tries(Command::Submit { bytes, raw, source }).as_deref() {
            Ok([Event::ReportRejected { step, code, .. }]) => format!("{step} {code}"),
            Ok(events) => format!("{events:?}"),
            Err(refusal) => format!("not recorded: {}", refusal.code()),
        }
    };
    let answers = rows.clone().map(|(case, says, _)| (case, answer(says)));
    assert_eq!(answers, rows.map(|(case, _, expected)| (case, expected.to_owned())));
}

#[test]
fn commands_that_are_refused_leave_everything_as_it_is() {
    let desk = Desk::new();
    assert_eq!(desk.refusal(Command::Open {}).code(), "review_already_open");
    let queued = Command::Begin {
        fingerprint: desk.source.fingerprint,
        instructions: desk.source.fingerprint,
        manifest: None,
        reviewer: None,
        queued: vec!["a message".to_owned()],
    };
    assert_eq!(desk.refusal(queued).code(), "review_queued");
    assert_eq!(desk.refusal(Desk::decision("R1", Decision::Close {})).code(), "unknown_finding");
    let mut unopened = desk.clone();
    unopened.state = <Review as harn_ledger::Decider>::init(&desk.intent);
    assert_eq!(unopened.refusal(desk.begin_command()).code(), "review_not_open");
    assert_eq!(id("R1").number(), 1);
}
