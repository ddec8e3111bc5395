//! Random commands from several threads at once: what was acknowledged is one history that all of them could have seen.

use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use harn_ledger::disk::{Disk, MemDisk, OsDisk};
use harn_ledger::{AppendError, Entry, ExecuteError, Expect, Ledger, Recorded, Stream, VerifyOptions};
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::account::{Account, AccountCommand, AccountEvent, AccountRefusal, credited, noted, open_account};
use crate::store::{config, open};

/// What a thread does, one after the other.
#[derive(Debug, Clone, Copy)]
enum Action {
    Append {
        events: usize,
    },
    /// Only if nothing came after the head that it looked at just before.
    AppendBehindHead,
    Debit(u64),
    Look,
    /// Forgets what it knows and opens the ledger anew, as another process would.
    Restart,
}

/// What came of it, with the last sequence number that anybody knew to be acknowledged when it began.
#[derive(Debug)]
struct Outcome {
    known_before: u64,
    what: Seen,
}

#[derive(Debug)]
enum Seen {
    Committed(Vec<Recorded<AccountEvent>>),
    /// Sequence numbers of all events in the state.
    State(Vec<u64>),
    /// A debit was refused because no more than this was left.
    Overdrawn(u64),
    /// Somebody else was faster.
    Conflict,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => (1..4_usize).prop_map(|events| Action::Append { events }),
        2 => Just(Action::AppendBehindHead),
        4 => (1..6_u64).prop_map(Action::Debit),
        3 => Just(Action::Look),
        1 => Just(Action::Restart),
    ]
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn threads_agree_on_one_history(scripts in vec(vec(action(), 1..16), 2..5)) {
        let directory = TempDir::new().unwrap();
        run(MemDisk::new(), "/bank".as_ref(), &scripts);
        run(OsDisk, &directory.path().join("bank"), &scripts);
    }
}

fn run(disk: impl Disk + Clone + 'static, root: &Path, scripts: &[Vec<Action>]) {
    let ledger = open(disk.clone(), root);
    open_account(&ledger, "a");
    let acknowledged = AtomicU64::new(1);
    let start = Barrier::new(scripts.len());
    let outcomes: Vec<Vec<Outcome>> = std::thread::scope(|scope| {
        let threads: Vec<_> = scripts
            .iter()
            .enumerate()
            .map(|(number, script)| {
                // Every other thread shares its handle with the first, the rest share nothing.
                let own = if number % 2 == 0 { ledger.clone() } else { open(disk.clone(), root) };
                let (disk, start, acknowledged) = (disk.clone(), &start, &acknowledged);
                scope.spawn(move || {
                    start.wait();
                    play(own, &|| open(disk.clone(), root), number, script, acknowledged)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let fresh = open(disk, root);
    let history = fresh.stream::<Account>("a").unwrap().history().unwrap();
    assert_eq!(fresh.verify(&VerifyOptions::default()).problems, []);
    assert_one_history(&history, &outcomes);
}

fn play(
    mut ledger: Ledger,
    restart: &dyn Fn() -> Ledger,
    number: usize,
    script: &[Action],
    acknowledged: &AtomicU64,
) -> Vec<Outcome> {
    let mut stream: Stream<Account> = ledger.stream("a").unwrap();
    let mut outcomes = Vec::new();
    for (index, action) in script.iter().enumerate() {
        let known_before = acknowledged.load(Ordering::SeqCst);
        let note = |event: usize| noted(1, &format!("{number} {index} {event}"));
        let what = match *action {
            Action::Append { events } => {
                let events = (0..events).map(note).collect();
                Seen::Committed(stream.append(Expect::Any, "teller", events).unwrap().events)
            }
            Action::AppendBehindHead => {
                let head = stream.head().unwrap();
                match stream.append(Expect::Head(head), "teller", vec![note(0), credited(2)]) {
                    Ok(committed) => Seen::Committed(committed.events),
                    Err(AppendError::Conflict { .. }) => Seen::Conflict,
                    Err(other) => panic!("{other}"),
                }
            }
            Action::Debit(cents) => match stream.execute("teller", AccountCommand::Debit(cents)) {
                Ok(committed) => Seen::Committed(committed.events),
                Err(ExecuteError::Refused(AccountRefusal::Overdrawn { left })) => Seen::Overdrawn(left),
                Err(ExecuteError::Append(AppendError::Conflict { .. })) => Seen::Conflict,
                Err(other) => panic!("{other}"),
            },
            Action::Look => Seen::State(stream.state().unwrap().folded),
            Action::Restart => {
                ledger = restart();
                stream = ledger.stream("a").unwrap();
                continue;
            }
        };
        if let Seen::Committed(events) = &what {
            acknowledged.fetch_max(events.last().unwrap().seq, Ordering::SeqCst);
        }
        outcomes.push(Outcome { known_before, what });
    }
    outcomes
}

/// Everything that was acknowledged stands in the history exactly once, nothing else does, and everything that was seen
/// can have been seen at some point between the beginning and the end of the looking.
fn assert_one_history(history: &[Entry<AccountEvent>], outcomes: &[Vec<Outcome>]) {
    assert!(history.iter().map(Entry::seq).eq(1..=history.len() as u64), "a gap");
    let events: Vec<&Recorded<AccountEvent>> = history.iter().map(|entry| entry.domain().unwrap()).collect();
    let at = |seq: u64| usize::try_from(seq).unwrap();

    let mut balances = vec![0_u64];
    for recorded in &events {
        let balance = *balances.last().unwrap();
        balances.push(match recorded.event {
            AccountEvent::Credited { cents, .. } => balance + cents,
            AccountEvent::Debited { cents } => {
                balance.checked_sub(cents).expect("a debit that was not allowed")
            }
            _ => balance,
        });
    }

    let mut committed: Vec<u64> = vec![1];
    for thread in outcomes {
        let mut own_last = 1;
        for Outcome { known_before, what } in thread {
            let known = own_last.max(*known_before);
            match what {
                Seen::Committed(recorded) => {
                    let first = recorded[0].seq;
                    assert!(first > known, "event {first} was recorded before event {known}");
                    let stand = &events[at(first) - 1..][..recorded.len()];
                    assert!(
                        stand.iter().copied().eq(recorded),
                        "a batch that is not there as it was acknowledged"
                    );
                    committed.extend(recorded.iter().map(|event| event.seq));
                    own_last = recorded.last().unwrap().seq;
                }
                Seen::State(folded) => {
                    assert!(folded.iter().copied().eq(1..=folded.len() as u64), "events were left out");
                    own_last = folded.len() as u64;
                    assert!(own_last >= known, "event {known} was acknowledged, and not seen later");
                }
                Seen::Overdrawn(left) => {
                    assert!(balances[at(known)..].contains(left), "{left} cents were never left");
                }
                Seen::Conflict => {}
            }
        }
    }
    committed.sort_unstable();
    assert!(committed.into_iter().eq(1..=history.len() as u64), "lost, repeated, or never acknowledged");
}
