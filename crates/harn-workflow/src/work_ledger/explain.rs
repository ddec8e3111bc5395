//! Looking closer at one item: why it stands where it stands, and where it stood before.

use std::ops::ControlFlow;

use harn_ledger::{Decider as _, Entry, Recorded, StreamError, StreamId};

use super::observe::View;
use super::{WorkItem, WorkLedger};
use crate::work::{Caller, Event, Explanation, Observed, Projection, State, Work};

/// An item as its log stood once.
#[derive(Debug, Clone)]
pub struct PastItem {
    /// The item. Its projection is that of the time, and suggests nothing.
    pub item: WorkItem,
    /// The last event that counts.
    pub seq: u64,
    /// How many events there are now.
    pub last: u64,
}

/// Why an item is not shown as it once was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PastError {
    /// The item cannot be read.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// There is no such event.
    #[error("`{id}` has no event {seq}, expected 1 to {last}")]
    NoSuchEvent {
        /// The item.
        id: StreamId,
        /// What was asked for.
        seq: u64,
        /// The last event.
        last: u64,
    },
}

impl PastError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stream(error) => error.code(),
            Self::NoSuchEvent { .. } => "no_such_event",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Stream(error) => error.hint(),
            Self::NoSuchEvent { id, .. } => Some(format!("harn work log {id}")),
        }
    }
}

impl WorkLedger {
    /// Why the item stands where it stands, and what `caller` could do about it.
    pub fn explain(&self, caller: &Caller, id: &StreamId) -> Result<(WorkItem, Explanation), StreamError> {
        let stream = self.ledger.stream::<Work>(id.as_str())?;
        let history: Vec<Recorded<Event>> =
            stream.history()?.iter().filter_map(Entry::domain).cloned().collect();
        let state = stream.state()?;
        let mut facts = self.facts(&stream, &state, caller, View::Shown)?;
        facts.unproven = self.check_review(id, &state);
        let explanation = Explanation::of(&state, &history, &facts);
        Ok((self.item(stream)?, explanation))
    }

    /// The item as its log stood after event `seq`.
    ///
    /// What was around it then is not on record: its dependencies count as accepted, and an attempt that was open counts
    /// as running unless it was parked.
    pub fn get_at(&self, id: &StreamId, seq: u64) -> Result<PastItem, PastError> {
        let stream = self.ledger.stream::<Work>(id.as_str())?;
        let mut state = Work::init(stream.intent());
        let mut last = 0;
        stream
            .visit(|entry| {
                last = entry.seq();
                if let Some(recorded) = entry.domain().filter(|_| last <= seq) {
                    Work::evolve(&mut state, recorded);
                }
                ControlFlow::Continue(())
            })
            .map_err(StreamError::from)?;
        if seq == 0 || seq > last {
            return Err(PastError::NoSuchEvent { id: id.clone(), seq, last });
        }
        let projection = Projection::past(&state, &around_then(&state));
        Ok(PastItem { item: WorkItem { stream, projection }, seq, last })
    }
}

/// What is assumed of the surroundings of an item in the past.
fn around_then(state: &State) -> Observed {
    let runs = state.open_attempt().is_some_and(|open| open.parked_for.is_none());
    Observed { held_by_other: runs, ..Observed::default() }
}
