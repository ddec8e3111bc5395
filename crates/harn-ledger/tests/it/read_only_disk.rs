//! R17: a ledger on a read-only file system is read like any other, and nothing is made for it; every write says at once
//! what is in the way, and where.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_ledger::disk::{Disk, DiskFile, FileSystem, Lock, MemDisk, Open, Stat};
use harn_ledger::{
    AppendError, BlobError, CreateError, Expect, LeaseError, LeaseStatus, Ledger, OpenError, VerifyOptions,
};

use crate::account::{Account, AccountEvent, Owner, credited, open_account};
use crate::store::{LOG, account, cut, in_memory, open, tree};

/// A disk in memory, mounted for reading only.
#[derive(Debug, Clone)]
struct ReadOnlyDisk {
    inner: MemDisk,
    /// Whether making a directory that is there is refused because it is there, or because the disk is as it is.
    names_first: bool,
}

fn refused<T>() -> io::Result<T> {
    Err(io::ErrorKind::ReadOnlyFilesystem.into())
}

impl Disk for ReadOnlyDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        match how {
            Open::Read => self.inner.open(path, how).map(|file| Arc::new(ReadOnlyFile(file)) as _),
            Open::Write => self.inner.stat(path).and_then(|_| refused()),
            Open::CreateNew if self.inner.stat(path).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
            Open::CreateNew | Open::Create => refused(),
        }
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.inner.stat(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>> {
        self.inner.read_dir(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        if self.names_first && self.inner.stat(path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        refused()
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        refused()
    }

    fn unlink(&self, _: &Path) -> io::Result<()> {
        refused()
    }

    fn remove_dir(&self, _: &Path) -> io::Result<()> {
        refused()
    }

    fn set_mode(&self, _: &Path, _: u32) -> io::Result<()> {
        refused()
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_dir(path)
    }

    fn user(&self) -> u32 {
        self.inner.user()
    }

    fn file_system(&self, _: &Path) -> io::Result<FileSystem> {
        Ok(FileSystem { read_only: true, network: None })
    }
}

#[derive(Debug)]
struct ReadOnlyFile(Arc<dyn DiskFile>);

impl DiskFile for ReadOnlyFile {
    fn stat(&self) -> io::Result<Stat> {
        self.0.stat()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(offset, buffer)
    }

    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<usize> {
        refused()
    }

    fn truncate(&self, _: u64) -> io::Result<()> {
        refused()
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn try_lock(&self, lock: Lock) -> io::Result<bool> {
        self.0.try_lock(lock)
    }

    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }
}

const BOTH: [bool; 2] = [true, false];

/// What refuses, with the path that it names: an append, a lease, a creation, a blob in one piece and one in several.
fn refusals(ledger: &Ledger) -> [(String, PathBuf, &'static str, Option<String>); 5] {
    let stream = ledger.stream::<Account>("a").unwrap();
    let error = stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap_err();
    let AppendError::ReadOnlyFileSystem { path } = &error else { panic!("{error:?}") };
    let append = (error.to_string(), path.clone(), error.code(), error.hint());

    let error = stream.lease("x").unwrap_err();
    let LeaseError::ReadOnlyFileSystem { path } = &error else { panic!("{error:?}") };
    let lease = (error.to_string(), path.clone(), error.code(), error.hint());

    let owner = Owner { owner: "Bob".to_owned(), contract: None };
    let error = ledger.create::<Account>("new", "teller", &owner, &[AccountEvent::Opened {}]).unwrap_err();
    let CreateError::Append(AppendError::ReadOnlyFileSystem { path }) = &error else { panic!("{error:?}") };
    let create = (error.to_string(), path.clone(), error.code(), error.hint());

    let blob = |error: BlobError| {
        let BlobError::ReadOnlyFileSystem { path } = &error else { panic!("{error:?}") };
        (error.to_string(), path.clone(), error.code(), error.hint())
    };
    let put = blob(ledger.blobs().put(b"new").unwrap_err());
    let writer = blob(ledger.blobs().writer().unwrap_err());
    [append, lease, create, put, writer]
}

/// With everything there that a write may make on its way, and with as little as there can be.
#[test]
fn every_write_is_refused_and_names_the_place() {
    for (names_first, used) in BOTH.into_iter().flat_map(|first| BOTH.map(|used| (first, used))) {
        let (disk, ledger) = in_memory();
        let stream = open_account(&ledger, "a");
        if used {
            drop(stream.lease("x").unwrap());
            ledger.blobs().put(b"first").unwrap();
        } else {
            disk.remove_dir(Path::new("/bank/.new")).unwrap();
        }
        let before = tree(&disk, Path::new("/bank"));
        let ledger = open(ReadOnlyDisk { inner: disk.clone(), names_first }, Path::new("/bank"));
        assert!(ledger.file_system().unwrap().read_only);
        let paths = [
            account("a").join(LOG),
            account("a").join("lease"),
            account("new"),
            "/bank".into(),
            "/bank".into(),
        ];
        for ((message, found, code, hint), path) in refusals(&ledger).into_iter().zip(paths) {
            assert_eq!(found, path);
            assert_eq!(message, format!("`{}` is on a read-only file system", path.display()));
            assert_eq!(code, "read_only_file_system");
            assert!(hint.unwrap().contains("mount it writable"));
        }
        assert_eq!(tree(&disk, Path::new("/bank")), before);
    }
}

/// With a tail behind the log and no lease file, which are what a read could want to change or make.
#[test]
fn every_read_works_and_makes_nothing() {
    let (disk, ledger) = in_memory();
    let stream = open_account(&ledger, "a");
    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    let citation = ledger.blobs().put(b"evidence").unwrap();
    cut(&disk, &account("a").join(LOG), 3);
    let before = tree(&disk, Path::new("/bank"));

    let ledger = open(ReadOnlyDisk { inner: disk.clone(), names_first: true }, Path::new("/bank"));
    let stream = ledger.stream::<Account>("a").unwrap();
    assert_eq!(stream.state().unwrap().folded, [1]);
    assert_eq!(stream.settled_state().unwrap().folded, [1]);
    assert_eq!(stream.history().unwrap().len(), 1);
    assert!(stream.unfinished_tail().unwrap().is_some());
    assert_eq!(stream.lease_status().unwrap(), LeaseStatus::Free);
    assert_eq!(ledger.ids("account").unwrap().len(), 1);
    let listed = ledger.catalog::<Account>(1).refresh(|_, state, _| state.folded.clone()).unwrap();
    assert_eq!(listed[0].summary.as_ref().unwrap(), &[1]);
    assert_eq!(ledger.blobs().get(&citation).unwrap(), b"evidence");
    assert_eq!(ledger.blobs().put(b"evidence").unwrap(), citation, "it is stored already");
    let found = ledger.verify(&VerifyOptions::default());
    assert_eq!((found.events, found.problems.len()), (1, 1), "a place that cannot be written is no problem");
    assert_eq!(tree(&disk, Path::new("/bank")), before);
}

/// An append that was under way when the disk became read-only, as disks do after an error of theirs.
#[test]
fn a_disk_that_becomes_read_only() {
    use crate::scripted_disk::{Act, Call, ScriptedDisk};
    let disk = ScriptedDisk::new(MemDisk::new());
    let stream = open_account(&open(disk.clone(), Path::new("/bank")), "a");
    disk.next(Call::Write, LOG, Act::Fail(io::ErrorKind::ReadOnlyFilesystem));
    let error = stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap_err();
    assert!(matches!(error, AppendError::ReadOnlyFileSystem { .. }), "{error:?}");
    assert_eq!(stream.state().unwrap().folded, [1]);
}

#[test]
fn opening_on_a_read_only_disk() {
    for names_first in BOTH {
        let inner = MemDisk::new();
        let disk = ReadOnlyDisk { inner: inner.clone(), names_first };
        let missing =
            |read_only| Ledger::builder("/bank").disk(disk.clone()).read_only(read_only).open().unwrap_err();
        let error = missing(false);
        assert!(
            matches!(&error, OpenError::ReadOnlyFileSystem { path } if path == Path::new("/bank")),
            "{error}"
        );
        assert_eq!(error.code(), "read_only_file_system");
        assert!(error.to_string().contains("`/bank`") && error.to_string().contains("read-only file system"));
        assert_eq!(missing(true).code(), "open_failed", "it is only missing");

        inner.create_dir(Path::new("/bank")).unwrap();
        for read_only in BOTH {
            let empty = Ledger::builder("/bank").disk(disk.clone()).read_only(read_only).open().unwrap();
            assert!(empty.ids("account").unwrap().is_empty());
        }
    }
}
