//! Runs a command from the first check to the last process.

use std::time::Instant;

use super::capture::Capture;
use super::pump::Pump;
use super::start::{StartError, no_resources, start};
use super::supervisor::Supervisor;
use super::wake::wake_pair;
use super::{Cancel, CommandSpec, Finished, Outcome, Streams};

/// Runs a command and stays with it until nothing of it is left.
///
/// Returns at the latest a few seconds after time limit and grace, whatever the command does; without a time
/// limit, a few seconds and the grace after its program has exited or `cancel` was thrown. May be called from
/// many threads at once.
///
/// # Panics
///
/// If a sink does; the command is killed then.
pub fn run(spec: &CommandSpec, streams: Streams<'_>, cancel: &Cancel) -> Finished {
    let since = Instant::now();
    if cancel.is_cancelled() {
        return unstarted(spec, None, since);
    }
    // Taken apart and put together again, the sinks are borrowed for no longer than this call.
    let Streams { stdout, stderr } = streams;
    match launch(spec, Streams { stdout, stderr }, cancel) {
        Ok(supervisor) => supervisor.finish(since),
        Err(error) => unstarted(spec, Some(error), since),
    }
}

fn launch<'a>(
    spec: &'a CommandSpec,
    streams: Streams<'a>,
    cancel: &'a Cancel,
) -> Result<Supervisor<'a>, StartError> {
    let (wake, waker) = wake_pair().map_err(|source| no_resources(spec, source))?;
    cancel.subscribe(&waker);
    let (mut group, pipes) = start(spec)?;
    group.watch(waker.clone()).map_err(|source| no_resources(spec, source))?;
    Ok(Supervisor::new(spec, cancel, group, Pump::new(pipes, spec, streams), (wake, waker)))
}

fn unstarted(spec: &CommandSpec, start_error: Option<StartError>, since: Instant) -> Finished {
    let nothing = || Capture::new(&mut (), &spec.limits).finish();
    Finished {
        outcome: start_error.as_ref().map_or(Outcome::NotRun, StartError::outcome),
        exit: None,
        start_error,
        elapsed: since.elapsed(),
        stdout: nothing(),
        stderr: nothing(),
        leftovers: Vec::new(),
        output_open: false,
        survivors: Vec::new(),
    }
}
