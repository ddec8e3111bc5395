//! All groups of rows.

mod append;
mod batch;
mod create;
mod growth;
mod list;
mod memory;
mod open;
mod processes;
mod replay;
mod streams;
mod threads;

use crate::measure::Group;

/// All groups, in the order of the table.
pub const GROUPS: &[Group] = &[
    append::GROUP,
    threads::GROUP,
    processes::GROUP,
    streams::GROUP,
    growth::GROUP,
    batch::GROUP,
    create::GROUP,
    replay::GROUP,
    memory::GROUP,
    open::GROUP,
    list::GROUP,
];
