//! All work items at once.

use harn_ledger::{StreamError, StreamId};

use super::observe::View;
use super::{WorkItem, WorkLedger};
use crate::work::dependencies::Evaluation;
use crate::work::{Projection, Work};

/// All work items: those that can be read, and those that cannot.
#[derive(Debug, Default)]
pub struct Listing {
    /// Items, the newest first.
    pub items: Vec<WorkItem>,
    /// Items that cannot be read, by id.
    pub unreadable: Vec<Unreadable>,
}

/// A work item that cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// Its id.
    pub id: StreamId,
    /// Why.
    pub error: StreamError,
}

impl WorkLedger {
    /// All work items. One that cannot be read does not hide the others.
    pub fn list(&self) -> Result<Listing, StreamError> {
        let mut listing = Listing::default();
        let mut streams = Vec::new();
        for id in self.ledger.ids("work")? {
            match self.ledger.stream::<Work>(id.as_str()) {
                Ok(stream) => streams.push(stream),
                Err(error) => listing.unreadable.push(Unreadable { id, error }),
            }
        }
        let mut evaluation = Evaluation::new(|id: &StreamId| self.look_up(id, View::Shown));
        for stream in streams {
            let mut project = || -> Result<Projection, StreamError> {
                let state = stream.state()?;
                let dependencies = evaluation.of(state.dependencies());
                let observed = self.observe_with(&stream, &state, dependencies, View::Shown)?;
                Ok(Projection::of(&state, &observed))
            };
            match project() {
                Ok(projection) => listing.items.push(WorkItem { stream, projection }),
                Err(error) => listing.unreadable.push(Unreadable { id: stream.id().clone(), error }),
            }
        }
        listing.items.sort_by(|a, b| {
            let key = |item: &WorkItem| (item.intent().created_at, item.intent().id.clone());
            key(b).cmp(&key(a))
        });
        Ok(listing)
    }
}
