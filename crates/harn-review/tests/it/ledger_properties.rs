//! Whatever is reported and decided, no finding is lost and the gate is never open too early.

use std::collections::BTreeSet;

use harn_ledger::Decider as _;
use harn_review::check::{CheckOutcome, Scope};
use harn_review::event::Decision;
use harn_review::finding::{Decided, Standing};
use harn_review::{Command, Gate, Judgement, Review, validate};
use proptest::prelude::*;
use serde_json::Value;

use super::cases::{Desk, account, defect, new, other_plan, plan};

/// Something that happens. What is not legal just then changes nothing.
#[derive(Debug, Clone)]
enum Step {
    /// A turn whose report says this of each open finding, in this order, and raises this many.
    Turn {
        status: usize,
        verdicts: Vec<usize>,
        omit: bool,
        turned: usize,
        raised: usize,
    },
    Begin,
    Edit(usize),
    Repair(bool),
    Combined(bool),
    Decide {
        finding: usize,
        decision: usize,
    },
    Plan(bool),
    Waive,
}

const VERDICTS: [&str; 6] = ["open", "confirmed", "fixed", "dismissed", "merged R1", "note"];
const STATUSES: [&str; 3] = ["findings", "clean", "blocked"];
const PLACES: [&str; 5] = ["src/a.rs:2", "src/a.rs:3", "src/b.rs:2", "cli/main.rs:2", "cli/main.rs:4"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..3_usize, prop::collection::vec(0..6_usize, 6), prop::bool::weighted(0.1), 0..6_usize, 0..3_usize)
            .prop_map(|(status, verdicts, omit, turned, raised)| Step::Turn { status, verdicts, omit, turned, raised }),
        1 => Just(Step::Begin),
        1 => (0..3_usize).prop_map(Step::Edit),
        3 => any::<bool>().prop_map(Step::Repair),
        3 => prop::bool::weighted(0.8).prop_map(Step::Combined),
        1 => (0..6_usize, 0..4_usize).prop_map(|(finding, decision)| Step::Decide { finding, decision }),
        1 => any::<bool>().prop_map(Step::Plan),
        1 => Just(Step::Waive),
    ]
}

fn takes(desk: &mut Desk, step: &Step, at: usize) {
    match step {
        Step::Turn { status, verdicts, omit, turned, raised } => {
            if desk.tries(desk.begin_command()).is_err() {
                return;
            }
            let open: Vec<_> = desk.state.open().map(|finding| finding.id.to_string()).collect();
            let mut accounts: Vec<Value> =
                open.iter().zip(verdicts.iter().cycle()).map(|(id, &it)| account(id, VERDICTS[it])).collect();
            if *omit {
                accounts.pop();
            }
            let raised: Vec<Value> = (0..*raised)
                .map(|more| {
                    let place = PLACES[(at + more) % PLACES.len()];
                    if at.is_multiple_of(3) { new("uncertain", place, place) } else { defect(place, place) }
                })
                .collect();
            let report = desk.report(STATUSES[*status], &accounts, &raised);
            assert_order_does_not_matter(desk, &report, *turned);
            let _ = desk.answers(&report);
        }
        Step::Begin => drop(desk.tries(desk.begin_command())),
        Step::Edit(what) => desk.edits(
            ["src/a.rs", "src/b.rs", "cli/main.rs"][*what],
            Some(&format!("one\ntwo {at}\nthree\nfour\n")),
        ),
        Step::Repair(green) => {
            let defects: Vec<_> = desk.state.open().map(|finding| finding.id.to_string()).collect();
            for id in &defects {
                let scope = if desk.finding(id).was_attempted() { Scope::Final } else { Scope::Baseline };
                let result = Box::new(desk.result(scope, id, "shows", CheckOutcome::Failed));
                drop(desk.tries(Command::RecordCheck { result }));
            }
            if desk.tries(desk.begin_repair()).is_ok() {
                while let Some(owner) = desk.state.pass_under_way().map(|(_, owner)| owner.to_owned()) {
                    desk.attempts(&owner);
                }
            }
            let outcome = if *green { CheckOutcome::Passed } else { CheckOutcome::Failed };
            for id in
                defects.iter().filter(|id| desk.finding(id).was_attempted()).cloned().collect::<Vec<_>>()
            {
                desk.regression(&id, "shows", outcome);
            }
        }
        Step::Combined(passed) => {
            desk.combined(if *passed { CheckOutcome::Passed } else { CheckOutcome::Failed });
        }
        Step::Decide { finding, decision } => {
            let decision =
                [Decision::Close {}, Decision::Reopen {}, Decision::Confirm {}, Decision::NotReproduced {}]
                    [*decision]
                    .clone();
            drop(desk.tries(Desk::decision(&format!("R{}", finding + 1), decision)));
        }
        Step::Plan(other) => {
            let plan = Box::new(if *other { other_plan() } else { plan() });
            drop(desk.tries(Command::AcceptPlan { plan, reason: "Anew.".to_owned() }));
        }
        Step::Waive => {
            drop(desk.tries(Command::Waive { name: "lint".to_owned(), reason: "Old.".to_owned() }));
        }
    }
}

/// What a report comes to, without the text of it.
fn judged(desk: &Desk, report: &Value) -> String {
    match validate(report.to_string().as_bytes(), &desk.state, &desk.source) {
        Ok(Judgement::Accepted { changes, unread, .. }) => format!("{changes:?} {unread:?}"),
        Ok(Judgement::Stale { moved, .. }) => format!("{moved:?}"),
        Ok(other) => format!("{other:?}"),
        Err(rejection) => format!("{rejection:?}"),
    }
}

fn assert_order_does_not_matter(desk: &Desk, report: &Value, turned: usize) {
    let mut other = report.clone();
    if let Some(accounts) = other["accounts"].as_array_mut().filter(|accounts| !accounts.is_empty()) {
        let by = turned % accounts.len();
        accounts.rotate_left(by);
        accounts.reverse();
    }
    assert_eq!(judged(desk, report), judged(desk, &other));
}

/// Every finding that was ever opened is open, or dealt with on record.
fn assert_nothing_is_lost(desk: &Desk, known: &mut BTreeSet<String>) {
    let now: BTreeSet<String> = desk.state.findings().map(|finding| finding.id.to_string()).collect();
    assert!(known.is_subset(&now), "{known:?} {now:?}");
    for (at, finding) in desk.state.findings().enumerate() {
        assert_eq!(finding.id.to_string(), format!("R{}", at + 1));
        let last = finding.decisions.iter().rev().find(|it| {
            !matches!(
                it.what,
                Decided::Priority { .. } | Decided::Owner { .. } | Decided::NotReproduced { .. }
            )
        });
        match (finding.standing, last.map(|it| &it.what)) {
            (Standing::Open | Standing::Noted, _) | (Standing::Dismissed, Some(Decided::Closed { .. })) => {}
            (Standing::Fixed, Some(Decided::Fixed { checks })) => {
                assert!(!checks.is_empty() && finding.was_attempted());
                let of =
                    |outcome| desk.state.checks_of(finding.id).any(move |result| result.outcome == outcome);
                let excused = finding.not_reproduced.is_some();
                assert!(of(CheckOutcome::Passed) && (excused || of(CheckOutcome::Failed)));
            }
            (Standing::Dismissed, Some(Decided::Dismissed { reason, evidence })) => {
                assert!(!reason.is_empty() && !evidence.cites.is_empty());
            }
            (Standing::Merged, Some(Decided::Merged { .. })) => {
                let mut seen = BTreeSet::from([finding.id]);
                let mut into = finding.merged_into;
                while let Some(id) = into {
                    assert!(seen.insert(id), "{id} is merged in a circle");
                    into = desk.state.finding(id).expect("it is merged into one that is there").merged_into;
                }
            }
            (standing, decided) => panic!("{}: {standing:?} by {decided:?}", finding.id),
        }
    }
    *known = now;
}

/// The gate once more, from the results and turns alone.
fn assert_gate_is_not_open_too_early(desk: &Desk) {
    if !desk.gate().is_open() {
        return;
    }
    let now = desk.source.fingerprint;
    assert!(desk.state.findings().all(|finding| finding.standing != Standing::Open));
    let last = desk.state.turns().last().expect("an open gate rests on a turn");
    assert_eq!((last.fingerprint, last.plan), (now, desk.state.plan().digest()));
    assert!(last.is_clean());
    for check in &desk.state.plan().combined {
        let of = |it: &&harn_review::check::CheckResult| {
            it.scope == Scope::Combined && it.check == *check && it.fingerprint == now
        };
        let newest = desk.state.checks().iter().rfind(of).expect("it was run on this source");
        let waived = matches!(desk.gate(), Gate::Open { waived, .. } if waived.contains(&check.name));
        assert!(newest.outcome == CheckOutcome::Passed || waived, "{}", check.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_finding_is_lost_and_no_gate_opens_too_early(steps in prop::collection::vec(step(), 1..24)) {
        let mut desk = Desk::new();
        let mut known = BTreeSet::new();
        for (at, step) in steps.iter().enumerate() {
            takes(&mut desk, step, at);
            assert_nothing_is_lost(&desk, &mut known);
            assert_gate_is_not_open_too_early(&desk);
        }
        let mut again = Review::init(&desk.intent);
        desk.log.iter().for_each(|recorded| Review::evolve(&mut again, recorded));
        prop_assert_eq!(again, desk.state);
    }
}

/// The steps of the property reach what it is about.
#[test]
fn an_open_gate_is_reached() {
    let mut desk = Desk::new();
    takes(&mut desk, &Step::Combined(true), 0);
    let turn = Step::Turn { status: 1, verdicts: vec![0], omit: false, turned: 0, raised: 0 };
    takes(&mut desk, &turn, 0);
    assert!(desk.gate().is_open());
}
