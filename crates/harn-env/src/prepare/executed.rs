//! Runs one command of a recipe.

use std::cell::{Cell, RefCell};
use std::io;
use std::time::{Duration, Instant};

use super::output::{Kept, masked};
use super::{PrepareError, Progress, Request};
use crate::command::{self, CommandSpec, Finished, Limits, Outcome, Process, Sink, Streams};
use crate::compare::Signature;
use crate::receipt::{CommandResult, Stage, fitting};
use crate::recipe::{Command, Expect};

pub(super) fn run(
    request: &mut Request<'_>,
    stage: Stage,
    name: &str,
    command: &Command,
    expect: Option<&Expect>,
) -> Result<CommandResult, PrepareError> {
    let Request { root, environment, redactor, cancel, progress, .. } = request;
    let cwd = command.cwd.as_ref().map_or_else(|| root.to_owned(), |cwd| root.join(cwd.as_str()));
    let mut spec = CommandSpec::new(&command.argv[0], cwd)
        .args(&command.argv[1..])
        .environment((*environment).clone())
        .timeout(Duration::from_secs(command.timeout().into()));
    // What is kept is bounded here, and not by leaving the end unread.
    spec.limits = Limits { sink: u64::MAX, ..Limits::default() };
    let (mut stdout, mut stderr) = (Kept::default(), Kept::default());
    let finished = {
        let mut out = masked(redactor, &mut stdout);
        let mut err = masked(redactor, &mut stderr);
        let (since, bytes) = (Instant::now(), Cell::new(0));
        let progress = RefCell::new(&mut **progress);
        let tell = |length: usize| {
            bytes.set(bytes.get() + length as u64);
            let (elapsed, bytes) = (since.elapsed(), bytes.get());
            (progress.borrow_mut())(Progress::Printed { stage, name, elapsed, bytes });
        };
        let finished = {
            let mut streams = (Told { inner: &mut out, tell: &tell }, Told { inner: &mut err, tell: &tell });
            let streams = Streams { stdout: &mut streams.0, stderr: &mut streams.1 };
            command::run(&spec, streams, cancel)
        };
        // What these sinks get stays in memory.
        let _ = out.finish();
        let _ = err.finish();
        finished
    };
    let (printed, words) = (stdout.text(), stderr.text());
    let mut failed_tests = stdout.take_failed();
    failed_tests.extend(stderr.take_failed());
    let unmet = expect.filter(|expect| !expect.is_met_by(&printed) && !expect.is_met_by(&words));
    let error = match (&finished.start_error, unmet) {
        (Some(error), _) => Some(request.redactor.text(&error.to_string())),
        (None, Some(expect)) if finished.outcome == Outcome::Passed => {
            Some(format!("its output does not show `{}`", expect.as_str()))
        }
        _ => None,
    };
    let signature = match finished.outcome {
        Outcome::Failed | Outcome::Timeout => {
            Signature::from_parts(finished.exit, failed_tests, &printed, &words)
        }
        _ => Signature::default(),
    };
    let blobs = request.ledger.blobs();
    Ok(CommandResult {
        name: name.to_owned(),
        outcome: finished.outcome,
        exit: finished.exit,
        error: error.and_then(|error| fitting(&error)),
        note: note(&finished),
        duration_ms: u64::try_from(finished.elapsed.as_millis()).unwrap_or(u64::MAX),
        limit_seconds: command.timeout(),
        stdout: stdout.store(&blobs, finished.stdout.total_bytes)?,
        stderr: stderr.store(&blobs, finished.stderr.total_bytes)?,
        signature,
    })
}

/// A sink that is told of.
struct Told<'a> {
    inner: &'a mut dyn Sink,
    tell: &'a dyn Fn(usize),
}

impl Sink for Told<'_> {
    fn receive(&mut self, chunk: &[u8]) -> io::Result<()> {
        (self.tell)(chunk.len());
        self.inner.receive(chunk)
    }
}

/// What the command left behind, in words.
fn note(finished: &Finished) -> Option<String> {
    let named = |processes: &[Process]| {
        let names: Vec<_> = processes.iter().map(|it| format!("`{}` ({})", it.name, it.pid)).collect();
        names.join(", ")
    };
    let mut notes = Vec::new();
    if !finished.leftovers.is_empty() {
        notes.push(format!("what it left running was ended: {}", named(&finished.leftovers)));
    }
    if finished.output_open {
        notes.push(
            "a process outside of its group keeps its output open, so the end of it may be missing"
                .to_owned(),
        );
    }
    if !finished.survivors.is_empty() {
        notes.push(format!("still running: {}", named(&finished.survivors)));
    }
    fitting(&notes.join("\n"))
}
