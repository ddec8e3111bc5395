//! Where dependencies stand. Reading other items is the caller's part; each is asked for at most once.
//!
//! Whether an item waits depends on the own logs of its direct dependencies and on nothing further away: only an accepted
//! item counts, and acceptance stands in its own log. So nothing here recurses, and a cycle cannot loop.

use std::collections::{HashMap, HashSet};

use harn_ledger::StreamId;
use serde::Serialize;

use super::lifecycle::ItemState;
use super::reason;

/// Where one dependency stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dependency {
    /// The item.
    pub id: StreamId,
    /// Its state; none when it does not exist or cannot be read. Only `succeeded` resolves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ItemState>,
    /// Whether it was sent back: its last decision is a reopen, so whoever built on it may have to look again.
    #[serde(skip_serializing_if = "is_false")]
    pub reopened: bool,
    /// Why it stands there.
    pub why: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "this is how serde calls it")]
const fn is_false(it: &bool) -> bool {
    !*it
}

/// What an item is by itself: see [`own`](super::own).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// The items that must be accepted first.
    pub dependencies: Vec<StreamId>,
    /// Its state when they are left out of account.
    pub state: ItemState,
    /// Whether its last decision is a reopen.
    pub reopened: bool,
    /// Why.
    pub reason: String,
}

/// What looking for an item gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The item.
    Item(Own),
    /// No such item.
    Missing,
    /// It cannot be read.
    Unreadable {
        /// Why; it must not change while the item does not.
        why: String,
    },
}

/// Tells where dependencies stand, for any number of items, and looks at no item twice.
#[derive(Debug)]
pub struct Evaluation<F> {
    lookup: F,
    found: HashMap<StreamId, Found>,
    told: HashMap<StreamId, Dependency>,
}

impl Dependency {
    /// A dependency of which nothing is known, and why.
    #[must_use]
    pub const fn unknown(id: StreamId, why: String) -> Self {
        Self { id, state: None, reopened: false, why }
    }

    /// Its state in a word, and whether it was reopened.
    #[must_use]
    pub fn state_words(&self) -> String {
        let state = self.state.map_or("unknown", ItemState::as_str);
        if self.reopened { format!("reopened, {state}") } else { state.to_owned() }
    }
}

impl<F: FnMut(&StreamId) -> Found> Evaluation<F> {
    /// Starts with nothing looked at.
    pub fn new(lookup: F) -> Self {
        Self { lookup, found: HashMap::new(), told: HashMap::new() }
    }

    /// Where each of `dependencies` stands.
    pub fn of(&mut self, dependencies: &[StreamId]) -> Vec<Dependency> {
        dependencies.iter().map(|id| self.tell(id)).collect()
    }

    fn tell(&mut self, id: &StreamId) -> Dependency {
        if let Some(told) = self.told.get(id) {
            return told.clone();
        }
        let told = self.work_out(id);
        self.told.insert(id.clone(), told.clone());
        told
    }

    fn work_out(&mut self, id: &StreamId) -> Dependency {
        let own = match self.find(id).clone() {
            Found::Item(own) => own,
            Found::Missing => return Dependency::unknown(id.clone(), "it does not exist".to_owned()),
            Found::Unreadable { why } => {
                return Dependency::unknown(
                    id.clone(),
                    reason::bounded(&format!("it cannot be read: {why}")),
                );
            }
        };
        let unresolved = self.unresolved(&own);
        let (state, why) = if unresolved.is_empty() {
            (own.state, own.reason)
        } else {
            let named: Vec<_> = unresolved
                .into_iter()
                .map(|id| Dependency {
                    state: self.state(&id),
                    reopened: self.is_reopened(&id),
                    why: String::new(),
                    id,
                })
                .collect();
            (ItemState::Waiting, reason::waits_for(&named))
        };
        Dependency { id: id.clone(), state: Some(state), reopened: own.reopened, why }
    }

    /// The state alone, for which the item's dependencies need not be described.
    fn state(&mut self, id: &StreamId) -> Option<ItemState> {
        let Found::Item(own) = self.find(id).clone() else { return None };
        Some(if self.unresolved(&own).is_empty() { own.state } else { ItemState::Waiting })
    }

    /// The dependencies that hold an item back. One that is under way or finished is held back by none.
    fn unresolved(&mut self, own: &Own) -> Vec<StreamId> {
        if !matches!(own.state, ItemState::Ready | ItemState::Blocked) {
            return Vec::new();
        }
        own.dependencies.iter().filter(|id| !self.is_accepted(id)).cloned().collect()
    }

    fn is_accepted(&mut self, id: &StreamId) -> bool {
        matches!(self.find(id), Found::Item(Own { state: ItemState::Succeeded, .. }))
    }

    fn is_reopened(&mut self, id: &StreamId) -> bool {
        matches!(self.find(id), Found::Item(Own { reopened: true, .. }))
    }

    fn find(&mut self, id: &StreamId) -> &Found {
        if !self.found.contains_key(id) {
            let found = (self.lookup)(id);
            self.found.insert(id.clone(), found);
        }
        &self.found[id]
    }
}

/// A cycle that a new item `id` with these dependencies would close or depend on, from an item back to itself.
///
/// `lookup` gives the dependencies of an item that exists; it is asked once for each item that can be reached.
pub fn find_cycle(
    id: &StreamId,
    dependencies: &[StreamId],
    mut lookup: impl FnMut(&StreamId) -> Option<Vec<StreamId>>,
) -> Option<Vec<StreamId>> {
    let mut path = vec![(id.clone(), dependencies.to_vec())];
    let mut seen = HashSet::from([id.clone()]);
    while let Some((_, rest)) = path.last_mut() {
        let Some(next) = rest.pop() else {
            path.pop();
            continue;
        };
        if seen.insert(next.clone()) {
            let dependencies = lookup(&next).unwrap_or_default();
            path.push((next, dependencies));
        } else if let Some(start) = path.iter().position(|(id, _)| *id == next) {
            let cycle = path.drain(start..).map(|(id, _)| id);
            return Some(cycle.chain([next]).collect());
        }
    }
    None
}
