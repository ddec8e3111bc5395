//! What surrounds the script of a run: its environment is prepared before it, and checked after it.

use harn_ledger::StreamId;
use harn_workflow::run::{
    Captured, DecisionId, Ending, Environment, Event, Failure, FinalCheck, Hold, Preparation, Reason, State,
};

use crate::script::ScriptEnd;

use super::ending::ending;
use super::recorder::{Recorder, RunError};
use super::stop::{StopReason, Stopper};

/// Prepares the environment of a run, and checks it again.
pub trait Surroundings {
    /// Prepares it. Called at most once, before the script is loaded.
    fn prepare(&mut self) -> Prepared;

    /// Runs the commands of the baseline in `receipt` again, and compares.
    ///
    /// # Errors
    ///
    /// Why nothing can be said, in words.
    fn check(&mut self, receipt: &StreamId) -> Result<FinalCheck, String>;
}

/// What a preparation came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepared {
    /// There is no recipe.
    NoRecipe,
    /// The caller does without it.
    Skipped,
    /// There is a receipt, whatever it says.
    Receipt(Box<Preparation>),
    /// There is none, and why, in words.
    Failed(String),
}

/// Prepares the environment of a run in `state`, unless that was done or its script was loaded before. Gives the end of the
/// run where it must not begin.
pub(super) fn prepare(
    recorder: &mut Recorder<'_>,
    state: &State,
    surroundings: Option<&mut (dyn Surroundings + '_)>,
    stopper: &Stopper,
) -> Result<Option<Ending>, RunError> {
    if state.script_loaded() {
        return Ok(None);
    }
    if let Environment::Held(hold) = state.environment() {
        // The process was gone before the end was recorded. The words stand in the event of the preparation.
        return Ok(Some(held(*hold, None, stopper)));
    }
    let (Environment::Unsaid, Some(surroundings)) = (state.environment(), surroundings) else {
        return Ok(None);
    };
    match surroundings.prepare() {
        Prepared::NoRecipe => Ok(None),
        Prepared::Skipped => {
            recorder.event(Event::EnvironmentSkipped {})?;
            Ok(None)
        }
        Prepared::Failed(why) => {
            Ok(Some(stopped(stopper).unwrap_or_else(|| not_prepared(Reason::clip(&why)))))
        }
        Prepared::Receipt(preparation) => {
            let (hold, reason) = (preparation.hold, preparation.reason.clone());
            let receipt = preparation.receipt.id.clone();
            recorder.event(Event::EnvironmentPrepared { preparation })?;
            if let (Some(Hold::Source), Some(reason)) = (hold, &reason) {
                let decision = DecisionId::clip(&format!("harn env resolve {receipt}"));
                recorder.event(Event::RunBlocked { reason: reason.clone(), decision })?;
            }
            Ok(hold.map(|hold| held(hold, reason, stopper)).or_else(|| stopped(stopper)))
        }
    }
}

/// The end of a run whose environment is held.
fn held(hold: Hold, reason: Option<Reason>, stopper: &Stopper) -> Ending {
    match hold {
        Hold::Setup | Hold::Tools => not_prepared(reason),
        Hold::Source => ending(&ScriptEnd::Stopped, Some(StopReason::Blocked)),
        Hold::Cancelled => ending(&ScriptEnd::Stopped, stopper.reason()),
    }
}

fn stopped(stopper: &Stopper) -> Option<Ending> {
    stopper.reason().map(|reason| ending(&ScriptEnd::Stopped, Some(reason)))
}

fn not_prepared(error: Option<Reason>) -> Ending {
    Ending { failure: Some(Failure::Environment), error, ..Ending::default() }
}

/// Runs the commands of the baseline again after a script that was not stopped, unless its failure says nothing about the
/// work. Says whether they were run.
pub(super) fn check(
    recorder: &mut Recorder<'_>,
    surroundings: Option<&mut (dyn Surroundings + '_)>,
    failure: Option<Failure>,
) -> Result<bool, RunError> {
    let state = recorder.state()?;
    let (Environment::Prepared { receipt, commands: 1.. }, Some(surroundings), None) =
        (state.environment(), surroundings, state.class(failure))
    else {
        return Ok(false);
    };
    let event = match surroundings.check(receipt) {
        Ok(check) => Event::EnvironmentChecked { check: Box::new(check) },
        Err(why) => {
            let message = format!("the commands of the baseline could not be run again: {why}");
            Event::Log { message: Captured::of(message.as_bytes()) }
        }
    };
    recorder.event(event)?;
    Ok(true)
}
