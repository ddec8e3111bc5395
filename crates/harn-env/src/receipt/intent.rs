//! What a receipt is about, frozen before its first command runs.

use harn_ledger::text::{TextError, check_line};
use harn_ledger::{BlobRef, Digest, StreamId, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::key::Key;
use crate::recipe::{InvalidRecipe, Origin, Recipe};

/// Longest path of a project, in characters.
const ROOT_MAX: usize = 1_000;

/// What a receipt is about. Reading one checks it with the function that checked it before it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Intent {
    /// 1.
    pub schema_version: u32,
    /// The receipt's id; also the id of its stream.
    pub id: StreamId,
    /// What it is for.
    pub purpose: Purpose,
    /// Absolute path of the project, one line of up to 1,000 characters.
    pub root: String,
    /// Where the recipe comes from; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The recipe; absent where there is none, which is not the same as an empty one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<Recipe>,
    /// What the set-up depends on.
    pub key: Key,
    /// The source before anything ran.
    pub source: Snapshot,
    /// What of that only the disk had: what preparation may change is kept, so that it can be put back.
    #[serde(default, skip_serializing_if = "Saved::is_empty")]
    pub saved: Saved,
    /// The work that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// When it was begun.
    pub created_at: Timestamp,
}

/// What a receipt is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Purpose {
    /// To prepare the project: set-up, tools, baseline.
    Prepare {},
    /// To see whether the tools still work, before work goes on that was prepared.
    Tools {
        /// The receipt of the preparation.
        receipt: StreamId,
    },
    /// To run the commands of a baseline again and to compare.
    Check {
        /// The receipt with the baseline.
        receipt: StreamId,
    },
}

/// A fingerprint, by its digest and as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The digest of the fingerprint.
    pub digest: Digest,
    /// The fingerprint itself.
    pub content: BlobRef,
}

/// Files that are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// The files, by path; up to 1,000.
    pub files: Vec<SavedFile>,
    /// How many are not kept: too many, too large, or with what looks like a secret.
    pub left_out: u64,
}

/// A file that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedFile {
    /// Where it is.
    pub path: String,
    /// Its permission bits.
    pub mode: u32,
    /// What it held.
    pub content: BlobRef,
}

impl Saved {
    /// Whether there was nothing to be kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.left_out == 0
    }
}

/// The work that a receipt belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// The work item.
    pub work_item: StreamId,
    /// The attempt's number; absent when it was prepared by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

/// Why an intent is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidIntent {
    /// Another version.
    #[error("the receipt has schema version {found}, expected 1")]
    SchemaVersion {
        /// The version found.
        found: u32,
    },
    /// The path is not one.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The recipe is out of its bounds.
    #[error(transparent)]
    Recipe(#[from] InvalidRecipe),
    /// A recipe and its origin come together.
    #[error("a receipt has a recipe exactly when it says where that comes from")]
    Origin,
}

impl Intent {
    /// Checks the bounds.
    pub fn check(&self) -> Result<(), InvalidIntent> {
        if self.schema_version != 1 {
            return Err(InvalidIntent::SchemaVersion { found: self.schema_version });
        }
        check_line("path", &self.root, ROOT_MAX)?;
        self.recipe.as_ref().map_or(Ok(()), Recipe::check)?;
        if self.recipe.is_some() == self.origin.is_some() { Ok(()) } else { Err(InvalidIntent::Origin) }
    }
}

impl Serialize for Intent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Intent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let intent = Self::deserialize(deserializer)?;
        intent.check().map_err(de::Error::custom)?;
        Ok(intent)
    }
}
