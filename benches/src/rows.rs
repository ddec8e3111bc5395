//! All groups of rows.

mod append;
mod replay;
mod threads;

use crate::measure::Group;

/// All groups, in the order of the table.
pub const GROUPS: &[Group] = &[append::GROUP, threads::GROUP, replay::GROUP];
