//! Random commands under random circumstances: what holds whatever happens.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeSet;

use harn_ledger::{Decider, StreamId, Timestamp};
use harn_workflow::work::{
    Accept, ApprovalStatus, Carry, Class, Command, Dependency, Disposition, End, Event, ItemState, NewItem,
    NextAction, Outcome, Projection, Reopen, ReviewFact, Role, Ruling, RunShows, State, Trigger, Work,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::work_harness::{Desk, actor, clean, closed, id, new_item, proof};
use crate::work_oracle::{Told, tell};

/// One command and everything around it, before it is fitted to the item.
#[derive(Debug, Clone)]
struct Step {
    verb: Verb,
    role: Role,
    actor: &'static str,
    held_by_other: bool,
    run: Option<RunShows>,
    approval: Option<ApprovalStatus>,
    base: Option<ItemState>,
    proof_found: bool,
    pause: i64,
}

#[derive(Debug, Clone)]
enum Verb {
    Begin(Trigger, bool),
    Park(u8),
    Resume,
    End(End),
    Reconcile,
    Accept { dispose: Vec<bool>, defer: bool, twice: bool, only_raiser: bool, review: Option<ReviewFact> },
    Cancel,
    Reopen { findings: Vec<&'static str>, carry: u8, supersede_all: bool, grant: Option<u32> },
    Note,
    Grant(u32),
    Recharge(u32, Option<Class>),
}

fn ends() -> impl Strategy<Value = End> {
    let failure = |class| End::new(Outcome::Failed, class, None, Some("boom"), None).unwrap();
    prop_oneof![
        3 => Just(End::passed(proof(1))),
        2 => Just(failure(None)),
        1 => Just(failure(Some(Class::Environment))),
        2 => Just(failure(Some(Class::Upstream))),
        1 => Just(failure(Some(Class::Decision))),
        1 => Just(failure(Some(Class::Interrupted))),
        1 => any::<bool>().prop_map(End::lost),
    ]
}

fn classes() -> impl Strategy<Value = Option<Class>> {
    let classes = vec![Class::Environment, Class::Upstream, Class::Decision, Class::Interrupted];
    proptest::option::of(select(classes))
}

fn runs() -> impl Strategy<Value = Option<RunShows>> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(RunShows::Absent)),
        4 => any::<bool>().prop_map(|worked| Some(RunShows::Open { worked })),
        1 => (0..2_u8, any::<bool>())
            .prop_map(|(n, worked)| Some(RunShows::Parked { approval_id: id(&format!("apr-{n}")), worked })),
        2 => ends().prop_map(|end| Some(RunShows::Ended(end))),
        1 => Just(Some(RunShows::Unreadable { why: "damaged".to_owned() })),
    ]
}

fn reviews() -> impl Strategy<Value = Option<ReviewFact>> {
    select(vec![Some(clean()), Some(clean()), Some(closed(&["not clean"])), None])
}

fn verbs() -> impl Strategy<Value = Verb> {
    let carry =
        (vec(select(vec!["a", "b", "c"]), 0..4), 0..4_u8, any::<bool>(), proptest::option::of(0..3_u32));
    prop_oneof![
        4 => any::<bool>().prop_map(|used| Verb::Begin(Trigger::Initial, used)),
        4 => any::<bool>().prop_map(|used| Verb::Begin(Trigger::Retry, used)),
        2 => (0..2_u8).prop_map(Verb::Park),
        2 => Just(Verb::Resume),
        6 => ends().prop_map(Verb::End),
        2 => Just(Verb::Reconcile),
        3 => (vec(any::<bool>(), 0..5), any::<bool>(), any::<bool>(), any::<bool>(), reviews()).prop_map(
            |(dispose, defer, twice, only_raiser, review)| {
                Verb::Accept { dispose, defer, twice, only_raiser, review }
            }
        ),
        1 => Just(Verb::Cancel),
        3 => carry.prop_map(|(findings, carry, supersede_all, grant)| {
            Verb::Reopen { findings, carry, supersede_all, grant }
        }),
        1 => Just(Verb::Note),
        1 => (0..3_u32).prop_map(Verb::Grant),
        2 => (0..5_u32, classes()).prop_map(|(number, class)| Verb::Recharge(number, class)),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let role =
        prop_oneof![6 => Just(Role::Person), 1 => Just(Role::Automation), 1 => Just(Role::WorkflowChild)];
    let approval = select(vec![
        None,
        Some(ApprovalStatus::Pending),
        Some(ApprovalStatus::Approved),
        Some(ApprovalStatus::Denied),
    ]);
    let base = prop_oneof![
        8 => Just(Some(ItemState::Succeeded)),
        1 => Just(None),
        1 => select(ItemState::ALL.to_vec()).prop_map(Some),
    ];
    let held = prop::bool::weighted(0.1);
    let found = prop::bool::weighted(0.9);
    let who = select(vec!["ada", "bob"]);
    (verbs(), role, who, held, runs(), approval, base, found, 0..200_i64).prop_map(
        |(verb, role, actor, held_by_other, run, approval, base, proof_found, pause)| Step {
            verb,
            role,
            actor,
            held_by_other,
            run,
            approval,
            base,
            proof_found,
            pause,
        },
    )
}

/// The run that is most likely meant.
fn latest_run(state: &State) -> StreamId {
    state.attempts().last().map_or_else(|| id("wf-none"), |attempt| attempt.run_id.clone())
}

fn command(desk: &Desk, verb: &Verb) -> Command {
    let open = &desk.state.findings().open;
    match verb {
        Verb::Begin(trigger, used) => {
            let fresh = id(&format!("wf-{}", desk.state.attempts().len() + 1));
            let run_id =
                if *used && desk.log.len().is_multiple_of(5) { latest_run(&desk.state) } else { fresh };
            Command::Begin { run_id, trigger: *trigger }
        }
        Verb::Park(approval) => {
            let approval_id = id(&format!("apr-{approval}"));
            Command::Park { run_id: latest_run(&desk.state), approval_id }
        }
        Verb::Resume => Command::Resume,
        Verb::End(end) => Command::End { run_id: latest_run(&desk.state), end: end.clone() },
        Verb::Reconcile => Command::Reconcile,
        Verb::Accept { dispose, defer, twice, only_raiser, review } => {
            let outcome = if *defer { Ruling::Deferred } else { Ruling::Fixed };
            let said = |index: usize| dispose.get(index).copied().unwrap_or(true);
            let mut dispositions: Vec<_> = open
                .iter()
                .enumerate()
                .filter(|&(index, _)| said(index))
                .map(|(_, finding)| Disposition { id: finding.id, outcome, reason: Some("so".to_owned()) })
                .collect();
            if *twice && desk.log.len().is_multiple_of(3) {
                dispositions.extend(dispositions.first().cloned());
            }
            let (only_raiser, review) = (*only_raiser, review.clone());
            Command::Accept(Accept { dispositions, only_raiser, review, ..Accept::default() })
        }
        Verb::Cancel => Command::Cancel { reason: None },
        Verb::Reopen { findings, carry, supersede_all, grant } => {
            let carry = match carry {
                0 => Carry::All,
                1 => Carry::These(open.iter().take(1).map(|finding| finding.id).collect()),
                _ => Carry::Unsaid,
            };
            let findings = findings.iter().map(|&it| it.to_owned()).collect();
            let reason = Some("another look".to_owned());
            Command::Reopen(Reopen { reason, findings, carry, supersede_all: *supersede_all, grant: *grant })
        }
        Verb::Note => Command::Note { text: "seen".to_owned() },
        Verb::Recharge(attempt, class) => {
            Command::Recharge { attempt: *attempt, class: *class, reason: "seen".to_owned() }
        }
        Verb::Grant(attempts) => Command::Grant { attempts: *attempts, reason: "why".to_owned() },
    }
}

/// What every accepted command must leave behind.
fn check_log(desk: &Desk) {
    let events: Vec<_> = desk.log.iter().map(|recorded| recorded.event.clone()).collect();
    let attempts = desk.state.attempts();
    let numbers: Vec<_> = attempts.iter().map(|attempt| attempt.number).collect();
    let count = u32::try_from(attempts.len()).unwrap();
    assert_eq!(numbers, (1..=count).collect::<Vec<_>>(), "attempt numbers are gapless");
    let runs: BTreeSet<_> = attempts.iter().map(|attempt| &attempt.run_id).collect();
    assert_eq!(runs.len(), attempts.len(), "no two attempts share a run");
    let earlier = attempts.split_last().map_or(&[][..], |(_, earlier)| earlier);
    assert!(earlier.iter().all(|attempt| !attempt.is_open()), "only the last attempt can be open");

    let projection = desk.projection();
    let uncharged = projection.attempts.iter().filter(|row| !row.charged).count();
    assert_eq!(projection.charged_attempts as usize + uncharged, attempts.len());
    assert!(desk.state.budget().charged <= desk.state.budget().ceiling());
    for row in projection.attempts.iter().filter(|row| !row.charged) {
        assert!(row.class.is_some(), "what is not positively classed is charged");
    }
    check_order(&events, desk.intent.require_review);
    let told = tell(&desk.intent, &events, &desk.facts.observed);
    let (used, charged) = (projection.attempts_used as usize, projection.charged_attempts as usize);
    let shown = Told { state: projection.state, next_action: projection.next_action, used, charged };
    assert_eq!(shown, told, "the oracle disagrees");
    assert!(harn_ledger::text::check_block("reason", &projection.reason, 2_000).is_ok());
    check_brief(desk);
}

/// A state without its past stands where the whole one stands.
fn check_brief(desk: &Desk) {
    let observed = &desk.facts.observed;
    let what_counts = |state: &State| {
        let shown = Projection::of(state, observed);
        let by_itself = harn_workflow::work::own(state, observed);
        (
            (shown.state, shown.next_action, shown.attempts_text(), shown.attempts_remaining),
            (shown.uncharged_in_a_row, shown.latest_run_id, shown.next_eligible_at, shown.updated_at),
            (by_itself.state, by_itself.reopened, by_itself.dependencies),
        )
    };
    let brief = desk.state.brief();
    assert_eq!(what_counts(&brief), what_counts(&desk.state), "a brief state stands elsewhere");
    assert_eq!(what_counts(&brief.brief()), what_counts(&desk.state), "it is left out twice");
}

/// Nothing happens after the end, and no finding lapses in silence.
fn check_order(events: &[Event], required: bool) {
    let (mut finished, mut open, mut raised) = (false, BTreeSet::new(), BTreeSet::new());
    for event in events {
        match event {
            Event::Accepted { dispositions, review, .. } => {
                assert!(!finished);
                assert_eq!(review.is_some(), required, "a review is on record where one is required");
                let disposed: BTreeSet<_> = dispositions.iter().map(|it| it.id).collect();
                assert_eq!(disposed, open, "one disposition for each open finding");
                open.clear();
                finished = true;
            }
            Event::Cancelled { .. } => {
                assert!(!finished);
                finished = true;
            }
            Event::Reopened { findings, superseded, .. } => {
                finished = false;
                for id in superseded {
                    assert!(open.remove(id), "only what was open is superseded");
                }
                for finding in findings {
                    let carried = open.contains(&finding.id);
                    assert!(carried || raised.insert(finding.id), "ids are never used again");
                    open.insert(finding.id);
                }
                if !findings.is_empty() {
                    assert_eq!(open.len(), findings.len(), "what is replaced is named");
                }
            }
            Event::AttemptEnded { .. } | Event::Reconciled { .. } | Event::Noted { .. } => {}
            other => assert!(!finished, "{other:?} after the end"),
        }
    }
}

/// What is shown as next can be done, and what is suggested is not refused.
fn check_promises(desk: &Desk) {
    let projection = desk.projection();
    assert!(!projection.suggestions.is_empty());
    if desk.facts.observed.held_by_other {
        return;
    }
    let begin = |trigger| Command::Begin { run_id: id("wf-next"), trigger };
    let mut desk = desk.clone();
    desk.facts.caller.role = Role::Automation;
    desk.facts.now = crate::work_harness::at(100_000_000);
    let next = match projection.next_action {
        NextAction::Run => Some(begin(Trigger::Initial)),
        NextAction::Retry => Some(begin(Trigger::Retry)),
        NextAction::Resume => Some(Command::Resume),
        _ => None,
    };
    if let Some(command) = next {
        assert!(Work::decide(&desk.state, command, &desk.facts).is_ok(), "N-09: {}", projection.reason);
    }
    desk.facts.caller.role = Role::Person;
    desk.facts.proof = projection.proof;
    if projection.state == ItemState::Blocked && projection.attempts_remaining > 0 {
        assert!(Work::decide(&desk.state, begin(Trigger::Retry), &desk.facts).is_ok());
    }
    for line in &projection.suggestions {
        let quoted = || Some("why".to_owned());
        let command = match line.split(' ').nth(2).unwrap() {
            "run" if projection.state == ItemState::AwaitingApproval => Command::Resume,
            "run" => begin(Trigger::Initial),
            "retry" => begin(Trigger::Retry),
            "resume" => Command::Resume,
            "grant" => Command::Grant { attempts: 1, reason: "why".to_owned() },
            "accept" => {
                let words = line.split(' ').filter(|word| word.contains('='));
                let dispositions = words.map(|word| word.parse().unwrap()).collect();
                Command::Accept(Accept { dispositions, review: Some(clean()), ..Accept::default() })
            }
            "reopen" => {
                let findings = if line.contains("--finding") { vec!["new".to_owned()] } else { vec![] };
                let grant = line.contains("--grant 1").then_some(1);
                Command::Reopen(Reopen { reason: quoted(), findings, grant, ..Reopen::default() })
            }
            "show" | "log" | "cancel" | "approve" | "deny" | "open" => continue,
            other => panic!("{other}"),
        };
        let decided = Work::decide(&desk.state, command, &desk.facts);
        assert!(decided.is_ok(), "`{line}` is suggested, but {}", decided.unwrap_err());
    }
}

/// Reconciling changes nothing that is shown, and a second time writes nothing.
fn check_reconcile(desk: &Desk) {
    let mut desk = desk.clone();
    let before = desk.projection();
    desk.does(Command::Reconcile);
    let after = desk.projection();
    assert_eq!(
        (before.state, before.next_action, before.reason),
        (after.state, after.next_action, after.reason)
    );
    assert_eq!(before.charged_attempts, after.charged_attempts);
    assert!(desk.does(Command::Reconcile).is_empty());
}

fn after(time: Timestamp, seconds: i64) -> Timestamp {
    Timestamp::from_microseconds(time.as_microseconds() + seconds * 1_000_000)
}

/// A reopen that says the same when it is said again: it does not speak of what the first one left open.
fn is_plain_reopen(command: &Command) -> bool {
    matches!(command, Command::Reopen(it) if !it.supersede_all && it.carry == Carry::Unsaid)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn whatever_happens(
        max_attempts in 1..4_u32,
        max_uncharged_attempts in 1..4_u32,
        require_review: bool,
        steps in vec(steps(), 1..50),
    ) {
        let dependencies = vec![id("base")];
        let item =
            NewItem { dependencies, max_attempts, max_uncharged_attempts, require_review, ..new_item() };
        let mut desk = Desk::of(item);
        for step in steps {
            let observed = &mut desk.facts.observed;
            observed.held_by_other = step.held_by_other;
            observed.run = step.run;
            observed.approval = step.approval;
            observed.dependencies =
                vec![Dependency { id: id("base"), state: step.base, reopened: false, why: "so".to_owned() }];
            desk.facts.caller.actor = actor(step.actor);
            desk.facts.caller.role = step.role;
            desk.facts.now = after(desk.facts.now, step.pause);
            desk.facts.proof = desk.projection().proof.filter(|_| step.proof_found);
            let command = command(&desk, &step.verb);
            let written = desk.tries(command.clone()).map_or(0, |events| events.len());
            if written > 0 && is_plain_reopen(&command) {
                prop_assert_eq!(Work::decide(&desk.state, command, &desk.facts), Ok(vec![]));
            }
            check_log(&desk);
            // As a catalog keeps it.
            let kept = serde_json::to_string(&desk.state).unwrap();
            prop_assert_eq!(&serde_json::from_str::<State>(&kept).unwrap(), &desk.state);
            check_promises(&desk);
            check_reconcile(&desk);
        }
    }
}
