//! How criteria came out: the counts, and those that were not satisfied.

use serde::{Deserialize, Serialize};

use super::canonical::{ContextError, check_block, check_count, check_short_id};
use super::node::Field;
use super::work::CRITERION_MAX;

/// Most criteria that one run is judged by: 50 of the script and 50 acceptance texts of the work item.
pub const CRITERIA_MAX: usize = 101;

const SUMMARY_MEMBERS: &[&str] = &["satisfied", "unsatisfied", "unknown", "total"];
const UNRESOLVED_MEMBERS: &[&str] = &["id", "statement", "status"];
const STATUSES: &[&str] = &["unsatisfied", "unknown"];

/// How many criteria have which status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptanceSummary {
    /// Criteria with a pass and no failure.
    pub satisfied: u32,
    /// Criteria with a failure.
    pub unsatisfied: u32,
    /// Criteria with neither.
    pub unknown: u32,
    /// All of them.
    pub total: u32,
}

/// What is known about a criterion that was not satisfied. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnresolvedStatus {
    /// It was found not to hold.
    Unsatisfied,
    /// Nothing shows whether it holds.
    Unknown,
}

/// A criterion that the attempt before did not satisfy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unresolved {
    /// Its id: 1 to 64 characters.
    pub id: String,
    /// What it says: 1 to 500 characters.
    pub statement: String,
    /// What is known about it.
    pub status: UnresolvedStatus,
}

impl AcceptanceSummary {
    pub(super) fn read(field: Field<'_>) -> Result<Self, ContextError> {
        let members = field.object(SUMMARY_MEMBERS)?;
        let count = |name| members.required(name)?.number(0, u32::MAX);
        Ok(Self {
            satisfied: count("satisfied")?,
            unsatisfied: count("unsatisfied")?,
            unknown: count("unknown")?,
            total: count("total")?,
        })
    }

    /// The counts are bounded, add up, and count what `unresolved` lists.
    pub(super) fn check(self, unresolved: &[Unresolved]) -> Result<(), ContextError> {
        let counts = [self.satisfied, self.unsatisfied, self.unknown, self.total];
        for (name, count) in SUMMARY_MEMBERS.iter().zip(counts) {
            if count as usize > CRITERIA_MAX {
                return Err(ContextError::OutOfRange {
                    member: format!("prior.acceptance.{name}"),
                    found: count.into(),
                    min: 0,
                    max: CRITERIA_MAX as u64,
                });
            }
        }
        let sum = self.satisfied + self.unsatisfied + self.unknown;
        if sum != self.total {
            return Err(ContextError::SummarySum { total: self.total, sum });
        }
        let pairs =
            [(UnresolvedStatus::Unsatisfied, self.unsatisfied), (UnresolvedStatus::Unknown, self.unknown)];
        for (status, count) in pairs {
            let listed = unresolved.iter().filter(|criterion| criterion.status == status).count();
            if listed != count as usize {
                return Err(ContextError::SummaryMismatch {
                    status: status.as_str(),
                    summary: count,
                    listed,
                });
            }
        }
        Ok(())
    }
}

impl UnresolvedStatus {
    /// The word that stands for it in the context.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        STATUSES[self as usize]
    }
}

impl Unresolved {
    pub(super) fn read(field: Field<'_>) -> Result<Self, ContextError> {
        let members = field.object(UNRESOLVED_MEMBERS)?;
        Ok(Self {
            id: members.required("id")?.string()?.to_owned(),
            statement: members.required("statement")?.string()?.to_owned(),
            status: match members.required("status")?.word(STATUSES)? {
                0 => UnresolvedStatus::Unsatisfied,
                _ => UnresolvedStatus::Unknown,
            },
        })
    }

    pub(super) fn trim(&mut self) {
        self.id = self.id.trim().to_owned();
        self.statement = self.statement.trim().to_owned();
    }

    pub(super) fn check(list: &[Self]) -> Result<(), ContextError> {
        check_count("prior.unresolved", list.len(), CRITERIA_MAX)?;
        for (index, criterion) in list.iter().enumerate() {
            check_short_id(&format!("prior.unresolved[{index}].id"), &criterion.id)?;
            let member = format!("prior.unresolved[{index}].statement");
            check_block(&member, "statement", &criterion.statement, CRITERION_MAX)?;
            if list[..index].iter().any(|other| other.id == criterion.id) {
                return Err(ContextError::RepeatedId {
                    member: "prior.unresolved",
                    id: criterion.id.clone(),
                });
            }
        }
        Ok(())
    }
}
