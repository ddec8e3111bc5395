//! The manifest: what was asked of a run, frozen before its script is loaded.
//!
//! It is the intent of the run's stream. A resumed run takes everything from it, so a flag that differs then can be
//! refused by name. Policy, approvals, roles and a workspace binding will join [`Execution`] as optional members.

use harn_ledger::{Digest, StreamId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::context::{AttemptContext, WorkContext};

use super::event::Label;
use super::execution::{EXACT_MAX, Execution};
use super::path::AbsolutePath;
use super::repository::Snapshot;
use super::script::Script;
use super::version::Version;

/// What a manifest says, before it is checked as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestParts {
    /// The version of the document.
    pub schema_version: Version<1>,
    /// The run; also the id of its stream.
    pub run_id: StreamId,
    /// The work item that it advances, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_item_id: Option<StreamId>,
    /// What the script is told about the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_context: Option<WorkContext>,
    /// What the script is told about the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_context: Option<AttemptContext>,
    /// What the run is called until the script gives it another name.
    pub name: Label,
    /// When it was started.
    pub started_at: Timestamp,
    /// What is executed.
    pub script: Script,
    /// The repository at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository_before: Option<Snapshot>,
    /// How it is executed.
    pub execution: Execution,
}

/// A manifest that holds together. It is written and read through the same check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ManifestParts", into = "ManifestParts")]
pub struct Manifest(Box<ManifestParts>);

/// Why a manifest was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The work context is there without the item.
    #[error("`work_context` is there without `work_item_id`")]
    WorkContextAlone,
    /// The work context is of another item.
    #[error("`work_context.id` is `{found}`, expected the work item `{expected}`")]
    OtherWorkItem {
        /// The id in the context.
        found: StreamId,
        /// The work item.
        expected: StreamId,
    },
    /// The attempt context is there without the work context.
    #[error("`attempt_context` is there without `work_context`")]
    AttemptContextAlone,
    /// A file's digest and its content disagree.
    #[error("`{path}` has the digest `{sha256}`, but its content is `{content}`")]
    OtherContent {
        /// The file.
        path: AbsolutePath,
        /// Its digest.
        sha256: Digest,
        /// The digest of the content cited.
        content: Digest,
    },
    /// The script imports too much.
    #[error("`script.modules` has {found} entries, expected at most {max}")]
    TooManyModules {
        /// How many there are.
        found: usize,
        /// The most allowed.
        max: usize,
    },
    /// A file stands there twice.
    #[error("`script.modules` repeats `{path}`")]
    RepeatedModule {
        /// The file.
        path: AbsolutePath,
    },
    /// Two billing flags contradict each other.
    #[error("`subscription_only` and `allow_api_billing` are both true, expected at most one")]
    BillingConflict,
    /// The run is more isolated than was asked for.
    #[error("`effective_isolation` is `worktree`, expected `shared` as requested")]
    UnrequestedIsolation,
    /// A number that some readers of JSON would change.
    #[error("`{member}` is {found}, expected at most {EXACT_MAX}")]
    NotExact {
        /// Which number.
        member: &'static str,
        /// The number.
        found: u64,
    },
    /// The zone is a day or more away from UTC.
    #[error("`zone_offset_minutes` is {found}, expected less than a day")]
    ZoneOffset {
        /// The offset found.
        found: i16,
    },
}

impl ManifestError {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::WorkContextAlone => "manifest_work_context_alone",
            Self::OtherWorkItem { .. } => "manifest_other_work_item",
            Self::AttemptContextAlone => "manifest_attempt_context_alone",
            Self::OtherContent { .. } => "manifest_other_content",
            Self::TooManyModules { .. } => "manifest_too_many_modules",
            Self::RepeatedModule { .. } => "manifest_repeated_module",
            Self::BillingConflict => "manifest_billing_conflict",
            Self::UnrequestedIsolation => "manifest_unrequested_isolation",
            Self::NotExact { .. } => "manifest_not_exact",
            Self::ZoneOffset { .. } => "manifest_zone_offset",
        }
    }

    /// What to do about it, where something can be done.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::BillingConflict => {
                Some("give either `--subscription-only` or `--allow-api-billing`".to_owned())
            }
            _ => None,
        }
    }
}

impl Manifest {
    /// Checks the whole.
    pub fn new(parts: ManifestParts) -> Result<Self, ManifestError> {
        check_contexts(
            parts.work_item_id.as_ref(),
            parts.work_context.as_ref(),
            parts.attempt_context.as_ref(),
        )?;
        parts.script.check()?;
        parts.execution.check()?;
        Ok(Self(Box::new(parts)))
    }

    /// What it says.
    #[must_use]
    pub fn parts(&self) -> &ManifestParts {
        &self.0
    }
}

impl TryFrom<ManifestParts> for Manifest {
    type Error = ManifestError;

    fn try_from(parts: ManifestParts) -> Result<Self, Self::Error> {
        Self::new(parts)
    }
}

impl From<Manifest> for ManifestParts {
    fn from(manifest: Manifest) -> Self {
        *manifest.0
    }
}

/// The contexts belong to the work item and to each other.
pub(super) fn check_contexts(
    work_item_id: Option<&StreamId>,
    work_context: Option<&WorkContext>,
    attempt_context: Option<&AttemptContext>,
) -> Result<(), ManifestError> {
    match (work_context, work_item_id) {
        (Some(_), None) => return Err(ManifestError::WorkContextAlone),
        (Some(context), Some(expected)) if context.id() != expected => {
            return Err(ManifestError::OtherWorkItem {
                found: context.id().clone(),
                expected: expected.clone(),
            });
        }
        _ => {}
    }
    if attempt_context.is_some() && work_context.is_none() {
        return Err(ManifestError::AttemptContextAlone);
    }
    Ok(())
}
