//! A child process that is killed in the middle of its work, again and again: what it acknowledged is there.

use std::collections::BTreeSet;
use std::path::Path;

use harn_ledger::disk::OsDisk;
use harn_ledger::{Expect, Ledger, ProblemKind, VerifyOptions};

use crate::account::{Account, AccountEvent, Owner, credited, noted, open_account};
use crate::process::{Player, say};
use crate::store::{on_disk, open};

/// Hundreds of kills, over several ledgers: each is read whole after every kill, so it must not grow for long.
const LEDGERS: usize = 8;
const ROUNDS: usize = 25;

/// The role of a child: appends batches of three as fast as it can, and says each number once it is acknowledged.
pub(crate) fn append_until_killed(root: &Path) {
    let stream = Ledger::open(root).unwrap().stream::<Account>("a").unwrap();
    for number in stream.state().unwrap().notes.len().. {
        let events = vec![credited(1), noted(1, &number.to_string()), noted(0, &"long ".repeat(2000))];
        stream.append(Expect::Any, "child", events).unwrap();
        say(&number.to_string());
    }
}

/// Lets the child acknowledge a few, then a little more or less time go by, and kills it.
fn acknowledged(role: &str, root: &Path, round: usize) -> Vec<String> {
    let mut child = Player::start(role, root);
    let mut said: Vec<String> = (0..=round % 4).map(|_| child.listen().unwrap()).collect();
    for _ in 0..(round * 37) % 101 {
        std::thread::yield_now();
    }
    said.extend(child.kill());
    said
}

#[test]
fn nothing_acknowledged_is_lost_when_an_appender_is_killed() {
    for _ in 0..LEDGERS {
        kill_appenders();
    }
}

fn kill_appenders() {
    let (_directory, root, ledger) = on_disk();
    open_account(&ledger, "a");
    let mut acknowledged_so_far = BTreeSet::new();
    for round in 0..ROUNDS {
        acknowledged_so_far.extend(acknowledged("append until killed", &root, round));

        let ledger = open(OsDisk, &root);
        for problem in ledger.verify(&VerifyOptions::default()).problems {
            assert!(matches!(problem.kind, ProblemKind::UnfinishedTail(_)), "round {round}: {problem:?}");
        }
        let stream = ledger.stream::<Account>("a").unwrap();
        let state = stream.state().unwrap();
        let notes: BTreeSet<String> =
            state.notes.iter().filter(|note| !note.starts_with("long")).cloned().collect();
        assert_eq!(acknowledged_so_far.difference(&notes).count(), 0, "round {round}");
        assert_eq!(state.notes.len() % 2, 0, "round {round}: half a batch is visible");
        stream.append(Expect::Any, "parent", vec![credited(1)]).unwrap();
        assert_eq!(ledger.verify(&VerifyOptions::default()).problems, [], "round {round}");
    }
    assert!(acknowledged_so_far.len() >= ROUNDS);
}

/// The role of a child: creates streams as fast as it can, and says each id once it is acknowledged.
pub(crate) fn create_until_killed(root: &Path) {
    let ledger = Ledger::open(root).unwrap();
    for number in ledger.ids("account").unwrap().len().. {
        let id = format!("a{number}");
        let owner = Owner { owner: id.clone(), contract: None };
        let papers = vec![ledger.blobs().put(id.as_bytes()).unwrap()];
        let events = [AccountEvent::Opened {}, AccountEvent::Documented { papers }, credited(1)];
        ledger.create::<Account>(&id, "child", &owner, &events).unwrap();
        say(&id);
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_a_creator_is_killed() {
    for _ in 0..LEDGERS {
        kill_creators();
    }
}

fn kill_creators() {
    let (_directory, root, ledger) = on_disk();
    let mut acknowledged_so_far = BTreeSet::new();
    for round in 0..ROUNDS {
        acknowledged_so_far.extend(acknowledged("create until killed", &root, round));

        let verification = ledger.verify(&VerifyOptions::default());
        assert_eq!(verification.problems, [], "round {round}");
        let ids: BTreeSet<String> = ledger.ids("account").unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(acknowledged_so_far.difference(&ids).count(), 0, "round {round}");
        assert_eq!(verification.events, 3 * verification.streams, "round {round}: half a stream is visible");
    }
    assert!(acknowledged_so_far.len() >= ROUNDS);
    // Whoever creates next sweeps what the killed ones left.
    let kept = ledger.ids("account").unwrap().len();
    open_account(&ledger, "last");
    assert_eq!(std::fs::read_dir(root.join(".new")).unwrap().count(), 0);
    assert_eq!(ledger.ids("account").unwrap().len(), kept + 1);
}
