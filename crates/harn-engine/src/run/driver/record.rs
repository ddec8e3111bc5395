//! What a process left: recorded, and turned into what the script gets. What it gets follows from what is recorded, so a
//! run that goes on tells it the same.

use std::num::NonZeroU32;

use harn_ledger::Blobs;
use harn_workflow::run::{
    AgentId, AgentOutcome, Captured, CheckOutcome, Command, EndedCheck, Event, Payload, PayloadKind, Reason,
};
use serde_json::{Value, json};

use crate::adapter::AgentFailure;

use super::super::job::Left;
use super::super::output;
use super::super::recorder::{Recorder, RunError};
use super::convert::{check_outcome, class, elapsed_ms, exit, try_outcome};

/// A value for the script, or the message of the error that it gets.
pub(super) type Delivered = Result<Value, String>;

/// Records what a process left.
pub(super) fn record(recorder: &mut Recorder<'_>, left: Left) -> Result<Delivered, RunError> {
    match left {
        Left::Agent { id, reply, rejected, stderr, finished } => {
            let mut events = Vec::new();
            let mut tries = recorder.state()?.open_agents().get(&id).copied().unwrap_or_default();
            let failure = reply.as_ref().err();
            if let Some(finished) = &finished {
                tries = tries.saturating_add(1);
                events.push(Event::AgentTry {
                    id,
                    number: NonZeroU32::new(tries).unwrap_or(NonZeroU32::MIN),
                    outcome: try_outcome(finished, failure),
                    class: failure.and_then(class),
                    error: failure.and_then(|failure| Reason::clip(&failure.message)),
                    reply: rejected,
                    stderr,
                    duration_ms: elapsed_ms(finished),
                });
            }
            let duration_ms = finished.as_deref().map_or(0, elapsed_ms);
            let (ended, delivered) = agent_ended(id, reply, tries, duration_ms);
            // A reply that was paid for is on record as soon as its try is.
            events.push(ended);
            recorder.events(events)?;
            Ok(delivered)
        }
        Left::Check { id, finished, stdout, stderr, excerpts } => {
            let (exit_code, signal) = exit(&finished);
            let ended = EndedCheck {
                id,
                outcome: check_outcome(finished.outcome),
                exit_code,
                signal,
                error: finished.start_error.as_ref().and_then(|error| Reason::clip(&error.to_string())),
                duration_ms: elapsed_ms(&finished),
                stdout,
                stderr,
            };
            let value = check_value(&ended, &excerpts);
            recorder.command(Command::EndCheck(Box::new(ended)))?;
            Ok(Ok(value))
        }
    }
}

/// What the script got at the recorded end of a call.
pub(super) fn recorded(event: Event, blobs: &Blobs) -> Result<Delivered, RunError> {
    match event {
        Event::AgentEnded { reply: Some(Payload { content, .. }), .. } => {
            Ok(Ok(Value::String(output::text(&content, blobs)?)))
        }
        Event::AgentEnded { error, .. } => Ok(Err(message(error.as_ref()))),
        Event::CheckEnded { id, outcome, exit_code, signal, error, duration_ms, stdout, stderr, .. } => {
            let excerpts =
                [output::excerpt(stdout.as_ref(), blobs)?, output::excerpt(stderr.as_ref(), blobs)?];
            let ended = EndedCheck { id, outcome, exit_code, signal, error, duration_ms, stdout, stderr };
            Ok(Ok(check_value(&ended, &excerpts)))
        }
        _ => Ok(Err(String::new())),
    }
}

fn agent_ended(
    id: AgentId,
    reply: Result<(Captured, String), AgentFailure>,
    tries: u32,
    duration_ms: u64,
) -> (Event, Delivered) {
    let ended = |outcome, class, reply, error| Event::AgentEnded {
        id,
        outcome,
        class,
        reply,
        error,
        tries,
        duration_ms,
    };
    match reply {
        Ok((content, text)) => {
            let payload = Payload { kind: PayloadKind::Text, content };
            (ended(AgentOutcome::Succeeded, None, Some(payload), None), Ok(Value::String(text)))
        }
        Err(failure) => {
            let error = Reason::clip(&failure.message);
            let delivered = Err(message(error.as_ref()));
            (ended(AgentOutcome::Failed, class(&failure), None, error), delivered)
        }
    }
}

/// The message of the error that the script gets.
fn message(error: Option<&Reason>) -> String {
    error.map(|error| error.as_str().to_owned()).unwrap_or_default()
}

fn check_value(ended: &EndedCheck, [stdout, stderr]: &[String; 2]) -> Value {
    json!({
        "passed": ended.outcome == CheckOutcome::Passed,
        "outcome": ended.outcome,
        "exit_code": ended.exit_code,
        "signal": ended.signal,
        "error": ended.error.as_ref().map(Reason::as_str),
        "stdout": stdout,
        "stderr": stderr,
        "duration_ms": ended.duration_ms,
    })
}
