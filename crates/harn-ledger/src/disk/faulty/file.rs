//! One file with all that belongs to it while it is open: locks, and failures that are still to be reported.

use std::collections::BTreeSet;

use super::dice::Dice;
use super::pages::Pages;
use crate::disk::{Lock, tick};

#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) pages: Pages,
    /// When it last changed.
    pub(super) changes: i128,
    exclusive: Option<u64>,
    shared: BTreeSet<u64>,
    open: BTreeSet<u64>,
    /// Open handles that have a failed sync to report.
    failed: BTreeSet<u64>,
}

impl File {
    pub(super) fn new() -> Self {
        Self { changes: tick(), ..Self::default() }
    }

    pub(super) fn power_loss(&self, dice: &mut Dice) -> Self {
        let pages = Pages::durable(self.pages.power_loss(dice));
        Self { pages, changes: self.changes, ..Self::default() }
    }

    pub(super) fn process_death(&self) -> Self {
        Self { pages: self.pages.clone(), changes: self.changes, ..Self::default() }
    }

    pub(super) fn open(&mut self, handle: u64) {
        self.open.insert(handle);
    }

    pub(super) fn close(&mut self, handle: u64) {
        self.unlock(handle);
        self.open.remove(&handle);
        self.failed.remove(&handle);
    }

    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.changes = tick();
        self.pages.write(offset, bytes);
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.changes = tick();
        self.pages.truncate(length);
    }

    pub(super) fn fail_to_sync(&mut self) {
        self.pages.fail_to_sync();
        self.failed.clone_from(&self.open);
    }

    /// Whether a sync has failed that this handle has not reported yet; it counts as reported now.
    pub(super) fn has_failed(&mut self, handle: u64) -> bool {
        self.failed.remove(&handle)
    }

    pub(super) fn try_lock(&mut self, handle: u64, lock: Lock) -> bool {
        let others_exclusive = self.exclusive.is_some_and(|holder| holder != handle);
        let others_shared = self.shared.iter().any(|&holder| holder != handle);
        if others_exclusive || (lock == Lock::Exclusive && others_shared) {
            return false;
        }
        self.unlock(handle);
        match lock {
            Lock::Shared => drop(self.shared.insert(handle)),
            Lock::Exclusive => self.exclusive = Some(handle),
        }
        true
    }

    pub(super) fn unlock(&mut self, handle: u64) {
        self.exclusive = self.exclusive.filter(|&holder| holder != handle);
        self.shared.remove(&handle);
    }
}
