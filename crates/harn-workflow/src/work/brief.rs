//! A state with as much of its past as it takes to say where the item stands, and no more: a list of many items keeps
//! these in memory.

use serde::{Deserialize, Serialize};

use super::attempt::Attempt;
use super::budget::Budget;
use super::finding::Findings;
use super::state::State;

/// What was left out of a state, as far as it counts. All zero where nothing was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LeftOut {
    /// Attempts.
    pub(super) used: u32,
    /// Those of them that count against the budget.
    pub(super) charged: u32,
    /// Uncharged ones in a row, right before the attempts that are left.
    pub(super) streak: u32,
    /// Attempts that were granted.
    pub(super) granted: u32,
}

impl LeftOut {
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl State {
    /// The same state without what only [`Projection`](super::Projection) shows: findings, notes, grants, all attempts but
    /// the latest of this window, and the words of that one. State, next action, budget and dependencies are the same.
    #[must_use]
    pub fn brief(&self) -> Self {
        let Budget { used, charged, granted, .. } = self.budget();
        let latest = self.window().last().map(|latest| Attempt {
            end: latest.end.clone().map(|end| super::End { error: None, decision: None, ..end }),
            judgement: latest
                .judgement
                .clone()
                .map(|judgement| super::Judgement { reason: String::new(), ..judgement }),
            ..latest.clone()
        });
        let kept = u32::from(latest.is_some());
        let kept_charged = u32::from(latest.as_ref().is_some_and(Attempt::is_charged));
        Self {
            attempts: latest.into_iter().collect(),
            window: 0,
            findings: Findings::default(),
            grants: Vec::new(),
            window_grants: 0,
            notes: Vec::new(),
            receipt: None,
            left_out: LeftOut {
                used: used - kept,
                charged: charged - kept_charged,
                streak: self.uncharged_before_latest(),
                granted,
            },
            ..self.clone()
        }
    }
}
