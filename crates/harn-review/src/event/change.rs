//! What becomes of a finding by a report or an import.

use serde::{Deserialize, Serialize};

use crate::finding::{Evidence, Kind, Opening, Place, Priority};
use crate::id::FindingId;

/// What becomes of one finding. Every member is settled: folding it asks nothing any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// It is new.
    Opened {
        /// Its number.
        id: FindingId,
        /// What was reported.
        finding: Box<Opening>,
    },
    /// It is still there, or there again.
    Seen {
        /// The finding.
        id: FindingId,
        /// What it is now.
        kind: Kind,
        /// What was seen.
        evidence: Evidence,
        /// Where it is now, if it moved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<Place>,
    },
    /// It was raised again although it was ruled on, and with nothing new: the ruling stands.
    SeenAgain {
        /// The finding.
        id: FindingId,
    },
    /// It is fixed.
    Fixed {
        /// The finding.
        id: FindingId,
        /// The regression checks that show it.
        checks: Vec<String>,
    },
    /// It is none.
    Dismissed {
        /// The finding.
        id: FindingId,
        /// Why.
        reason: String,
        /// What speaks against it.
        evidence: Evidence,
    },
    /// It is the same as another one.
    Merged {
        /// The finding.
        id: FindingId,
        /// The other one.
        into: FindingId,
        /// Why.
        reason: String,
    },
    /// It matters more or less than was said.
    Reprioritised {
        /// The finding.
        id: FindingId,
        /// How much.
        to: Priority,
        /// Why, where it matters less.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl Change {
    /// The finding.
    #[must_use]
    pub const fn id(&self) -> FindingId {
        match self {
            Self::Opened { id, .. }
            | Self::Seen { id, .. }
            | Self::SeenAgain { id }
            | Self::Fixed { id, .. }
            | Self::Dismissed { id, .. }
            | Self::Merged { id, .. }
            | Self::Reprioritised { id, .. } => *id,
        }
    }
}
