//! Opening a stream and checking its tail, whatever comes before that.

use std::path::Path;
use std::time::Instant;

use harn_ledger::{Decider as _, Ledger};

use crate::baseline::sqlite::EventTable;
use crate::domain::Job;
use crate::history::{History, ID};
use crate::measure::{Figures, Group, median};
use crate::row::{Bar, Comparison, Unit};
use crate::setting::{Result, Setting};

const TEN: &str = "10 events";
const THOUSAND: &str = "1,000 events";
const MILLION: &str = "1,000,000 events";
const SQLITE_TEN: &str = "SQLite, its last row of 10";
const SQLITE_THOUSAND: &str = "SQLite, its last row of 1,000";
const SQLITE_MILLION: &str = "SQLite, its last row of 1,000,000";

/// `open`.
pub(super) const GROUP: Group = Group {
    name: "open",
    round,
    comparisons: &[
        row("open a stream of 10 events and check its tail", TEN, SQLITE_TEN),
        row("open a stream of 1,000 events and check its tail", THOUSAND, SQLITE_THOUSAND),
        row("open a stream of 1,000,000 events and check its tail", MILLION, SQLITE_MILLION),
    ],
};

const fn row(what: &'static str, ours: &'static str, baseline: &'static str) -> Comparison {
    Comparison { what, ours, baseline, unit: Unit::Time, bar: Bar::Absolute(1e-3, None) }
}

/// How often a stream is opened in a round.
const TIMES: u64 = 20;

fn round(setting: &Setting) -> Result<Figures> {
    let mut figures = Figures::new();
    for (events, ours, sqlite) in [
        (10, TEN, SQLITE_TEN),
        (1000, THOUSAND, SQLITE_THOUSAND),
        (setting.sizes.history, MILLION, SQLITE_MILLION),
    ] {
        let history = History::of(setting, events)?;
        figures.insert(ours, time(setting, || check_tail(&history.ledger))?);
        figures.insert(sqlite, time(setting, || EventTable::open(&history.table)?.last_seq())?);
    }
    Ok(figures)
}

/// How long it takes to find the last number, in seconds.
fn time(setting: &Setting, find: impl Fn() -> Result<u64>) -> Result<f64> {
    let mut times = Vec::new();
    setting.budget(TIMES).spend(|_| {
        let start = Instant::now();
        find()?;
        times.push(start.elapsed());
        Ok(())
    })?;
    Ok(median(&mut times))
}

/// Opens the ledger and the stream anew, and returns where the stream ends.
fn check_tail(root: &Path) -> Result<u64> {
    Ok(Ledger::open(root)?.raw(Job::KIND, ID)?.head()?.seq)
}
