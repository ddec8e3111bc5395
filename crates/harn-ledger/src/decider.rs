//! The contract of a domain: what it stores, how state follows from it, and what a command may add.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::digest::Digest;
use crate::entry::Recorded;
use crate::limits::Limits;

/// A domain as a pure state machine over one kind of streams.
///
/// `decide` may refuse, `evolve` cannot fail, and neither touches a file, a clock or a process. What the outside world
/// has to say comes in as `Facts`.
///
/// `Event` must be an enum of struct variants (`Created {}` included), renamed to names of the form `area.verb`, that
/// denies unknown fields and leaves optional members out when absent. Anything else is refused before it is written.
pub trait Decider: 'static {
    /// The kind of streams: 1 to 32 lower-case letters, singular.
    const KIND: &'static str;
    /// Bounds of a stream of this kind.
    const LIMITS: Limits = Limits::DEFAULT;
    /// What the stream is for: written once, at creation.
    type Intent: Serialize + DeserializeOwned + Send + Sync;
    /// What can happen.
    type Event: Serialize + DeserializeOwned;
    /// The fold of intent and events.
    type State: Clone + Send;
    /// What can be asked.
    type Command: Clone;
    /// What the outside world said; `()` for most domains.
    type Facts;
    /// Why a command is not allowed.
    type Refusal: std::error::Error + Send + Sync + 'static;

    /// The state before the first event.
    fn init(intent: &Self::Intent) -> Self::State;

    /// The events that `command` adds in `state`, or why it may not. No events mean that there is nothing to do.
    fn decide(
        state: &Self::State,
        command: Self::Command,
        facts: &Self::Facts,
    ) -> Result<Vec<Self::Event>, Self::Refusal>;

    /// Folds one event into the state. Total: whatever was recorded can be folded.
    fn evolve(state: &mut Self::State, event: &Recorded<Self::Event>);

    /// Whether the event may use the room that is reserved for ending a full stream.
    fn closes(event: &Self::Event) -> bool {
        let _ = event;
        false
    }
}

/// The end of a stream's log: sequence number and hash of its last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Sequence number of the last line, counted from 1.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

/// What an append requires of the stream's end.
///
/// Compared with the last *domain* event, so lines that the ledger itself adds never cause a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Append wherever the stream ends.
    Any,
    /// Append only if nothing of the domain came after this head.
    Head(Head),
}
