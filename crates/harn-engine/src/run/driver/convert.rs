//! The script's words and the runner's outcomes, in the terms of the transcript.

use harn_env::command::{Exit, Finished, Outcome};
use harn_workflow::run::{
    Block, CheckOutcome, Criterion, CriterionId, EvidenceKind, EvidenceStatus, FailureClass, Label, Meta,
    MetaParts, TryOutcome,
};

use crate::adapter::{AgentClass, AgentFailure};
use crate::script;

/// Longest label that is made from a prompt, in characters.
const LABEL_MAX: usize = 60;

/// What the script says about itself. The script host has checked it against the same bounds.
pub(super) fn meta(meta: &script::Meta) -> Meta {
    let bounds = "the script host checked the bounds";
    let criterion = |criterion: &script::Criterion| Criterion {
        id: CriterionId::new(&criterion.id).expect(bounds),
        statement: Block::clip(&criterion.statement).expect(bounds),
    };
    let parts = MetaParts {
        name: Label::clip(&meta.name),
        description: meta.description.as_deref().and_then(Block::clip),
        objective: meta.objective.as_deref().and_then(Block::clip),
        acceptance: meta.acceptance.iter().map(criterion).collect(),
    };
    Meta::new(parts).expect(bounds)
}

/// A label on one line; one that is made from a prompt is cut short.
pub(super) fn label(given: Option<&str>, prompt: &str) -> Option<Label> {
    if let Some(label) = given.and_then(Label::clip) {
        return Some(label);
    }
    let mut words = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = words.char_indices().nth(LABEL_MAX) {
        words.truncate(cut);
        words.push('…');
    }
    Label::clip(&words)
}

pub(super) const fn class(failure: &AgentFailure) -> Option<FailureClass> {
    match failure.class {
        Some(AgentClass::Environment) => Some(FailureClass::Environment),
        Some(AgentClass::Upstream) => Some(FailureClass::Upstream),
        None => None,
    }
}

pub(super) const fn try_outcome(finished: &Finished, failure: Option<&AgentFailure>) -> TryOutcome {
    match (failure, finished.outcome) {
        (None, _) => TryOutcome::Replied,
        (Some(_), Outcome::Timeout) => TryOutcome::Timeout,
        (Some(_), _) => TryOutcome::Failed,
    }
}

/// How a check came out whose process ended so.
pub(crate) const fn check_outcome(outcome: Outcome) -> CheckOutcome {
    match outcome {
        Outcome::Passed => CheckOutcome::Passed,
        Outcome::Failed => CheckOutcome::Failed,
        Outcome::MissingTool => CheckOutcome::MissingTool,
        Outcome::Timeout => CheckOutcome::Timeout,
        Outcome::Stopped => CheckOutcome::Stopped,
        Outcome::NotRun => CheckOutcome::NotRun,
        Outcome::CouldNotStart => CheckOutcome::CouldNotStart,
    }
}

/// Exit code and signal of a process that came to its own end. How one reacts to being ended says nothing about it: a
/// check that ran out of time may well exit with 0.
pub(super) const fn exit(finished: &Finished) -> (Option<i32>, Option<i32>) {
    match (finished.outcome, finished.exit) {
        (Outcome::Passed | Outcome::Failed, Some(Exit::Code(code))) => (Some(code), None),
        (Outcome::Passed | Outcome::Failed, Some(Exit::Signal(signal))) => (None, Some(signal)),
        _ => (None, None),
    }
}

pub(super) fn elapsed_ms(finished: &Finished) -> u64 {
    u64::try_from(finished.elapsed.as_millis()).unwrap_or(u64::MAX)
}

pub(super) const fn evidence_kind(kind: script::EvidenceKind) -> EvidenceKind {
    match kind {
        script::EvidenceKind::Test => EvidenceKind::Test,
        script::EvidenceKind::Command => EvidenceKind::Command,
        script::EvidenceKind::Artifact => EvidenceKind::Artifact,
        script::EvidenceKind::Change => EvidenceKind::Change,
        script::EvidenceKind::Review => EvidenceKind::Review,
        script::EvidenceKind::Observation => EvidenceKind::Observation,
    }
}

pub(super) const fn evidence_status(status: script::EvidenceStatus) -> EvidenceStatus {
    match status {
        script::EvidenceStatus::Passed => EvidenceStatus::Passed,
        script::EvidenceStatus::Failed => EvidenceStatus::Failed,
        script::EvidenceStatus::Observed => EvidenceStatus::Observed,
        script::EvidenceStatus::Unknown => EvidenceStatus::Unknown,
    }
}
