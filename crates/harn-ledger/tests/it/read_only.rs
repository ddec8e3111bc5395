//! A ledger opened for reading only: it reads all, and makes, changes and locks nothing for good.

use std::path::Path;

use harn_ledger::disk::{MemDisk, OsDisk};
use harn_ledger::{Expect, LeaseStatus, Ledger, OpenError, VerifyOptions};

use crate::account::{Account, AccountCommand, AccountEvent, Owner, credited, open_account};
use crate::store::{LOG, cut, on_disk, tree};

#[test]
fn every_write_is_refused_and_nothing_is_made() {
    let (_directory, root, ledger) = on_disk();
    open_account(&ledger, "a").append(Expect::Any, "teller", vec![credited(5)]).unwrap();
    let citation = ledger.blobs().put(b"evidence").unwrap();
    cut(&OsDisk, &root.join("account/a").join(LOG), 3);
    let before = tree(&OsDisk, &root);

    let ledger = Ledger::builder(&root).read_only(true).open().unwrap();
    let stream = ledger.stream::<Account>("a").unwrap();
    let owner = Owner { owner: "Bob".to_owned(), contract: None };
    let opened = [AccountEvent::Opened {}];
    let refusals = [
        ("append", stream.append(Expect::Any, "x", vec![credited(1)]).map(drop).unwrap_err().code()),
        ("append nothing", stream.append(Expect::Any, "x", Vec::new()).map(drop).unwrap_err().code()),
        ("create", ledger.create::<Account>("b", "x", &owner, &opened).map(drop).unwrap_err().code()),
        ("ask to create", ledger.check_new::<Account>("b", "x", &owner, &opened).unwrap_err().code()),
        ("lease", stream.lease("x").map(drop).unwrap_err().code()),
        ("put", ledger.blobs().put(b"new").map(drop).unwrap_err().code()),
        ("put again", ledger.blobs().put(b"evidence").map(drop).unwrap_err().code()),
        ("writer", ledger.blobs().writer().map(drop).unwrap_err().code()),
    ];
    for (what, code) in refusals {
        assert_eq!(code, "read_only", "{what}");
    }
    let error = stream.execute("x", AccountCommand::Credit(1)).unwrap_err();
    assert_eq!(error.to_string(), "the ledger is open for reading only");
    assert!(stream.execute("x", AccountCommand::Debit(1)).is_err(), "a refusal of the domain comes first");

    assert_eq!(stream.settled_state().unwrap().folded, [1]);
    assert_eq!(stream.lease_status().unwrap(), LeaseStatus::Free);
    assert_eq!(ledger.blobs().get(&citation).unwrap(), b"evidence");
    assert_eq!(ledger.ids("account").unwrap().len(), 1);
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems.len(), 1);
    assert_eq!(tree(&OsDisk, &root), before);
}

#[test]
fn a_missing_ledger_is_not_made() {
    let directory = tempfile::TempDir::new().unwrap();
    let root = directory.path().join("bank");
    let error = Ledger::builder(&root).read_only(true).open().unwrap_err();
    assert!(matches!(error, OpenError::Io { .. }), "{error}");
    assert!(!root.exists());
    let memory = MemDisk::new();
    Ledger::builder("/bank").disk(memory.clone()).read_only(true).open().unwrap_err();
    assert_eq!(tree(&memory, Path::new("/")).len(), 1);
}

/// An empty ledger has nothing, and asking for it makes nothing.
#[test]
fn an_empty_ledger() {
    let (_directory, root, _) = on_disk();
    let before = tree(&OsDisk, &root);
    for read_only in [true, false] {
        let ledger = Ledger::builder(&root).read_only(read_only).open().unwrap();
        assert!(ledger.ids("account").unwrap().is_empty());
        assert_eq!(ledger.ids("Not A Kind").unwrap_err().code(), "invalid_kind");
        assert_eq!(ledger.stream::<Account>("a").unwrap_err().code(), "not_found");
        assert_eq!(ledger.stream::<Account>("../a").unwrap_err().code(), "invalid_id");
        assert_eq!(ledger.raw("account", "a").unwrap().verify().unwrap_err().code(), "not_found");
        assert_eq!(ledger.raw("account", "").unwrap_err().code(), "invalid_id");
        assert_eq!(ledger.raw("blobs", "a").unwrap_err().code(), "invalid_kind");
        assert_eq!(ledger.verify(&VerifyOptions::default()), harn_ledger::Verification::default());
        assert_eq!(tree(&OsDisk, &root), before);
    }
}
