//! Several processes that append to one stream.

use std::time::Instant;

use harn_ledger::Ledger;

use crate::child::{Child, Role};
use crate::domain;
use crate::measure::{Figures, Group, exact};
use crate::row::{Bar, Comparison, Unit};
use crate::setting::{Result, Setting};

const ONE: &str = "one process";
const FOUR: &str = "4 processes";

/// `processes`.
pub(super) const GROUP: Group = Group {
    name: "processes",
    round,
    comparisons: &[Comparison {
        what: "4 processes on one stream",
        ours: FOUR,
        baseline: ONE,
        unit: Unit::Rate,
        bar: Bar::AtLeast(1.7, Some(1.9)),
    }],
};

fn round(setting: &Setting) -> Result<Figures> {
    Ok(Figures::from([(ONE, append(setting, 1)?), (FOUR, append(setting, 4)?)]))
}

/// Appends a second by so many processes that start together.
fn append(setting: &Setting, processes: usize) -> Result<f64> {
    let scratch = setting.scratch()?;
    let root = scratch.path().join("ledger");
    domain::create(&Ledger::open(&root)?, "shared", 1)?;
    let role = Role::ChildAppend {
        root: root.clone(),
        id: "shared".to_owned(),
        budget: setting.budget(setting.sizes.shared_appends),
    };
    let start = || Child::start(setting, &role);
    let mut children = std::iter::repeat_with(start).take(processes).collect::<Result<Vec<_>>>()?;
    for child in &mut children {
        child.listen()?;
    }
    let began = Instant::now();
    for child in &mut children {
        child.go()?;
    }
    let mut appended = 0;
    for child in &mut children {
        appended += child.listen()?.parse::<u64>()?;
    }
    let rate = exact(appended) / began.elapsed().as_secs_f64();
    children.into_iter().try_for_each(Child::finish)?;
    domain::check(&root, 1 + appended)?;
    Ok(rate)
}
