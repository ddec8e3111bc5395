//! What it takes until a new stream is there for good.

use std::time::Instant;

use harn_ledger::Ledger;

use crate::baseline::bare;
use crate::domain::{self, Lines};
use crate::measure::{Figures, Group, median};
use crate::row::{Bar, Comparison, Unit};
use crate::setting::{Result, Setting};

const CREATE: &str = "creation";
const SYNC: &str = "one fdatasync";

/// `create`.
pub(super) const GROUP: Group = Group {
    name: "create",
    round,
    comparisons: &[Comparison {
        what: "creating a stream, durable",
        ours: CREATE,
        baseline: SYNC,
        unit: Unit::Time,
        bar: Bar::AtMost(5.5, Some(4.8)),
    }],
};

fn round(setting: &Setting) -> Result<Figures> {
    let budget = setting.budget(setting.sizes.created);
    let scratch = setting.scratch()?;
    let root = scratch.path().join("ledger");
    let ledger = Ledger::open(&root)?;
    // The first stream of a kind makes the directory of the kind too.
    domain::create(&ledger, "first", 1)?;
    let lines = Lines::new(budget.most)?;
    let mut file = bare::create(&scratch.path().join("bare"))?;
    let (mut creations, mut syncs) = (Vec::new(), Vec::new());
    let created = budget.spend(|number| {
        let id = format!("new-{number}");
        let start = Instant::now();
        domain::create(&ledger, &id, 1)?;
        creations.push(start.elapsed());
        syncs.push(bare::sync(&mut file, lines.number(number))?);
        Ok(())
    })?;
    domain::check(&root, 1 + created)?;
    Ok(Figures::from([(CREATE, median(&mut creations)), (SYNC, median(&mut syncs))]))
}
