//! Which event may follow in which state, and why another may not.

mod members;

use super::class::Class;
use super::criterion::CriterionId;
use super::environment::Hold;
use super::event::Event;
use super::id::{CheckId, EvidenceId};
use super::state::{DueEvidence, Environment, Phase, State};

/// Why an event may not be recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The run is not in a phase in which this can happen.
    #[error("`{event}` cannot happen while the run is {phase}")]
    WrongPhase {
        /// The event.
        event: &'static str,
        /// The phase: `not started`, `running`, `parked`, `blocked` or `ended`.
        phase: &'static str,
    },
    /// The script must be loaded first.
    #[error("`{event}` cannot happen before the script is loaded")]
    ScriptNotLoaded {
        /// The event.
        event: &'static str,
    },
    /// The environment must not be worked in, or was dealt with before.
    #[error("`{event}` does not fit what is known of the environment")]
    Environment {
        /// The event.
        event: &'static str,
    },
    /// The script was loaded before.
    #[error("the script is loaded already")]
    ScriptLoaded,
    /// An id or a number is not the next one.
    #[error("`{event}` is about `{found}`, expected `{expected}`")]
    OutOfOrder {
        /// The event.
        event: &'static str,
        /// What was found.
        found: String,
        /// What is next.
        expected: String,
    },
    /// What is to end or to go on is not open.
    #[error("`{event}` is about `{id}`, which is not open")]
    NotOpen {
        /// The event.
        event: &'static str,
        /// The id.
        id: String,
    },
    /// The members of the event contradict each other.
    #[error("`{event}` contradicts itself, expected {expected}")]
    Inconsistent {
        /// The event.
        event: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// Evidence cites a criterion that the run does not have.
    #[error("`{id}` is not a criterion of this run")]
    UnknownCriterion {
        /// The id cited.
        id: CriterionId,
    },
    /// The run has as much evidence as it may have, that of open checks included.
    #[error("the run has {max} records of evidence, expected no more")]
    TooMuchEvidence {
        /// The most allowed.
        max: u32,
    },
    /// A check has ended and its record of evidence does not follow, or contradicts it.
    #[error("the record `{evidence}` of the check `{check}` does not follow its end, or says something else")]
    EvidenceDue {
        /// The record that must follow.
        evidence: EvidenceId,
        /// The check.
        check: CheckId,
    },
    /// A run parks only when nothing is running.
    #[error("{agents} agents and {checks} checks are open, expected none before the run parks")]
    WorkOpen {
        /// Open calls of agents.
        agents: usize,
        /// Open checks.
        checks: usize,
    },
    /// The class does not follow from what was recorded.
    #[error("the class of the run is not the one that follows from its agents")]
    WrongClass {
        /// The class found.
        found: Option<Class>,
        /// The class that follows.
        expected: Option<Class>,
    },
}

impl Refusal {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::WrongPhase { .. } => "run_wrong_phase",
            Self::ScriptNotLoaded { .. } => "run_script_not_loaded",
            Self::Environment { .. } => "run_environment",
            Self::ScriptLoaded => "run_script_loaded",
            Self::OutOfOrder { .. } => "run_out_of_order",
            Self::NotOpen { .. } => "run_not_open",
            Self::Inconsistent { .. } => "run_inconsistent",
            Self::UnknownCriterion { .. } => "run_unknown_criterion",
            Self::TooMuchEvidence { .. } => "run_too_much_evidence",
            Self::EvidenceDue { .. } => "run_evidence_due",
            Self::WorkOpen { .. } => "run_work_open",
            Self::WrongClass { .. } => "run_wrong_class",
        }
    }

    /// What to do about it, where something can be done.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownCriterion { .. } => Some(
                "declare it in `meta.acceptance`, or cite `item.1` for the first acceptance text of the work item"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// Whether `event` may follow in `state`.
pub(super) fn check(state: &State, event: &Event) -> Result<(), Refusal> {
    check_due(state, event)?;
    check_phase(state, event)?;
    members::check(state, event)
}

/// Whether a batch may end in `state`.
pub(super) fn check_settled(state: &State) -> Result<(), Refusal> {
    state.due().map_or(Ok(()), |due| Err(due_refusal(due)))
}

/// The record of a check follows its end and says what the end says.
fn check_due(state: &State, event: &Event) -> Result<(), Refusal> {
    let Some(due) = state.due() else {
        return Ok(());
    };
    match event {
        Event::EvidenceRecorded { id, check: Some(check), status, acceptance_ids, .. }
            if *id == due.id
                && *check == due.check
                && *status == due.status
                && *acceptance_ids == due.acceptance_ids =>
        {
            Ok(())
        }
        _ => Err(due_refusal(due)),
    }
}

const fn due_refusal(due: &DueEvidence) -> Refusal {
    Refusal::EvidenceDue { evidence: due.id, check: due.check }
}

fn check_phase(state: &State, event: &Event) -> Result<(), Refusal> {
    let (phase, fits) = match state.phase() {
        Phase::Created => ("not started", matches!(event, Event::RunStarted {})),
        Phase::Running => ("running", !matches!(event, Event::RunStarted {})),
        Phase::Parked { .. } => ("parked", matches!(event, Event::RunResumed {} | Event::RunEnded { .. })),
        Phase::Blocked { .. } => ("blocked", matches!(event, Event::RunEnded { .. })),
        Phase::Ended { .. } => ("ended", false),
    };
    if !fits {
        let event = event.name();
        return Err(Refusal::WrongPhase { event, phase });
    }
    check_environment(state, event)?;
    match event {
        Event::ScriptLoaded { .. } if state.script_loaded() => Err(Refusal::ScriptLoaded),
        // The script has no part in it.
        Event::RunBlocked { .. } if *state.environment() == Environment::Held(Hold::Source) => Ok(()),
        Event::Stage { .. }
        | Event::AgentStarted { .. }
        | Event::ParallelItemFailed { .. }
        | Event::CheckStarted { .. }
        | Event::EvidenceRecorded { .. }
        | Event::RunParked { .. }
        | Event::RunBlocked { .. }
            if !state.script_loaded() =>
        {
            Err(Refusal::ScriptNotLoaded { event: event.name() })
        }
        _ => Ok(()),
    }
}

/// It is prepared before the script and checked after it, each at most once; where it is held, no script is loaded.
fn check_environment(state: &State, event: &Event) -> Result<(), Refusal> {
    let environment = state.environment();
    let fits = match event {
        Event::EnvironmentPrepared { .. } | Event::EnvironmentSkipped {} => {
            *environment == Environment::Unsaid && !state.script_loaded()
        }
        Event::EnvironmentChecked { .. } => {
            matches!(environment, Environment::Prepared { .. }) && state.script_loaded()
        }
        Event::ScriptLoaded { .. } => !matches!(environment, Environment::Held(_)),
        _ => true,
    };
    if fits { Ok(()) } else { Err(Refusal::Environment { event: event.name() }) }
}
