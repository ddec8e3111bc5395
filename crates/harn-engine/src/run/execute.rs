//! One execution of a script, from its first line to `run.ended`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use harn_ledger::{Blobs, Recorded, Stream};
use harn_workflow::run::{Captured, Command, Ending, Event, Isolation, Manifest, Payload, PayloadKind, Run};
use serde_json::{Value, json};

use crate::script::{self, Bundle, Contexts, Options, ScriptEnd};

use super::adapters::Adapters;
use super::driver::Driver;
use super::ending::ending;
use super::recorder::{Recorder, RunError};
use super::repository::snapshot;
use super::stop::{StopReason, Stopper};

/// What is needed to execute a run whose stream exists and has begun.
pub struct Request<'a> {
    /// The run's stream; its intent is the manifest.
    pub stream: &'a Stream<Run>,
    /// Where evidence is stored.
    pub blobs: Blobs,
    /// The frozen script.
    pub bundle: &'a Bundle,
    /// The adapters that the script may use.
    pub adapters: &'a Adapters,
    /// The variables of the caller, from which those of the children are made.
    pub environment: &'a BTreeMap<OsString, OsString>,
    /// Who runs it.
    pub actor: &'a str,
    /// Stops it.
    pub stopper: &'a Stopper,
    /// Is told of every event as it is recorded.
    pub observer: &'a mut dyn FnMut(&Recorded<Event>),
}

/// Executes the run. When this returns without an error, `run.ended` is on stable storage and no child is left.
///
/// An error means that the transcript could not be written or read; children are ended all the same.
pub fn execute(request: Request<'_>) -> Result<(), RunError> {
    let Request { stream, blobs, bundle, adapters, environment, actor, stopper, observer } = request;
    let manifest = stream.intent();
    let execution = &manifest.parts().execution;
    let deadline = execution.deadline_ms.map(|ms| Duration::from_millis(ms.get()));
    let recorder = Recorder::new(stream, blobs, actor, observer);
    let mut driver = Driver::new(recorder, manifest, adapters, environment, stopper.clone());

    let end = with_deadline(deadline, stopper, || {
        script::run(bundle, &contexts(manifest), &options(manifest), &mut driver)
    });
    let (end, stopped) = match end.and_then(|end| driver.settle().map(|()| end)) {
        Ok(end) => (end, stopper.reason()),
        Err(error) => {
            driver.abandon();
            if !error.is_full() {
                return Err(error);
            }
            // What the run was to be stopped for could not be recorded any more.
            (ScriptEnd::Stopped, Some(StopReason::TranscriptFull))
        }
    };
    let mut recorder = driver.into_recorder();
    let mut ending = ending(&end, stopped);
    if ending.failure.is_none() {
        ending.result = result(&end, &recorder)?;
    }
    if manifest.parts().repository_before.is_some() {
        ending.repository_after = Some(snapshot(&execution.cwd));
    }
    finish(&mut recorder, ending)
}

/// Records the end.
fn finish(recorder: &mut Recorder<'_>, ending: Ending) -> Result<(), RunError> {
    recorder.command(Command::End(Box::new(ending)))
}

/// Runs `work`, and stops the run if it takes longer than `deadline`.
fn with_deadline<T>(deadline: Option<Duration>, stopper: &Stopper, work: impl FnOnce() -> T) -> T {
    let Some(deadline) = deadline else {
        return work();
    };
    thread::scope(|scope| {
        let (in_time, watch) = mpsc::channel::<()>();
        scope.spawn(move || {
            if watch.recv_timeout(deadline) == Err(RecvTimeoutError::Timeout) {
                stopper.stop(StopReason::Deadline);
            }
        });
        let done = work();
        drop(in_time);
        done
    })
}

/// What the script is told about its work, as the manifest froze it.
fn contexts(manifest: &Manifest) -> Contexts {
    let parts = manifest.parts();
    let json = |context: Result<Value, _>| context.expect("a context has only string keys");
    Contexts {
        work: parts.work_context.as_ref().map(|context| json(serde_json::to_value(context))),
        attempt: parts.attempt_context.as_ref().map(|context| json(serde_json::to_value(context))),
        workspace: json!({
            "root": parts.execution.cwd.as_str(),
            "isolated": parts.execution.effective_isolation == Isolation::Worktree,
        }),
    }
}

fn options(manifest: &Manifest) -> Options {
    let parts = manifest.parts();
    let mut options = Options::new(parts.started_at.as_milliseconds(), parts.execution.random_seed);
    options.memory_limit = usize::try_from(parts.execution.memory_bytes.get()).unwrap_or(usize::MAX);
    options.zone_offset_minutes = parts.execution.zone_offset_minutes.into();
    options
}

/// What the script returned: a string as the text that it is, anything else as JSON.
fn result(end: &ScriptEnd, recorder: &Recorder<'_>) -> Result<Option<Payload>, RunError> {
    let ScriptEnd::Returned { result: Some(json) } = end else {
        return Ok(None);
    };
    let (kind, content): (_, Captured) = match serde_json::from_str::<String>(json) {
        Ok(text) => (PayloadKind::Text, recorder.capture(text.as_bytes())?),
        Err(_) => (PayloadKind::Json, recorder.capture(json.as_bytes())?),
    };
    Ok(Some(Payload { kind, content }))
}
