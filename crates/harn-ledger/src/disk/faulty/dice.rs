//! Chance that can be repeated: what a loss of power takes, chosen from a seed.

/// Decides what survives. See [`FaultyDisk::power_loss`](super::FaultyDisk::power_loss) for the first two seeds.
pub(super) struct Dice {
    seed: u64,
    state: u64,
}

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self { seed, state: seed }
    }

    /// Whether everything has the same fate, and which: kept or lost.
    pub(super) const fn all_kept(&self) -> Option<bool> {
        match self.seed {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A number below `bound`, which must not be 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        // SplitMix64; the remainder's slight preference for small numbers does not matter here.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let number = (mixed ^ (mixed >> 31)) % bound as u64;
        usize::try_from(number).expect("the bound is a `usize`")
    }

    pub(super) fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Whether something that was not synced survives.
    pub(super) fn kept(&mut self) -> bool {
        self.all_kept().unwrap_or_else(|| self.coin())
    }
}
