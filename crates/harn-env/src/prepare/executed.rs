//! Runs one command of a recipe.

use std::time::Duration;

use super::output::{Kept, masked};
use super::{PrepareError, Request};
use crate::command::{self, CommandSpec, Limits, Outcome, Streams};
use crate::compare::Signature;
use crate::receipt::{CommandResult, fitting};
use crate::recipe::{Command, Expect};

pub(super) fn run(
    request: &Request<'_>,
    name: &str,
    command: &Command,
    expect: Option<&Expect>,
) -> Result<CommandResult, PrepareError> {
    let cwd =
        command.cwd.as_ref().map_or_else(|| request.root.to_owned(), |cwd| request.root.join(cwd.as_str()));
    let mut spec = CommandSpec::new(&command.argv[0], cwd)
        .args(&command.argv[1..])
        .environment(request.environment.clone())
        .timeout(Duration::from_secs(command.timeout().into()));
    // What is kept is bounded here, and not by leaving the end unread.
    spec.limits = Limits { sink: u64::MAX, ..Limits::default() };
    let (mut stdout, mut stderr) = (Kept::default(), Kept::default());
    let finished = {
        let mut out = masked(request.redactor, &mut stdout);
        let mut err = masked(request.redactor, &mut stderr);
        let finished = command::run(&spec, Streams { stdout: &mut out, stderr: &mut err }, request.cancel);
        // What these sinks get stays in memory.
        let _ = out.finish();
        let _ = err.finish();
        finished
    };
    let (printed, words) = (stdout.text(), stderr.text());
    let unmet = expect.filter(|expect| !expect.is_met_by(&printed) && !expect.is_met_by(&words));
    let error = match (&finished.start_error, unmet) {
        (Some(error), _) => Some(request.redactor.text(&error.to_string())),
        (None, Some(expect)) if finished.outcome == Outcome::Passed => {
            Some(format!("its output does not show `{}`", expect.as_str()))
        }
        _ => None,
    };
    let signature = match finished.outcome {
        Outcome::Failed | Outcome::Timeout => Signature::of(finished.exit, &printed, &words),
        _ => Signature::default(),
    };
    let blobs = request.ledger.blobs();
    Ok(CommandResult {
        name: name.to_owned(),
        outcome: finished.outcome,
        exit: finished.exit,
        error: error.and_then(|error| fitting(&error)),
        duration_ms: u64::try_from(finished.elapsed.as_millis()).unwrap_or(u64::MAX),
        limit_seconds: command.timeout(),
        stdout: stdout.store(&blobs, finished.stdout.total_bytes)?,
        stderr: stderr.store(&blobs, finished.stderr.total_bytes)?,
        signature,
    })
}
