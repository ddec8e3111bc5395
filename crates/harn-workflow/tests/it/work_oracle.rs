//! State, next action and budget told a second time, from the bare list of events, without a fold.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use harn_ledger::StreamId;
use harn_workflow::work::{
    ApprovalStatus, Class, Event, Intent, ItemState, NextAction, Observed, Outcome, RunShows,
};

/// What the oracle tells.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) state: ItemState,
    pub(crate) next_action: NextAction,
    pub(crate) used: usize,
    pub(crate) charged: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Passed,
    Unpassed(Option<Class>),
    Parked,
    Running,
}

pub(crate) fn tell(intent: &Intent, log: &[Event], seen: &Observed) -> Told {
    let starts: Vec<usize> =
        (0..log.len()).filter(|&index| matches!(log[index], Event::AttemptStarted { .. })).collect();
    let decided = log.iter().rev().find(|event| {
        matches!(event, Event::Accepted { .. } | Event::Cancelled { .. } | Event::Reopened { .. })
    });
    let finished = matches!(decided, Some(Event::Accepted { .. } | Event::Cancelled { .. }));
    let fates: Vec<Fate> = starts
        .iter()
        .enumerate()
        .map(|(nth, &from)| {
            // The events of one attempt lie before the start of the next.
            let to = starts.get(nth + 1).copied().unwrap_or(log.len());
            judged(fate(&log[from..to], seen, finished), log, nth + 1)
        })
        .collect();
    let charged = fates.iter().filter(|fate| !matches!(fate, Fate::Unpassed(Some(_)))).count();
    let granted: u32 =
        log.iter().map(|event| if let Event::Granted { attempts, .. } = event { *attempts } else { 0 }).sum();
    let left = i64::from(intent.max_attempts + granted) - i64::try_from(charged).unwrap();
    assert!(left >= 0, "the budget is overdrawn");

    let since = log.iter().rposition(|event| matches!(event, Event::Reopened { .. })).unwrap_or(0);
    let window: Vec<Fate> =
        starts.iter().zip(&fates).filter(|&(&start, _)| start >= since).map(|(_, &fate)| fate).collect();
    let in_a_row = window.iter().rev().take_while(|fate| matches!(fate, Fate::Unpassed(Some(_)))).count();
    let at_bound = in_a_row >= intent.max_uncharged_attempts as usize;
    let ready = |id: &StreamId| {
        seen.dependencies.iter().any(|it| it.id == *id && it.state == Some(ItemState::Succeeded))
    };
    let waits = !intent.dependencies.iter().all(ready);
    let again = if left > 0 { NextAction::Retry } else { NextAction::None };

    let (state, next_action) = match (decided, window.last(), waits) {
        (Some(Event::Accepted { .. }), ..) => (ItemState::Succeeded, NextAction::None),
        (Some(Event::Cancelled { .. }), ..) => (ItemState::Cancelled, NextAction::None),
        (_, Some(Fate::Running), _) => (ItemState::Running, NextAction::WaitForRun),
        (_, Some(Fate::Parked), _) => match seen.approval {
            Some(ApprovalStatus::Approved | ApprovalStatus::Denied) => {
                (ItemState::AwaitingApproval, NextAction::Resume)
            }
            _ => (ItemState::AwaitingApproval, NextAction::ResolveApproval),
        },
        (_, Some(Fate::Passed), _) => (ItemState::InReview, NextAction::Review),
        (_, _, true) => (ItemState::Waiting, NextAction::WaitForDependencies),
        (_, None, _) if left == 0 => (ItemState::Blocked, NextAction::None),
        (_, None, _) => (ItemState::Ready, NextAction::Run),
        (_, Some(Fate::Unpassed(Some(Class::Environment | Class::Decision))), _) => {
            (ItemState::Blocked, NextAction::None)
        }
        (_, Some(Fate::Unpassed(Some(_))), _) if at_bound => (ItemState::Blocked, NextAction::None),
        (_, Some(Fate::Unpassed(_)), _) => (ItemState::Blocked, again),
    };
    Told { state, next_action, used: starts.len(), charged }
}

/// What a person said about an attempt stands above what was recorded, unless it passed or is under way.
fn judged(fate: Fate, log: &[Event], number: usize) -> Fate {
    let words = log.iter().rev().filter_map(|event| match event {
        Event::AttemptRecharged { attempt, class, .. } if *attempt as usize == number => Some(*class),
        _ => None,
    });
    match (fate, words.take(1).next()) {
        (Fate::Unpassed(_), Some(class)) => Fate::Unpassed(class),
        (fate, _) => fate,
    }
}

/// What became of the attempt with these events, of which the first is its start.
fn fate(events: &[Event], seen: &Observed, finished: bool) -> Fate {
    let of = |outcome: Outcome, class: Option<Class>| {
        if outcome == Outcome::Passed { Fate::Passed } else { Fate::Unpassed(class) }
    };
    for event in events.iter().rev() {
        match event {
            Event::AttemptEnded { outcome, class, .. } => return of(*outcome, *class),
            Event::AttemptParked { .. } | Event::AttemptResumed { .. } | Event::AttemptStarted { .. } => {
                let parked = matches!(event, Event::AttemptParked { .. });
                return match &seen.run {
                    _ if seen.held_by_other => Fate::Running,
                    Some(RunShows::Ended(end)) => of(end.outcome(), end.class()),
                    Some(RunShows::Parked { .. }) if !finished => Fate::Parked,
                    _ if parked && !finished => Fate::Parked,
                    Some(
                        RunShows::Absent
                        | RunShows::Open { worked: false }
                        | RunShows::Parked { worked: false, .. },
                    ) => Fate::Unpassed(Some(Class::Interrupted)),
                    _ => Fate::Unpassed(None),
                };
            }
            _ => {}
        }
    }
    unreachable!("an attempt begins with its start")
}
