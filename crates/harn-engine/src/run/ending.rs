//! How a run ended, from how its script ended and why it was stopped.

use harn_workflow::run::{Ending, Failure, Reason};

use crate::script::ScriptEnd;

use super::stop::StopReason;

/// The end without the result, which has to be stored first. A stop wins over whatever the script made of it.
pub(super) fn ending(end: &ScriptEnd, stopped: Option<StopReason>) -> Ending {
    let (failure, error) = match stopped {
        Some(reason) => stop(reason),
        None => script(end),
    };
    let error = error.as_deref().and_then(Reason::clip);
    Ending { failure, error, result: None, repository_after: None }
}

fn stop(reason: StopReason) -> (Option<Failure>, Option<String>) {
    let (failure, error) = match reason {
        StopReason::Blocked => (Failure::Decision, None),
        StopReason::Signal => (Failure::Signal, Some("the run was interrupted")),
        StopReason::Deadline => (Failure::Deadline, Some("the run's time was over")),
        StopReason::Cancelled => (Failure::Cancelled, Some("the work was cancelled")),
        StopReason::TranscriptFull => {
            (Failure::TranscriptFull, Some("the transcript holds as much as it may"))
        }
    };
    (Some(failure), error.map(str::to_owned))
}

fn script(end: &ScriptEnd) -> (Option<Failure>, Option<String>) {
    match end {
        ScriptEnd::Returned { .. } => (None, None),
        ScriptEnd::UnserialisableResult { message } => {
            let why = message.as_deref().map(|message| format!(": {message}")).unwrap_or_default();
            let error = format!("what the script returned cannot be written as JSON{why}");
            (Some(Failure::UnusableResult), Some(error))
        }
        ScriptEnd::Threw { message, .. } => (Some(Failure::ScriptError), message.clone()),
        ScriptEnd::Unusable { error } => (Some(Failure::LoadFailed), Some(error.to_string())),
        ScriptEnd::Stalled => {
            let error = "the script waits for something that nothing outstanding can settle";
            (Some(Failure::ScriptStalled), Some(error.to_owned()))
        }
        ScriptEnd::OutOfMemory => {
            (Some(Failure::OutOfMemory), Some("the script ran out of memory".to_owned()))
        }
        ScriptEnd::StackOverflow => {
            (Some(Failure::StackOverflow), Some("the script nested too deeply".to_owned()))
        }
        ScriptEnd::EngineFailed { message } => (Some(Failure::LoadFailed), Some(message.clone())),
        // The flag is only ever set together with a reason.
        _ => (Some(Failure::Signal), Some("the run was interrupted".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_wins_over_whatever_the_script_made_of_it() {
        let ends = [
            ScriptEnd::Returned { result: Some("1".to_owned()) },
            ScriptEnd::Threw { message: Some("caught it".to_owned()), stack: None },
            ScriptEnd::Stalled,
            ScriptEnd::Stopped,
        ];
        for end in &ends {
            assert_eq!(ending(end, Some(StopReason::Deadline)).failure, Some(Failure::Deadline));
            assert_eq!(ending(end, Some(StopReason::Blocked)).failure, Some(Failure::Decision));
        }
    }

    #[test]
    fn n_17_n_18_a_throw_without_a_message_is_a_failure_without_an_error() {
        let end = ending(&ScriptEnd::Threw { message: None, stack: None }, None);
        assert_eq!((end.failure, end.error), (Some(Failure::ScriptError), None));
    }
}
