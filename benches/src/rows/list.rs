//! Listing many streams with their state.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use harn_ledger::{Decider as _, Ledger};

use crate::domain::{self, Job};
use crate::measure::{Figures, Group, seconds};
use crate::row::{Bar, Comparison, Unit};
use crate::setting::{Result, Setting};

const WARM: &str = "warm";
const COLD: &str = "cold";
const FIND: &str = "find -printf";

/// `list`.
pub(super) const GROUP: Group = Group {
    name: "list",
    round,
    comparisons: &[row("list 10,000 streams, warm", WARM, 2.0), row("list 10,000 streams, cold", COLD, 4.0)],
};

const fn row(what: &'static str, ours: &'static str, most: f64) -> Comparison {
    Comparison { what, ours, baseline: FIND, unit: Unit::Time, bar: Bar::AtMost(most, None) }
}

fn round(setting: &Setting) -> Result<Figures> {
    let streams = setting.sizes.listed;
    let root = setting.directory().join("listed");
    if !root.exists() {
        write(&root, streams)?;
    }
    let find = seconds(|| find(&root, streams))?;
    match fs::remove_dir_all(root.join("catalog")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let cold = seconds(|| list(&root, streams))?;
    let warm = seconds(|| list(&root, streams))?;
    Ok(Figures::from([(FIND, find), (COLD, cold), (WARM, warm)]))
}

/// How many threads create streams: the machine syncs for several at once.
const WRITERS: usize = 8;

fn write(root: &Path, streams: u64) -> Result<()> {
    let ledger = Ledger::open(root)?;
    let create = |number| domain::create(&ledger, &format!("job-{number}"), 3).map(drop);
    thread::scope(|scope| {
        let writer = |first| scope.spawn(move || (first..=streams).step_by(WRITERS).try_for_each(create));
        let writers: Vec<_> = (1..=WRITERS as u64).map(writer).collect();
        writers.into_iter().try_for_each(|writer| writer.join().map_err(|_| "a writer panicked")?)
    })?;
    domain::check(root, streams * 3)
}

/// Opens the ledger anew and lists every stream with its state.
fn list(root: &Path, streams: u64) -> Result<()> {
    let listed = Ledger::open(root)?.catalog::<Job>(1).refresh(|_, state, _| *state)?;
    if let Some(error) = listed.iter().find_map(|stream| stream.summary.as_ref().err()) {
        return Err(format!("{error}").into());
    }
    all(listed.len() as u64, streams)
}

/// Has the same files looked at by GNU `find`, which prints what a catalog has to compare.
fn find(root: &Path, streams: u64) -> Result<()> {
    let output = Command::new("find")
        .arg(root.join(Job::KIND))
        .args(["-name", "events.jsonl", "-printf", "%p %s %T@ %C@ %i %D\n"])
        .output()?;
    if !output.status.success() {
        return Err("`find` failed; it has to be that of GNU".into());
    }
    all(memchr::memchr_iter(b'\n', &output.stdout).count() as u64, streams)
}

fn all(listed: u64, streams: u64) -> Result<()> {
    if listed == streams {
        Ok(())
    } else {
        Err(format!("{listed} streams were listed, expected {streams}").into())
    }
}
