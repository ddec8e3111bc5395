//! All work items at once.

use std::collections::HashMap;
use std::fmt;

use harn_ledger::{Head, StreamError, StreamId, Timestamp, UnfinishedTail};
use serde::{Deserialize, Serialize};

use super::WorkLedger;
use super::observe::View;
use crate::work::dependencies::{Evaluation, Found};
use crate::work::{
    Budget, Dependency, Intent, ItemState, NextAction, Observed, Projection, Standing, State, Work, own,
    standing,
};

/// The version of what the catalog keeps of an item. To be raised whenever [`State`] is folded or written differently.
const SUMMARY_VERSION: u32 = 3;

/// Longest state that the catalog keeps whole, in bytes of JSON. Of one with a longer past it keeps what a list shows.
const WHOLE_MAX: usize = 2048;

/// All work items: those that can be read, and those that cannot.
#[derive(Debug, Default)]
pub struct Listing {
    /// Items, the newest first.
    pub items: Vec<ListedItem>,
    /// Items that cannot be read, by id.
    pub unreadable: Vec<Unreadable>,
}

/// A work item in a list: where it stands, in few words.
pub struct ListedItem {
    /// Its state.
    pub state: ItemState,
    /// What comes next.
    pub next_action: NextAction,
    /// When it was created.
    pub created_at: Timestamp,
    /// Events in its log.
    pub events: u64,
    /// What a crash left behind its last whole event.
    pub tail: Option<UnfinishedTail>,
    summary: Summary,
    dependencies: Vec<Dependency>,
    /// Whether the dependencies were told from whole states: from a brief one it follows where it stands, but not why.
    exact: bool,
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
    /// Whether nothing was left out of the state.
    whole: bool,
    state: State,
}

impl Summary {
    fn of(intent: &Intent, state: &State, head: Head) -> Self {
        let length = serde_json::to_vec(state).map_or(usize::MAX, |json| json.len());
        let whole = length <= WHOLE_MAX;
        let state = if whole { state.clone() } else { state.brief() };
        Self { created_at: intent.created_at, events: head.seq, whole, state }
    }
}

impl ListedItem {
    /// Its id.
    #[must_use]
    pub const fn id(&self) -> &StreamId {
        self.summary.state.id()
    }

    /// Its title.
    #[must_use]
    pub fn title(&self) -> &str {
        self.summary.state.title()
    }

    /// Attempts used and allowed.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.summary.state.budget()
    }

    /// When its log last grew.
    #[must_use]
    pub const fn updated_at(&self) -> Timestamp {
        self.summary.state.updated_at()
    }
}

impl fmt::Debug for ListedItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ListedItem").field(self.id()).field(&self.state).finish()
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
        let observed = self.observe_all(&readable);
        for ((summary, tail), observed) in readable.into_iter().zip(observed) {
            match observed {
                Ok((observed, exact)) => {
                    let Standing { state, next_action, .. } = standing(&summary.state, &observed);
                    listing.items.push(ListedItem {
                        state,
                        next_action,
                        created_at: summary.created_at,
                        events: summary.events,
                        tail,
                        dependencies: observed.dependencies,
                        exact,
                        summary,
                    });
                }
                Err(error) => {
                    listing.unreadable.push(Unreadable { id: summary.state.id().clone(), error });
                }
            }
        }
        listing.items.sort_by(|a, b| (b.created_at, b.id()).cmp(&(a.created_at, a.id())));
        Ok(listing)
    }

    /// Everything about an item of a list. One with a long past is read again.
    pub fn projection_of(&self, item: &ListedItem) -> Result<Projection, StreamError> {
        let ListedItem { summary: Summary { whole, state, .. }, dependencies, exact, .. } = item;
        let dependencies = if *exact {
            dependencies.clone()
        } else {
            Evaluation::new(|id: &StreamId| self.look_up(id, View::Shown)).of(state.dependencies())
        };
        if *whole {
            return Ok(Projection::of(state, &self.observe_listed(state, dependencies)?));
        }
        let stream = self.ledger.stream::<Work>(state.id().as_str())?;
        let state = stream.state()?;
        let observed = self.observe_with(&stream, &state, dependencies, View::Shown)?;
        Ok(Projection::of(&state, &observed))
    }

    /// What is seen around each item, and whether that says why its dependencies stand where they stand. No item is looked
    /// at twice.
    fn observe_all(
        &self,
        items: &[(Summary, Option<UnfinishedTail>)],
    ) -> Vec<Result<(Observed, bool), StreamError>> {
        let by_id: HashMap<&StreamId, &Summary> =
            items.iter().map(|(summary, _)| (summary.state.id(), summary)).collect();
        let mut evaluation = Evaluation::new(|id: &StreamId| match by_id.get(id) {
            Some(Summary { state, .. }) => match self.observe_listed(state, Vec::new()) {
                Ok(observed) => Found::Item(own(state, &observed)),
                Err(error) => Found::Unreadable { why: error.to_string() },
            },
            None => self.look_up(id, View::Shown),
        });
        let is_whole = |id: &StreamId| by_id.get(id).is_none_or(|summary| summary.whole);
        let observe = |(Summary { state, .. }, _): &(Summary, _)| {
            let observed = self.observe_listed(state, evaluation.of(state.dependencies()))?;
            Ok((observed, state.dependencies().iter().all(is_whole)))
        };
        items.iter().map(observe).collect()
    }

    /// What is seen around an item that was not opened. Only an open attempt needs a look at its stream.
    fn observe_listed(&self, state: &State, dependencies: Vec<Dependency>) -> Result<Observed, StreamError> {
        if state.open_attempt().is_none() {
            return Ok(Observed { dependencies, ..Observed::default() });
        }
        let stream = self.ledger.stream::<Work>(state.id().as_str())?;
        Ok(self.observe_with(&stream, state, dependencies, View::Shown)?)
    }
}
