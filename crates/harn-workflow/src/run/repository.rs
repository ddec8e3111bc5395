//! What Git says about the workspace before and after a run, and what changed between.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize, de};

use super::path::AbsolutePath;
use super::text::Line;

/// Most dirty paths that a snapshot lists.
const DIRTY_PATHS_MAX: usize = 15;

/// A path that differs from the last commit, relative to the root.
pub type DirtyPath = Line<500>;

/// The state of a repository at one moment, as far as it could be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Where Git was asked.
    pub cwd: AbsolutePath,
    /// The root of the working tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<AbsolutePath>,
    /// The branch, unless HEAD is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Line<300>>,
    /// The commit that HEAD names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Line<64>>,
    /// Paths that differ from it: sorted, each once, at most 15.
    #[serde(deserialize_with = "at_most_15")]
    pub dirty_paths: Vec<DirtyPath>,
    /// There are more of them, or some do not stand here whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dirty_paths_truncated: bool,
}

impl Snapshot {
    /// A snapshot that knows only where it was taken.
    #[must_use]
    pub const fn of(cwd: AbsolutePath) -> Self {
        Self {
            cwd,
            root: None,
            branch: None,
            head: None,
            dirty_paths: Vec::new(),
            dirty_paths_truncated: false,
        }
    }

    /// The same snapshot with as many of `paths` as it may list.
    #[must_use]
    pub fn with_dirty_paths<'a>(mut self, paths: impl IntoIterator<Item = &'a str>) -> Self {
        let all: BTreeSet<&str> = paths.into_iter().collect();
        self.dirty_paths =
            all.iter().filter_map(|path| DirtyPath::clip(path)).take(DIRTY_PATHS_MAX).collect();
        let kept = self.dirty_paths.iter().map(DirtyPath::as_str);
        self.dirty_paths_truncated = !kept.eq(all);
        self
    }
}

fn at_most_15<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<DirtyPath>, D::Error> {
    let paths = Vec::deserialize(deserializer)?;
    if paths.len() > DIRTY_PATHS_MAX {
        return Err(de::Error::invalid_length(paths.len(), &"at most 15 paths"));
    }
    Ok(paths)
}

/// What changed between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    /// HEAD names another branch.
    pub branch_changed: bool,
    /// HEAD names another commit.
    pub head_changed: bool,
    /// Paths that are dirty only afterwards.
    pub dirty_paths_added: Vec<DirtyPath>,
    /// Paths that were dirty only before.
    pub dirty_paths_cleared: Vec<DirtyPath>,
    /// Paths that were dirty both times; whether they changed in between cannot be told.
    pub dirty_paths_retained: Vec<DirtyPath>,
    /// The lists do not tell everything: a path was retained, or a snapshot does not list all.
    pub incomplete: bool,
}

impl Drift {
    /// Compares two snapshots.
    #[must_use]
    pub fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let (old, new): (BTreeSet<_>, BTreeSet<_>) =
            (before.dirty_paths.iter().collect(), after.dirty_paths.iter().collect());
        let retained: Vec<DirtyPath> = old.intersection(&new).copied().cloned().collect();
        Self {
            branch_changed: before.branch != after.branch,
            head_changed: before.head != after.head,
            dirty_paths_added: new.difference(&old).copied().cloned().collect(),
            dirty_paths_cleared: old.difference(&new).copied().cloned().collect(),
            incomplete: !retained.is_empty() || before.dirty_paths_truncated || after.dirty_paths_truncated,
            dirty_paths_retained: retained,
        }
    }
}

/// What a proof says about the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepositoryRecord {
    /// Before the script was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Snapshot>,
    /// After it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Snapshot>,
    /// What changed, when both are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
}

impl RepositoryRecord {
    /// The record of two snapshots; none when there is neither.
    #[must_use]
    pub fn of(before: Option<&Snapshot>, after: Option<&Snapshot>) -> Option<Self> {
        before.or(after)?;
        Some(Self {
            before: before.cloned(),
            after: after.cloned(),
            drift: before.zip(after).map(|(before, after)| Drift::between(before, after)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(paths: &[&str]) -> Snapshot {
        Snapshot::of(AbsolutePath::new("/work").unwrap()).with_dirty_paths(paths.iter().copied())
    }

    fn listed(paths: &[DirtyPath]) -> Vec<&str> {
        paths.iter().map(DirtyPath::as_str).collect()
    }

    #[test]
    fn paths_are_sorted_unique_and_few() {
        let some = snapshot(&["b", "a", "b"]);
        assert_eq!((listed(&some.dirty_paths), some.dirty_paths_truncated), (vec!["a", "b"], false));
        let many: Vec<String> = (10..30).map(|n| n.to_string()).collect();
        let many = snapshot(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((many.dirty_paths.len(), many.dirty_paths_truncated), (15, true));
        let changed = snapshot(&["a\nb"]);
        assert_eq!((listed(&changed.dirty_paths), changed.dirty_paths_truncated), (vec!["a b"], true));
    }

    #[test]
    fn drift_says_what_it_cannot_tell() {
        let drift = Drift::between(&snapshot(&["a", "b"]), &snapshot(&["c", "d"]));
        assert_eq!(listed(&drift.dirty_paths_added), ["c", "d"]);
        assert_eq!(listed(&drift.dirty_paths_cleared), ["a", "b"]);
        assert!(!drift.incomplete && !drift.branch_changed && !drift.head_changed);
        let drift = Drift::between(&snapshot(&["a"]), &snapshot(&["a"]));
        assert_eq!(listed(&drift.dirty_paths_retained), ["a"]);
        assert!(drift.incomplete);
        let committed = Snapshot { head: Line::clip("0123"), ..snapshot(&[]) };
        assert!(Drift::between(&snapshot(&[]), &committed).head_changed);
    }
}
