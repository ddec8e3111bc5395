//! The transition table against the decisions: the whole product.

use harn_workflow::work::transition::{Cell, Move, Situation, TABLE, markdown};
use harn_workflow::work::{
    ApprovalStatus, Class, Command, Dependency, End, ItemState, NewItem, Reopen, RunShows, Trigger,
};

use crate::work_harness::{Desk, accept, cancel, failed, id, new_item, proof, reopen};

/// An item in that situation, as somebody else than its runner sees it.
pub(crate) fn situation(situation: Situation) -> Desk {
    let spent = matches!(situation, Situation::InReviewSpent | Situation::BlockedSpent);
    let dependencies = vec![id("base")];
    let mut desk = Desk::of(NewItem { dependencies, max_attempts: if spent { 1 } else { 3 }, ..new_item() });
    let base = |state| {
        vec![Dependency { id: id("base"), state: Some(state), reopened: false, why: "so".to_owned() }]
    };
    desk.facts.observed.dependencies = base(ItemState::Succeeded);
    let lost = |desk: &mut Desk| desk.loses(Some(RunShows::Open { worked: true }));
    let parked = |desk: &mut Desk, status| {
        lost(desk);
        desk.does(Command::Park { run_id: id("wf-1"), approval_id: id("apr-1") });
        desk.facts.observed.approval = Some(status);
    };
    match situation {
        Situation::Waiting => desk.facts.observed.dependencies = base(ItemState::Ready),
        Situation::WaitingLost => {
            lost(&mut desk);
            desk.facts.observed.dependencies = base(ItemState::Ready);
        }
        Situation::Ready => {}
        Situation::Running => {
            lost(&mut desk);
            desk.facts.observed.held_by_other = true;
        }
        Situation::Undecided => parked(&mut desk, ApprovalStatus::Pending),
        Situation::Decided => parked(&mut desk, ApprovalStatus::Approved),
        Situation::InReview | Situation::InReviewSpent => desk.passes(),
        Situation::Lost => lost(&mut desk),
        Situation::Blocked | Situation::BlockedSpent => desk.attempts(failed(None, "boom")),
        Situation::Succeeded => {
            desk.passes();
            desk.does(accept(&[]));
        }
        Situation::Stopping => {
            lost(&mut desk);
            desk.facts.observed.held_by_other = true;
            desk.does(cancel());
        }
        Situation::Cancelled => {
            desk.attempts(failed(None, "boom"));
            desk.does(cancel());
        }
    }
    desk
}

fn command(step: Move) -> Command {
    let (run_id, new) = (id("wf-1"), id("wf-2"));
    let reason = || Some("why".to_owned());
    match step {
        Move::Run => Command::Begin { run_id: new, trigger: Trigger::Initial },
        Move::Retry => Command::Begin { run_id: new, trigger: Trigger::Retry },
        Move::Park => Command::Park { run_id, approval_id: id("apr-1") },
        Move::Resume => Command::Resume,
        Move::Pass => Command::End { run_id, end: End::passed(proof(1)) },
        Move::Fail => Command::End { run_id, end: failed(None, "boom") },
        Move::Accept => accept(&[]),
        Move::Cancel => cancel(),
        Move::Reopen => reopen(&[]),
        Move::ReopenWithGrant => {
            Command::Reopen(Reopen { reason: reason(), grant: Some(1), ..Reopen::default() })
        }
        Move::Note => Command::Note { text: "seen".to_owned() },
        Move::Grant => Command::Grant { attempts: 1, reason: "why".to_owned() },
        Move::Recharge => {
            let class = Some(Class::Environment);
            Command::Recharge { attempt: 1, class, reason: "why".to_owned() }
        }
        Move::Reconcile => Command::Reconcile,
    }
}

#[test]
fn the_whole_product() {
    let mut wrong = Vec::new();
    for (row, from) in Situation::ALL.into_iter().enumerate() {
        for (column, step) in Move::ALL.into_iter().enumerate() {
            let mut desk = situation(from);
            assert_eq!(desk.projection().state, from.state(), "{from:?}");
            let by_runner = matches!(step, Move::Park | Move::Pass | Move::Fail);
            let held = std::mem::take(&mut desk.facts.observed.held_by_other);
            desk.facts.observed.held_by_other = held && !by_runner;
            let decided = desk.tries(command(step)).map_err(|refusal| refusal.code());
            let starts = matches!(step, Move::Run | Move::Retry | Move::Resume);
            desk.facts.observed.held_by_other = starts || (held && !by_runner);
            let found = match decided {
                Ok(_) => Cell::To(desk.projection().state),
                Err(code) => Cell::No(code),
            };
            if found != TABLE[row][column] {
                wrong.push(format!("{from:?} × {step:?}: {found:?}, not {:?}", TABLE[row][column]));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_table_shows_every_state_and_reaches_it() {
    for state in ItemState::ALL {
        assert!(Situation::ALL.iter().any(|it| it.state() == state), "{state}");
        assert!(TABLE.iter().flatten().any(|cell| *cell == Cell::To(state)), "{state}");
    }
}

#[test]
fn the_table_in_markdown() {
    let printed = markdown();
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines.len(), 2 + Situation::ALL.len());
    let columns = Move::ALL.len() + 1;
    assert!(lines.iter().all(|line| line.matches('|').count() == columns + 1), "{printed}");
    assert!(lines[0].starts_with("| state | run | retry | park | resume | end: passed |"));
    assert!(lines[4].starts_with("| ready | running | *wrong_state* | *no_open_attempt* |"), "{}", lines[4]);
    assert!(
        lines[10].starts_with("| blocked (attempt lost and open) | *needs_retry* | running |"),
        "{}",
        lines[10]
    );
}
