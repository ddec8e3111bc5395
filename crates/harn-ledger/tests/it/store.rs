//! Places for ledgers, and a look behind them: the bytes of their files, on either disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};

use harn_ledger::disk::{Disk, FileKind, MemDisk, Open, OsDisk};
use harn_ledger::{Clock, FixedClock, Ledger, Timestamp};
use proptest::test_runner::Config as ProptestConfig;
use tempfile::TempDir;

pub(crate) const LOG: &str = "events.jsonl";
pub(crate) const INTENT: &str = "intent.json";

/// How many cases a property is tried with, unless `PROPTEST_CASES` says otherwise.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let asked_for = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: asked_for.unwrap_or(cases),
        // A long sequence of commands takes its time to shrink.
        max_shrink_iters: 4000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

pub(crate) fn noon() -> Timestamp {
    "2026-07-22T12:00:00.000000Z".parse().unwrap()
}

/// A clock that goes one second on each time it is asked, from noon.
#[derive(Debug)]
pub(crate) struct Ticking(AtomicI64);

impl Ticking {
    pub(crate) const fn from_noon() -> Self {
        Self(AtomicI64::new(0))
    }
}

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        let seconds = self.0.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_microseconds(noon().as_microseconds() + seconds * 1_000_000)
    }
}

/// Opens a ledger at `root` whose clock stands at noon.
pub(crate) fn open(disk: impl Disk + 'static, root: &Path) -> Ledger {
    Ledger::builder(root).disk(disk).clock(FixedClock(noon())).open().unwrap()
}

/// A new ledger on a disk in memory.
pub(crate) fn in_memory() -> (MemDisk, Ledger) {
    let disk = MemDisk::new();
    let ledger = open(disk.clone(), Path::new("/bank"));
    (disk, ledger)
}

/// A new ledger on the machine's disk. The directory is removed when the first value is dropped.
pub(crate) fn on_disk() -> (TempDir, PathBuf, Ledger) {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("bank");
    let ledger = open(OsDisk, &root);
    (directory, root, ledger)
}

/// The directory of an account.
pub(crate) fn account(id: &str) -> PathBuf {
    Path::new("/bank/account").join(id)
}

/// The bytes of a file.
pub(crate) fn read(disk: &dyn Disk, path: &Path) -> Vec<u8> {
    let file = disk.open(path, Open::Read).unwrap();
    let mut bytes = vec![0; usize::try_from(file.stat().unwrap().length).unwrap()];
    let mut filled = 0;
    while filled < bytes.len() {
        let read = file.read_at(filled as u64, &mut bytes[filled..]).unwrap();
        assert!(read > 0, "the file became shorter while it was read");
        filled += read;
    }
    bytes
}

/// Replaces the bytes of a file, in place.
pub(crate) fn write(disk: &dyn Disk, path: &Path, bytes: &[u8]) {
    let file = disk.open(path, Open::Create).unwrap();
    file.truncate(0).unwrap();
    assert_eq!(file.write_at(0, bytes).unwrap(), bytes.len());
}

/// Cuts `bytes` from the end of a file.
pub(crate) fn cut(disk: &dyn Disk, path: &Path, bytes: u64) {
    let file = disk.open(path, Open::Write).unwrap();
    file.truncate(file.stat().unwrap().length - bytes).unwrap();
}

/// Everything below `root`: each file with its bytes, each directory with nothing.
pub(crate) fn tree(disk: &dyn Disk, root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        let bytes = match disk.stat(&path).unwrap().kind {
            FileKind::Directory => {
                open.extend(disk.read_dir(&path).unwrap().into_iter().map(|name| path.join(name)));
                Vec::new()
            }
            FileKind::File => read(disk, &path),
            FileKind::Other => b"neither file nor directory".to_vec(),
        };
        found.insert(path, bytes);
    }
    found
}

/// Names of the moved tails of a stream, sorted.
pub(crate) fn torn_files(disk: &dyn Disk, stream: &Path) -> Vec<String> {
    let mut names = moved_files(disk, stream);
    names.retain(|name| name.starts_with("events.torn-"));
    names
}

/// Names of the files that hold what was moved out of the log of a stream, sorted.
pub(crate) fn moved_files(disk: &dyn Disk, stream: &Path) -> Vec<String> {
    let mut names: Vec<String> = disk
        .read_dir(stream)
        .unwrap()
        .into_iter()
        .map(|name| name.into_string().unwrap())
        .filter(|name| name.starts_with("events.torn-") || name.starts_with("events.cut-"))
        .collect();
    names.sort();
    names
}
