//! What a run is judged by, and how a record of evidence cites it.

use std::fmt;
use std::str::FromStr;

use harn_ledger::StreamId;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::context::{CRITERION_MAX, SHORT_ID_MAX};

use super::text::Block;

/// What the ids of the work item's own acceptance texts begin with.
const ITEM_PREFIX: &str = "item.";
/// What every run with a baseline is judged by.
const BASELINE: &str = "environment.baseline";

/// The id of a criterion: the form of a stream id, 1 to 64 characters. `item.1`, `item.2` … are the acceptance texts of
/// the work item; `environment.baseline` is that no command of the baseline got worse.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CriterionId(Box<str>);

/// The text is not the id of a criterion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the id of a criterion, expected a letter or digit, then letters, digits, `.`, `_` or `-`, 1 to 64 in all", .0.escape_debug())]
pub struct InvalidCriterionId(pub String);

impl CriterionId {
    /// Checks `text` and takes a copy of it.
    pub fn new(text: &str) -> Result<Self, InvalidCriterionId> {
        if text.len() <= SHORT_ID_MAX && StreamId::new(text).is_ok() {
            Ok(Self(text.into()))
        } else {
            Err(InvalidCriterionId(text.to_owned()))
        }
    }

    /// The id of the work item's acceptance text at `index`, counted from 0.
    #[must_use]
    pub fn item(index: usize) -> Self {
        Self(format!("{ITEM_PREFIX}{}", index + 1).into())
    }

    /// The id of what every run with a baseline is judged by: that none of its commands got worse.
    #[must_use]
    pub fn baseline() -> Self {
        Self(BASELINE.into())
    }

    /// The id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The place of the acceptance text that it stands for, counted from 0.
    pub(super) fn item_index(&self) -> Option<usize> {
        let number = self.0.strip_prefix(ITEM_PREFIX)?;
        let index = number.parse::<usize>().ok()?.checked_sub(1)?;
        (*self == Self::item(index)).then_some(index)
    }

    /// Whether it may stand for something else than what a script declares.
    pub(super) fn is_reserved(&self) -> bool {
        self.0.starts_with(ITEM_PREFIX) || &*self.0 == BASELINE
    }
}

impl FromStr for CriterionId {
    type Err = InvalidCriterionId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl fmt::Display for CriterionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CriterionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for CriterionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CriterionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// The criteria that a record cites: each once, in the order of the first mention.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AcceptanceIds(Vec<CriterionId>);

impl AcceptanceIds {
    /// The ids.
    #[must_use]
    pub fn as_slice(&self) -> &[CriterionId] {
        &self.0
    }

    /// Whether `id` is cited.
    #[must_use]
    pub fn contains(&self, id: &CriterionId) -> bool {
        self.0.contains(id)
    }
}

impl FromIterator<CriterionId> for AcceptanceIds {
    fn from_iter<I: IntoIterator<Item = CriterionId>>(ids: I) -> Self {
        let mut unique = Vec::new();
        for id in ids {
            if !unique.contains(&id) {
                unique.push(id);
            }
        }
        Self(unique)
    }
}

impl<'de> Deserialize<'de> for AcceptanceIds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ids = Vec::<CriterionId>::deserialize(deserializer)?;
        let count = ids.len();
        let unique: Self = ids.into_iter().collect();
        if unique.0.len() == count {
            Ok(unique)
        } else {
            Err(de::Error::custom("a criterion is cited twice"))
        }
    }
}

/// Something that must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Its id, unique within the run.
    pub id: CriterionId,
    /// What must hold: 1 to 500 characters.
    pub statement: Block<CRITERION_MAX>,
}
