//! Where something imported comes from: the record of another program.

use harn_ledger::text::{TextError, check_block, check_line};
use harn_ledger::{Actor, BlobRef, Timestamp};
use serde::{Deserialize, Serialize};

use super::bounds;
use super::finding::FindingId;

/// A program whose records can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Program {
    /// Harnery, with intents of schema version 2 and events of schema version 1.
    Harnery,
}

/// A file of another program, kept as a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptFile {
    /// Its path in that program's tree, one line of 1 to 400 characters.
    pub path: String,
    /// Its bytes.
    pub content: BlobRef,
}

/// What an imported item was, in the files of the program that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// The program.
    pub program: Program,
    /// Its record of the intent.
    pub intent: KeptFile,
    /// Its log.
    pub log: KeptFile,
}

/// Where an imported event comes from, and what of it has no place in the event itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The program that recorded it.
    pub program: Program,
    /// The file that says so, by its path in that program's tree.
    pub path: String,
    /// Its line there, counted from 1; absent for what follows from the file as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// When it happened.
    pub at: Timestamp,
    /// Who caused it.
    pub actor: Actor,
    /// The actor as it was written, one line of up to 200 characters, where it did not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_was: Option<String>,
    /// The reason that stood with it, 1 to 2,000 characters, where the event itself has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The id of the run as it was written, one line of up to 200 characters, where it did not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id_was: Option<String>,
    /// Findings that have another id here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings_were: Vec<FindingWas>,
    /// Files that are kept because of it, up to 6.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptFile>,
}

/// A finding whose id is another one here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingWas {
    /// Its id here.
    pub id: FindingId,
    /// Its id there, one line of up to 64 characters.
    pub was: String,
}

/// Most files that are kept because of one event.
pub(super) const KEPT_MAX: usize = 6;

impl KeptFile {
    pub(super) fn check(&self) -> Result<(), TextError> {
        check_line("path", &self.path, bounds::OLD_PATH)
    }
}

impl Imported {
    pub(super) fn check(&self) -> Result<(), TextError> {
        self.intent.check()?;
        self.log.check()
    }
}

impl Origin {
    /// Checks the texts. The lengths of the lists are for the caller.
    pub(super) fn check(&self) -> Result<(), TextError> {
        check_line("path", &self.path, bounds::OLD_PATH)?;
        for was in self.actor_was.iter().chain(&self.run_id_was) {
            check_line("name", was, bounds::OLD_NAME)?;
        }
        if let Some(reason) = &self.reason {
            check_block("reason", reason, bounds::REASON)?;
        }
        for finding in &self.findings_were {
            check_line("finding", &finding.was, bounds::OLD_FINDING)?;
        }
        self.kept.iter().try_for_each(KeptFile::check)
    }
}
