//! What a long history takes, in memory while it is read and on the disk.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::child::{Role, ask};
use crate::history::History;
use crate::measure::{Figures, Group, exact};
use crate::row::{Bar, Comparison, Unit};
use crate::setting::{Result, Setting};

const REPLAY: &str = "replay";
const VERIFY: &str = "verification";
const SQLITE: &str = "SQLite replay";
const ON_DISK: &str = "log on disk";
const LINES: &str = "sum of the lines";
const TABLE: &str = "SQLite file";

const MEGABYTE: f64 = 1e6;

/// `memory`.
pub(super) const GROUP: Group = Group {
    name: "memory",
    round,
    comparisons: &[
        row("peak memory of a replay", REPLAY, SQLITE, Bar::Absolute(8.0 * MEGABYTE, Some(4.0 * MEGABYTE))),
        row("peak memory of a replay", REPLAY, SQLITE, Bar::AtMost(1.0, None)),
        row(
            "peak memory of a verification",
            VERIFY,
            SQLITE,
            Bar::Absolute(8.0 * MEGABYTE, Some(4.0 * MEGABYTE)),
        ),
        row("peak memory of a verification", VERIFY, SQLITE, Bar::AtMost(1.0, None)),
        row("bytes on disk", ON_DISK, LINES, Bar::AtMost(1.02, None)),
        row("bytes on disk", ON_DISK, TABLE, Bar::None),
    ],
};

const fn row(what: &'static str, ours: &'static str, baseline: &'static str, bar: Bar) -> Comparison {
    Comparison { what, ours, baseline, unit: Unit::Bytes, bar }
}

fn round(setting: &Setting) -> Result<Figures> {
    let history = History::of(setting, setting.sizes.history)?;
    let directory = history.log.parent().expect("a log lies in its stream's directory");
    Ok(Figures::from([
        (REPLAY, exact(ask(setting, &Role::ChildReplay { root: history.ledger.clone() })?)),
        (VERIFY, exact(ask(setting, &Role::ChildVerify { root: history.ledger.clone() })?)),
        (SQLITE, exact(ask(setting, &Role::ChildReplayTable { table: history.table.clone() })?)),
        (ON_DISK, exact(allocated(directory)?)),
        (LINES, exact(fs::metadata(&history.log)?.len())),
        (TABLE, exact(fs::metadata(&history.table)?.blocks() * BLOCK)),
    ]))
}

/// What `st_blocks` counts in.
const BLOCK: u64 = 512;

/// The bytes that the disk keeps for a directory and the files in it.
fn allocated(directory: &Path) -> Result<u64> {
    let mut blocks = fs::metadata(directory)?.blocks();
    for entry in fs::read_dir(directory)? {
        blocks += entry?.metadata()?.blocks();
    }
    Ok(blocks * BLOCK)
}
