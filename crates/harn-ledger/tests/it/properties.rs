//! Properties over many random cases: replay equals the live state, texts survive, a cut leaves whole batches.

use std::path::Path;

use harn_ledger::disk::{Disk as _, MemDisk};
use harn_ledger::{Actor, Expect, Ledger, Recorded, VerifyOptions};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::account::{Account, AccountEvent, credited, noted, open_account};
use crate::forge::lines;
use crate::store::{INTENT, LOG, account, in_memory, open, read, torn_files, write};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn event() -> impl Strategy<Value = AccountEvent> {
    prop_oneof![
        any::<u32>().prop_map(|cents| credited(u64::from(cents))),
        (any::<u32>(), any::<String>()).prop_map(|(cents, note)| noted(u64::from(cents), &note)),
        any::<u32>().prop_map(|cents| AccountEvent::Debited { cents: u64::from(cents) }),
        Just(AccountEvent::Closed {}),
    ]
}

/// What happens to a stream, one after the other.
#[derive(Debug, Clone)]
enum Step {
    /// A batch, through the first handle or one that shares nothing with it.
    Append { elsewhere: bool, events: Vec<AccountEvent> },
    /// A crash leaves half a line.
    Crash { left: Vec<u8> },
    /// Somebody looks.
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    // Without a line feed, which would make it a damaged line.
    let left = vec(any::<u8>().prop_filter("not a line feed", |byte| *byte != b'\n'), 1..80);
    prop_oneof![
        4 => (any::<bool>(), vec(event(), 0..5)).prop_map(|(elsewhere, events)| Step::Append { elsewhere, events }),
        1 => left.prop_map(|left| Step::Crash { left }),
        2 => Just(Step::Look),
    ]
}

fn append_bytes(disk: &MemDisk, bytes: &[u8]) {
    let path = account("a").join(LOG);
    write(disk, &path, &[&read(disk, &path)[..], bytes].concat());
}

proptest! {
    #![proptest_config(config(64))]

    /// Whatever happens, all handles agree with each other, with a fresh replay, and with a list of what was appended.
    #[test]
    fn replay_equals_the_live_state(steps in vec(step(), 1..20)) {
        let (disk, ledger) = in_memory();
        let here = open_account(&ledger, "a");
        let there = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
        let mut model = vec![AccountEvent::Opened {}];
        let mut crashed = false;
        let mut moved = 0;
        for step in steps {
            match step {
                Step::Append { elsewhere, events } => {
                    let stream = if elsewhere { &there } else { &here };
                    let committed = stream.append(Expect::Any, "teller", events.clone()).unwrap();
                    prop_assert!(committed.events.iter().map(|recorded| &recorded.event).eq(&events));
                    prop_assert_eq!(committed.head, stream.head().unwrap());
                    model.extend(events);
                    moved += u64::from(crashed);
                    crashed = false;
                }
                Step::Crash { left } => {
                    append_bytes(&disk, &left);
                    crashed = true;
                }
                Step::Look => prop_assert_eq!(here.state().unwrap(), there.state().unwrap()),
            }
            prop_assert_eq!(here.unfinished_tail().unwrap().is_some(), crashed);
        }
        let fresh = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
        let state = fresh.state().unwrap();
        prop_assert_eq!(&here.state().unwrap(), &state);
        prop_assert_eq!(&there.state().unwrap(), &state);
        prop_assert_eq!(here.head().unwrap(), fresh.head().unwrap());
        prop_assert_eq!(here.history().unwrap(), fresh.history().unwrap());
        let history = fresh.history().unwrap();
        let recorded: Vec<AccountEvent> =
            history.iter().filter_map(|entry| entry.domain().map(|recorded| recorded.event.clone())).collect();
        prop_assert_eq!(&recorded, &model);
        prop_assert_eq!(history.len() as u64, model.len() as u64 + moved);
        prop_assert_eq!(torn_files(&disk, &account("a")).len() as u64, moved);
        prop_assert!(history.iter().map(harn_ledger::Entry::seq).eq(1..=history.len() as u64));
        let after = fresh.events_after(2).unwrap();
        prop_assert_eq!(&after[..], history.get(2..).unwrap_or_default());
    }

    /// Every text and every actor comes back as it was, from one line.
    #[test]
    fn texts_survive(note in any::<String>(), actor in any::<String>(), owner in any::<String>()) {
        let disk = MemDisk::new();
        let ledger = Ledger::builder("/bank").disk(disk.clone()).open().unwrap();
        let intent = crate::account::Owner { owner, contract: None };
        let stream = ledger.create::<Account>("a", "teller", &intent, &[AccountEvent::Opened {}]).unwrap();
        let appended = stream.append(Expect::Any, &actor, vec![noted(1, &note)]);
        prop_assert_eq!(appended.is_ok(), Actor::new(&actor).is_ok());
        let fresh = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
        prop_assert_eq!(fresh.intent(), &intent);
        let history = fresh.history().unwrap();
        prop_assert_eq!(lines(&read(&disk, &account("a").join(LOG))).len(), history.len());
        if appended.is_ok() {
            let Recorded { actor: found, event, .. } = history[1].domain().unwrap();
            prop_assert_eq!((found.as_str(), event), (&*actor, &noted(1, &note)));
        }
    }

    /// A log cut at any byte reads as a prefix of whole batches, and takes the next append.
    #[test]
    fn a_cut_leaves_whole_batches(batches in vec(vec(event(), 1..4), 1..5), cut in any::<prop::sample::Index>()) {
        let (disk, ledger) = in_memory();
        let stream = open_account(&ledger, "a");
        let path = account("a").join(LOG);
        let mut borders = vec![(read(&disk, &path).len(), 1)];
        for batch in &batches {
            let head = stream.append(Expect::Any, "teller", batch.clone()).unwrap().head;
            borders.push((read(&disk, &path).len(), head.seq));
        }
        let whole = stream.history().unwrap();
        let log = read(&disk, &path);
        let intent = read(&disk, &account("a").join(INTENT));
        let length = cut.index(log.len() + 1).max(borders[0].0);

        let disk = MemDisk::new();
        let ledger = open(disk.clone(), Path::new("/bank"));
        disk.create_dir(Path::new("/bank/account")).unwrap();
        disk.create_dir(&account("a")).unwrap();
        write(&disk, &account("a").join(INTENT), &intent);
        write(&disk, &path, &log[..length]);
        let (end, events) = *borders.iter().rfind(|(border, _)| *border <= length).unwrap();
        let stream = ledger.stream::<Account>("a").unwrap();
        prop_assert_eq!(&stream.history().unwrap()[..], &whole[..usize::try_from(events).unwrap()]);
        prop_assert_eq!(stream.unfinished_tail().unwrap().map_or(0, |tail| tail.bytes), (length - end) as u64);
        stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
        prop_assert_eq!(ledger.verify(&VerifyOptions::default()).problems, vec![]);
    }
}
