//! Streams that need a person's hand: damage as data, and the repair to type.

use harn_engine::attempt::AttemptError;
use harn_ledger::{
    AppendError, CheckpointError, CreateError, Damage, ExecuteError, ReadError, RepairError, StreamError,
    StreamName,
};
use harn_workflow::{BeginError, CreateWorkError, EndError, PastError, ProofError, WorkError};

use super::Failure;

/// What is wrong with a stream that a repair can mend.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trouble<'a> {
    /// It does not verify: which stream, where, and how much stands behind it.
    Damaged(&'a StreamName, &'a Damage),
    /// A sync failed.
    Suspect(&'a StreamName),
}

/// Adds to `failure` what is known about the trouble that caused it, if any did.
pub(super) fn described(failure: Failure, trouble: Option<Trouble<'_>>) -> Failure {
    match trouble {
        None => failure,
        Some(Trouble::Suspect(stream)) => {
            failure.hint(format!("check the disk, then `harn repair --stream {stream} --resync`"))
        }
        Some(Trouble::Damaged(stream, damage)) => {
            let behind = match damage.lines_behind {
                0 => "no line stands behind it".to_owned(),
                1 => "1 line stands behind it".to_owned(),
                count => format!("{count} lines stand behind it"),
            };
            let hint = format!(
                "the bytes are untouched; `harn verify` lists every damaged place, and \
                 `harn repair --stream {stream} --cut-at-damage` says what can be done"
            );
            failure
                .also(&behind)
                .hint(hint)
                .detail("stream", stream.to_string())
                .detail("line", damage.line)
                .detail("offset", damage.offset)
                .detail("lines_behind", damage.lines_behind)
        }
    }
}

pub(super) fn none<E>(_: &E) -> Option<Trouble<'_>> {
    None
}

pub(super) fn of_checkpoint(error: &CheckpointError) -> Option<Trouble<'_>> {
    match error {
        CheckpointError::Stream(error) => of_read(error),
        _ => None,
    }
}

pub(super) fn of_read(error: &ReadError) -> Option<Trouble<'_>> {
    match error {
        ReadError::Damaged { stream, damage } => Some(Trouble::Damaged(stream, damage)),
        ReadError::DurabilityUnknown { stream, .. } => Some(Trouble::Suspect(stream)),
        _ => None,
    }
}

fn of_append(error: &AppendError) -> Option<Trouble<'_>> {
    match error {
        AppendError::DurabilityUnknown { stream, .. } => Some(Trouble::Suspect(stream)),
        AppendError::Read(error) => of_read(error),
        _ => None,
    }
}

pub(super) fn of_repair(error: &RepairError) -> Option<Trouble<'_>> {
    match error {
        RepairError::Append(error) => of_append(error),
        _ => None,
    }
}

pub(super) fn of_stream(error: &StreamError) -> Option<Trouble<'_>> {
    match error {
        StreamError::Read(error) => of_read(error),
        _ => None,
    }
}

pub(super) fn of_work(error: &WorkError) -> Option<Trouble<'_>> {
    match error {
        WorkError::Stream(error) => of_stream(error),
        WorkError::Execute(ExecuteError::Facts(error)) => of_read(error),
        WorkError::Execute(ExecuteError::Append(error)) => of_append(error),
        WorkError::Proof(error) => of_proof(error),
        _ => None,
    }
}

pub(super) fn of_proof(error: &ProofError) -> Option<Trouble<'_>> {
    match error {
        ProofError::Stream(error) => of_stream(error),
        _ => None,
    }
}

pub(super) fn of_create(error: &CreateWorkError) -> Option<Trouble<'_>> {
    match error {
        CreateWorkError::UnreadableDependency { source, .. } => of_stream(source),
        CreateWorkError::Create(CreateError::Append(error)) => of_append(error),
        CreateWorkError::Read(error) => of_stream(error),
        _ => None,
    }
}

pub(super) fn of_past(error: &PastError) -> Option<Trouble<'_>> {
    match error {
        PastError::Stream(error) => of_stream(error),
        _ => None,
    }
}

pub(super) fn of_attempt(error: &AttemptError) -> Option<Trouble<'_>> {
    match error {
        AttemptError::Stream(error) => of_stream(error),
        AttemptError::Begin(BeginError::Work(error))
        | AttemptError::Resume(error)
        | AttemptError::End(EndError::Work(error)) => of_work(error),
        AttemptError::End(EndError::Proof(error)) => of_proof(error),
        _ => None,
    }
}
