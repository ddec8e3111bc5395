//! Properties over many random cases: texts survive, a cut leaves whole batches.

use std::path::Path;

use harn_ledger::disk::{Disk as _, MemDisk};
use harn_ledger::{Actor, Expect, Ledger, Recorded, VerifyOptions};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::account::{Account, AccountEvent, credited, noted, open_account};
use crate::forge::lines;
use crate::store::{INTENT, LOG, account, config, in_memory, open, read, write};

fn event() -> impl Strategy<Value = AccountEvent> {
    prop_oneof![
        any::<u32>().prop_map(|cents| credited(u64::from(cents))),
        (any::<u32>(), any::<String>()).prop_map(|(cents, note)| noted(u64::from(cents), &note)),
        any::<u32>().prop_map(|cents| AccountEvent::Debited { cents: u64::from(cents) }),
        Just(AccountEvent::Closed {}),
    ]
}

proptest! {
    #![proptest_config(config(64))]

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
