//! The files that a run executes, by path and by content.

use harn_ledger::{BlobRef, Digest};
use serde::{Deserialize, Serialize};

use super::manifest::ManifestError;
use super::path::AbsolutePath;

/// Most modules that a script imports.
const MODULES_MAX: usize = 64;

/// The script that is executed, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Where it was read.
    pub path: AbsolutePath,
    /// Digest of its bytes, as `sha256sum` shows it.
    pub sha256: Digest,
    /// Its bytes.
    pub content: BlobRef,
    /// What it imports, at most 64 modules, each path once.
    pub modules: Vec<Module>,
}

/// A module that the script imports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// Where it was read.
    pub path: AbsolutePath,
    /// Digest of its bytes.
    pub sha256: Digest,
    /// Its bytes.
    pub content: BlobRef,
}

impl Script {
    /// Digests agree with contents, and each file stands there once.
    pub(super) fn check(&self) -> Result<(), ManifestError> {
        let found = self.modules.len();
        if found > MODULES_MAX {
            return Err(ManifestError::TooManyModules { found, max: MODULES_MAX });
        }
        let modules = self.modules.iter().map(|module| (&module.path, module.sha256, module.content));
        let files: Vec<_> = std::iter::once((&self.path, self.sha256, self.content)).chain(modules).collect();
        for (index, &(path, sha256, content)) in files.iter().enumerate() {
            if sha256 != content.blob {
                return Err(ManifestError::OtherContent {
                    path: path.clone(),
                    sha256,
                    content: content.blob,
                });
            }
            if files[..index].iter().any(|(other, ..)| *other == path) {
                return Err(ManifestError::RepeatedModule { path: path.clone() });
            }
        }
        Ok(())
    }
}
