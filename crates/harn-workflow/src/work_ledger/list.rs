//! All work items at once.

use std::collections::HashMap;

use harn_ledger::{Head, StreamError, StreamId, Timestamp, UnfinishedTail};
use serde::{Deserialize, Serialize};

use super::WorkLedger;
use super::observe::View;
use crate::work::dependencies::{Evaluation, Found};
use crate::work::{Intent, Observed, Projection, State, Work, own};

/// The version of what the catalog keeps of an item. To be raised whenever [`State`] is folded or written differently.
const SUMMARY_VERSION: u32 = 3;

/// All work items: those that can be read, and those that cannot.
#[derive(Debug, Default)]
pub struct Listing {
    /// Items, the newest first.
    pub items: Vec<ListedItem>,
    /// Items that cannot be read, by id.
    pub unreadable: Vec<Unreadable>,
}

/// A work item in a list.
#[derive(Debug)]
pub struct ListedItem {
    /// Where it stands.
    pub projection: Projection,
    /// When it was created.
    pub created_at: Timestamp,
    /// Events in its log.
    pub events: u64,
    /// What a crash left behind its last whole event.
    pub tail: Option<UnfinishedTail>,
}

/// A work item that cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// Its id.
    pub id: StreamId,
    /// Why.
    pub error: StreamError,
}

/// What an item's own log says, as the catalog keeps it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Summary {
    created_at: Timestamp,
    events: u64,
    state: State,
}

impl Summary {
    fn of(intent: &Intent, state: &State, head: Head) -> Self {
        Self { created_at: intent.created_at, events: head.seq, state: state.clone() }
    }
}

impl WorkLedger {
    /// All work items. One that cannot be read does not hide the others.
    ///
    /// Only items that changed since the last listing are read, and those around which something may have changed: an open
    /// attempt. Each was verified when its intent or log last changed; what somebody changed and gave the old times back is
    /// left to [`verify`](harn_ledger::Ledger::verify).
    pub fn list(&self) -> Result<Listing, StreamError> {
        let mut listing = Listing::default();
        let mut readable = Vec::new();
        for item in self.ledger.catalog::<Work>(SUMMARY_VERSION).refresh(Summary::of)? {
            match item.summary {
                Ok(summary) => readable.push((summary, item.tail)),
                Err(error) => listing.unreadable.push(Unreadable { id: item.id, error: error.into() }),
            }
        }
        let by_id: HashMap<&StreamId, &State> =
            readable.iter().map(|(summary, _)| (summary.state.id(), &summary.state)).collect();
        let mut evaluation = Evaluation::new(|id: &StreamId| match by_id.get(id) {
            Some(state) => match self.observe_listed(state, Vec::new()) {
                Ok(observed) => Found::Item(own(state, &observed)),
                Err(error) => Found::Unreadable { why: error.to_string() },
            },
            None => self.look_up(id, View::Shown),
        });
        for (Summary { created_at, events, state }, tail) in &readable {
            match self.observe_listed(state, evaluation.of(state.dependencies())) {
                Ok(observed) => listing.items.push(ListedItem {
                    projection: Projection::of(state, &observed),
                    created_at: *created_at,
                    events: *events,
                    tail: *tail,
                }),
                Err(error) => listing.unreadable.push(Unreadable { id: state.id().clone(), error }),
            }
        }
        listing.items.sort_by(|a, b| {
            let key = |item: &ListedItem| (item.created_at, item.projection.id.clone());
            key(b).cmp(&key(a))
        });
        Ok(listing)
    }

    /// What is seen around an item that was not opened. Only an open attempt needs a look at its stream.
    fn observe_listed(
        &self,
        state: &State,
        dependencies: Vec<crate::work::Dependency>,
    ) -> Result<Observed, StreamError> {
        if state.open_attempt().is_none() {
            return Ok(Observed { dependencies, ..Observed::default() });
        }
        let stream = self.ledger.stream::<Work>(state.id().as_str())?;
        Ok(self.observe_with(&stream, state, dependencies, View::Shown)?)
    }
}
