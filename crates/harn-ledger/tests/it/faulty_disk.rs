//! What survives what on the faulty disk, so that the crash matrix stands on something that was tested.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use harn_ledger::disk::{Disk, DiskFile, Fault, FaultyDisk, Lock, Moment, Open, Operation};

use crate::store::{read, tree};

const PAGE: usize = 4096;
/// The seed with which all that was not synced is lost, and the one with which nothing is.
const LOST: u64 = 0;
const KEPT: u64 = 1;
const SEEDS: std::ops::Range<u64> = 0..200;

fn path(name: &str) -> &Path {
    Path::new(name)
}

/// A disk with the file `/f` on it, there for good with these bytes.
fn with_file(bytes: &[u8]) -> (FaultyDisk, Arc<dyn DiskFile>) {
    let disk = FaultyDisk::new();
    let file = disk.open(path("/f"), Open::CreateNew).unwrap();
    file.write_at(0, bytes).unwrap();
    file.sync().unwrap();
    disk.sync_dir(path("/")).unwrap();
    (disk, file)
}

/// The different contents of a file after losses of power.
fn contents(disk: &FaultyDisk, name: &str) -> BTreeSet<Vec<u8>> {
    SEEDS.map(|seed| read(&disk.power_loss(seed), path(name))).collect()
}

/// The different sets of names on the disk after losses of power.
fn names(disk: &FaultyDisk) -> BTreeSet<Vec<String>> {
    let below = |seed| {
        let tree = tree(&disk.power_loss(seed), path("/"));
        tree.keys().skip(1).map(|path| path.display().to_string()).collect()
    };
    SEEDS.map(below).collect()
}

fn sets<const N: usize>(expected: [&[&str]; N]) -> BTreeSet<Vec<String>> {
    expected.iter().map(|names| names.iter().map(|&name| name.to_owned()).collect()).collect()
}

#[test]
fn what_was_synced_survives() {
    let (disk, file) = with_file(b"synced");
    file.write_at(6, b", not synced").unwrap();
    assert_eq!(read(&disk, path("/f")), b"synced, not synced");
    for found in contents(&disk, "/f") {
        assert!(found.starts_with(b"synced"), "{found:?}");
    }
    assert_eq!(read(&disk.power_loss(LOST), path("/f")), b"synced");
    assert_eq!(read(&disk.power_loss(KEPT), path("/f")), b"synced, not synced");
    file.sync().unwrap();
    assert_eq!(contents(&disk, "/f"), [b"synced, not synced".to_vec()].into());
}

/// Each page has a fate of its own; a torn one is new up to a byte, or from a byte on.
#[test]
fn pages_are_lost_kept_or_torn_independently() {
    let (disk, file) = with_file(&[1; 3 * PAGE]);
    file.write_at(PAGE as u64, &[2; 2 * PAGE]).unwrap();
    let mut fates = BTreeSet::new();
    for found in contents(&disk, "/f") {
        assert_eq!(found.len(), 3 * PAGE);
        assert_eq!(found[..PAGE], [1; PAGE], "a page that was not written");
        let fate = |page: &[u8]| match page.chunk_by(|one, next| one == next).collect::<Vec<_>>()[..] {
            [all] => {
                if all[0] == 2 {
                    "kept"
                } else {
                    "lost"
                }
            }
            [first, _] => {
                if first[0] == 2 {
                    "torn, new first"
                } else {
                    "torn, new last"
                }
            }
            _ => panic!("torn more than once"),
        };
        fates.insert((fate(&found[PAGE..2 * PAGE]), fate(&found[2 * PAGE..])));
    }
    assert_eq!(fates.len(), 16, "{fates:?}");
}

/// A file that became longer keeps the new length or the old one or one in between, with zeros for what was lost.
#[test]
fn a_new_length_is_lost_or_kept() {
    let (disk, file) = with_file(b"");
    file.write_at(0, &[7; 2 * PAGE]).unwrap();
    let found = contents(&disk, "/f");
    for bytes in &found {
        assert!(bytes.iter().all(|byte| [0, 7].contains(byte)));
    }
    assert!(
        found.contains(&vec![]) && found.contains(&vec![7; 2 * PAGE]) && found.contains(&vec![0; 2 * PAGE])
    );
    assert!(found.iter().any(|bytes| !bytes.is_empty() && bytes.len() < PAGE));
    let first_lost =
        |bytes: &Vec<u8>| bytes.len() == 2 * PAGE && bytes[..PAGE] == [0; PAGE] && bytes[PAGE..] == [7; PAGE];
    assert!(found.iter().any(first_lost), "a hole");
}

#[test]
fn what_was_cut_off_may_come_back() {
    let old = [vec![b'a'; 100], vec![b'b'; PAGE]].concat();
    let (disk, file) = with_file(&old);
    file.truncate(100).unwrap();
    let found = contents(&disk, "/f");
    assert!(found.contains(&vec![b'a'; 100]) && found.contains(&old));
    for bytes in &found {
        assert!([100, old.len()].contains(&bytes.len()), "a file is cut in one step");
        assert!(bytes.starts_with(&[b'a'; 100]) && bytes[100..].iter().all(|byte| [0, b'b'].contains(byte)));
    }
    file.write_at(100, &[b'c'; PAGE]).unwrap();
    let found = contents(&disk, "/f");
    assert!(found.iter().all(|bytes| bytes.starts_with(&[b'a'; 100])));
    assert!(
        found.iter().any(|bytes| bytes.contains(&b'b') && bytes.contains(&b'c')),
        "old bytes among new ones"
    );
    file.sync().unwrap();
    assert_eq!(contents(&disk, "/f").len(), 1);

    // Bytes that were never synced can come back too: the machine may have written them before they were cut off.
    file.truncate(100).unwrap();
    file.sync().unwrap();
    file.write_at(100, b"ddd").unwrap();
    file.truncate(100).unwrap();
    file.write_at(100, b"ee").unwrap();
    assert!(contents(&disk, "/f").iter().any(|bytes| bytes.ends_with(b"ddd")));
}

#[test]
fn names_need_the_sync_of_their_directory() {
    let disk = FaultyDisk::new();
    disk.create_dir(path("/d")).unwrap();
    let file = disk.open(path("/d/f"), Open::CreateNew).unwrap();
    file.sync().unwrap();
    assert_eq!(names(&disk), sets([&[], &["/d"], &["/d", "/d/f"]]));
    disk.sync_dir(path("/d")).unwrap();
    assert_eq!(names(&disk), sets([&[], &["/d", "/d/f"]]), "what it stands in may be lost");
    disk.sync_dir(path("/")).unwrap();
    assert_eq!(names(&disk), sets([&["/d", "/d/f"]]));
    disk.unlink(path("/d/f")).unwrap();
    assert_eq!(names(&disk), sets([&["/d"], &["/d", "/d/f"]]));
    disk.sync_dir(path("/d")).unwrap();
    assert_eq!(names(&disk), sets([&["/d"]]));
    disk.remove_dir(path("/d")).unwrap();
    assert_eq!(names(&disk), sets([&[], &["/d"]]));
}

/// The old name, the new one, or of a file both; never neither.
#[test]
fn a_move_that_was_not_synced() {
    let two = || {
        let disk = FaultyDisk::new();
        disk.create_dir(path("/a")).unwrap();
        disk.create_dir(path("/b")).unwrap();
        drop(disk.open(path("/a/f"), Open::CreateNew).unwrap());
        disk.create_dir(path("/a/d")).unwrap();
        for directory in ["/", "/a"] {
            disk.sync_dir(path(directory)).unwrap();
        }
        disk
    };
    let disk = two();
    disk.rename(path("/a/f"), path("/b/f")).unwrap();
    let both: &[&str] = &["/a", "/a/d", "/a/f", "/b", "/b/f"];
    let old: &[&str] = &["/a", "/a/d", "/a/f", "/b"];
    let new: &[&str] = &["/a", "/a/d", "/b", "/b/f"];
    assert_eq!(names(&disk), sets([both, old, new]));
    disk.sync_dir(path("/b")).unwrap();
    assert_eq!(names(&disk), sets([both, new]));
    disk.sync_dir(path("/a")).unwrap();
    assert_eq!(names(&disk), sets([new]));

    let disk = two();
    disk.rename(path("/a/d"), path("/b/d")).unwrap();
    let old: &[&str] = &["/a", "/a/d", "/a/f", "/b"];
    let new: &[&str] = &["/a", "/a/f", "/b", "/b/d"];
    assert_eq!(names(&disk), sets([old, new]), "a directory never has two names");
    disk.sync_dir(path("/b")).unwrap();
    assert_eq!(names(&disk), sets([new]));
}

#[test]
fn a_second_name() {
    let (disk, _) = with_file(b"here");
    disk.create_dir(path("/d")).unwrap();
    disk.sync_dir(path("/")).unwrap();
    disk.link(path("/f"), path("/d/g")).unwrap();
    let one: &[&str] = &["/d", "/f"];
    let two: &[&str] = &["/d", "/d/g", "/f"];
    assert_eq!(names(&disk), sets([one, two]));
    disk.sync_dir(path("/d")).unwrap();
    assert_eq!(contents(&disk, "/d/g"), [b"here".to_vec()].into());
    disk.fail_at(disk.operations().len(), Fault::StorageFull);
    assert_eq!(disk.link(path("/f"), path("/h")).unwrap_err().kind(), ErrorKind::StorageFull);
    disk.cut_at(disk.operations().len(), Moment::Inside);
    assert!(disk.link(path("/f"), path("/h")).is_err());
    assert_eq!(disk.operations().last().unwrap(), &(Operation::Link, path("/h").to_owned()));
    assert_eq!(read(&disk.process_death(), path("/h")), b"here");
}

#[test]
fn what_a_move_replaces_may_come_back() {
    let (disk, _) = with_file(b"old");
    let file = disk.open(path("/g"), Open::CreateNew).unwrap();
    file.write_at(0, b"new").unwrap();
    file.sync().unwrap();
    disk.sync_dir(path("/")).unwrap();
    disk.rename(path("/g"), path("/f")).unwrap();
    assert_eq!(contents(&disk, "/f"), [b"old".to_vec(), b"new".to_vec()].into());
    assert_eq!(names(&disk), sets([&["/f"], &["/f", "/g"]]));
}

/// One failure is reported once through every handle that was open; then all is said to be well, though it is not.
#[test]
fn a_failed_sync_is_reported_once_and_leaves_the_pages_clean() {
    let (disk, one) = with_file(b"safe, ");
    let two = disk.open(path("/f"), Open::Read).unwrap();
    one.write_at(6, &[b'x'; PAGE]).unwrap();
    disk.fail_at(disk.operations().len(), Fault::SyncError);
    assert!(one.sync().is_err());
    let three = disk.open(path("/f"), Open::Read).unwrap();
    assert_eq!([one.sync().is_ok(), two.sync().is_ok(), three.sync().is_ok()], [true, false, true]);
    assert!(two.sync().is_ok());
    assert_eq!(read(&disk, path("/f")).len(), 6 + PAGE, "everybody sees them");
    assert_eq!(contents(&disk, "/f"), [b"safe, ".to_vec()].into(), "and they are lost");
    // What is written again is dirty again, the rest of its page included.
    one.write_at(6 + PAGE as u64, b"y").unwrap();
    one.sync().unwrap();
    let expected = [b"safe, ".to_vec(), vec![0; PAGE - 6], b"xxxxxxy".to_vec()].concat();
    assert_eq!(contents(&disk, "/f"), [expected].into(), "a hole");
}

#[test]
fn a_failed_sync_of_a_directory_can_be_tried_again() {
    let disk = FaultyDisk::new();
    disk.create_dir(path("/d")).unwrap();
    disk.fail_at(1, Fault::SyncError);
    assert!(disk.sync_dir(path("/")).is_err());
    assert_eq!(names(&disk), sets([&[], &["/d"]]));
    disk.sync_dir(path("/")).unwrap();
    assert_eq!(names(&disk), sets([&["/d"]]));
}

#[test]
fn writes_that_fail() {
    let cases = [
        (Fault::StorageFull, Err(ErrorKind::StorageFull), &b""[..]),
        (Fault::ShortWrite, Ok(2), b"ab"),
        (Fault::WriteError, Err(ErrorKind::Other), b"ab"),
        (Fault::SyncError, Ok(4), b"abcd"),
    ];
    for (fault, expected, left) in cases {
        let (disk, file) = with_file(b"");
        disk.fail_at(disk.operations().len(), fault);
        assert_eq!(file.write_at(0, b"abcd").map_err(|error| error.kind()), expected, "{fault:?}");
        assert_eq!(read(&disk, path("/f")), left, "{fault:?}");
        assert_eq!(file.write_at(0, b"abcd").unwrap(), 4, "{fault:?} happens once");
    }
    let disk = FaultyDisk::new();
    disk.fail_at(0, Fault::StorageFull);
    disk.fail_at(1, Fault::StorageFull);
    assert_eq!(disk.create_dir(path("/d")).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(disk.open(path("/f"), Open::Create).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(disk.read_dir(path("/")).unwrap(), [""; 0]);
}

#[test]
fn everything_stops_at_the_cut() {
    let cases =
        [(Moment::Before, &b""[..], false), (Moment::Inside, b"ab", false), (Moment::After, b"abcd", true)];
    for (moment, left, acknowledged) in cases {
        let (disk, file) = with_file(b"");
        disk.cut_at(disk.operations().len(), moment);
        assert!(file.try_lock(Lock::Exclusive).unwrap(), "nothing has happened yet");
        assert_eq!(file.write_at(0, b"abcd").is_ok(), acknowledged, "{moment:?}");
        assert_eq!(disk.operations().last().unwrap(), &(Operation::Write, path("/f").to_owned()));
        let calls = [
            file.stat().is_err(),
            file.read_at(0, &mut [0]).is_err(),
            file.write_at(0, b"more").is_err(),
            file.sync().is_err(),
            file.unlock().is_err(),
            disk.stat(path("/f")).is_err(),
            disk.open(path("/f"), Open::Read).is_err(),
            disk.create_dir(path("/d")).is_err(),
            disk.sync_dir(path("/")).is_err(),
        ];
        assert_eq!(calls, [true; 9], "{moment:?}");
        let next = disk.process_death();
        assert_eq!(read(&next, path("/f")), left, "{moment:?}");
        assert_eq!(next.operations(), []);
        assert!(
            next.open(path("/f"), Open::Read).unwrap().try_lock(Lock::Exclusive).unwrap(),
            "no lock is held"
        );
    }
}

/// A process that dies loses nothing, but what it had not synced is no safer than before.
#[test]
fn the_death_of_a_process_syncs_nothing() {
    let (disk, file) = with_file(b"synced");
    file.write_at(6, b", not synced").unwrap();
    disk.create_dir(path("/d")).unwrap();
    let next = disk.process_death();
    assert_eq!(read(&next, path("/f")), b"synced, not synced");
    assert_eq!(read(&next.power_loss(LOST), path("/f")), b"synced");
    assert_eq!(names(&next), sets([&["/d", "/f"], &["/f"]]));
    file.write_at(0, b"S").unwrap();
    assert_eq!(read(&next, path("/f")), b"synced, not synced", "the disks have parted");
}

#[test]
fn a_cut_inside_a_sync_leaves_a_part_of_it() {
    let (disk, file) = with_file(&[1; 2 * PAGE]);
    file.write_at(0, &[2; 2 * PAGE]).unwrap();
    disk.cut_at(disk.operations().len(), Moment::Inside);
    assert!(file.sync().is_err());
    let found = read(&disk.power_loss(LOST), path("/f"));
    assert_eq!((&found[..PAGE], &found[PAGE..]), (&[2; PAGE][..], &[1; PAGE][..]));
}

#[test]
fn the_same_seed_takes_the_same() {
    let (disk, file) = with_file(&vec![1; 5 * PAGE]);
    file.write_at(100, &vec![2; 6 * PAGE]).unwrap();
    for seed in SEEDS {
        assert_eq!(read(&disk.power_loss(seed), path("/f")), read(&disk.power_loss(seed), path("/f")));
    }
}
