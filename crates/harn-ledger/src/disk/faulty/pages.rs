//! The bytes of one file: as processes see them, and as they are on stable storage.

use std::collections::BTreeSet;

use super::dice::Dice;

pub(super) const PAGE: usize = 4096;

/// The bytes of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Pages {
    live: Vec<u8>,
    durable: Vec<u8>,
    /// Pages that the next sync writes.
    dirty: BTreeSet<usize>,
    /// Whether the next sync writes the length.
    length_dirty: bool,
    /// What the file held before and after each truncation since the last sync: the machine may have written any of it.
    cut: Vec<Vec<u8>>,
}

/// What becomes of a page that was not synced.
enum Fate {
    Kept,
    Lost,
    /// At this byte, with the first part being the new one or the second.
    Torn(usize, bool),
}

impl Pages {
    /// A file whose bytes are on stable storage.
    pub(super) fn durable(bytes: Vec<u8>) -> Self {
        Self { live: bytes.clone(), durable: bytes, ..Self::default() }
    }

    pub(super) fn live(&self) -> &[u8] {
        &self.live
    }

    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        let start = offset.min(self.live.len());
        if self.live.len() < end {
            self.live.resize(end, 0);
            self.length_dirty = true;
        }
        self.live[offset..end].copy_from_slice(bytes);
        self.dirty.extend(start / PAGE..end.div_ceil(PAGE));
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.cut.push(self.live.clone());
        let first = length.min(self.live.len()) / PAGE;
        self.live.resize(length, 0);
        self.cut.push(self.live.clone());
        self.length_dirty = true;
        self.dirty.retain(|&page| page * PAGE < length);
        self.dirty.extend(first..length.div_ceil(PAGE));
    }

    pub(super) fn sync(&mut self) {
        let pages = self.dirty.len();
        self.sync_pages(pages);
        self.sync_length();
        self.cut.clear();
    }

    /// The machine writes the first half of the pages and the length for them, and stops.
    pub(super) fn sync_half(&mut self) {
        self.sync_pages(self.dirty.len().div_ceil(2));
    }

    /// The machine fails to write what is dirty, and takes it for clean.
    pub(super) fn fail_to_sync(&mut self) {
        self.dirty.clear();
        self.length_dirty = false;
        self.cut.clear();
    }

    fn sync_pages(&mut self, pages: usize) {
        for _ in 0..pages {
            let page = self.dirty.pop_first().expect("no more pages are synced than are dirty");
            let start = page * PAGE;
            let end = (start + PAGE).min(self.live.len());
            if self.durable.len() < end {
                self.durable.resize(end, 0);
            }
            self.durable[start..end].copy_from_slice(&self.live[start..end]);
        }
    }

    fn sync_length(&mut self) {
        if self.length_dirty {
            self.durable.resize(self.live.len(), 0);
            self.length_dirty = false;
        }
    }

    /// The bytes that are found after a loss of power.
    pub(super) fn power_loss(&self, dice: &mut Dice) -> Vec<u8> {
        let length = self.length_found(dice);
        let mut found = Vec::with_capacity(length);
        for page in 0..length.div_ceil(PAGE) {
            let (start, end) = (page * PAGE, ((page + 1) * PAGE).min(length));
            let range = start..end;
            if self.dirty.contains(&page) {
                let old = self.old(dice);
                let fate = fate(dice, end - start);
                found.extend(range.map(|at| {
                    let new = match fate {
                        Fate::Kept => true,
                        Fate::Lost => false,
                        Fate::Torn(cut, new_first) => (at - start < cut) == new_first,
                    };
                    let lives = new && at < self.live.len();
                    let bytes = if lives { &self.live } else { old };
                    bytes.get(at).copied().unwrap_or_default()
                }));
            } else {
                // Behind the end of what processes saw stands what was cut off, if the cut was lost.
                found.extend(range.map(|at| self.durable.get(at).copied().unwrap_or_default()));
            }
        }
        found
    }

    fn length_found(&self, dice: &mut Dice) -> usize {
        let (durable, live) = (self.durable.len(), self.live.len());
        if !self.length_dirty {
            return durable;
        }
        if let Some(kept) = dice.all_kept() {
            return if kept { live } else { durable };
        }
        match dice.below(4) {
            0 => durable,
            1 if !self.cut.is_empty() => self.old(dice).len(),
            // A file grows as its pages are written, but a truncation happens in one step.
            2 if live > durable => durable + dice.below(live - durable),
            _ => live,
        }
    }

    /// What a page may show if its last change was lost.
    fn old(&self, dice: &mut Dice) -> &[u8] {
        if dice.all_kept().is_some() {
            return &self.durable;
        }
        match dice.below(self.cut.len() + 1) {
            0 => &self.durable,
            cut => &self.cut[cut - 1],
        }
    }
}

fn fate(dice: &mut Dice, length: usize) -> Fate {
    match dice.all_kept() {
        Some(true) => Fate::Kept,
        Some(false) => Fate::Lost,
        None => match dice.below(3) {
            0 => Fate::Kept,
            1 => Fate::Lost,
            _ => Fate::Torn(dice.below(length), dice.coin()),
        },
    }
}
