//! The class of a failed run: whether the failure says anything about the work.

use serde::{Deserialize, Serialize};

use super::agent::AgentOutcome;
use super::ending::Failure;

/// Why an agent failed without having touched the work. Closed: anything else is a failure of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Its program is not there.
    Environment,
    /// Its vendor was reached and refused.
    Upstream,
}

/// Why a run failed without saying anything about the work. A failed run without a class is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Class {
    /// Something that a run needs is not there.
    Environment,
    /// An outside service refused.
    Upstream,
    /// The script says that a person must rule.
    Decision,
    /// The run was stopped before an agent or a check was started.
    Interrupted,
}

/// What the class of a run depends on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// An agent or a check was started.
    pub worked: bool,
    /// An agent answered, or its answer was taken over from an earlier attempt.
    pub answered: bool,
    /// Why agents failed without having touched the work; `environment` outranks `upstream`.
    pub failed_as: Option<FailureClass>,
}

impl Tally {
    /// Counts in how a call of an agent came out.
    pub fn add(&mut self, outcome: AgentOutcome, class: Option<FailureClass>) {
        self.answered |= outcome.answered();
        if self.failed_as != Some(FailureClass::Environment) {
            self.failed_as = class.or(self.failed_as);
        }
    }
}

/// The class of a run that ended with `failure`; none when it succeeded.
///
/// A declared block is always `decision`, and an environment that could not be prepared always `environment`. Otherwise one answer of an agent is enough for the failure to be about the
/// work. Without one, what agents failed with decides. A run that was stopped from outside is `interrupted` only when
/// nothing had been started; one that ran out of its own time is not, since the time was the script's to spend.
#[must_use]
pub fn run_class(failure: Option<Failure>, tally: &Tally) -> Option<Class> {
    let failure = failure?;
    match failure {
        Failure::Decision => return Some(Class::Decision),
        // The script was never loaded.
        Failure::Environment => return Some(Class::Environment),
        _ => {}
    }
    if tally.answered {
        return None;
    }
    match tally.failed_as {
        Some(FailureClass::Environment) => Some(Class::Environment),
        Some(FailureClass::Upstream) => Some(Class::Upstream),
        None => {
            let stopped = matches!(failure, Failure::Signal | Failure::Cancelled);
            (stopped && !tally.worked).then_some(Class::Interrupted)
        }
    }
}
