//! Verification of large ledgers: what it holds open and asks for at once, and that how it divides the work shows in
//! nothing that it finds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use harn_ledger::disk::{Disk, DiskFile, Lock, MemDisk, Open, Stat};
use harn_ledger::{BlobRef, Digest, Expect, Ledger, ProblemKind, Verification, VerifyOptions};

use crate::account::{Account, AccountEvent, Owner, credited, open_account};
use crate::forge::Forged;
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{INTENT, LOG, account, in_memory, open, read, write};

/// A disk that does as another one does, keeps a tally of what is open and asked for, and claims to hold more blobs than
/// it does: that they are not there matters to nobody, since nothing cites them.
#[derive(Debug, Clone)]
struct Measured {
    inner: Arc<dyn Disk>,
    /// Blobs claimed in each of the 256 directories.
    claimed: usize,
    tally: Arc<Tally>,
}

#[derive(Debug, Default)]
struct Tally {
    open: AtomicUsize,
    most_open: AtomicUsize,
    longest_read: AtomicUsize,
    opened: Mutex<BTreeMap<OsString, usize>>,
}

impl Measured {
    fn new(inner: impl Disk + 'static, claimed: usize) -> Self {
        Self { inner: Arc::new(inner), claimed, tally: Arc::default() }
    }

    fn opened(&self, name: &str) -> usize {
        self.tally.opened.lock().unwrap().get(&OsString::from(name)).copied().unwrap_or(0)
    }
}

impl Disk for Measured {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let inner = self.inner.open(path, how)?;
        let name = path.file_name().unwrap_or_default().to_owned();
        *self.tally.opened.lock().unwrap().entry(name).or_default() += 1;
        let open = 1 + self.tally.open.fetch_add(1, Ordering::SeqCst);
        self.tally.most_open.fetch_max(open, Ordering::SeqCst);
        Ok(Arc::new(MeasuredFile { inner, tally: Arc::clone(&self.tally) }))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.inner.stat(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>> {
        if self.claimed == 0 {
            return self.inner.read_dir(path);
        }
        if path == Path::new("/bank/blobs") {
            return Ok((0..=255_u8).map(|part| format!("{part:02x}").into()).collect());
        }
        if path.parent() != Some(Path::new("/bank/blobs")) {
            return self.inner.read_dir(path);
        }
        let part = path.file_name().unwrap().to_str().unwrap();
        let claimed = (0..self.claimed).map(|number| format!("{part}{number:062x}").into());
        Ok(self.inner.read_dir(path).unwrap_or_default().into_iter().chain(claimed).collect())
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.inner.unlink(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir(path)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.inner.set_mode(path, mode)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_dir(path)
    }

    fn user(&self) -> u32 {
        self.inner.user()
    }
}

#[derive(Debug)]
struct MeasuredFile {
    inner: Arc<dyn DiskFile>,
    tally: Arc<Tally>,
}

impl Drop for MeasuredFile {
    fn drop(&mut self) {
        self.tally.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl DiskFile for MeasuredFile {
    fn stat(&self) -> io::Result<Stat> {
        self.inner.stat()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.tally.longest_read.fetch_max(buffer.len(), Ordering::SeqCst);
        self.inner.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write_at(offset, bytes)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.inner.truncate(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }

    fn try_lock(&self, lock: Lock) -> io::Result<bool> {
        self.inner.try_lock(lock)
    }

    fn unlock(&self) -> io::Result<()> {
        self.inner.unlock()
    }
}

fn verify(ledger: &Ledger, threads: usize) -> Verification {
    let mut options = VerifyOptions::default();
    options.threads = NonZero::new(threads);
    ledger.verify(&options)
}

fn places(found: &Verification) -> Vec<(&str, &'static str)> {
    found.problems.iter().map(|problem| (&*problem.place, problem.kind.code())).collect()
}

/// Forty streams that cite forty blobs in every way that is right or wrong. Some blobs are cited by several streams, some
/// are missing, some are damaged, and some are cited with another length.
fn library(disk: &MemDisk) {
    let ledger = open(disk.clone(), Path::new("/bank"));
    let text = |number: usize| format!("paper {number}").into_bytes();
    for number in 0..40 {
        ledger.blobs().put(&text(number)).unwrap();
    }
    for number in 0..40_usize {
        let right = BlobRef::of(&text(number));
        let contract = Some(BlobRef::of(&text(39 - number)));
        let intent = Owner { owner: "Alice".to_owned(), contract };
        let wrong = BlobRef { bytes: right.bytes + (number % 3) as u64, ..right };
        let missing = BlobRef::of(&text(100 + number / 2));
        let papers = AccountEvent::Documented { papers: vec![wrong, missing, right] };
        let events = [AccountEvent::Opened {}, papers];
        drop(ledger.create::<Account>(&format!("s{number:02}"), "teller", &intent, &events).unwrap());
    }
    ledger.blobs().put(b"orphan").unwrap();
    for number in [3, 17, 31] {
        let digits = Digest::of(&text(number)).to_string();
        write(disk, &Path::new("/bank/blobs").join(&digits[..2]).join(digits), b"damage");
    }
    write(disk, Path::new("/bank/blobs/README"), b"");
    disk.create_dir(Path::new("/bank/blobs/zz")).unwrap();
}

/// Nothing that is found depends on the threads, nor on how many passes it takes to cover the blobs.
#[test]
fn what_is_found_depends_on_neither_threads_nor_passes() {
    let disk = MemDisk::new();
    library(&disk);
    let found = verify(&open(disk.clone(), Path::new("/bank")), 1);
    // Forty right ones, the two wrong lengths of three, and the missing ones.
    assert_eq!((found.streams, found.events, found.blobs, found.orphan_blobs), (40, 80, 40 + 26 + 20, 1));
    let count = |code: &str| found.problems.iter().filter(|problem| problem.kind.code() == code).count();
    assert_eq!((count("missing_blob"), count("damaged_blob"), count("foreign_file")), (20, 26 + 3, 2));
    let missing: Vec<&str> = found
        .problems
        .iter()
        .filter(|problem| problem.kind.code() == "missing_blob")
        .map(|problem| &*problem.place)
        .collect();
    assert!(
        missing.iter().all(|place| place.ends_with(['0', '2', '4', '6', '8'])),
        "the first that cites: {missing:?}"
    );
    let blobs = found.problems.iter().filter_map(|problem| match problem.kind {
        ProblemKind::MissingBlob { blob, .. } | ProblemKind::DamagedBlob { blob, .. } => Some(blob),
        _ => None,
    });
    assert!(blobs.is_sorted());

    for threads in [2, 3, 16] {
        for _ in 0..5 {
            assert_eq!(verify(&open(disk.clone(), Path::new("/bank")), threads), found, "{threads} threads");
        }
    }
    for (claimed, passes) in [(100, 1), (200, 2), (1000, 8)] {
        for threads in [1, 4] {
            let measured = Measured::new(disk.clone(), claimed);
            let many = verify(&open(measured.clone(), Path::new("/bank")), threads);
            assert_eq!(many.orphan_blobs, found.orphan_blobs + 256 * claimed as u64);
            // Where the disk claims all directories, the foreign ones are not seen.
            let problems = found.problems.iter().filter(|problem| problem.kind.code() != "foreign_file");
            assert_eq!(many.problems, problems.cloned().collect::<Vec<_>>(), "{claimed} claimed");
            assert_eq!((many.streams, many.events, many.blobs), (found.streams, found.events, found.blobs));
            assert_eq!(measured.opened(LOG), 40 * passes, "{claimed} claimed");
        }
    }
}

/// A blob that is stored and cited while the ledger is verified, after the stored blobs were listed, is not missing.
#[test]
fn a_blob_that_comes_in_between() {
    let (memory, ledger) = in_memory();
    let stream = open_account(&ledger, "a");
    let disk = ScriptedDisk::new(memory);
    let act = move || {
        let paper = ledger.blobs().put(b"late").unwrap();
        stream.append(Expect::Any, "teller", vec![AccountEvent::Documented { papers: vec![paper] }]).unwrap();
    };
    disk.next(Call::Open, INTENT, Act::First(Box::new(act)));
    let found = verify(&open(disk, Path::new("/bank")), 1);
    assert_eq!((found.events, found.blobs, found.orphan_blobs, found.problems), (2, 1, 0, Vec::new()));
}

/// A stream that can be read in the first pass only may cite what is then taken for an orphan, so it is named.
#[test]
fn a_stream_that_fails_in_a_later_pass() {
    let (memory, ledger) = in_memory();
    open_account(&ledger, "a");
    open_account(&ledger, "b");
    let disk = ScriptedDisk::new(Measured::new(memory, 200));
    disk.after(2, Call::Open, LOG, Act::Fail(io::ErrorKind::PermissionDenied));
    let found = verify(&open(disk, Path::new("/bank")), 1);
    let places: Vec<_> =
        found.problems.iter().map(|problem| (&*problem.place, problem.kind.code())).collect();
    assert_eq!(places, [("account/a", "unreadable")]);
    assert_eq!(found.events, 2);
}

/// However many streams and blobs there are, and however long: each thread holds one of them open, and asks for 64 KiB.
#[test]
fn what_is_open_and_asked_for_is_bounded() {
    let disk = MemDisk::new();
    library(&disk);
    let ledger = open(disk.clone(), Path::new("/bank"));
    let large = ledger.blobs().put(&vec![7; 3_000_000]).unwrap();
    let stream = open_account(&ledger, "long");
    stream.append(Expect::Any, "teller", vec![AccountEvent::Documented { papers: vec![large] }]).unwrap();
    for _ in 0..20 {
        stream.append(Expect::Any, "teller", vec![credited(1); 100]).unwrap();
    }
    assert!(read(&disk, &account("long").join(LOG)).len() > 500_000);
    for threads in [1, 4] {
        let measured = Measured::new(disk.clone(), 0);
        let found = verify(&open(measured.clone(), Path::new("/bank")), threads);
        assert_eq!(found.events, 80 + 2 + 2000);
        let Tally { open, most_open, longest_read, .. } = &*measured.tally;
        assert_eq!(open.load(Ordering::SeqCst), 0);
        // A stream that looks as if it had a tail is opened a second time, for its lock; these have none.
        let most_open = most_open.load(Ordering::SeqCst);
        assert!(most_open <= threads, "{most_open} files were open at once on {threads} threads");
        assert_eq!(longest_read.load(Ordering::SeqCst), 64 << 10);
    }
}

/// One damaged stream among ten thousand is one problem.
#[test]
fn ten_thousand_streams() {
    let (disk, ledger) = in_memory();
    let place = |number: usize| account(&format!("s{number:04}"));
    open_account(&ledger, "seed");
    let intent = read(&disk, &account("seed").join(INTENT));
    for number in 0..9_999 {
        disk.create_dir(&place(number)).unwrap();
        write(&disk, &place(number).join(INTENT), &intent);
        let stream = format!("account/s{number:04}");
        let line = Forged::new(&stream, 1, Digest::of(&intent), "account.opened", "{}").line();
        write(&disk, &place(number).join(LOG), &line);
    }
    let mut options = VerifyOptions::default();
    options.against = Some(ledger.checkpoint().unwrap());
    assert_eq!(ledger.verify(&options).problems, []);
    let damaged = place(7312).join(LOG);
    let mut bytes = read(&disk, &damaged);
    bytes[50] ^= 1;
    write(&disk, &damaged, &bytes);
    let found = ledger.verify(&options);
    assert_eq!(places(&found), [("account/s7312", "damaged")]);
    assert_eq!((found.streams, found.events), (10_000, 9_999));
}
