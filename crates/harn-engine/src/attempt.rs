//! One attempt at a work item, from the checks that cost nothing to the proof.
//!
//! The order is fixed and each step is on stable storage before the next: `attempt.started`, the run's stream, the
//! preparation of the environment, what happens in the run, `run.ended`, the proof, `attempt.ended`. No line of the script runs before the first two.

mod environment;
mod plan;
mod resume;
mod script_files;
mod watch;

use std::collections::BTreeMap;
use std::ffi::OsString;

use harn_env::prepare::PrepareError;
use harn_env::receipt::Owner;
use harn_ledger::{CreateError, ExecuteError, LeaseError, Recorded, StreamError, StreamId};
use harn_workflow::run::{Event, ManifestError, Proof};
use harn_workflow::work::{Caller, Refusal, Trigger};
use harn_workflow::{BeginError, EndError, WorkError, WorkItem, WorkLedger};

use crate::run::{self, Adapters, RunError, Stopper, Surroundings};

pub use environment::{EnvironmentRequest, redactor};
pub use plan::{AttemptOptions, OptionsError};
pub use resume::{ResumeRequest, resume_attempt};
pub use script_files::{ScriptError, read_script};

/// What is needed for an attempt.
pub struct AttemptRequest<'a> {
    /// The work items.
    pub works: &'a WorkLedger,
    /// Who asks.
    pub caller: &'a Caller,
    /// The item.
    pub id: &'a StreamId,
    /// `Initial` from `ready`, `Retry` from `blocked`.
    pub trigger: Trigger,
    /// Where and within which limits.
    pub options: &'a AttemptOptions,
    /// The adapters that the script may use.
    pub adapters: &'a Adapters,
    /// The variables of the caller.
    pub environment: &'a BTreeMap<OsString, OsString>,
    /// What is done about the environment; nothing if this is none.
    pub preparation: Option<EnvironmentRequest<'a>>,
    /// What others are told about who holds the item's lease; one line.
    pub lease_note: &'a str,
    /// Stops the run.
    pub stopper: &'a Stopper,
    /// Is told of every event of the run as it is recorded.
    pub observer: &'a mut dyn FnMut(&Recorded<Event>),
}

/// An attempt that took place, whatever came of it.
#[derive(Debug)]
pub struct AttemptReport {
    /// Its run.
    pub run_id: StreamId,
    /// What it proves.
    pub proof: Proof,
    /// The item afterwards.
    pub item: WorkItem,
}

/// Why an attempt did not take place, or why its end is not on record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttemptError {
    /// The item could not be read.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// An option is not acceptable.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The script is not what was frozen.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The recipe is none, or a receipt could not be made.
    #[error(transparent)]
    Environment(PrepareError),
    /// What the attempt needs does not work any more. The attempt is open as before.
    #[error("the attempt cannot go on: {reason}")]
    EnvironmentHeld {
        /// The receipt that shows it.
        receipt: StreamId,
        /// What does not work.
        reason: String,
    },
    /// Somebody else runs the item.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The attempt is not allowed, or could not be recorded.
    #[error(transparent)]
    Begin(#[from] BeginError),
    /// The attempt cannot go on, or that could not be recorded.
    #[error(transparent)]
    Resume(WorkError),
    /// The manifest does not hold together.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The run's stream could not be created.
    #[error(transparent)]
    CreateRun(#[from] CreateError),
    /// The run could not be recorded.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The end of the attempt could not be recorded.
    #[error(transparent)]
    End(#[from] EndError),
}

impl AttemptError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stream(error) => error.code(),
            Self::Options(error) => error.code(),
            Self::Script(error) => error.code(),
            Self::Environment(error) => error.code(),
            Self::EnvironmentHeld { .. } => "environment_held",
            Self::Lease(error) => error.code(),
            Self::Begin(error) => error.code(),
            Self::Resume(error) => error.code(),
            Self::Manifest(error) => error.code(),
            Self::CreateRun(error) => error.code(),
            Self::Run(error) => error.code(),
            Self::End(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Stream(error) => error.hint(),
            Self::Options(error) => error.hint(),
            Self::Script(error) => error.hint(),
            Self::Environment(error) => error.hint(),
            Self::EnvironmentHeld { receipt, .. } => Some(format!("harn env show {receipt}")),
            Self::Lease(LeaseError::Held { stream, .. }) => Some(format!("harn work show {}", stream.id())),
            Self::Lease(error) => error.hint(),
            Self::Begin(error) => error.hint(),
            Self::Resume(error) => error.hint(),
            Self::Manifest(error) => error.hint(),
            Self::CreateRun(error) => error.hint(),
            Self::Run(error) => error.hint(),
            Self::End(_) => {
                Some("`harn work reconcile` records the end that the run's own stream proves".to_owned())
            }
        }
    }
}

/// Makes one attempt. Returns a report whenever the attempt took place, also when it failed.
///
/// Everything that can be checked without running is checked before the attempt is recorded.
pub fn run_attempt(request: AttemptRequest<'_>) -> Result<AttemptReport, AttemptError> {
    let AttemptRequest {
        works,
        caller,
        id,
        trigger,
        options,
        adapters,
        environment,
        preparation,
        lease_note,
        stopper,
        observer,
    } = request;
    let item = works.get(id)?;
    let bundle = script_files::frozen(works, item.intent())?;
    let plan = plan::Plan::new(options, adapters, item.intent(), &bundle)?;
    plan.check()?;
    let mut governed = preparation.map(environment::Governed::new).transpose()?;
    governed.as_ref().map_or(Ok(()), |governed| governed.check(works))?;

    match works.check_begin(caller, id, trigger) {
        // Who runs it is said by the lease, in the holder's own words.
        Ok(())
        | Err(BeginError::Work(WorkError::Execute(ExecuteError::Refused(Refusal::Running { .. })))) => {}
        Err(refused) => return Err(refused.into()),
    }
    let _lease = item.stream.lease(lease_note)?;
    let begun = works.begin(caller, id, trigger)?;
    let manifest = plan.manifest(&begun)?;
    let stream = works.create_run(caller, &manifest)?;
    let mut receipts = governed.as_mut().map(|governed| {
        governed.receipts(environment::Of {
            works,
            actor: caller.actor.as_str(),
            owner: Owner { work_item: id.clone(), attempt: Some(begun.attempt_context.number()) },
            run_id: &begun.run_id,
            variables: environment,
            subscription_only: options.subscription_only,
            stopper,
        })
    });
    let executed = watch::while_not_cancelled(&item.stream, stopper, || {
        run::execute(run::Request {
            stream: &stream,
            blobs: works.blobs(),
            bundle: &bundle,
            adapters,
            environment,
            actor: caller.actor.as_str(),
            stopper,
            surroundings: receipts.as_mut().map(|receipts| receipts as &mut dyn Surroundings),
            observer,
        })
    });
    executed?;
    let proof = works.end(caller, id, &stream)?;
    drop(item);
    Ok(AttemptReport { run_id: begun.run_id, proof, item: works.get(id)? })
}
