//! Where and how large: what all groups of rows are measured with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::measure::Budget;

/// Whatever went wrong ends the measurement, and is told to a person.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The result of everything here.
pub type Result<T> = std::result::Result<T, Error>;

/// How long a contestant that syncs may take in one run.
const PATIENCE: Duration = Duration::from_millis(500);

/// What all groups are measured with.
#[derive(Debug)]
pub struct Setting {
    /// How often each contestant is measured.
    pub runs: usize,
    /// How often a group is measured again because its baselines lie far apart, at most.
    pub repeats: usize,
    /// How much of everything.
    pub sizes: Sizes,
    /// The program that plays the child processes: `ledger-bench`.
    pub program: PathBuf,
    directory: TempDir,
}

/// How much of everything. What is synced one by one ends earlier on a slow machine.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Events that one writer appends.
    pub appends: u64,
    /// Events that each of several writers appends.
    pub shared_appends: u64,
    /// Pairs of a short and a long stream.
    pub pairs: u64,
    /// Events in the longer stream of a pair.
    pub long: u64,
    /// Batches of 100 events.
    pub batches: u64,
    /// Streams that are created.
    pub created: u64,
    /// Events of the history that is replayed.
    pub history: u64,
    /// Streams that are listed.
    pub listed: u64,
}

impl Sizes {
    /// What the bars are about.
    pub const FULL: Self = Self {
        appends: 2000,
        shared_appends: 1000,
        pairs: 50,
        long: 1000,
        batches: 100,
        created: 200,
        history: 1_000_000,
        listed: 10_000,
    };

    /// Just enough for every row to come out.
    pub const QUICK: Self = Self {
        appends: 20,
        shared_appends: 10,
        pairs: 2,
        long: 50,
        batches: 2,
        created: 3,
        history: 5000,
        listed: 20,
    };
}

impl Setting {
    /// A setting whose files go into a new directory below `directory`, which is removed with it.
    pub fn new(
        directory: &Path,
        program: PathBuf,
        runs: usize,
        repeats: usize,
        sizes: Sizes,
    ) -> Result<Self> {
        std::fs::create_dir_all(directory)?;
        let directory = new_directory(directory)?;
        Ok(Self { runs, repeats, sizes, program, directory })
    }

    /// What a contestant does in one run: so many things, if the machine is fast enough.
    #[must_use]
    pub const fn budget(&self, most: u64) -> Budget {
        Budget { most, patience: PATIENCE }
    }

    /// The directory that everything goes into.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A new directory in it, removed when this is dropped.
    pub fn scratch(&self) -> Result<TempDir> {
        new_directory(self.directory())
    }
}

fn new_directory(parent: &Path) -> Result<TempDir> {
    Ok(tempfile::Builder::new().prefix("ledger-bench-").tempdir_in(parent)?)
}
