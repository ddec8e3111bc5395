//! Several threads that append to one stream each.

use harn_ledger::Ledger;

use crate::domain;
use crate::measure::{Figures, Group};
use crate::row::{Bar, Comparison, Unit};
use crate::rows::threads::append_together;
use crate::setting::{Result, Setting};

const ONE: &str = "one thread, one stream";
const FOUR: &str = "4 threads, 4 streams";

/// `streams`.
pub(super) const GROUP: Group = Group {
    name: "streams",
    round,
    comparisons: &[Comparison {
        what: "4 threads on 4 streams",
        ours: FOUR,
        baseline: ONE,
        unit: Unit::Rate,
        bar: Bar::None,
    }],
};

fn round(setting: &Setting) -> Result<Figures> {
    Ok(Figures::from([(ONE, append(setting, 1)?), (FOUR, append(setting, 4)?)]))
}

/// Appends a second by so many threads.
fn append(setting: &Setting, threads: u64) -> Result<f64> {
    let scratch = setting.scratch()?;
    let root = scratch.path().join("ledger");
    let ledger = Ledger::open(&root)?;
    let create = |number| domain::create(&ledger, &format!("own-{number}"), 1);
    let streams = (1..=threads).map(create).collect::<Result<Vec<_>>>()?;
    let (rate, times) = append_together(streams, setting.budget(setting.sizes.shared_appends))?;
    domain::check(&root, threads + times.len() as u64)?;
    Ok(rate)
}
