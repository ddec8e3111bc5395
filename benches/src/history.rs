//! One long history, as a log and as a table: made once, read by several groups.

use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use harn_ledger::{Decider as _, Expect, Ledger};

use crate::baseline::sqlite::EventTable;
use crate::domain::{self, ACTOR, Job, done};
use crate::measure::exact;
use crate::setting::{Result, Setting};

/// The id of its stream.
pub const ID: &str = "long";

/// Events that are appended at once.
const BATCH: u64 = 1_000;

/// Where a history lies.
#[derive(Debug)]
pub struct History {
    /// The directory of the ledger.
    pub ledger: PathBuf,
    /// The log of its only stream.
    pub log: PathBuf,
    /// The same events in SQLite.
    pub table: PathBuf,
    /// How many there are.
    pub events: u64,
}

impl History {
    /// A history of `events` events, from an earlier call if there was one.
    pub fn of(setting: &Setting, events: u64) -> Result<Self> {
        let directory = setting.directory().join(format!("history-{events}"));
        let ledger = directory.join("ledger");
        let log = ledger.join(Job::KIND).join(ID).join("events.jsonl");
        let history = Self { ledger, log, table: directory.join("table.db"), events };
        if !history.table.exists() {
            std::fs::create_dir(&directory)?;
            history.write()?;
        }
        Ok(history)
    }

    fn write(&self) -> Result<()> {
        let stream = domain::create(&Ledger::open(&self.ledger)?, ID, 1)?;
        let mut next = 2;
        while next <= self.events {
            let end = self.events.min(next + BATCH - 1);
            stream.append(Expect::Any, ACTOR, (next..=end).map(done).collect())?;
            next = end + 1;
        }
        EventTable::open(&self.table)?.import(&self.log)
    }

    /// Bytes of a line, on average.
    pub fn line_bytes(&self) -> Result<f64> {
        Ok(exact(File::open(&self.log)?.metadata()?.len() / self.events))
    }
}

/// Opens the ledger anew, so that nothing of it has been read, to read it with so many threads.
pub fn reopen(root: &Path, threads: usize) -> Result<Ledger> {
    let threads = NonZeroUsize::new(threads).ok_or("a reader is a thread")?;
    Ok(Ledger::builder(root).threads(threads).open()?)
}
