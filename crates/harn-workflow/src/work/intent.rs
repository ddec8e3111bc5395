//! What a work item is for: written once at creation, frozen from then on.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use harn_ledger::text::{TextError, check_block, check_line};
use harn_ledger::{Digest, StreamId, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::bounds;
use super::origin::Imported;
use super::script::Workflow;

/// The only version of an intent that this build writes and reads.
const SCHEMA_VERSION: u32 = 1;

/// The frozen intent of a work item. Reading one checks it with the function that checked it before it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Intent {
    /// 1.
    pub schema_version: u32,
    /// The item's id; also the id of its stream.
    pub id: StreamId,
    /// One line of 1 to 200 characters.
    pub title: String,
    /// 1 to 4,000 characters.
    pub objective: String,
    /// Up to 50 texts of 1 to 500 characters: what must hold for a person to accept the work.
    pub acceptance: Vec<String>,
    /// Up to 50 items, each named once, that must be accepted before this one can start.
    pub dependencies: Vec<StreamId>,
    /// The script that an attempt runs.
    pub workflow: Workflow,
    /// Charged attempts allowed, 1 to 100.
    pub max_attempts: u32,
    /// Uncharged attempts in a row after which automation stops, 1 to 100.
    pub max_uncharged_attempts: u32,
    /// Where the item comes from.
    pub source: Source,
    /// When the item was created.
    pub created_at: Timestamp,
    /// Whether an acceptance needs a clean review of the work's source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_review: bool,
    /// What it was, when another program made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
}

/// Where a work item comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Who asked for it.
    pub kind: SourceKind,
    /// One line of 1 to 1,000 characters, such as an issue's address.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// Who asked for a work item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// A person.
    #[default]
    Human,
    /// A workflow.
    Workflow,
    /// Another system.
    External,
}

/// Why an intent is refused, before it is written or when it is read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidIntent {
    /// The version is not the one that this build knows.
    #[error("the intent has schema version {found}, expected {SCHEMA_VERSION}")]
    SchemaVersion {
        /// The version found.
        found: u32,
    },
    /// A text is blank, too long, untrimmed or holds control characters.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A list is too long.
    #[error("there are {count} {field}, expected at most {max}")]
    TooMany {
        /// Which list.
        field: &'static str,
        /// How many entries it has.
        count: usize,
        /// How many it may have.
        max: usize,
    },
    /// A number is out of range.
    #[error("{field} is {value}, expected 1 to {max}", max = bounds::ATTEMPTS)]
    OutOfRange {
        /// Which number.
        field: &'static str,
        /// The number found.
        value: u32,
    },
    /// A dependency is named twice.
    #[error("the dependency `{id}` is named twice")]
    DuplicateDependency {
        /// The dependency.
        id: StreamId,
    },
    /// The item depends on itself.
    #[error("`{id}` depends on itself")]
    SelfDependency {
        /// The item.
        id: StreamId,
    },
    /// A path is not absolute.
    #[error("the path `{}` is not absolute", path.escape_debug())]
    RelativePath {
        /// The path.
        path: String,
    },
    /// A file of the workflow is listed twice.
    #[error("the file `{path}` is listed twice")]
    DuplicatePath {
        /// The path.
        path: String,
    },
    /// The script is not stored, although the item was made here.
    #[error("the script `{path}` is not stored")]
    NoScript {
        /// The file.
        path: String,
    },
    /// The stored bytes are not those of the file.
    #[error("`{path}` has the digest {sha256}, but the bytes stored for it have {stored}")]
    OtherBytes {
        /// The file.
        path: String,
        /// Digest of the file.
        sha256: Digest,
        /// Digest of what was stored.
        stored: Digest,
    },
}

/// The word is not a kind of source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a kind of source, expected `human`, `workflow` or `external`", .0.escape_debug())]
pub struct InvalidSourceKind(pub String);

impl Intent {
    pub(crate) const SCHEMA_VERSION: u32 = SCHEMA_VERSION;

    /// Checks every bound. Writer and reader both use it.
    pub fn check(&self) -> Result<(), InvalidIntent> {
        if self.schema_version != SCHEMA_VERSION {
            return Err(InvalidIntent::SchemaVersion { found: self.schema_version });
        }
        check_line("title", &self.title, bounds::TITLE)?;
        check_block("objective", &self.objective, bounds::OBJECTIVE)?;
        at_most("acceptance texts", self.acceptance.len(), bounds::ACCEPTANCE_TEXTS)?;
        for text in &self.acceptance {
            check_block("acceptance text", text, bounds::ACCEPTANCE)?;
        }
        self.check_dependencies()?;
        self.workflow.check(self.imported.is_some())?;
        if let Some(imported) = &self.imported {
            imported.check()?;
        }
        in_range("max_attempts", self.max_attempts)?;
        in_range("max_uncharged_attempts", self.max_uncharged_attempts)?;
        if let Some(reference) = &self.source.reference {
            check_line("source reference", reference, bounds::SOURCE_REF)?;
        }
        Ok(())
    }

    fn check_dependencies(&self) -> Result<(), InvalidIntent> {
        at_most("dependencies", self.dependencies.len(), bounds::DEPENDENCIES)?;
        let mut seen = HashSet::new();
        for id in &self.dependencies {
            if *id == self.id {
                return Err(InvalidIntent::SelfDependency { id: id.clone() });
            }
            if !seen.insert(id) {
                return Err(InvalidIntent::DuplicateDependency { id: id.clone() });
            }
        }
        Ok(())
    }
}

impl InvalidIntent {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::SchemaVersion { .. } => "schema_version",
            Self::Text(error) => error.code(),
            Self::TooMany { .. } => "too_many",
            Self::OutOfRange { .. } => "out_of_range",
            Self::DuplicateDependency { .. } => "duplicate_dependency",
            Self::SelfDependency { .. } => "self_dependency",
            Self::RelativePath { .. } => "relative_path",
            Self::DuplicatePath { .. } => "duplicate_path",
            Self::NoScript { .. } => "no_script",
            Self::OtherBytes { .. } => "other_bytes",
        }
    }

    /// What to do about it, where the message does not say so already.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::SchemaVersion { .. } => Some("read it with the version of harn that wrote it".to_owned()),
            _ => None,
        }
    }
}

impl FromStr for SourceKind {
    type Err = InvalidSourceKind;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "human" => Ok(Self::Human),
            "workflow" => Ok(Self::Workflow),
            "external" => Ok(Self::External),
            _ => Err(InvalidSourceKind(word.to_owned())),
        }
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Human => "human",
            Self::Workflow => "workflow",
            Self::External => "external",
        })
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

pub(super) fn at_most(field: &'static str, count: usize, max: usize) -> Result<(), InvalidIntent> {
    if count > max { Err(InvalidIntent::TooMany { field, count, max }) } else { Ok(()) }
}

fn in_range(field: &'static str, value: u32) -> Result<(), InvalidIntent> {
    if (1..=bounds::ATTEMPTS).contains(&value) {
        Ok(())
    } else {
        Err(InvalidIntent::OutOfRange { field, value })
    }
}
