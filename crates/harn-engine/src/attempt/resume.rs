//! Going on with an attempt whose process is gone.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use harn_env::receipt::Owner;
use harn_ledger::{ExecuteError, Recorded, Stream, StreamError, StreamId};
use harn_workflow::context::AttemptContext;
use harn_workflow::run::{Environment, Event, Line, Manifest, Run};
use harn_workflow::work::{Caller, Refusal, Verb};
use harn_workflow::{WorkError, WorkLedger};

use super::environment::{Governed, Of};
use super::{AttemptError, AttemptReport, EnvironmentRequest, OptionsError, script_files, watch};
use crate::run::{self, Adapters, Stopper, Surroundings};

/// What is needed to go on with an attempt. Where and within which limits is frozen in its manifest.
pub struct ResumeRequest<'a> {
    /// The work items.
    pub works: &'a WorkLedger,
    /// Who asks.
    pub caller: &'a Caller,
    /// The item.
    pub id: &'a StreamId,
    /// The adapters that the script may use; which of them is meant by default is frozen.
    pub adapters: &'a Adapters,
    /// The variables of the caller.
    pub environment: &'a BTreeMap<OsString, OsString>,
    /// What is done about the environment: of what was prepared the tools are checked again; what was not is prepared now.
    pub preparation: Option<EnvironmentRequest<'a>>,
    /// What others are told about who holds the item's lease; one line.
    pub lease_note: &'a str,
    /// Stops the run.
    pub stopper: &'a Stopper,
    /// Is told of every event of the run as it is recorded; not of those that were recorded before.
    pub observer: &'a mut dyn FnMut(&Recorded<Event>),
}

/// Goes on with the open attempt: the same attempt, the same run, not counted again. Agents that have answered are not
/// asked again; those that were at work when the process ended are started again.
///
/// Everything that can be checked without running is checked before anything is recorded.
pub fn resume_attempt(request: ResumeRequest<'_>) -> Result<AttemptReport, AttemptError> {
    let ResumeRequest {
        works,
        caller,
        id,
        adapters,
        environment,
        preparation,
        lease_note,
        stopper,
        observer,
    } = request;
    let item = works.get(id)?;
    match works.check_resume(caller, id) {
        // Who runs it is said by the lease, in the holder's own words.
        Ok(()) | Err(WorkError::Execute(ExecuteError::Refused(Refusal::Running { .. }))) => {}
        Err(refused) => return Err(AttemptError::Resume(refused)),
    }
    let bundle = script_files::frozen(works, item.intent())?;
    // What the run needs is known before the lease is taken, and asked again when nobody else can change it.
    if let Ok(stream) = open_run(works, id) {
        frozen_choice(stream.intent(), adapters)?;
    }
    let _lease = item.stream.lease(lease_note)?;
    let stream = open_run(works, id)?;
    let adapters = frozen_choice(stream.intent(), adapters)?;

    let mut governed = preparation.map(Governed::new).transpose()?;
    let parts = stream.intent().parts();
    let attempt = parts.attempt_context.as_ref().map(AttemptContext::number);
    let mut receipts = governed.as_mut().map(|governed| {
        governed.receipts(Of {
            works,
            actor: caller.actor.as_str(),
            owner: Owner { work_item: id.clone(), attempt },
            run_id: &parts.run_id,
            variables: environment,
            subscription_only: parts.execution.subscription_only,
            stopper,
        })
    });
    let state = stream.state().map_err(StreamError::from)?;
    if let (Environment::Prepared { receipt, .. }, Some(receipts)) = (state.environment(), &mut receipts) {
        receipts.check_tools(receipt)?;
    }

    works.resume(caller, id).map_err(AttemptError::Resume)?;
    let executed = watch::while_not_cancelled(&item.stream, stopper, || {
        run::resume(run::Request {
            stream: &stream,
            blobs: works.blobs(),
            bundle: &bundle,
            adapters: &adapters,
            environment,
            actor: caller.actor.as_str(),
            stopper,
            surroundings: receipts.as_mut().map(|receipts| receipts as &mut dyn Surroundings),
            observer,
        })
    });
    executed?;
    let run_id = stream.id().clone();
    let proof = works.end(caller, id, &stream)?;
    drop(item);
    Ok(AttemptReport { run_id, proof, item: works.get(id)? })
}

/// The stream of the open attempt's run.
fn open_run(works: &WorkLedger, id: &StreamId) -> Result<Stream<Run>, AttemptError> {
    let state = works.get(id)?.stream.state().map_err(StreamError::from)?;
    let open = state.open_attempt().ok_or_else(|| {
        let refusal = Refusal::NoOpenAttempt { id: id.clone(), verb: Verb::Resume };
        AttemptError::Resume(ExecuteError::Refused(refusal).into())
    })?;
    Ok(works.ledger().stream::<Run>(open.run_id.as_str())?)
}

/// The adapters with the default that the manifest names, if what it needs is here.
fn frozen_choice(manifest: &Manifest, adapters: &Adapters) -> Result<Adapters, OptionsError> {
    let execution = &manifest.parts().execution;
    let cwd = PathBuf::from(execution.cwd.as_str());
    if !cwd.is_dir() {
        return Err(OptionsError::NoDirectory { path: cwd });
    }
    let default = execution.adapter.as_ref().map(Line::as_str);
    if let Some(name) = default
        && adapters.get(name).is_none()
    {
        let known = adapters.names().map(str::to_owned).collect();
        return Err(OptionsError::UnknownAdapter { name: name.to_owned(), known });
    }
    Ok(adapters.clone().with_only_default(default))
}
