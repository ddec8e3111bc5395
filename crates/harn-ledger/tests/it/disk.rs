//! The contract of `Disk`, held by the machine's disk and by those in memory alike.

use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::Path;

use harn_ledger::disk::{Disk, FaultyDisk, FileKind, Lock, MemDisk, Open, OsDisk};
use tempfile::TempDir;

use crate::store::{read, write};

/// Runs a check on each disk, with an empty directory to work in.
fn on_each(check: impl Fn(&dyn Disk, &Path)) {
    let directory = TempDir::new().unwrap();
    check(&OsDisk, directory.path());
    let memory = MemDisk::new();
    memory.create_dir(Path::new("/work")).unwrap();
    check(&memory, Path::new("/work"));
    let faulty = FaultyDisk::new();
    faulty.create_dir(Path::new("/work")).unwrap();
    check(&faulty, Path::new("/work"));
}

fn kind<T>(result: std::io::Result<T>) -> Result<T, ErrorKind> {
    result.map_err(|error| error.kind())
}

#[test]
fn opening() {
    on_each(|disk, root| {
        let (present, absent) = (root.join("present"), root.join("absent"));
        write(disk, &present, b"bytes");
        disk.create_dir(&root.join("directory")).unwrap();
        let cases = [
            ("present", Open::Read, Ok(5)),
            ("present", Open::Write, Ok(5)),
            ("present", Open::Create, Ok(5)),
            ("present", Open::CreateNew, Err(ErrorKind::AlreadyExists)),
            ("absent", Open::Read, Err(ErrorKind::NotFound)),
            ("absent", Open::Write, Err(ErrorKind::NotFound)),
            ("absent", Open::Create, Ok(0)),
            ("absent", Open::CreateNew, Ok(0)),
            ("directory", Open::Read, Err(ErrorKind::IsADirectory)),
            ("directory", Open::Write, Err(ErrorKind::IsADirectory)),
            ("nowhere/absent", Open::Create, Err(ErrorKind::NotFound)),
            ("present/absent", Open::Read, Err(ErrorKind::NotADirectory)),
            ("present/absent", Open::Create, Err(ErrorKind::NotADirectory)),
        ];
        for (name, how, expected) in cases {
            let opened = kind(disk.open(&root.join(name), how));
            assert_eq!(opened.map(|file| file.stat().unwrap().length), expected, "{disk:?}: {name} {how:?}");
            let _ = disk.unlink(&absent);
        }
        assert_eq!(read(disk, &present), b"bytes", "opening changes nothing");
    });
}

#[test]
fn what_is_made_is_private() {
    on_each(|disk, root| {
        for (name, how) in [("a", Open::Create), ("b", Open::CreateNew)] {
            let file = disk.open(&root.join(name), how).unwrap();
            assert_eq!(file.stat().unwrap().mode, 0o600);
        }
        disk.create_dir(&root.join("d")).unwrap();
        let stat = disk.stat(&root.join("d")).unwrap();
        assert_eq!((stat.kind, stat.mode, stat.user), (FileKind::Directory, 0o700, disk.user()));
        disk.set_mode(&root.join("a"), 0o640).unwrap();
        disk.set_mode(&root.join("d"), 0o755).unwrap();
        assert_eq!(disk.stat(&root.join("a")).unwrap().mode, 0o640);
        assert_eq!(disk.stat(&root.join("d")).unwrap().mode, 0o755);
    });
}

#[test]
fn reading_and_writing() {
    on_each(|disk, root| {
        let file = disk.open(&root.join("file"), Open::CreateNew).unwrap();
        assert_eq!(file.write_at(0, b"hello").unwrap(), 5);
        assert_eq!(file.write_at(5, b" world").unwrap(), 6);
        assert_eq!(file.write_at(0, b"").unwrap(), 0);
        let mut buffer = [b'.'; 8];
        assert_eq!(file.read_at(6, &mut buffer).unwrap(), 5, "fewer bytes at the end");
        assert_eq!(&buffer, b"world...");
        assert_eq!(file.read_at(11, &mut buffer).unwrap(), 0, "nothing at the end");
        assert_eq!(file.read_at(1000, &mut buffer).unwrap(), 0, "nothing behind the end");
        file.truncate(5).unwrap();
        file.write_at(7, b"!").unwrap();
        assert_eq!(read(disk, &root.join("file")), b"hello\0\0!", "a gap is filled with zeros");
        file.truncate(10).unwrap();
        assert_eq!(file.stat().unwrap().length, 10);
        file.sync().unwrap();
        disk.sync_dir(root).unwrap();

        let reader = disk.open(&root.join("file"), Open::Read).unwrap();
        assert!(reader.write_at(0, b"x").is_err());
        assert!(reader.truncate(0).is_err());
        assert_eq!(reader.stat().unwrap().length, 10);
        assert_eq!(reader.stat().unwrap(), disk.stat(&root.join("file")).unwrap());
    });
}

#[test]
fn a_change_shows_in_the_stat() {
    on_each(|disk, root| {
        let path = root.join("file");
        write(disk, &path, b"one");
        let (before, other) = (disk.stat(&path).unwrap(), root.join("other"));
        write(disk, &other, b"one");
        assert_ne!(disk.stat(&other).unwrap().inode, before.inode);
        // The same length again, so that only the times can tell. They may be as coarse as the system's tick.
        loop {
            write(disk, &path, b"two");
            let after = disk.stat(&path).unwrap();
            assert_eq!((after.inode, after.device, after.length), (before.inode, before.device, 3));
            if (after.modified, after.changed) > (before.modified, before.changed) {
                break;
            }
        }
    });
}

#[test]
fn listing_and_removing() {
    on_each(|disk, root| {
        disk.create_dir(&root.join("d")).unwrap();
        disk.create_dir(&root.join("d/e")).unwrap();
        write(disk, &root.join("d/f"), b"");
        let mut names = disk.read_dir(&root.join("d")).unwrap();
        names.sort();
        assert_eq!(names, ["e", "f"]);
        let path = |name: &str| root.join(name);
        let cases = [
            ("make what is there", kind(disk.create_dir(&path("d"))), Err(ErrorKind::AlreadyExists)),
            ("make what is a file", kind(disk.create_dir(&path("d/f"))), Err(ErrorKind::AlreadyExists)),
            ("make without a parent", kind(disk.create_dir(&path("x/y"))), Err(ErrorKind::NotFound)),
            ("make below a file", kind(disk.create_dir(&path("d/f/g"))), Err(ErrorKind::NotADirectory)),
            ("list what is missing", kind(disk.read_dir(&path("x")).map(|_| ())), Err(ErrorKind::NotFound)),
            ("list a file", kind(disk.read_dir(&path("d/f")).map(|_| ())), Err(ErrorKind::NotADirectory)),
            ("stat what is missing", kind(disk.stat(&path("x")).map(|_| ())), Err(ErrorKind::NotFound)),
            ("stat below a file", kind(disk.stat(&path("d/f/g")).map(|_| ())), Err(ErrorKind::NotADirectory)),
            ("unlink what is missing", kind(disk.unlink(&path("x"))), Err(ErrorKind::NotFound)),
            ("remove a full directory", kind(disk.remove_dir(&path("d"))), Err(ErrorKind::DirectoryNotEmpty)),
            (
                "remove a file as a directory",
                kind(disk.remove_dir(&path("d/f"))),
                Err(ErrorKind::NotADirectory),
            ),
            ("remove what is missing", kind(disk.remove_dir(&path("x"))), Err(ErrorKind::NotFound)),
            ("sync what is missing", kind(disk.sync_dir(&path("x"))), Err(ErrorKind::NotFound)),
            ("unlink", kind(disk.unlink(&path("d/f"))), Ok(())),
            ("remove an empty directory", kind(disk.remove_dir(&path("d/e"))), Ok(())),
            ("remove what is empty now", kind(disk.remove_dir(&path("d"))), Ok(())),
        ];
        for (what, found, expected) in cases {
            assert_eq!(found, expected, "{disk:?}: {what}");
        }
        disk.create_dir(&path("full")).unwrap();
        assert!(disk.unlink(&path("full")).is_err(), "a directory is no file");
    });
}

#[test]
fn renaming() {
    on_each(|disk, root| {
        let path = |name: &str| root.join(name);
        for directory in ["full", "full/inner", "empty", "other"] {
            disk.create_dir(&path(directory)).unwrap();
        }
        write(disk, &path("full/inner/file"), b"deep");
        write(disk, &path("other/file"), b"other");
        write(disk, &path("one"), b"1");
        write(disk, &path("two"), b"2");
        let open = disk.open(&path("two"), Open::Read).unwrap();
        let cases = [
            ("missing", "new", Err(ErrorKind::NotFound)),
            ("one", "nowhere/new", Err(ErrorKind::NotFound)),
            ("full", "other", Err(ErrorKind::DirectoryNotEmpty)),
            ("full", "one", Err(ErrorKind::NotADirectory)),
            ("one", "empty", Err(ErrorKind::IsADirectory)),
            ("full", "empty", Ok(())),
            ("one", "two", Ok(())),
            ("empty", "third", Ok(())),
        ];
        for (from, to, expected) in cases {
            assert_eq!(kind(disk.rename(&path(from), &path(to))), expected, "{disk:?}: {from} to {to}");
        }
        assert_eq!(read(disk, &path("third/inner/file")), b"deep", "all below it moved along");
        assert_eq!(read(disk, &path("two")), b"1");
        let mut buffer = [0];
        assert_eq!(open.read_at(0, &mut buffer).unwrap(), 1);
        assert_eq!(&buffer, b"2", "an open file stays what it was when its name is taken");
        assert_eq!(kind(disk.stat(&path("full")).map(|_| ())), Err(ErrorKind::NotFound));
    });
}

#[test]
fn linking() {
    on_each(|disk, root| {
        let path = |name: &str| root.join(name);
        disk.create_dir(&path("directory")).unwrap();
        write(disk, &path("one"), b"1");
        write(disk, &path("two"), b"2");
        let cases = [
            ("missing", "new", Err(ErrorKind::NotFound)),
            ("one", "nowhere/new", Err(ErrorKind::NotFound)),
            ("one", "one/new", Err(ErrorKind::NotADirectory)),
            ("one", "two", Err(ErrorKind::AlreadyExists)),
            ("one", "one", Err(ErrorKind::AlreadyExists)),
            ("one", "directory", Err(ErrorKind::AlreadyExists)),
            ("one", "directory/new", Ok(())),
        ];
        for (from, to, expected) in cases {
            assert_eq!(kind(disk.link(&path(from), &path(to))), expected, "{disk:?}: {from} to {to}");
        }
        assert!(disk.link(&path("directory"), &path("new")).is_err(), "{disk:?}: directories have one name");
        let [one, new] = ["one", "directory/new"].map(|name| disk.stat(&path(name)).unwrap().inode);
        assert_eq!(one, new);
        disk.unlink(&path("one")).unwrap();
        assert_eq!(read(disk, &path("directory/new")), b"1");
        assert_eq!(read(disk, &path("two")), b"2");
    });
}

#[test]
fn a_removed_file_lives_on_for_those_who_have_it_open() {
    on_each(|disk, root| {
        let path = root.join("file");
        write(disk, &path, b"here");
        let open = disk.open(&path, Open::Write).unwrap();
        disk.unlink(&path).unwrap();
        open.write_at(4, b"!").unwrap();
        assert_eq!(open.stat().unwrap().length, 5);
        assert!(open.try_lock(Lock::Exclusive).unwrap());
        let again = disk.open(&path, Open::CreateNew).unwrap();
        assert!(again.try_lock(Lock::Exclusive).unwrap(), "the lock is on the file, not on its name");
        assert_ne!(open.stat().unwrap().inode, again.stat().unwrap().inode);
    });
}

#[test]
fn locks_belong_to_open_files() {
    on_each(|disk, root| {
        let path = root.join("file");
        write(disk, &path, b"");
        let [a, b] = [Open::Read, Open::Write].map(|how| disk.open(&path, how).unwrap());
        assert!(a.try_lock(Lock::Shared).unwrap());
        assert!(b.try_lock(Lock::Shared).unwrap(), "many share");
        assert!(!b.try_lock(Lock::Exclusive).unwrap(), "a shared lock of another keeps it out");
        b.unlock().unwrap();
        assert!(a.try_lock(Lock::Exclusive).unwrap(), "the only holder may raise its lock");
        assert!(a.try_lock(Lock::Exclusive).unwrap(), "and ask twice");
        assert!(!b.try_lock(Lock::Shared).unwrap());
        assert!(!b.try_lock(Lock::Exclusive).unwrap());
        b.unlock().unwrap();
        assert!(!b.try_lock(Lock::Shared).unwrap(), "nobody gives back what another holds");
        let clone = std::sync::Arc::clone(&a);
        drop(a);
        assert!(!b.try_lock(Lock::Shared).unwrap(), "a clone is the same open file");
        drop(clone);
        assert!(b.try_lock(Lock::Exclusive).unwrap(), "closing gives the lock back");
        b.unlock().unwrap();
        assert!(disk.open(&path, Open::Read).unwrap().try_lock(Lock::Exclusive).unwrap());
    });
}

#[test]
fn the_machine_follows_no_link_and_waits_for_no_pipe() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    write(&OsDisk, &path("target"), b"target");
    symlink(path("target"), path("link")).unwrap();
    symlink(path("absent"), path("dangling")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
    assert!(pipe.success());
    for name in ["link", "dangling", "pipe"] {
        for how in [Open::Read, Open::Write, Open::Create, Open::CreateNew] {
            assert!(OsDisk.open(&path(name), how).is_err(), "{name} {how:?}");
        }
        assert_eq!(OsDisk.stat(&path(name)).unwrap().kind, FileKind::Other, "{name}");
    }
    for name in ["target", "pipe", "dangling"] {
        assert!(OsDisk.sync_dir(&path(name)).is_err(), "{name}");
    }
    assert_eq!(read(&OsDisk, &path("target")), b"target");
    assert!(OsDisk.stat(&path("absent")).is_err(), "nothing was made through the link");
}
