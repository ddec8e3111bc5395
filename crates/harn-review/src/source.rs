//! What the present source shows to a decision. It is gathered by the controller; nothing here touches a file.

use std::collections::{BTreeMap, BTreeSet};

use harn_ledger::Digest;

use crate::path::SourcePath;

/// The source, as far as a decision looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The digest of its fingerprint.
    pub fingerprint: Digest,
    /// The files that are asked about, by path. One that is not here does not exist.
    pub files: BTreeMap<SourcePath, String>,
    /// The files that differ from the base.
    pub changed: BTreeSet<SourcePath>,
    /// What waits to be given to the agents, such as operator findings of the work item, each in a line.
    pub queued: Vec<String>,
}

impl Source {
    /// A source that holds these files, all of them changed, and for which nothing is queued.
    #[must_use]
    pub fn of(fingerprint: Digest, files: BTreeMap<SourcePath, String>) -> Self {
        let changed = files.keys().cloned().collect();
        Self { fingerprint, files, changed, queued: Vec::new() }
    }

    /// The text of a file.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether a file has such a line.
    #[must_use]
    pub fn has_line(&self, path: &str, line: u64) -> bool {
        let Ok(line) = usize::try_from(line) else { return false };
        line >= 1 && self.text(path).is_some_and(|text| text.lines().count() >= line)
    }
}
