//! The command lines that a person can type next, also where automation stops.

use super::dependencies::Dependency;
use super::facts::Observed;
use super::lifecycle::ItemState;
use super::precedence::Standing;
use super::refusal::{accept_line, open_review_line};
use super::settle::{is_resumable, shown};
use super::state::State;

/// Most dependencies that are named.
const DEPENDENCIES: usize = 3;

pub(super) fn suggestions(
    state: &State,
    observed: &Observed,
    standing: &Standing,
    unresolved: &[Dependency],
) -> Vec<String> {
    let id = &state.id;
    match standing.state {
        ItemState::Waiting => {
            unresolved.iter().take(DEPENDENCIES).map(|it| format!("harn work show {}", it.id)).collect()
        }
        ItemState::Ready => vec![format!("harn work run {id}")],
        ItemState::Running | ItemState::AwaitingApproval => {
            vec![format!("harn work log {id}"), format!("harn work cancel {id}")]
        }
        ItemState::InReview => {
            let open: Vec<_> = state.findings.open.iter().map(|finding| finding.id).collect();
            let review = state.require_review.then(|| open_review_line(id));
            let judge = [accept_line(id, &open), reopen(state, observed, " --finding \"what is wrong\"")];
            review.into_iter().chain(judge).collect()
        }
        ItemState::Blocked => blocked(state, observed),
        ItemState::Succeeded => vec![reopen(state, observed, " --finding \"what is wrong\"")],
        ItemState::Cancelled => vec![reopen(state, observed, "")],
    }
}

fn blocked(state: &State, observed: &Observed) -> Vec<String> {
    let id = &state.id;
    let spent = shown(state, observed).budget().remaining() == 0;
    let another = if spent {
        format!("harn work grant {id} --attempts 1 --reason \"why one more\"")
    } else {
        format!("harn work retry {id}")
    };
    // Going on costs no attempt, and pays for nothing that was paid for.
    let resume = is_resumable(state, observed).then(|| format!("harn work resume {id}"));
    resume.into_iter().chain([another]).collect()
}

/// A reopen that is not refused for want of attempts.
fn reopen(state: &State, observed: &Observed, more: &str) -> String {
    let spent = shown(state, observed).budget().remaining() == 0;
    let grant = if spent { " --grant 1 --reason \"why one more\"" } else { "" };
    format!("harn work reopen {}{more}{grant}", state.id)
}
