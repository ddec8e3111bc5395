//! What to type after a refusal.

use harn_ledger::StreamId;

use super::Refusal;
use crate::work::command::Verb;
use crate::work::finding::FindingId;
use crate::work::lifecycle::ItemState;

impl Refusal {
    /// The next thing to type, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let line = match self {
            Self::Finished { id, .. } => format!("harn work reopen {id}"),
            Self::Waiting { unresolved, .. } => format!("harn work show {}", unresolved.first()?.id),
            Self::Running { id, .. }
            | Self::NoOpenAttempt { id, .. }
            | Self::NoSuchAttempt { id, .. }
            | Self::PassedCounts { id, .. }
            | Self::ProofMissing { id, .. }
            | Self::NeedsPerson { id, .. }
            | Self::TooEarly { id, .. }
            | Self::AwaitingApproval { id, .. } => format!("harn work show {id}"),
            Self::NeedsRetry { id, .. } | Self::NothingToResume { id, .. } => format!("harn work retry {id}"),
            Self::WrongState { id, state, .. } => in_that_state(id, *state),
            Self::Exhausted { id, verb: Verb::Reopen, .. } => {
                format!("harn work reopen {id} --grant 1 --reason \"why one more\"")
            }
            Self::Exhausted { id, .. } | Self::Overdrawn { id, .. } => {
                format!("harn work grant {id} --attempts 1 --reason \"why one more\"")
            }
            Self::Unproven { .. } => "harn verify".to_owned(),
            Self::FindingsOpen { id, findings } => accept_line(id, findings),
            Self::ReviewMissing { id } => format!("open one with `{}`", open_review_line(id)),
            Self::ReviewNotClean { review, .. } => format!("harn review gate {}", review.as_ref()?),
            _ => return None,
        };
        Some(line)
    }
}

/// The command that leads on from a state.
fn in_that_state(id: &StreamId, state: ItemState) -> String {
    match state {
        ItemState::Ready => format!("harn work run {id}"),
        ItemState::Blocked => format!("harn work retry {id}"),
        _ => format!("harn work show {id}"),
    }
}

/// The command that accepts an item and says that all of `findings` are fixed.
pub(in crate::work) fn accept_line(id: &StreamId, findings: &[FindingId]) -> String {
    findings
        .iter()
        .fold(format!("harn work accept {id}"), |line, finding| line + &format!(" --dispose {finding}=fixed"))
}

/// The command that opens a review for an item.
pub(in crate::work) fn open_review_line(id: &StreamId) -> String {
    format!("harn review open --work-item {id}")
}
