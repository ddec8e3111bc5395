//! Several threads that append to one stream through one handle.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use harn_ledger::{Ledger, Stream};

use crate::baseline::sqlite::EventTable;
use crate::domain::{self, Job, Lines};
use crate::measure::{Budget, Figures, Group, exact, median, quantile};
use crate::row::{Bar, Comparison, Unit};
use crate::setting::{Error, Result, Setting};

const ONE: &str = "one thread";
const FOUR: &str = "4 threads";
const SIXTEEN: &str = "16 threads";
const SQLITE: &str = "SQLite, 4 threads (WAL, FULL)";
const ONE_P50: &str = "p50 of one thread";
const FOUR_P50: &str = "p50 of 4 threads";
const FOUR_P99: &str = "p99 of 4 threads";
const SIXTEEN_P50: &str = "p50 of 16 threads";
const SIXTEEN_P99: &str = "p99 of 16 threads";

/// `threads`.
pub(super) const GROUP: Group = Group {
    name: "threads",
    round,
    comparisons: &[
        Comparison {
            what: "4 threads on one stream",
            ours: FOUR,
            baseline: ONE,
            unit: Unit::Rate,
            bar: Bar::AtLeast(2.7, None),
        },
        Comparison {
            what: "4 threads on one stream",
            ours: FOUR,
            baseline: SQLITE,
            unit: Unit::Rate,
            bar: Bar::AtLeast(2.8, None),
        },
        Comparison {
            what: "4 threads: half of the appends within",
            ours: FOUR_P50,
            baseline: ONE_P50,
            unit: Unit::Time,
            bar: Bar::None,
        },
        Comparison {
            what: "4 threads: 99 % of the appends within",
            ours: FOUR_P99,
            baseline: ONE_P50,
            unit: Unit::Time,
            bar: Bar::AtMost(2.5, None),
        },
        Comparison {
            what: "16 threads on one stream (stretch)",
            ours: SIXTEEN,
            baseline: ONE,
            unit: Unit::Rate,
            bar: Bar::AtLeast(7.0, None),
        },
        Comparison {
            what: "16 threads: half of the appends within",
            ours: SIXTEEN_P50,
            baseline: ONE_P50,
            unit: Unit::Time,
            bar: Bar::None,
        },
        Comparison {
            what: "16 threads: 99 % of the appends within",
            ours: SIXTEEN_P99,
            baseline: ONE_P50,
            unit: Unit::Time,
            bar: Bar::None,
        },
    ],
};

fn round(setting: &Setting) -> Result<Figures> {
    let each = setting.budget(setting.sizes.shared_appends);
    let (one, mut one_times) = ours(setting, 1, each)?;
    let (four, mut four_times) = ours(setting, 4, each)?;
    let sqlite = sqlite(setting, 4, each)?;
    let (sixteen, mut sixteen_times) = ours(setting, 16, each)?;
    Ok(Figures::from([
        (ONE, one),
        (FOUR, four),
        (SIXTEEN, sixteen),
        (SQLITE, sqlite),
        (ONE_P50, median(&mut one_times)),
        (FOUR_P50, median(&mut four_times)),
        (FOUR_P99, quantile(&mut four_times, 0.99)),
        (SIXTEEN_P50, median(&mut sixteen_times)),
        (SIXTEEN_P99, quantile(&mut sixteen_times, 0.99)),
    ]))
}

/// Appends a second, and how long each took.
fn ours(setting: &Setting, threads: usize, each: Budget) -> Result<(f64, Vec<Duration>)> {
    let scratch = setting.scratch()?;
    let root = scratch.path().join("ledger");
    let stream = domain::create(&Ledger::open(&root)?, "shared", 1)?;
    let (rate, times) = append_together(vec![stream; threads], each)?;
    domain::check(&root, 1 + times.len() as u64)?;
    Ok((rate, times))
}

/// Lets one thread per stream append. Returns appends a second, and how long each took.
pub(super) fn append_together(streams: Vec<Stream<Job>>, each: Budget) -> Result<(f64, Vec<Duration>)> {
    together(streams, each, |stream, step| domain::append(stream, step))
}

fn sqlite(setting: &Setting, threads: usize, each: Budget) -> Result<f64> {
    let scratch = setting.scratch()?;
    let lines = Lines::new(each.most)?;
    let open = || EventTable::open(&scratch.path().join("table.db"));
    let tables = std::iter::repeat_with(open).take(threads).collect::<Result<Vec<_>>>()?;
    let (rate, _) = together(tables, each, |table, step| {
        let start = Instant::now();
        table.append_among_others(lines.number(step))?;
        Ok(start.elapsed())
    })?;
    Ok(rate)
}

/// Lets one thread per writer append, all starting at once.
fn together<W: Send>(
    writers: Vec<W>,
    each: Budget,
    append: impl Fn(&mut W, u64) -> Result<Duration> + Sync,
) -> Result<(f64, Vec<Duration>)> {
    let start = Barrier::new(writers.len() + 1);
    let (start, append) = (&start, &append);
    thread::scope(|scope| {
        let threads: Vec<_> = writers
            .into_iter()
            .map(|mut writer| {
                scope.spawn(move || {
                    let mut times = Vec::new();
                    start.wait();
                    each.spend(|step| {
                        times.push(append(&mut writer, step)?);
                        Ok(())
                    })?;
                    Ok::<_, Error>(times)
                })
            })
            .collect();
        start.wait();
        let began = Instant::now();
        let mut times = Vec::new();
        for thread in threads {
            times.extend(thread.join().map_err(|_| "a writer panicked")??);
        }
        Ok((exact(times.len() as u64) / began.elapsed().as_secs_f64(), times))
    })
}
