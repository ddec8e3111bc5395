//! Whether a run was created for the attempt that names it.

use harn_ledger::{Stream, StreamId};

use crate::run::Run;

/// A run that an attempt names, and that was created for something else. It proves nothing about that attempt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the run `{run_id}` does not belong to attempt {attempt} of `{item}`: it is {}", described(owner.as_ref(), *number))]
pub struct ForeignRun {
    /// The run.
    pub run_id: StreamId,
    /// The item whose log names it.
    pub item: StreamId,
    /// The attempt that it is said to be.
    pub attempt: u32,
    /// The item that it was created for, if any.
    pub owner: Option<StreamId>,
    /// The attempt that it was created for, if any.
    pub number: Option<u32>,
}

/// Compares what the run's manifest says with who names it.
pub(super) fn check_owner(run: &Stream<Run>, item: &StreamId, attempt: u32) -> Result<(), ForeignRun> {
    let parts = run.intent().parts();
    let number = parts.attempt_context.as_ref().map(crate::context::AttemptContext::number);
    if parts.work_item_id.as_ref() == Some(item) && number.is_none_or(|number| number == attempt) {
        return Ok(());
    }
    Err(ForeignRun {
        run_id: run.id().clone(),
        item: item.clone(),
        attempt,
        owner: parts.work_item_id.clone(),
        number,
    })
}

fn described(owner: Option<&StreamId>, number: Option<u32>) -> String {
    match (owner, number) {
        (None, _) => "of no work item".to_owned(),
        (Some(owner), None) => format!("of `{owner}`"),
        (Some(owner), Some(number)) => format!("attempt {number} of `{owner}`"),
    }
}
