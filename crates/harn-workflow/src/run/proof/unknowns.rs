//! What a proof cannot vouch for.

use crate::run::criterion::CriterionId;
use crate::run::ending::Status;
use crate::run::environment::EnvironmentRecord;
use crate::run::text::Line;

use super::Proof;
use super::parts::{AgentStatus, Unknown, UnknownCode};

/// What follows from the other parts of `proof`, in the order of the codes.
pub(super) fn unknowns(proof: &Proof) -> Vec<Unknown> {
    let succeeded = proof.run.status == Status::Succeeded;
    let agents = |status| proof.agents.iter().filter(|agent| agent.status == status).count();
    let failed = agents(AgentStatus::Failed);
    let unfinished = (
        agents(AgentStatus::Unfinished),
        proof.checks.iter().filter(|check| check.outcome.is_none()).count(),
    );
    let drift = proof.repository.as_ref().and_then(|repository| repository.drift.as_ref());

    let mut unknowns = Vec::new();
    // That nothing got worse says nothing about what the run had to achieve.
    if proof.acceptance.criteria.iter().all(|criterion| criterion.id == CriterionId::baseline()) {
        unknowns.push(unknown(
            UnknownCode::NoAcceptanceCriteria,
            "no criterion says what the run had to achieve",
        ));
    }
    if succeeded && failed > 0 {
        let text = format!("the run succeeded although {failed} of {} agents failed", proof.agents.len());
        unknowns.push(unknown(UnknownCode::AgentsFailed, &text));
    }
    if succeeded && unfinished != (0, 0) {
        let (agents, checks) = unfinished;
        let text = format!("the run succeeded while {agents} agents and {checks} checks had not ended");
        unknowns.push(unknown(UnknownCode::WorkUnfinished, &text));
    }
    if let Some(environment) = &proof.environment {
        unknowns.extend(of_environment(environment, succeeded));
    }
    if drift.is_some_and(|drift| drift.incomplete) {
        unknowns.push(unknown(
            UnknownCode::RepositoryDriftIncomplete,
            "some paths were dirty before and after the run, or are not all listed",
        ));
    }
    unknowns
}

/// A baseline that was not run, and commands that say nothing for certain.
fn of_environment(environment: &EnvironmentRecord, succeeded: bool) -> Option<Unknown> {
    let Some(preparation) = &environment.preparation else {
        let text = "the environment was not prepared, and nothing was compared with a baseline";
        return Some(unknown(UnknownCode::EnvironmentSkipped, text));
    };
    let comparisons = environment.comparisons().count();
    if succeeded && comparisons < preparation.baseline.len() {
        let missing = preparation.baseline.len() - comparisons;
        let text = format!("{missing} commands of the baseline were not run again after the work");
        return Some(unknown(UnknownCode::EnvironmentUncertain, &text));
    }
    let uncertain: Vec<_> =
        environment.comparisons().filter(|compared| !compared.verdict.is_certain()).collect();
    let first = uncertain.first()?;
    let (name, verdict) = (&first.name, first.verdict.as_str().replace('_', " "));
    let more = match uncertain.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(unknown(UnknownCode::EnvironmentUncertain, &format!("{verdict}: {name}{more}")))
}

/// What is said of a proof that does not hold everything.
pub(super) fn truncated() -> Unknown {
    unknown(UnknownCode::ProofTruncated, "the proof does not hold everything; the transcript does")
}

fn unknown(code: UnknownCode, message: &str) -> Unknown {
    Unknown { code, message: Line::clip(message).expect("the messages above are not blank") }
}
