//! A record of evidence: declared by the script, or observed by the engine.

use harn_ledger::Timestamp;
use serde::{Deserialize, Serialize};

use super::criterion::AcceptanceIds;
use super::event::{Event, Label};
use super::id::{CheckId, EvidenceId};
use super::text::Block;

/// Most records of one run.
pub const EVIDENCE_MAX: u32 = 200;

/// Who vouches for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The script declared it.
    Workflow,
    /// The engine observed it.
    Engine,
}

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EvidenceKind {
    /// A test.
    Test,
    /// A command.
    Command,
    /// Something that was made.
    Artifact,
    /// A change of the source.
    Change,
    /// A review.
    Review,
    /// Anything else that was seen.
    Observation,
}

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EvidenceStatus {
    /// For the criteria it cites.
    Passed,
    /// Against them.
    Failed,
    /// It was seen; that decides nothing.
    Observed,
    /// It could not be told.
    Unknown,
}

/// A record as the proof holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Its id.
    pub id: EvidenceId,
    /// Who vouches for it.
    pub source: Source,
    /// When it was recorded.
    pub recorded_at: Timestamp,
    /// What it is about.
    pub kind: EvidenceKind,
    /// What it says.
    pub status: EvidenceStatus,
    /// What it is called.
    pub label: Label,
    /// The stage in which it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Label>,
    /// The check that it is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckId>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Block<2000>>,
    /// Where to look.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<Block<1000>>,
    /// The criteria it speaks about.
    pub acceptance_ids: AcceptanceIds,
    /// What the engine has to say about the record itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Block<1000>>,
}

impl Evidence {
    /// The record that `event` makes at `recorded_at`; none for any other event.
    #[must_use]
    pub fn of(event: &Event, recorded_at: Timestamp) -> Option<Self> {
        let Event::EvidenceRecorded {
            id,
            source,
            kind,
            status,
            label,
            stage,
            check,
            summary,
            reference,
            acceptance_ids,
            note,
        } = event
        else {
            return None;
        };
        Some(Self {
            id: *id,
            source: *source,
            recorded_at,
            kind: *kind,
            status: *status,
            label: label.clone(),
            stage: stage.clone(),
            check: *check,
            summary: summary.clone(),
            reference: reference.clone(),
            acceptance_ids: acceptance_ids.clone(),
            note: note.clone(),
        })
    }
}
