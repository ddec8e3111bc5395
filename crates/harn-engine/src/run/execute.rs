//! One execution of a script, from its first line to `run.ended`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use harn_ledger::{Blobs, ReadError, Recorded, Stream};
use harn_workflow::run::{
    Captured, Command, Ending, Event, Isolation, Manifest, Payload, PayloadKind, Phase, Run,
};
use serde_json::{Value, json};

use crate::script::{self, Bundle, Contexts, Options, ScriptEnd};

use super::adapters::Adapters;
use super::driver::Driver;
use super::ending::ending;
use super::recorder::{Recorder, RunError};
use super::replay::Replay;
use super::repository::snapshot;
use super::stop::{StopReason, Stopper};
use super::surroundings::{self, Surroundings};

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
    /// Prepares and checks its environment, if anything is to be done about that.
    pub surroundings: Option<&'a mut dyn Surroundings>,
    /// Is told of every event as it is recorded.
    pub observer: &'a mut dyn FnMut(&Recorded<Event>),
}

/// Executes the run. When this returns without an error, `run.ended` is on stable storage and no child is left.
///
/// An error means that the transcript could not be written or read; children are ended all the same.
pub fn execute(request: Request<'_>) -> Result<(), RunError> {
    let deadline = deadline(request.stream.intent());
    proceed(request, None, deadline)
}

/// Goes on with a run whose process is gone: the script runs again from its start and is told what it was told then, so
/// it comes to where it was without anything being recorded or started twice. What had not ended is started again.
///
/// Of its time the run has what it had not used before. It ends like one that was never interrupted.
pub fn resume(request: Request<'_>) -> Result<(), RunError> {
    let Request { stream, actor, .. } = request;
    let replay = Replay::of(stream)?;
    let used = used(stream)?;
    if matches!(stream.state()?.phase(), Phase::Blocked { .. }) {
        // Only the end is missing, and it does not depend on the script any more.
        let Request { stream, blobs, actor, observer, .. } = request;
        let mut recorder = Recorder::new(stream, blobs, actor, observer);
        return finish(
            &mut recorder,
            stream.intent(),
            ending(&ScriptEnd::Stopped, Some(StopReason::Blocked)),
        );
    }
    stream.execute(actor, Command::Record(vec![Event::RunResumed {}]))?;
    let deadline = deadline(stream.intent()).map(|deadline| deadline.saturating_sub(used));
    proceed(request, Some(replay), deadline)
}

fn proceed(request: Request<'_>, replay: Option<Replay>, deadline: Option<Duration>) -> Result<(), RunError> {
    let Request { stream, blobs, bundle, adapters, environment, actor, stopper, surroundings, observer } =
        request;
    let manifest = stream.intent();
    let mut surroundings = surroundings;
    let mut recorder = Recorder::new(stream, blobs, actor, observer);
    if let Some(ending) =
        surroundings::prepare(&mut recorder, &stream.state()?, surroundings.as_deref_mut(), stopper)?
    {
        return finish(&mut recorder, manifest, ending);
    }
    if let Some(replay) = replay {
        recorder = recorder.replaying(replay);
    }
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
    recorder.finish_replay()?;
    let mut ended = ending(&end, stopped);
    if stopped.is_none() && surroundings::check(&mut recorder, surroundings, ended.failure)? {
        // A stop wins, also when the script was over.
        ended = ending(&end, stopper.reason());
    }
    if ended.failure.is_none() {
        ended.result = result(&end, &recorder)?;
    }
    finish(&mut recorder, manifest, ended)
}

/// How long the run may take in all.
fn deadline(manifest: &Manifest) -> Option<Duration> {
    manifest.parts().execution.deadline_ms.map(|ms| Duration::from_millis(ms.get()))
}

/// How long the run was at work, as far as its transcript shows: the time between two processes is not counted.
fn used(stream: &Stream<Run>) -> Result<Duration, ReadError> {
    let (mut used, mut last) = (0, stream.intent().parts().started_at);
    stream.visit(|entry| {
        if let Some(recorded) = entry.domain() {
            // Nor is that of the preparation.
            let others = matches!(recorded.event, Event::RunResumed {} | Event::EnvironmentPrepared { .. });
            if !others {
                used += recorded.ts.as_milliseconds() - last.as_milliseconds();
            }
            last = recorded.ts;
        }
        ControlFlow::Continue(())
    })?;
    Ok(Duration::from_millis(u64::try_from(used).unwrap_or(0)))
}

/// Records the end.
fn finish(recorder: &mut Recorder<'_>, manifest: &Manifest, mut ending: Ending) -> Result<(), RunError> {
    let parts = manifest.parts();
    if parts.repository_before.is_some() {
        ending.repository_after = Some(snapshot(&parts.execution.cwd));
    }
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use harn_ledger::disk::MemDisk;
    use harn_ledger::{Clock, Ledger, Timestamp};

    use super::super::driver::manifest_for_tests;
    use super::*;

    /// A minute goes by before every event.
    #[derive(Debug)]
    struct Minutes(AtomicU8);

    impl Clock for Minutes {
        fn now(&self) -> Timestamp {
            let minutes = self.0.fetch_add(1, Ordering::SeqCst);
            format!("1970-01-01T00:{minutes:02}:00.000000Z").parse().expect("a time")
        }
    }

    #[test]
    fn the_time_between_two_processes_is_not_counted() {
        let clock = Minutes(AtomicU8::new(1));
        let ledger = Ledger::builder("/state").disk(MemDisk::new()).clock(clock).open().unwrap();
        let stream =
            ledger.create::<Run>("r", "ann", &manifest_for_tests(), &[Event::RunStarted {}]).unwrap();
        let log = || Event::Log { message: Captured::of(b"here") };
        for event in [log(), Event::RunResumed {}, log(), Event::RunResumed {}, log(), log()] {
            stream.execute("ann", Command::Record(vec![event])).unwrap();
        }
        // From 0 to 1 to 2, from 3 to 4, and from 5 to 6 to 7.
        assert_eq!(used(&stream).unwrap(), Duration::from_secs(5 * 60));
    }
}
