//! Why an item stands where it stands: the explanation never says what the decision would not do.

use harn_workflow::work::transition::{Cell, Move, Situation, TABLE};
use harn_workflow::work::{Class, End, Explanation, NewItem, Outcome, Rule, RunShows};

use crate::work_harness::{Desk, cancel, failed, new_item, reopen};
use crate::work_transitions::situation;

fn explained(desk: &Desk) -> Explanation {
    Explanation::of(&desk.state, &desk.log, &desk.facts)
}

/// The moves that a person can make, with the words that their command lines begin with.
const VERBS: [(Move, &str); 7] = [
    (Move::Run, "run"),
    (Move::Retry, "retry"),
    (Move::Resume, "resume"),
    (Move::Accept, "accept"),
    (Move::Cancel, "cancel"),
    (Move::Reopen, "reopen"),
    (Move::Grant, "grant"),
];

#[test]
fn what_would_move_it_is_what_the_table_says() {
    for (from, row) in Situation::ALL.into_iter().zip(TABLE) {
        let desk = situation(from);
        let explanation = explained(&desk);
        assert_eq!(explanation.state, from.state(), "{from:?}");
        assert_eq!(explanation.reason, desk.projection().reason, "{from:?}");
        let cell = |step| row[Move::ALL.iter().position(|it| *it == step).unwrap_or(0)];
        for (step, verb) in VERBS {
            let begins = format!("harn work {verb} w1");
            let told: Vec<_> =
                explanation.moves.iter().filter(|it| it.command.starts_with(&begins)).collect();
            // Where a plain reopen is refused for want of attempts, one with a grant is told.
            let cell = match (step, cell(step)) {
                (Move::Reopen, Cell::No(_)) => cell(Move::ReopenWithGrant),
                (_, cell) => cell,
            };
            match (cell, &*told) {
                (Cell::To(state), [one]) => assert_eq!(one.state, state, "{from:?} × {verb}"),
                // What changes nothing is not worth a line.
                (Cell::To(state), []) => assert_eq!(state, from.state(), "{from:?} × {verb}"),
                (Cell::No(_), []) => {}
                (cell, told) => panic!("{from:?} × {verb}: {cell:?}, but told {told:?}"),
            }
        }
    }
}

#[test]
fn the_first_rule_that_holds_decides() {
    for from in Situation::ALL {
        let explanation = explained(&situation(from));
        let before = Rule::ALL.into_iter().take_while(|rule| *rule < explanation.rule.min(Rule::Environment));
        let ruled_out: Vec<_> = explanation.ruled_out.iter().map(|it| it.rule).collect();
        assert_eq!(ruled_out, before.collect::<Vec<_>>(), "{from:?}");
        assert!(explanation.ruled_out.iter().all(|it| !it.why.is_empty()));
    }
    assert!(Rule::ALL.is_sorted());
    // Every rule decides somewhere.
    let mut seen: Vec<Rule> = Situation::ALL.map(|from| explained(&situation(from)).rule).to_vec();
    for class in [Class::Environment, Class::Upstream, Class::Decision] {
        let mut desk = Desk::new();
        desk.attempts(failed(Some(class), "so"));
        seen.push(explained(&desk).rule);
    }
    let mut desk = Desk::new();
    desk.loses(Some(RunShows::Absent));
    seen.push(explained(&desk).rule);
    for rule in Rule::ALL {
        assert!(seen.contains(&rule), "{rule} never decides");
    }
}

#[test]
fn it_rests_on_the_events_that_count() {
    let because = |desk: &Desk| -> Vec<(u64, &'static str, String)> {
        explained(desk).because.into_iter().map(|it| (it.seq, it.event, it.says)).collect()
    };
    let told = |seq, event, says: &str| (seq, event, says.to_owned());

    let mut desk = Desk::of(NewItem { max_attempts: 2, max_uncharged_attempts: 2, ..new_item() });
    assert_eq!(because(&desk), [told(1, "work.created", "")]);

    // Two refusals in a row: both count towards the bound.
    desk.attempts(failed(Some(Class::Upstream), "503"));
    desk.attempts(failed(Some(Class::Upstream), "429"));
    assert_eq!(explained(&desk).rule, Rule::Upstream);
    assert_eq!(
        because(&desk),
        [
            told(2, "attempt.started", "attempt 1, initial"),
            told(3, "attempt.ended", "attempt 1 failed, not charged (upstream): 503"),
            told(4, "attempt.started", "attempt 2, retry"),
            told(5, "attempt.ended", "attempt 2 failed, not charged (upstream): 429"),
        ]
    );

    // A failure is about the last attempt only, until the budget is spent.
    desk.attempts(failed(None, "one"));
    assert_eq!(because(&desk).iter().map(|it| it.0).collect::<Vec<_>>(), [6, 7]);
    desk.attempts(failed(None, "two"));
    let found = explained(&desk);
    assert_eq!(found.because.iter().map(|it| it.seq).collect::<Vec<_>>(), [7, 8, 9]);
    assert_eq!(found.seen, ["2 of 2 charged attempts are used"]);
    let moves: Vec<_> = found.moves.iter().map(|it| &*it.command).collect();
    assert!(moves.contains(&"harn work grant w1 --attempts 1 --reason \"why one more\""), "{moves:?}");

    // A decision stands alone.
    desk.does(cancel());
    assert_eq!(because(&desk), [told(10, "work.cancelled", "")]);
    assert_eq!(explained(&desk).ruled_out[0].why, "nobody has accepted it");

    // A reopen opens a window in which nothing was tried.
    let mut desk = Desk::new();
    desk.passes();
    desk.does(reopen(&["It truncates"]));
    assert_eq!(because(&desk), [told(4, "work.reopened", "with 1 finding")]);
    assert_eq!(explained(&desk).ruled_out[0].why, "its last decision is a reopen");
    desk.passes();
    let found = explained(&desk);
    let accept =
        found.moves.iter().find(|it| it.command.starts_with("harn work accept")).map(|it| &*it.command);
    assert_eq!(accept, Some("harn work accept w1 --dispose f1=fixed"));
}

#[test]
fn what_is_seen_is_said_where_it_counts() {
    let mut desk = Desk::new();
    desk.loses(Some(RunShows::Ended(
        End::new(Outcome::Failed, None, None, Some("x"), None).unwrap_or(End::lost(false)),
    )));
    let seen = explained(&desk).seen;
    assert_eq!(
        seen,
        [
            "nobody holds the item's lease",
            "its run `wf-1` has ended: failed",
            "1 of 3 charged attempts are used"
        ]
    );
    desk.facts.observed.held_by_other = true;
    assert_eq!(explained(&desk).seen[0], "somebody holds the item's lease");
    let waiting = situation(Situation::Waiting);
    assert_eq!(explained(&waiting).seen, ["`base` is ready: so"]);
}
