//! What tells a stream whose files changed from one whose files did not.

use serde::{Deserialize, Serialize};

use crate::disk::{FileKind, Stat};

/// Facts about the files of a stream by which a change shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stamp {
    intent: FileStamp,
    log: FileStamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileStamp {
    length: u64,
    modified: i64,
    changed: i64,
    inode: u64,
    device: u64,
}

impl Stamp {
    /// The stamp of a stream whose files these are. What is no regular file makes none, nor do times outside the years 1678
    /// to 2261: then the stream is read each time.
    pub(crate) fn of(intent: &Stat, log: &Stat) -> Option<Self> {
        Some(Self { intent: FileStamp::of(intent)?, log: FileStamp::of(log)? })
    }

    /// The length of the log.
    pub(crate) const fn log_length(&self) -> u64 {
        self.log.length
    }

    /// Whether the files last changed before this moment of the file system's clock. If not, one may change once more within
    /// the same tick of that clock, and have the same stamp.
    pub(crate) fn is_older_than(&self, moment: i128) -> bool {
        self.intent.is_older_than(moment) && self.log.is_older_than(moment)
    }
}

impl FileStamp {
    fn of(stat: &Stat) -> Option<Self> {
        if stat.kind != FileKind::File {
            return None;
        }
        Some(Self {
            length: stat.length,
            modified: i64::try_from(stat.modified).ok()?,
            changed: i64::try_from(stat.changed).ok()?,
            inode: stat.inode,
            device: stat.device,
        })
    }

    fn is_older_than(&self, moment: i128) -> bool {
        i128::from(self.modified.max(self.changed)) < moment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: Stat = Stat {
        kind: FileKind::File,
        length: 10,
        mode: 0o600,
        user: 0,
        device: 1,
        inode: 2,
        modified: 3,
        changed: 4,
    };

    #[test]
    fn each_fact_about_either_file_makes_another_stamp() {
        let stamp = Stamp::of(&STAT, &STAT).unwrap();
        let others = [
            Stat { length: 11, ..STAT },
            Stat { device: 2, ..STAT },
            Stat { inode: 3, ..STAT },
            Stat { modified: 2, ..STAT },
            Stat { changed: 5, ..STAT },
        ];
        for other in others {
            assert_ne!(Stamp::of(&other, &STAT).unwrap(), stamp, "{other:?}");
            assert_ne!(Stamp::of(&STAT, &other).unwrap(), stamp, "{other:?}");
        }
        let none = [
            Stat { kind: FileKind::Other, ..STAT },
            Stat { kind: FileKind::Directory, ..STAT },
            Stat { modified: i128::MAX, ..STAT },
            Stat { changed: i128::MIN, ..STAT },
        ];
        for none in none {
            assert_eq!((Stamp::of(&none, &STAT), Stamp::of(&STAT, &none)), (None, None), "{none:?}");
        }
    }

    #[test]
    fn a_stamp_is_as_old_as_the_last_change() {
        for (modified, changed) in [(3, 4), (4, 3), (4, 4)] {
            let late = Stat { modified, changed, ..STAT };
            let early = Stat { modified: 1, changed: 1, ..STAT };
            for stamp in [Stamp::of(&late, &early), Stamp::of(&early, &late)].map(Option::unwrap) {
                assert!(stamp.is_older_than(5));
                assert!(!stamp.is_older_than(4), "in the same tick");
                assert!(!stamp.is_older_than(3));
            }
        }
    }
}
