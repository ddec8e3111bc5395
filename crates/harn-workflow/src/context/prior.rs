//! What a retry is told about the attempt before it.

use harn_ledger::StreamId;
use serde::Serialize;

use super::acceptance::{AcceptanceSummary, Unresolved, UnresolvedStatus};
use super::canonical::{ContextError, check_block};
use super::node::Field;

/// Longest error text, in characters.
pub const ERROR_MAX: usize = 2_000;

const MEMBERS: &[&str] = &["run_id", "causes", "error", "acceptance", "unresolved"];
const CAUSES: &[&str] = &["workflow_error", "acceptance_unsatisfied", "acceptance_unknown", "lost"];

/// Why an attempt did not pass, in the order in which causes are listed. Closed: another cause would be a new version of
/// the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The run itself failed.
    WorkflowError,
    /// A criterion was found not to hold.
    AcceptanceUnsatisfied,
    /// Nothing shows whether a criterion holds.
    AcceptanceUnknown,
    /// The attempt left no proof.
    Lost,
}

impl Cause {
    const ALL: [Self; 4] =
        [Self::WorkflowError, Self::AcceptanceUnsatisfied, Self::AcceptanceUnknown, Self::Lost];

    /// The word that stands for it in the context.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        CAUSES[self as usize]
    }
}

/// What the attempt before left behind: `run_id`, `causes`, `error`?, `acceptance`?, `unresolved`.
///
/// `lost` stands alone, with nothing but the run's id. With any other cause `acceptance` is there, its counts add up,
/// `unresolved` lists exactly what they count, and the causes agree with both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prior {
    /// The run of that attempt.
    pub run_id: StreamId,
    /// Why it did not pass.
    pub causes: Vec<Cause>,
    /// What the run failed with: 1 to 2,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How its criteria came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<AcceptanceSummary>,
    /// The criteria that were not satisfied, in the order of the proof; at most 100.
    pub unresolved: Vec<Unresolved>,
}

impl Prior {
    /// The prior of an attempt that left no proof: nothing is guessed.
    #[must_use]
    pub fn lost(run_id: StreamId) -> Self {
        Self { run_id, causes: vec![Cause::Lost], error: None, acceptance: None, unresolved: Vec::new() }
    }

    /// Texts trimmed, causes in order.
    pub(super) fn normalised(mut self) -> Self {
        self.causes.sort_unstable();
        if let Some(error) = &mut self.error {
            *error = error.trim().to_owned();
        }
        for criterion in &mut self.unresolved {
            criterion.trim();
        }
        self
    }

    pub(super) fn read(field: Field<'_>) -> Result<Self, ContextError> {
        let members = field.object(MEMBERS)?;
        let causes = members.required("causes")?.array()?;
        let unresolved = members.required("unresolved")?.array()?;
        Ok(Self {
            run_id: members.required("run_id")?.id()?,
            causes: causes
                .map(|cause| cause.word(CAUSES).map(|place| Cause::ALL[place]))
                .collect::<Result<_, _>>()?,
            error: match members.optional("error") {
                Some(error) => Some(error.string()?.to_owned()),
                None => None,
            },
            acceptance: members.optional("acceptance").map(AcceptanceSummary::read).transpose()?,
            unresolved: unresolved.map(Unresolved::read).collect::<Result<_, _>>()?,
        })
    }

    pub(crate) fn check(&self) -> Result<(), ContextError> {
        self.check_causes()?;
        if self.causes == [Cause::Lost] {
            return self.check_alone();
        }
        if let Some(error) = &self.error {
            check_block("prior.error", "error", error, ERROR_MAX)?;
        }
        Unresolved::check(&self.unresolved)?;
        let Some(summary) = self.acceptance else {
            return Err(ContextError::MissingMember { member: "prior.acceptance".to_owned() });
        };
        summary.check(&self.unresolved)?;
        self.check_agreement(summary)
    }

    fn check_causes(&self) -> Result<(), ContextError> {
        if self.causes.is_empty() {
            return Err(ContextError::NoCause);
        }
        for (index, cause) in self.causes.iter().enumerate() {
            if self.causes[..index].contains(cause) {
                return Err(ContextError::RepeatedCause { cause: cause.as_str() });
            }
        }
        if self.causes.contains(&Cause::Lost) && self.causes.len() > 1 {
            return Err(ContextError::LostNotAlone { member: "prior.causes" });
        }
        if !self.causes.is_sorted() {
            return Err(ContextError::CauseOrder { order: CAUSES });
        }
        Ok(())
    }

    fn check_alone(&self) -> Result<(), ContextError> {
        let beside = [
            (self.error.is_some(), "prior.error"),
            (self.acceptance.is_some(), "prior.acceptance"),
            (!self.unresolved.is_empty(), "prior.unresolved"),
        ];
        match beside.into_iter().find(|(there, _)| *there) {
            Some((_, member)) => Err(ContextError::LostNotAlone { member }),
            None => Ok(()),
        }
    }

    /// A cause is listed exactly when there is a criterion for it.
    fn check_agreement(&self, summary: AcceptanceSummary) -> Result<(), ContextError> {
        let pairs = [
            (UnresolvedStatus::Unsatisfied, summary.unsatisfied, Cause::AcceptanceUnsatisfied),
            (UnresolvedStatus::Unknown, summary.unknown, Cause::AcceptanceUnknown),
        ];
        for (status, count, cause) in pairs {
            if self.causes.contains(&cause) != (count > 0) {
                return Err(ContextError::CauseMismatch { status: status.as_str(), count });
            }
        }
        Ok(())
    }
}
