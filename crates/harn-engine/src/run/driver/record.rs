//! What a process left: recorded, and turned into what the script gets.

use std::num::NonZeroU32;

use harn_env::command::Finished;
use harn_workflow::run::{
    AgentId, AgentOutcome, Captured, CheckId, CheckOutcome, Command, EndedCheck, Event, Payload, PayloadKind,
    Reason,
};
use serde_json::{Value, json};

use crate::adapter::AgentFailure;

use super::super::job::Left;
use super::super::recorder::{Recorder, RunError};
use super::convert::{check_outcome, class, elapsed_ms, exit, try_outcome};

/// A value for the script, or the message of the error that it gets.
pub(super) type Delivered = Result<Value, String>;

/// Records what a process left.
pub(super) fn record(recorder: &mut Recorder<'_>, left: Left) -> Result<Delivered, RunError> {
    match left {
        Left::Agent { id, reply, rejected, stderr, finished } => {
            if let Some(finished) = &finished {
                let failure = reply.as_ref().err();
                recorder.event(Event::AgentTry {
                    id,
                    number: NonZeroU32::MIN,
                    outcome: try_outcome(finished, failure),
                    class: failure.and_then(class),
                    error: failure.and_then(|failure| Reason::clip(&failure.message)),
                    reply: rejected,
                    stderr,
                    duration_ms: elapsed_ms(finished),
                })?;
            }
            end_agent(recorder, id, reply, finished.as_deref())
        }
        Left::Check { id, finished, stdout, stderr, excerpts } => {
            end_check(recorder, id, &finished, [stdout, stderr], &excerpts).map(Ok)
        }
    }
}

fn end_agent(
    recorder: &mut Recorder<'_>,
    id: AgentId,
    reply: Result<(Captured, String), AgentFailure>,
    finished: Option<&Finished>,
) -> Result<Delivered, RunError> {
    let (payload, failure, delivered) = match reply {
        Ok((content, text)) => {
            (Some(Payload { kind: PayloadKind::Text, content }), None, Ok(Value::String(text)))
        }
        Err(failure) => {
            let message = failure.message.clone();
            (None, Some(failure), Err(message))
        }
    };
    recorder.event(Event::AgentEnded {
        id,
        outcome: if failure.is_none() { AgentOutcome::Succeeded } else { AgentOutcome::Failed },
        class: failure.as_ref().and_then(class),
        reply: payload,
        error: failure.and_then(|failure| Reason::clip(&failure.message)),
        tries: u32::from(finished.is_some()),
        duration_ms: finished.map_or(0, elapsed_ms),
    })?;
    Ok(delivered)
}

fn end_check(
    recorder: &mut Recorder<'_>,
    id: CheckId,
    finished: &Finished,
    [stdout, stderr]: [Option<Captured>; 2],
    excerpts: &[String; 2],
) -> Result<Value, RunError> {
    let (exit_code, signal) = exit(finished);
    let error = finished.start_error.as_ref().and_then(|error| Reason::clip(&error.to_string()));
    let outcome = check_outcome(finished.outcome);
    let duration_ms = elapsed_ms(finished);
    let value = json!({
        "passed": outcome == CheckOutcome::Passed,
        "outcome": finished.outcome.as_str(),
        "exit_code": exit_code,
        "signal": signal,
        "error": error.as_ref().map(Reason::as_str),
        "stdout": excerpts[0],
        "stderr": excerpts[1],
        "duration_ms": duration_ms,
    });
    let ended = EndedCheck { id, outcome, exit_code, signal, error, duration_ms, stdout, stderr };
    recorder.command(Command::EndCheck(Box::new(ended)))?;
    Ok(value)
}
