//! Which names survive a loss of power.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::dice::Dice;

/// The names in a directory, each with the number of what it names.
pub(super) type Entries = BTreeMap<OsString, u64>;

/// The names in one directory: as processes see them, and as they are on stable storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    pub(super) live: Entries,
    pub(super) durable: Entries,
}

impl Names {
    pub(super) fn sync(&mut self) {
        self.durable.clone_from(&self.live);
    }

    /// The machine writes the first half of the names that changed, and stops.
    pub(super) fn sync_half(&mut self) {
        let changed = self.changed();
        for name in &changed[..changed.len().div_ceil(2)] {
            match self.live.get(name) {
                Some(&node) => drop(self.durable.insert(name.clone(), node)),
                None => drop(self.durable.remove(name)),
            }
        }
    }

    fn changed(&self) -> Vec<OsString> {
        let names = self.live.keys().chain(self.durable.keys().filter(|name| !self.live.contains_key(*name)));
        names.filter(|name| self.live.get(*name) != self.durable.get(*name)).cloned().collect()
    }

    /// Each changed name as it was or as it is.
    fn power_loss(&self, dice: &mut Dice) -> Entries {
        let mut found = self.durable.clone();
        for name in self.changed() {
            if dice.kept() {
                match self.live.get(&name) {
                    Some(&node) => drop(found.insert(name, node)),
                    None => drop(found.remove(&name)),
                }
            }
        }
        found
    }
}

/// The names that are found after a loss of power, for each directory.
pub(super) fn power_loss(directories: &BTreeMap<u64, Names>, dice: &mut Dice) -> BTreeMap<u64, Entries> {
    let mut found: BTreeMap<u64, Entries> =
        directories.iter().map(|(&directory, names)| (directory, names.power_loss(dice))).collect();
    let durable: Vec<u64> = directories.values().flat_map(|names| names.durable.values().copied()).collect();
    for (directory, names) in directories {
        for (name, &node) in &names.live {
            let has_name = found.values().any(|entries| entries.values().any(|&named| named == node));
            // A move never leaves its object without any name.
            if !has_name && durable.contains(&node) {
                found.entry(*directory).or_default().insert(name.clone(), node);
            }
            // A directory has one name; the new one wins.
            if directories.contains_key(&node) && found[directory].get(name) == Some(&node) {
                for (other, entries) in &mut found {
                    entries.retain(|known, named| *named != node || (other == directory && known == name));
                }
            }
        }
    }
    found
}
