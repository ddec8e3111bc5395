//! One writer, every event durable before the next.

use harn_ledger::Ledger;

use crate::baseline::bare;
use crate::baseline::sqlite::{End, EventTable};
use crate::domain::{self, Lines};
use crate::measure::{Figures, Group};
use crate::row::{Bar, Comparison, Unit};
use crate::setting::{Result, Setting};

const OURS: &str = "one writer";
const BARE: &str = "write + fdatasync";
const SQLITE: &str = "SQLite (WAL, FULL)";

/// `append`.
pub(super) const GROUP: Group = Group {
    name: "append",
    round,
    comparisons: &[
        Comparison {
            what: "durable append, one writer",
            ours: OURS,
            baseline: BARE,
            unit: Unit::Rate,
            bar: Bar::AtLeast(0.95, None),
        },
        Comparison {
            what: "durable append, one writer (stretch)",
            ours: OURS,
            baseline: SQLITE,
            unit: Unit::Rate,
            bar: Bar::AtLeast(1.05, None),
        },
    ],
};

fn round(setting: &Setting) -> Result<Figures> {
    let budget = setting.budget(setting.sizes.appends);
    let scratch = setting.scratch()?;
    let lines = Lines::new(budget.most)?;

    let root = scratch.path().join("ledger");
    let stream = domain::create(&Ledger::open(&root)?, "one", 1)?;
    let (ours, appended) = budget.rate(|step| domain::append(&stream, step).map(drop))?;
    domain::check(&root, 1 + appended)?;

    let mut file = bare::create(&scratch.path().join("bare"))?;
    let (bare, _) = budget.rate(|step| bare::append(&mut file, lines.number(step)))?;

    let table = EventTable::open(&scratch.path().join("table.db"))?;
    let mut end = End::default();
    let (sqlite, _) = budget.rate(|step| table.append(&mut end, lines.number(step)))?;

    Ok(Figures::from([(OURS, ours), (BARE, bare), (SQLITE, sqlite)]))
}
