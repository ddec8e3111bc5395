//! A file that is only appended to and synced: nothing that survives a power loss can do less.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::setting::Result;

/// A new, empty file to append to.
pub fn create(path: &Path) -> Result<File> {
    Ok(OpenOptions::new().create_new(true).append(true).open(path)?)
}

/// Writes a line and syncs it.
pub fn append(file: &mut File, line: &[u8]) -> Result<()> {
    file.write_all(line)?;
    Ok(file.sync_data()?)
}

/// Writes a line and tells how long its sync took.
pub fn sync(file: &mut File, line: &[u8]) -> Result<Duration> {
    file.write_all(line)?;
    let start = Instant::now();
    file.sync_data()?;
    Ok(start.elapsed())
}
