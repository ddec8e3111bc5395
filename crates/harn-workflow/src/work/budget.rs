//! What attempts cost: the ceiling, what is left of it, and when automation may ask an outside service again.

use std::fmt;

use harn_ledger::Timestamp;

use super::state::State;

/// Attempts of an item, counted over its whole life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// All attempts.
    pub used: u32,
    /// Those that count: all but the ended ones with a positively known class.
    pub charged: u32,
    /// The frozen ceiling.
    pub max_attempts: u32,
    /// What persons allowed beside it.
    pub granted: u32,
}

impl Budget {
    pub(super) fn of(state: &State) -> Self {
        let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        let charged = state.attempts.iter().filter(|attempt| attempt.is_charged()).count();
        let left_out = state.left_out;
        Self {
            used: count(state.attempts.len()).saturating_add(left_out.used),
            charged: count(charged).saturating_add(left_out.charged),
            max_attempts: state.max_attempts,
            granted: state
                .grants
                .iter()
                .fold(left_out.granted, |sum, grant| sum.saturating_add(grant.attempts)),
        }
    }

    /// Charged attempts allowed in all: the frozen ceiling and every grant.
    #[must_use]
    pub const fn ceiling(&self) -> u32 {
        self.max_attempts.saturating_add(self.granted)
    }

    /// Charged attempts left.
    #[must_use]
    pub const fn remaining(&self) -> u32 {
        self.ceiling().saturating_sub(self.charged)
    }
}

/// `charged/ceiling`, and ` (+N uncharged)` when there were any.
///
/// ```
/// use harn_workflow::work::Budget;
/// let budget = Budget { used: 3, charged: 1, max_attempts: 3, granted: 0 };
/// assert_eq!(budget.to_string(), "1/3 (+2 uncharged)");
/// ```
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.charged, self.ceiling())?;
        match self.used.saturating_sub(self.charged) {
            0 => Ok(()),
            uncharged => write!(f, " (+{uncharged} uncharged)"),
        }
    }
}

/// First pause before automation asks an outside service again.
const FIRST_PAUSE: i64 = 60 * 1_000_000;
/// Longest pause, in microseconds.
const LONGEST_PAUSE: i64 = 3_600 * 1_000_000;

/// When automation may start the next attempt, after an outside service refused at `refused_at` and `before` attempts in a
/// row right before were uncharged too: 1, 4, 16, 60, 60, … minutes later.
pub(super) fn next_eligible_at(refused_at: Timestamp, before: u32) -> Timestamp {
    let pause = FIRST_PAUSE.saturating_mul(4_i64.saturating_pow(before)).min(LONGEST_PAUSE);
    Timestamp::from_microseconds(refused_at.as_microseconds().saturating_add(pause))
}
