//! Receipts: what was done to prepare a project or to check it, and what came of it, as streams of kind `env`.
//!
//! A receipt's intent freezes what it is about: the recipe, the key, the source before. Its events are the results of the
//! commands, in the one order in which they may come; [`State::next`] says what comes next, and nothing else can be
//! recorded. A receipt without an end was interrupted, and nothing is reused of it.

mod event;
mod intent;
mod result;
mod state;
mod step;
mod summary;
mod words;

use std::fmt;

use harn_ledger::{Decider, Limits, Recorded};
use serde::{Deserialize, Serialize};

pub(crate) use event::PATHS_MAX;
pub use event::{End, Event, Hold, InvalidEvent, Resolution};
pub use intent::{Intent, InvalidIntent, Owner, Purpose, Saved, SavedFile, Snapshot};
pub use result::{CommandResult, EXCERPT_MAX, Output};
pub use state::{Done, State};
pub use step::Step;
pub use summary::Summary;
pub(crate) use words::fitting;

/// The domain of receipts.
#[derive(Debug, Clone, Copy)]
pub enum Receipt {}

/// A part of a receipt. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The set-up.
    Setup,
    /// The tools that must work.
    Tools,
    /// The commands before the work.
    Baseline,
    /// The same commands after it.
    Final,
}

/// What can be asked of a receipt: to record this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record(pub Event);

/// Why an event is not recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Something else comes next.
    #[error("`{event}` does not come next in the receipt, expected {expected}")]
    OutOfOrder {
        /// The event.
        event: &'static str,
        /// What comes next.
        expected: String,
    },
    /// The event breaks its own bounds.
    #[error(transparent)]
    Invalid(#[from] InvalidEvent),
}

impl Refusal {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OutOfOrder { .. } => "receipt_out_of_order",
            Self::Invalid(error) => error.code(),
        }
    }
}

impl Decider for Receipt {
    const KIND: &'static str = "env";
    const LIMITS: Limits =
        Limits { intent_bytes: 8 << 20, line_bytes: 1 << 20, events: 10_000, log_bytes: 256 << 20 };

    type Intent = Intent;
    type Event = Event;
    type State = State;
    type Command = Record;
    type Facts = ();
    type Refusal = Refusal;

    fn init(intent: &Intent) -> State {
        State::new(intent)
    }

    fn decide(state: &State, Record(event): Record, (): &()) -> Result<Vec<Event>, Refusal> {
        event.check()?;
        state.check_order(&event)?;
        Ok(vec![event])
    }

    fn evolve(state: &mut State, recorded: &Recorded<Event>) {
        state.apply(&recorded.event);
    }

    fn closes(event: &Event) -> bool {
        matches!(event, Event::Ended { .. })
    }
}

impl Stage {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Tools => "tools",
            Self::Baseline => "baseline",
            Self::Final => "final",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
