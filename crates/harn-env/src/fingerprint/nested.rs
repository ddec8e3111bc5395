//! Repositories inside of a repository: submodules, and those that nobody declared.

use std::path::Path;

use super::{Entry, FingerprintError, Mode, Nested, names, take};

/// Looks at each repository in the tree. A submodule that is not checked out holds nothing.
pub(super) fn look(root: &Path, entries: &[Entry]) -> Result<Vec<Nested>, FingerprintError> {
    let repositories = entries.iter().filter(|entry| entry.mode == Mode::Repository);
    let mut nested = Vec::new();
    for entry in repositories {
        let place = names::path(root, &entry.path);
        if place.join(".git").exists() {
            nested.push(Nested { path: entry.path.clone(), fingerprint: take(&place, &[])? });
        }
    }
    Ok(nested)
}
