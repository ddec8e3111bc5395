//! The script of a work item and what it imports, frozen by digest.

use std::collections::HashSet;

use harn_ledger::text::check_line;
use harn_ledger::{BlobRef, Digest};
use serde::{Deserialize, Serialize};

use super::bounds;
use super::intent::{InvalidIntent, at_most};

/// A workflow script and everything that it imports, as they were when the item was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// Absolute path of the script.
    pub path: String,
    /// SHA-256 of the script's bytes, as `sha256sum` shows it.
    pub sha256: Digest,
    /// The stored bytes, the same digest. Only an imported item may have none: its script was not found any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<BlobRef>,
    /// The modules that the script imports, up to 64, each path once.
    pub modules: Vec<ScriptFile>,
}

/// One file of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptFile {
    /// Absolute path, up to 1,000 characters; all paths of a workflow together have up to 8,000.
    pub path: String,
    /// SHA-256 of the file's bytes, as `sha256sum` shows it.
    pub sha256: Digest,
    /// The stored bytes, the same digest.
    pub content: BlobRef,
}

impl Workflow {
    /// A workflow of one file.
    #[must_use]
    pub fn of(script: ScriptFile) -> Self {
        Self { path: script.path, sha256: script.sha256, content: Some(script.content), modules: Vec::new() }
    }

    /// Checks the bounds. Only a workflow that was `imported` may lack its script.
    pub(super) fn check(&self, imported: bool) -> Result<(), InvalidIntent> {
        if self.content.is_none() && !imported {
            return Err(InvalidIntent::NoScript { path: self.path.clone() });
        }
        at_most("modules", self.modules.len(), bounds::MODULES)?;
        let mut seen = HashSet::new();
        let mut characters = 0;
        for (path, sha256, content) in self.files() {
            check_line("path", path, bounds::PATH)?;
            if !path.starts_with('/') {
                return Err(InvalidIntent::RelativePath { path: path.to_owned() });
            }
            if !seen.insert(path) {
                return Err(InvalidIntent::DuplicatePath { path: path.to_owned() });
            }
            if let Some(stored) = content.map(|content| content.blob).filter(|stored| *stored != sha256) {
                let path = path.to_owned();
                return Err(InvalidIntent::OtherBytes { path, sha256, stored });
            }
            characters += path.chars().count();
        }
        at_most("characters in the paths of the workflow", characters, bounds::PATHS)
    }

    /// Path, digest and stored bytes of the script and then of each module.
    fn files(&self) -> impl Iterator<Item = (&str, Digest, Option<BlobRef>)> {
        let modules = self.modules.iter().map(|file| (&*file.path, file.sha256, Some(file.content)));
        std::iter::once((&*self.path, self.sha256, self.content)).chain(modules)
    }
}

impl ScriptFile {
    /// Describes the file at `path` whose content is `bytes`. Storing the bytes is up to the caller.
    #[must_use]
    pub fn of(path: impl Into<String>, bytes: &[u8]) -> Self {
        let content = BlobRef::of(bytes);
        Self { path: path.into(), sha256: content.blob, content }
    }
}
