//! Many events in one append.

use harn_ledger::{Expect, Ledger};

use crate::domain::{self, ACTOR, done};
use crate::measure::{Figures, Group, exact};
use crate::row::{Bar, Comparison, Unit};
use crate::setting::{Result, Setting};

const SINGLE: &str = "one at a time";
const BATCHES: &str = "100 at once";
const BATCH: u64 = 100;

/// `batch`.
pub(super) const GROUP: Group = Group {
    name: "batch",
    round,
    comparisons: &[Comparison {
        what: "events in batches of 100",
        ours: BATCHES,
        baseline: SINGLE,
        unit: Unit::Rate,
        bar: Bar::AtLeast(30.0, None),
    }],
};

fn round(setting: &Setting) -> Result<Figures> {
    let scratch = setting.scratch()?;
    let root = scratch.path().join("ledger");
    let ledger = Ledger::open(&root)?;

    let stream = domain::create(&ledger, "single", 1)?;
    let budget = setting.budget(setting.sizes.appends);
    let (single, appended) = budget.rate(|step| domain::append(&stream, step).map(drop))?;

    let stream = domain::create(&ledger, "batches", 1)?;
    let (batches, appended_batches) = setting.budget(setting.sizes.batches).rate(|number| {
        let first = number * BATCH;
        stream.append(Expect::Any, ACTOR, (first..first + BATCH).map(done).collect())?;
        Ok(())
    })?;

    domain::check(&root, 2 + appended + appended_batches * BATCH)?;
    Ok(Figures::from([(SINGLE, single), (BATCHES, batches * exact(BATCH))]))
}
