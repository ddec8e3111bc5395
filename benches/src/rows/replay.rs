//! Reading a long history with full verification.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;

use harn_ledger::{Decider as _, Stream, VerifyOptions};

use crate::baseline::hashing;
use crate::baseline::sqlite::EventTable;
use crate::domain::Job;
use crate::history::{History, ID, reopen};
use crate::measure::{Figures, Group, rate};
use crate::row::{Bar, Comparison, LINE_BYTES, Unit};
use crate::setting::{Result, Setting};

const TYPED: &str = "one thread";
const TWO_THREADS: &str = "two threads";
const VISIT: &str = "typed visit";
const RAW: &str = "raw view";
const RAW_VERIFY: &str = "raw verify";
const VERIFY: &str = "whole verify";
const SQLITE: &str = "SQLite + serde_json + SHA-256";
const HASH: &str = "SHA-256 alone";
const HASH_DECODE: &str = "SHA-256 + serde_json of the data";
const PARSE: &str = "serde_json of the lines";

/// `replay`.
pub(super) const GROUP: Group = Group {
    name: "replay",
    round,
    comparisons: &[
        row("typed replay, verified", TYPED, SQLITE, Bar::AtLeast(1.8, Some(2.2))),
        row("typed replay, verified", TYPED, HASH, Bar::AtLeast(0.45, None)),
        row("typed replay, verified", TYPED, HASH_DECODE, Bar::None),
        row("typed replay, verified", TYPED, PARSE, Bar::None),
        row("typed replay, verified, two threads", TWO_THREADS, TYPED, Bar::AtLeast(1.8, Some(1.95))),
        row("`Stream::visit`, verified, one thread", VISIT, SQLITE, Bar::None),
        row("`RawStream::visit`, one thread", RAW, HASH, Bar::AtLeast(0.7, None)),
        row("`RawStream::verify`, one thread", RAW_VERIFY, HASH, Bar::None),
        row("`Ledger::verify`, one thread", VERIFY, HASH, Bar::None),
    ],
};

const fn row(what: &'static str, ours: &'static str, baseline: &'static str, bar: Bar) -> Comparison {
    Comparison { what, ours, baseline, unit: Unit::Lines, bar }
}

fn round(setting: &Setting) -> Result<Figures> {
    let history = History::of(setting, setting.sizes.history)?;
    let History { ledger, log, table, events } = &history;
    let events = *events;
    let stream = reopen(ledger, 1)?.stream::<Job>(ID)?;
    Ok(Figures::from([
        (LINE_BYTES, history.line_bytes()?),
        (TYPED, rate(events, || replay(ledger, 1, events))?),
        (SQLITE, rate(events, || all(EventTable::open(table)?.replay()?, events))?),
        (HASH, rate(events, || hashing::hash(log))?),
        (RAW, rate(events, || raw(ledger, events))?),
        (HASH_DECODE, rate(events, || hashing::hash_and_decode(log))?),
        (VISIT, rate(events, || visit(&stream, events))?),
        (PARSE, rate(events, || hashing::parse(log))?),
        (RAW_VERIFY, rate(events, || raw_verify(ledger, events))?),
        (VERIFY, rate(events, || verify(ledger, events))?),
        (TWO_THREADS, rate(events, || replay(ledger, 2, events))?),
    ]))
}

/// Opens the stream, which reads, verifies and folds its whole history.
fn replay(root: &Path, threads: usize, events: u64) -> Result<()> {
    all(reopen(root, threads)?.stream::<Job>(ID)?.state()?, events)
}

/// Shows every event of an open stream to a visitor, who gets it typed.
fn visit(stream: &Stream<Job>, events: u64) -> Result<()> {
    let mut seen = 0;
    stream.visit(|entry| {
        seen += 1;
        black_box(entry);
        ControlFlow::Continue(())
    })?;
    all(seen, events)
}

fn raw(root: &Path, events: u64) -> Result<()> {
    let mut seen = 0;
    reopen(root, 1)?.raw(Job::KIND, ID)?.visit(|event| {
        seen += 1;
        black_box(event);
        ControlFlow::Continue(())
    })?;
    all(seen, events)
}

fn raw_verify(root: &Path, events: u64) -> Result<()> {
    all(reopen(root, 1)?.raw(Job::KIND, ID)?.verify()?.0.seq, events)
}

fn verify(root: &Path, events: u64) -> Result<()> {
    let found = reopen(root, 1)?.verify(&VerifyOptions::default());
    if found.problems.is_empty() { all(found.events, events) } else { Err("it does not verify".into()) }
}

fn all(seen: u64, events: u64) -> Result<()> {
    if seen == events { Ok(()) } else { Err(format!("{seen} events were seen, expected {events}").into()) }
}
