//! The roll-up: what the evidence of a run says about each criterion.

use serde::{Deserialize, Serialize};

use crate::context::{AcceptanceSummary, CRITERION_MAX};

use super::criterion::{Criterion, CriterionId};
use super::environment::EnvironmentRecord;
use super::evidence::{Evidence, EvidenceStatus, Source};
use super::id::EvidenceId;
use super::text::Block;

/// What is known about a criterion. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionStatus {
    /// A record passed and none failed.
    Satisfied,
    /// A record failed.
    Unsatisfied,
    /// No record passed or failed.
    Unknown,
}

/// A criterion and what the evidence says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CriterionResult {
    /// Its id.
    pub id: CriterionId,
    /// What must hold.
    pub statement: Block<CRITERION_MAX>,
    /// What is known about it.
    pub status: CriterionStatus,
    /// The records that cite it, whatever they say, in order.
    pub evidence_ids: Vec<EvidenceId>,
    /// Who vouches for them, each once: the script before the engine.
    pub sources: Vec<Source>,
}

/// How the criteria of a run came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acceptance {
    /// The criteria: those of the script in its order, then the acceptance texts of the work item in theirs, then
    /// `environment.baseline` where the commands of a recipe were run before and after.
    pub criteria: Vec<CriterionResult>,
    /// How many have which status.
    pub summary: AcceptanceSummary,
    /// The acceptance texts of the work item that are not among the criteria: `item.1`, `item.2` …
    pub not_covered: Vec<CriterionId>,
}

impl Acceptance {
    /// Counts the criteria.
    #[must_use]
    pub fn count(criteria: &[CriterionResult]) -> AcceptanceSummary {
        let mut summary = AcceptanceSummary::default();
        for criterion in criteria {
            summary.total += 1;
            match criterion.status {
                CriterionStatus::Satisfied => summary.satisfied += 1,
                CriterionStatus::Unsatisfied => summary.unsatisfied += 1,
                CriterionStatus::Unknown => summary.unknown += 1,
            }
        }
        summary
    }

    /// Joins what the commands of the baseline say. Only a confirmed regression is held against the run; what is not
    /// certain is among the proof's unknowns.
    #[must_use]
    pub(super) fn with_baseline(mut self, environment: &EnvironmentRecord) -> Self {
        if environment.after.is_some() {
            let status = if environment.has_regressed() {
                CriterionStatus::Unsatisfied
            } else {
                CriterionStatus::Satisfied
            };
            let statement = Block::clip(NO_REGRESSION).expect("it is not blank");
            let (id, sources) = (CriterionId::baseline(), vec![Source::Engine]);
            self.criteria.push(CriterionResult { id, statement, status, evidence_ids: Vec::new(), sources });
            self.summary = Self::count(&self.criteria);
        }
        self
    }
}

/// What must hold of the baseline.
const NO_REGRESSION: &str = "No command of the baseline is shown to fail because of the work";

/// Judges the criteria by the evidence.
///
/// `declared` are the script's criteria. Of `items`, the acceptance texts of the work item, those join that evidence
/// cites, or all when `require_items` is set; the others are listed as not covered.
#[must_use]
pub fn roll_up(
    declared: &[Criterion],
    items: &[String],
    require_items: bool,
    evidence: &[Evidence],
) -> Acceptance {
    let mut criteria: Vec<_> = declared
        .iter()
        .map(|criterion| judge(criterion.id.clone(), criterion.statement.clone(), evidence))
        .collect();
    let mut not_covered = Vec::new();
    for (index, text) in items.iter().enumerate() {
        let id = CriterionId::item(index);
        let cited = evidence.iter().any(|record| record.acceptance_ids.contains(&id));
        match Block::clip(text) {
            Some(statement) if cited || require_items => criteria.push(judge(id, statement, evidence)),
            _ => not_covered.push(id),
        }
    }
    Acceptance { summary: Acceptance::count(&criteria), criteria, not_covered }
}

fn judge(id: CriterionId, statement: Block<CRITERION_MAX>, evidence: &[Evidence]) -> CriterionResult {
    let cited: Vec<&Evidence> =
        evidence.iter().filter(|record| record.acceptance_ids.contains(&id)).collect();
    let any = |status| cited.iter().any(|record| record.status == status);
    let status = if any(EvidenceStatus::Failed) {
        CriterionStatus::Unsatisfied
    } else if any(EvidenceStatus::Passed) {
        CriterionStatus::Satisfied
    } else {
        CriterionStatus::Unknown
    };
    let mut sources: Vec<Source> = cited.iter().map(|record| record.source).collect();
    sources.sort_unstable();
    sources.dedup();
    CriterionResult {
        id,
        statement,
        status,
        evidence_ids: cited.iter().map(|record| record.id).collect(),
        sources,
    }
}
