//! Runs one check of a review.

use std::time::Duration;

use harn_env::command::{self, Captured, CommandSpec, Exit, Limits, Outcome, Streams};
use harn_review::FindingId;
use harn_review::check::{Check, CheckOutcome, CheckResult, Scope, TAIL_MAX};

use super::{Controller, ReviewError};

/// Longest output of a stream that is kept whole, in bytes.
const WHOLE_MAX: u64 = 4 << 20;

/// For what a check is run.
pub(super) enum Owner {
    /// The whole.
    Combined,
    /// A task.
    Task(String),
    /// A finding, before or after a repair.
    Finding(FindingId, Scope),
}

impl Controller<'_> {
    /// Runs a check on the present source. A check that changes the source that it judges shows nothing.
    pub(super) fn run_check(&self, check: &Check, owner: &Owner) -> Result<CheckResult, ReviewError> {
        let before = self.fingerprint()?;
        let script = self.script(check, &before);
        let cwd = check.cwd.as_ref().map_or_else(|| self.root.to_owned(), |cwd| self.root.join(cwd.as_str()));
        let (program, args) = check.argv.split_first().ok_or(ReviewError::Stopped)?;
        // Whoever is run as a check may not decide in the review.
        let environment = self.environment.clone().with("HARN_CHILD", "1");
        let mut spec = CommandSpec::new(program, cwd)
            .args(args)
            .environment(environment)
            .timeout(Duration::from_secs(check.timeout().into()));
        spec.limits = Limits { sink: WHOLE_MAX, ..Limits::default() };
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let finished = {
            let (mut out, mut err) = (self.redactor.sink(&mut stdout), self.redactor.sink(&mut stderr));
            let finished = command::run(&spec, Streams { stdout: &mut out, stderr: &mut err }, self.cancel);
            // What these sinks get stays in memory.
            let _ = out.finish();
            let _ = err.finish();
            finished
        };
        if finished.outcome == Outcome::Stopped {
            return Err(ReviewError::Stopped);
        }
        let after = self.fingerprint()?;
        let outcome = if after.digest() == before.digest() {
            outcome(finished.outcome)
        } else {
            CheckOutcome::ChangedSource
        };
        let mut output = self.text(&stdout, &finished.stdout);
        output.push_str(&self.text(&stderr, &finished.stderr));
        if let Some(error) = &finished.start_error {
            output.push_str(&self.redactor.text(&error.to_string()));
        }
        let (scope, finding, task) = match owner {
            Owner::Combined => (Scope::Combined, None, None),
            Owner::Task(task) => (Scope::Task, None, Some(task.clone())),
            Owner::Finding(id, scope) => (*scope, Some(*id), None),
        };
        Ok(CheckResult {
            scope,
            check: check.clone(),
            finding,
            task,
            attempt: 1,
            script,
            fingerprint: before.digest(),
            outcome,
            code: match finished.exit {
                Some(Exit::Code(code)) => Some(code),
                _ => None,
            },
            duration_ms: u64::try_from(finished.elapsed.as_millis()).unwrap_or(u64::MAX),
            output: if output.is_empty() { None } else { Some(self.keep(output.as_bytes())?) },
            tail: tail(&output).to_owned(),
        })
    }

    /// What a stream printed: all of it, or its beginning and its end.
    fn text(&self, whole: &[u8], captured: &Captured) -> String {
        if captured.total_bytes <= WHOLE_MAX {
            String::from_utf8_lossy(whole).into_owned()
        } else {
            self.redactor.text(&captured.excerpt())
        }
    }
}

fn tail(output: &str) -> &str {
    let mut start = output.len().saturating_sub(TAIL_MAX);
    while !output.is_char_boundary(start) {
        start += 1;
    }
    &output[start..]
}

const fn outcome(outcome: Outcome) -> CheckOutcome {
    match outcome {
        Outcome::Passed => CheckOutcome::Passed,
        Outcome::Failed => CheckOutcome::Failed,
        Outcome::MissingTool => CheckOutcome::MissingTool,
        Outcome::Timeout => CheckOutcome::Timeout,
        Outcome::Stopped => CheckOutcome::Stopped,
        Outcome::NotRun => CheckOutcome::NotRun,
        Outcome::CouldNotStart => CheckOutcome::CouldNotStart,
    }
}
