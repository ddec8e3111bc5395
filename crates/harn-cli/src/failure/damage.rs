//! Damage as data: which stream, where, and how much stands behind it.

use harn_engine::attempt::AttemptError;
use harn_ledger::{AppendError, CheckpointError, ExecuteError, ReadError, StreamError};
use harn_workflow::{BeginError, CreateWorkError, EndError, ProofError, WorkError};

use super::Failure;

/// Adds to `failure` what is known about the damage that caused it, if any did.
pub(super) fn described(failure: Failure, error: Option<&ReadError>) -> Failure {
    let Some(ReadError::Damaged { stream, damage }) = error else { return failure };
    let behind = match damage.lines_behind {
        0 => "no line stands behind it".to_owned(),
        1 => "1 line stands behind it".to_owned(),
        count => format!("{count} lines stand behind it"),
    };
    failure
        .also(&behind)
        .hint("the bytes are untouched; `harn verify` lists every damaged place")
        .detail("stream", stream.to_string())
        .detail("line", damage.line)
        .detail("offset", damage.offset)
        .detail("lines_behind", damage.lines_behind)
}

pub(super) fn none<E>(_: &E) -> Option<&ReadError> {
    None
}

pub(super) fn of_checkpoint(error: &CheckpointError) -> Option<&ReadError> {
    match error {
        CheckpointError::Stream(error) => Some(error),
        _ => None,
    }
}

pub(super) fn of_stream(error: &StreamError) -> Option<&ReadError> {
    match error {
        StreamError::Read(error) => Some(error),
        _ => None,
    }
}

pub(super) fn of_work(error: &WorkError) -> Option<&ReadError> {
    match error {
        WorkError::Stream(error) => of_stream(error),
        WorkError::Execute(ExecuteError::Facts(error) | ExecuteError::Append(AppendError::Read(error))) => {
            Some(error)
        }
        WorkError::Proof(error) => of_proof(error),
        _ => None,
    }
}

pub(super) fn of_proof(error: &ProofError) -> Option<&ReadError> {
    match error {
        ProofError::Stream(error) => of_stream(error),
        _ => None,
    }
}

pub(super) fn of_create(error: &CreateWorkError) -> Option<&ReadError> {
    match error {
        CreateWorkError::UnreadableDependency { source, .. } => of_stream(source),
        CreateWorkError::Read(error) => of_stream(error),
        _ => None,
    }
}

pub(super) fn of_attempt(error: &AttemptError) -> Option<&ReadError> {
    match error {
        AttemptError::Stream(error) => of_stream(error),
        AttemptError::Begin(BeginError::Work(error)) | AttemptError::End(EndError::Work(error)) => {
            of_work(error)
        }
        AttemptError::End(EndError::Proof(error)) => of_proof(error),
        _ => None,
    }
}
