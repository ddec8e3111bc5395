//! What a script says about itself.

use serde::{Deserialize, Serialize};

use crate::context::{ACCEPTANCE_MAX, CRITERIA_MAX, OBJECTIVE_MAX};

use super::criterion::{Criterion, CriterionId};
use super::event::Label;
use super::text::Block;

/// Most criteria that a script declares.
const DECLARED_MAX: usize = CRITERIA_MAX - ACCEPTANCE_MAX - 1;

/// What a script may say about itself, before it is checked as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetaParts {
    /// What the run is called instead of its file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Label>,
    /// What the script does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Block<2000>>,
    /// What the run is to achieve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Block<OBJECTIVE_MAX>>,
    /// What the run is judged by.
    pub acceptance: Vec<Criterion>,
}

/// What a script says about itself: at most 50 criteria with unique ids, none of which begins with `item.`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "MetaParts", into = "MetaParts")]
pub struct Meta(MetaParts);

/// Why a script's description of itself was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetaError {
    /// There are too many criteria.
    #[error("`meta.acceptance` has {found} criteria, expected at most {max}")]
    TooManyCriteria {
        /// How many there are.
        found: usize,
        /// The most allowed.
        max: usize,
    },
    /// Two criteria have one id.
    #[error("`meta.acceptance` repeats the id `{id}`")]
    RepeatedCriterion {
        /// The id.
        id: CriterionId,
    },
    /// The id stands for something else: an acceptance text of the work item, or its baseline.
    #[error(
        "`meta.acceptance` uses the id `{id}`, expected neither `environment.baseline` nor one that begins with `item.`"
    )]
    ReservedCriterion {
        /// The id.
        id: CriterionId,
    },
}

impl MetaError {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooManyCriteria { .. } => "meta_too_many_criteria",
            Self::RepeatedCriterion { .. } => "meta_repeated_criterion",
            Self::ReservedCriterion { .. } => "meta_reserved_criterion",
        }
    }

    /// What to do about it, where something can be done.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::ReservedCriterion { id } if *id == CriterionId::baseline() => {
                Some(format!("choose another id: `{id}` is judged by the commands of the recipe"))
            }
            Self::ReservedCriterion { id } => Some(format!(
                "evidence may cite `{id}` as it is: it stands for an acceptance text of the work item"
            )),
            _ => None,
        }
    }
}

impl Meta {
    /// Checks the whole.
    pub fn new(parts: MetaParts) -> Result<Self, MetaError> {
        let found = parts.acceptance.len();
        if found > DECLARED_MAX {
            return Err(MetaError::TooManyCriteria { found, max: DECLARED_MAX });
        }
        for (index, Criterion { id, .. }) in parts.acceptance.iter().enumerate() {
            if id.is_reserved() {
                return Err(MetaError::ReservedCriterion { id: id.clone() });
            }
            if parts.acceptance[..index].iter().any(|other| other.id == *id) {
                return Err(MetaError::RepeatedCriterion { id: id.clone() });
            }
        }
        Ok(Self(parts))
    }

    /// What it says.
    #[must_use]
    pub const fn parts(&self) -> &MetaParts {
        &self.0
    }
}

impl TryFrom<MetaParts> for Meta {
    type Error = MetaError;

    fn try_from(parts: MetaParts) -> Result<Self, Self::Error> {
        Self::new(parts)
    }
}

impl From<Meta> for MetaParts {
    fn from(meta: Meta) -> Self {
        meta.0
    }
}
