//! What a review is about, frozen when it is opened.

use harn_ledger::text::{TextError, check_block, check_line};
use harn_ledger::{StreamId, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::bounds;
use crate::plan::{InvalidPlan, Plan};

/// Longest path of a project, and longest name of a branch, in characters.
const LINE: usize = 1_000;

/// What a review is about. Reading one checks it with the function that checked it before it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Intent {
    /// 1.
    pub schema_version: u32,
    /// The review's id; also the id of its stream.
    pub id: StreamId,
    /// What was asked for, 1 to 16,000 characters. Reviewers and writers are given it.
    pub request: String,
    /// Absolute path of the project, one line of up to 1,000 characters.
    pub root: String,
    /// What the work is to be merged into; absent outside of a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// The plan that governs until another one is accepted.
    pub plan: Plan,
    /// The work item that needs this review to be accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_item: Option<StreamId>,
    /// Every file that changed has to be read by the reviewer who finds the source clean.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_coverage: bool,
    /// When it was opened.
    pub created_at: Timestamp,
}

/// What the work is to be merged into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// The remote that has the branch; the local branch counts without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The branch.
    pub branch: String,
    /// Where the branch was when the review was opened: a commit, in hexadecimal.
    pub commit: String,
}

/// Why an intent is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidIntent {
    /// Another version.
    #[error("the review has schema version {found}, expected 1")]
    SchemaVersion {
        /// The version found.
        found: u32,
    },
    /// A text is out of its bounds.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The plan is out of its bounds.
    #[error(transparent)]
    Plan(#[from] InvalidPlan),
    /// The commit is not one.
    #[error("`{}` is not a commit, expected 40 or 64 hexadecimal digits", .0.escape_debug())]
    Commit(String),
}

impl Intent {
    /// Checks the bounds.
    pub fn check(&self) -> Result<(), InvalidIntent> {
        if self.schema_version != 1 {
            return Err(InvalidIntent::SchemaVersion { found: self.schema_version });
        }
        check_block("request", &self.request, bounds::REQUEST)?;
        check_line("path", &self.root, LINE)?;
        if let Some(base) = &self.base {
            check_line("branch", &base.branch, LINE)?;
            base.remote.as_ref().map_or(Ok(()), |remote| check_line("remote", remote, LINE))?;
            check_commit(&base.commit)?;
        }
        Ok(self.plan.check()?)
    }
}

impl InvalidIntent {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::SchemaVersion { .. } => "schema_version",
            Self::Text(error) => error.code(),
            Self::Plan(error) => error.code(),
            Self::Commit(_) => "not_a_commit",
        }
    }
}

/// Checks the name of a commit or tree.
pub(crate) fn check_commit(commit: &str) -> Result<(), InvalidIntent> {
    let is_hex = commit.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_hex && matches!(commit.len(), 40 | 64) {
        Ok(())
    } else {
        Err(InvalidIntent::Commit(commit.to_owned()))
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
