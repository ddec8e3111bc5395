//! Blobs: named by their digest, there once they are finished, checked when they are read.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use harn_ledger::disk::{Disk as _, MemDisk, OsDisk};
use harn_ledger::{BLOB_MAX, BlobError, BlobRef, Digest, Expect, Ledger, ProblemKind, VerifyOptions};

use crate::account::{Account, AccountEvent, Owner, credited, open_account};
use crate::forge::{Forged, hash_of, lines};
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{LOG, account, in_memory, on_disk, open, read, tree, write};

fn path(citation: &BlobRef) -> PathBuf {
    let digits = citation.blob.to_string();
    Path::new("/bank/blobs").join(&digits[..2]).join(digits)
}

fn verify(ledger: &Ledger) -> (u64, u64, Vec<(String, String)>) {
    let found = ledger.verify(&VerifyOptions::default());
    let problems =
        found.problems.into_iter().map(|problem| (problem.place, problem.kind.to_string())).collect();
    (found.blobs, found.orphan_blobs, problems)
}

#[test]
fn a_blob_comes_back() {
    let (_directory, root, ledger) = on_disk();
    let blobs = ledger.blobs();
    for bytes in [&b""[..], b"evidence", &vec![0; 100_000]] {
        let citation = blobs.put(bytes).unwrap();
        assert_eq!(citation, BlobRef::of(bytes));
        assert_eq!(blobs.get(&citation).unwrap(), bytes);
        let digits = citation.blob.to_string();
        let file = root.join("blobs").join(&digits[..2]).join(&digits);
        assert_eq!(std::fs::read(file).unwrap(), bytes);
    }
    assert_eq!(std::fs::read_dir(root.join(".new")).unwrap().count(), 0);
    assert_eq!(verify(&ledger), (0, 3, Vec::new()));
}

#[test]
fn the_same_bytes_are_stored_once() {
    let (memory, _) = in_memory();
    let disk = ScriptedDisk::new(memory.clone());
    let ledger = open(disk.clone(), Path::new("/bank"));
    let first = ledger.blobs().put(b"evidence").unwrap();
    let before = tree(&memory, Path::new("/bank"));
    let count = disk.count(Call::Write, "*");
    assert_eq!(ledger.blobs().put(b"evidence").unwrap(), first);
    assert_eq!(disk.count(Call::Write, "*"), count);
    let mut writer = ledger.blobs().writer().unwrap();
    writer.write_all(b"evi").unwrap();
    writer.write_all(b"dence").unwrap();
    assert_eq!(writer.length(), 8);
    writer.flush().unwrap();
    assert_eq!(writer.finish().unwrap(), first);
    assert_eq!(tree(&memory, Path::new("/bank")), before);
}

/// What is not finished leaves nothing, and nobody can find it before.
#[test]
fn a_dropped_writer_leaves_nothing() {
    let (memory, ledger) = in_memory();
    let mut writer = ledger.blobs().writer().unwrap();
    writer.write_all(b"evidence").unwrap();
    let citation = BlobRef::of(b"evidence");
    assert_eq!(ledger.blobs().get(&citation).unwrap_err().code(), "blob_missing");
    assert_eq!(memory.read_dir(Path::new("/bank/.new")).unwrap().len(), 1);
    drop(writer);
    assert!(memory.read_dir(Path::new("/bank/.new")).unwrap().is_empty());
    assert_eq!(ledger.blobs().get(&citation).unwrap_err().code(), "blob_missing");
}

#[test]
fn a_damaged_blob_is_never_returned_and_storing_it_again_mends_it() {
    let (disk, ledger) = in_memory();
    let citation = ledger.blobs().put(b"evidence").unwrap();
    for damage in [&b"evidencf"[..], b"evidenc", b"evidence!", b""] {
        write(&disk, &path(&citation), damage);
        let error = ledger.blobs().get(&citation).unwrap_err();
        assert!(matches!(error, BlobError::Damaged { blob } if blob == citation.blob), "{damage:?}: {error}");
        assert_eq!(ledger.blobs().put(b"evidence").unwrap(), citation);
        assert_eq!(ledger.blobs().get(&citation).unwrap(), b"evidence", "{damage:?}");
    }
    let wrong_length = BlobRef { bytes: 9, ..citation };
    assert_eq!(ledger.blobs().get(&wrong_length).unwrap_err().code(), "blob_damaged");
    disk.unlink(&path(&citation)).unwrap();
    assert!(matches!(ledger.blobs().get(&citation).unwrap_err(), BlobError::Missing { .. }));
}

/// Each step failing once: no blob under the name, nothing left over, and the next try succeeds.
#[test]
fn a_blob_that_fails_leaves_nothing() {
    let steps = [
        (Call::CreateDir, ".new"),
        (Call::Open, "*"),
        (Call::Write, "*"),
        (Call::Truncate, "*"),
        (Call::Sync, "*"),
        (Call::CreateDir, "blobs"),
        (Call::SyncDir, "bank"),
        (Call::SyncDir, "blobs"),
        (Call::Rename, "*"),
    ];
    for (call, name) in steps {
        let memory = MemDisk::new();
        let disk = ScriptedDisk::new(memory.clone());
        let ledger = open(disk.clone(), Path::new("/bank"));
        // The first file that `put` tries to open is the blob itself, which is not there.
        let skipped = usize::from(call == Call::Open);
        disk.after(skipped, call, name, Act::Fail(std::io::ErrorKind::StorageFull));
        let error = ledger.blobs().put(b"evidence").unwrap_err();
        assert_eq!((error.code(), disk.left()), ("storage_full", 0), "{call:?} {name}: {error}");
        let citation = BlobRef::of(b"evidence");
        assert_eq!(ledger.blobs().get(&citation).unwrap_err().code(), "blob_missing", "{call:?} {name}");
        assert_eq!(ledger.blobs().put(b"evidence").unwrap(), citation);
        assert_eq!(ledger.blobs().get(&citation).unwrap(), b"evidence");
        assert!(memory.read_dir(Path::new("/bank/.new")).unwrap().is_empty(), "{call:?} {name}");
    }
}

/// Short writes are written on, and what a failed one left behind does not get into the blob.
#[test]
fn writes_that_fall_short() {
    let memory = MemDisk::new();
    let disk = ScriptedDisk::new(memory);
    let ledger = open(disk.clone(), Path::new("/bank"));
    disk.next(Call::Write, "*", Act::Short(3));
    let citation = ledger.blobs().put(b"evidence").unwrap();
    assert_eq!(ledger.blobs().get(&citation).unwrap(), b"evidence");

    let mut writer = ledger.blobs().writer().unwrap();
    writer.write_all(b"kept ").unwrap();
    disk.next(Call::Write, "*", Act::Short(9));
    disk.after(1, Call::Write, "*", Act::Fail(std::io::ErrorKind::StorageFull));
    writer.write_all(b"lost half way").unwrap_err();
    assert_eq!((writer.length(), disk.left()), (5, 0));
    writer.write_all(b"too").unwrap();
    let citation = writer.finish().unwrap();
    assert_eq!(citation, BlobRef::of(b"kept too"));
    assert_eq!(ledger.blobs().get(&citation).unwrap(), b"kept too");
}

#[test]
fn a_blob_has_a_limit() {
    let (_, ledger) = in_memory();
    let mut writer = ledger.blobs().writer().unwrap();
    writer.write_all(b"x").unwrap();
    let limit = usize::try_from(BLOB_MAX).unwrap();
    // Never read, so the machine does not have to provide it.
    let zeros = vec![0; limit + 1];
    let error = writer.write_all(&zeros[1..]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<BlobError>());
    assert!(matches!(inner, Some(BlobError::TooLarge { .. })));
    assert_eq!(writer.length(), 1);
    let error = ledger.blobs().put(&zeros).unwrap_err();
    assert!(matches!(error, BlobError::TooLarge { limit: BLOB_MAX }), "{error}");
}

/// A limit of the machine is not called one of the ledger.
#[test]
fn a_file_that_the_machine_finds_too_large() {
    let disk = ScriptedDisk::new(MemDisk::new());
    let ledger = open(disk.clone(), Path::new("/bank"));
    disk.next(Call::Write, "*", Act::Fail(std::io::ErrorKind::FileTooLarge));
    let error = ledger.blobs().put(b"small").unwrap_err();
    assert!(matches!(error, BlobError::Io { .. }), "{error}");
    assert_eq!(error.code(), "storage_full");
}

/// An account that cites one blob in its intent and two in an event.
fn citing(ledger: &Ledger) -> [BlobRef; 3] {
    let citations =
        [&b"contract"[..], b"paper 1", b"paper 2"].map(|bytes| ledger.blobs().put(bytes).unwrap());
    let owner = Owner { owner: "Alice".to_owned(), contract: Some(citations[0]) };
    let stream = ledger.create::<Account>("a", "teller", &owner, &[AccountEvent::Opened {}]).unwrap();
    let papers = vec![citations[1], citations[2], citations[1]];
    stream.append(Expect::Any, "teller", vec![AccountEvent::Documented { papers }]).unwrap();
    citations
}

#[test]
fn verification_finds_what_is_wrong_with_cited_blobs() {
    let (disk, ledger) = in_memory();
    let [contract, first, second] = citing(&ledger);
    assert_eq!(verify(&ledger), (3, 0, Vec::new()));
    ledger.blobs().put(b"nobody cites this").unwrap();
    assert_eq!(verify(&ledger), (3, 1, Vec::new()), "an orphan is a count, no problem");

    let problem = |text: String| ("account/a".to_owned(), text);
    disk.unlink(&path(&contract)).unwrap();
    let missing = problem(format!("blob {} is missing, cited by event 0", contract.blob));
    assert_eq!(verify(&ledger).2, std::slice::from_ref(&missing));
    write(&disk, &path(&first), b"paper 9");
    write(&disk, &path(&second), b"paper 2 and more");
    let damaged =
        |blob: &BlobRef| problem(format!("blob {} does not hold the bytes that event 2 cites", blob.blob));
    let mut expected =
        vec![(contract.blob, missing), (first.blob, damaged(&first)), (second.blob, damaged(&second))];
    expected.sort();
    let expected: Vec<_> = expected.into_iter().map(|(_, problem)| problem).collect();
    assert_eq!(verify(&ledger).2, expected);
}

/// A citation is an object of this one form, wherever it stands; another object with a member `blob` is a mistake.
#[test]
fn citations_are_found_wherever_they_stand() {
    let (memory, ledger) = in_memory();
    open_account(&ledger, "a");
    let log = read(&memory, &account("a").join(LOG));
    let digest = Digest::of(b"not stored");
    let cited = format!(r#"{{"blob":"{digest}","bytes":7}}"#);
    let missing = format!("blob {digest} is missing, cited by event 2");
    let mistake = "event 2 has a member `blob` that is not a citation".to_owned();
    let cases = [
        (format!(r#"{{"x":{cited}}}"#), Some(&missing)),
        (format!(r#"{{"x":[[1,{{"y":{cited}}}]]}}"#), Some(&missing)),
        (cited.clone(), Some(&missing)),
        (format!(r#"{{"bytes":7,"blob":"{digest}"}}"#), Some(&missing)),
        (format!(r#"{{"x":"{digest}","bytes":7}}"#), None),
        (r#"{"x":"\"blob\""}"#.to_owned(), None),
        (r#"{"blobs":{"a":1}}"#.to_owned(), None),
        (r#"{"blob":"abc","bytes":7}"#.to_owned(), Some(&mistake)),
        (format!(r#"{{"blob":"{digest}"}}"#), Some(&mistake)),
        (format!(r#"{{"blob":"{digest}","bytes":-1}}"#), Some(&mistake)),
        (format!(r#"{{"blob":"{digest}","bytes":"7"}}"#), Some(&mistake)),
        (format!(r#"{{"blob":"{digest}","bytes":7,"name":"x"}}"#), Some(&mistake)),
        (format!(r#"{{"blob":"{}","bytes":7}}"#, digest.to_string().to_uppercase()), Some(&mistake)),
        (format!(r#"{{"x":[{{"blob":{cited}}}]}}"#), Some(&mistake)),
    ];
    for (data, expected) in cases {
        let line = Forged::new("account/a", 2, hash_of(lines(&log)[0]), "account.cited", &data).line();
        write(&memory, &account("a").join(LOG), &[&log[..], &line].concat());
        let problems: Vec<String> = verify(&ledger).2.into_iter().map(|(_, text)| text).collect();
        assert_eq!(problems.iter().collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>(), "{data}");
    }
}

#[test]
fn what_the_ledger_did_not_put_among_the_blobs_is_foreign() {
    let (disk, ledger) = in_memory();
    let [contract, ..] = citing(&ledger);
    let digits = contract.blob.to_string();
    let other = if digits.starts_with("00") { "11" } else { "00" };
    disk.create_dir(&Path::new("/bank/blobs").join(other)).unwrap();
    write(&disk, &Path::new("/bank/blobs").join(other).join(&digits), b"contract");
    write(&disk, &path(&contract).with_file_name("notes.txt"), b"");
    let found = ledger.verify(&VerifyOptions::default());
    let places: Vec<&str> = found.problems.iter().map(|problem| &*problem.place).collect();
    let mut expected = [format!("blobs/{other}/{digits}"), format!("blobs/{}/notes.txt", &digits[..2])];
    expected.sort();
    assert_eq!(places, expected);
    assert!(found.problems.iter().all(|problem| problem.kind == ProblemKind::ForeignFile));
}

/// Nothing is said to be stored before its name is on stable storage, also when somebody else stored it first.
#[test]
fn storing_what_is_there_syncs_its_name() {
    let memory = MemDisk::new();
    open(memory.clone(), Path::new("/bank")).blobs().put(b"evidence").unwrap();
    let part = BlobRef::of(b"evidence").blob.to_string()[..2].to_owned();
    let disk = ScriptedDisk::new(memory);
    let ledger = open(disk.clone(), Path::new("/bank"));
    ledger.blobs().put(b"evidence").unwrap();
    assert_eq!(disk.count(Call::SyncDir, &part), 1);
    disk.next(Call::SyncDir, &part, Act::Fail(std::io::ErrorKind::Other));
    assert_eq!(ledger.blobs().put(b"evidence").unwrap_err().code(), "blob_failed");
}

/// Threads and ledgers that store the same blob at the same time do not get in each other's way.
#[test]
fn many_store_the_same_blob() {
    let (_directory, root, _) = on_disk();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            let ledger = open(OsDisk, &root);
            scope.spawn(move || {
                for number in 0..10_u8 {
                    let citation = ledger.blobs().put(&[number; 1000]).unwrap();
                    assert_eq!(ledger.blobs().get(&citation).unwrap(), [number; 1000]);
                }
            });
        }
    });
    assert_eq!(std::fs::read_dir(root.join(".new")).unwrap().count(), 0);
    assert_eq!(verify(&open(OsDisk, &root)), (0, 10, Vec::new()));
}

/// An event with a blob of its own is refused if its citation is none. (The type system keeps most of them out.)
#[test]
fn an_account_cites_only_by_citations() {
    let (_, ledger) = in_memory();
    let stream = open_account(&ledger, "a");
    stream.append(Expect::Any, "teller", vec![AccountEvent::Documented { papers: Vec::new() }]).unwrap();
    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    assert_eq!(verify(&ledger), (0, 0, Vec::new()));
}
