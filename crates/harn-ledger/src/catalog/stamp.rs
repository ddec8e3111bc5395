//! What tells a log that changed from one that did not.

use serde::{Deserialize, Serialize};

use crate::disk::Stat;

/// Facts about a log by which a change shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stamp {
    pub(crate) length: u64,
    modified: i64,
    changed: i64,
    inode: u64,
    device: u64,
}

impl Stamp {
    /// The stamp of a file. Times outside the years 1678 to 2261 make none: then the log is read each time.
    pub(crate) fn of(stat: &Stat) -> Option<Self> {
        Some(Self {
            length: stat.length,
            modified: i64::try_from(stat.modified).ok()?,
            changed: i64::try_from(stat.changed).ok()?,
            inode: stat.inode,
            device: stat.device,
        })
    }

    /// Whether the file last changed before this moment of the file system's clock. If not, it may change once more
    /// within the same tick of that clock, and have the same stamp.
    pub(crate) fn is_older_than(&self, moment: i128) -> bool {
        i128::from(self.modified.max(self.changed)) < moment
    }
}
