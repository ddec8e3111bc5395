//! A ledger on a network file system: read and verified like any other; written only where somebody accepted it.

use std::io;
use std::path::Path;

use harn_ledger::disk::{Disk as _, FileSystem, MemDisk, OsDisk};
use harn_ledger::{
    AppendError, BlobError, CreateError, Expect, LeaseError, Ledger, PlaceProblem, ProblemKind, UnsafePlace,
    VerifyOptions,
};

use crate::account::{Account, AccountEvent, Owner, credited, open_account};
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{on_disk, open, tree};

const NFS: FileSystem = FileSystem { read_only: false, network: Some("nfs") };

/// A ledger with one account, on a disk in memory.
fn local() -> (MemDisk, ScriptedDisk) {
    let disk = MemDisk::new();
    open_account(&open(disk.clone(), Path::new("/bank")), "a");
    (disk.clone(), ScriptedDisk::new(disk))
}

#[test]
fn writes_are_refused_and_reads_go_on() {
    let (memory, disk) = local();
    disk.pretend(NFS);
    let before = tree(&memory, Path::new("/bank"));
    let ledger = open(disk, Path::new("/bank"));
    let stream = ledger.stream::<Account>("a").unwrap();
    assert_eq!(stream.settled_state().unwrap().folded, [1]);

    let expected =
        UnsafePlace { path: "/bank".into(), problem: PlaceProblem::NetworkFileSystem { name: "nfs" } };
    assert_eq!(expected.to_string(), "`/bank` is on a network file system (`nfs`), expected a local one");
    let owner = Owner { owner: "Bob".to_owned(), contract: None };
    let opened = [AccountEvent::Opened {}];
    for _ in 0..2 {
        let error = stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap_err();
        assert!(matches!(&error, AppendError::UnsafePlace(found) if *found == expected), "{error}");
        assert!(error.hint().unwrap().contains("a local disk"));
        let error = stream.lease("x").unwrap_err();
        assert!(matches!(&error, LeaseError::UnsafePlace(found) if *found == expected), "{error}");
        for error in [
            ledger.check_new::<Account>("b", "teller", &owner, &opened).unwrap_err(),
            ledger.create::<Account>("b", "teller", &owner, &opened).unwrap_err(),
        ] {
            let CreateError::Append(AppendError::UnsafePlace(found)) = error else { panic!("{error}") };
            assert_eq!(found, expected);
        }
        let error = ledger.blobs().put(b"x").unwrap_err();
        assert!(matches!(&error, BlobError::UnsafePlace(found) if *found == expected), "{error}");
    }

    let found = ledger.verify(&VerifyOptions::default());
    assert_eq!((found.events, found.problems.len()), (1, 1));
    assert_eq!(
        (&*found.problems[0].place, &found.problems[0].kind),
        (".", &ProblemKind::UnsafePlace(expected))
    );
    assert_eq!(tree(&memory, Path::new("/bank")), before);
}

#[test]
fn an_accepted_network_is_as_good_as_any_disk() {
    let (_, disk) = local();
    disk.pretend(NFS);
    let ledger = Ledger::builder("/bank").disk(disk.clone()).network_file_system(true).open().unwrap();
    let stream = ledger.stream::<Account>("a").unwrap();
    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    drop(stream.lease("x").unwrap());
    open_account(&ledger, "b");
    ledger.blobs().put(b"x").unwrap();
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
    assert_eq!(disk.count(Call::FileSystem, "bank"), 0);
    assert_eq!(ledger.file_system().unwrap().network, Some("nfs"), "whoever asks is told");
}

/// A ledger that is only read does not ask, and one that is written asks once, not at every append.
#[test]
fn a_disk_is_asked_once() {
    for tells in [true, false] {
        let (_, disk) = local();
        if !tells {
            disk.next(Call::FileSystem, "bank", Act::Fail(io::ErrorKind::Unsupported));
        }
        let ledger = open(disk.clone(), Path::new("/bank"));
        let stream = ledger.stream::<Account>("a").unwrap();
        stream.state().unwrap();
        assert_eq!(disk.count(Call::FileSystem, "bank"), 0);
        for id in ["b", "c"] {
            open_account(&ledger, id).append(Expect::Any, "teller", vec![credited(1)]).unwrap();
            drop(stream.lease("x").unwrap());
            ledger.blobs().put(id.as_bytes()).unwrap();
        }
        assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
        assert_eq!(disk.count(Call::FileSystem, "bank"), 1, "{tells}");
    }
}

/// What the machine says of its own disks. Where tests run on a network, there is nothing to see.
#[test]
fn the_machine_is_asked() {
    let (_directory, root, ledger) = on_disk();
    let found = ledger.file_system().unwrap();
    assert!(!found.read_only);
    assert_eq!(OsDisk.file_system(&root).unwrap(), found);
    assert_eq!(OsDisk.file_system(&root.join("missing")).unwrap_err().kind(), io::ErrorKind::NotFound);
}
