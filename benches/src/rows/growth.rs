//! Whether an append costs more when there is more before it.

use std::time::{Duration, Instant};

use harn_ledger::Ledger;

use crate::domain::{self, ACTOR};
use crate::measure::{Figures, Group, median};
use crate::row::{Bar, Comparison, Unit};
use crate::setting::{Result, Setting};

const SHORT: &str = "behind 2 events";
const LONG: &str = "behind 1,000 events";

/// `growth`.
pub(super) const GROUP: Group = Group {
    name: "growth",
    round,
    comparisons: &[Comparison {
        what: "a command behind 1,000 events",
        ours: LONG,
        baseline: SHORT,
        unit: Unit::Time,
        bar: Bar::AtMost(1.3, None),
    }],
};

fn round(setting: &Setting) -> Result<Figures> {
    let scratch = setting.scratch()?;
    let root = scratch.path().join("ledger");
    let ledger = Ledger::open(&root)?;
    let (mut short, mut long) = (Vec::new(), Vec::new());
    let pairs = setting.budget(setting.sizes.pairs).spend(|pair| {
        short.push(execute(&ledger, &format!("short-{pair}"), 2)?);
        long.push(execute(&ledger, &format!("long-{pair}"), setting.sizes.long)?);
        Ok(())
    })?;
    domain::check(&root, pairs * (3 + setting.sizes.long + 1))?;
    Ok(Figures::from([(SHORT, median(&mut short)), (LONG, median(&mut long))]))
}

/// How long a command takes behind so many events. The one before it has opened whatever has to be open.
fn execute(ledger: &Ledger, id: &str, behind: u64) -> Result<Duration> {
    let stream = domain::create(ledger, id, behind - 1)?;
    stream.execute(ACTOR, behind)?;
    let start = Instant::now();
    stream.execute(ACTOR, behind + 1)?;
    Ok(start.elapsed())
}
