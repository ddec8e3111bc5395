//! `Math.random` from a seed: the `SplitMix64` generator.

/// A sequence of numbers that depends on the seed alone.
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, at least 0 and less than 1.
    pub(super) fn next_unit(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
        let bits = (self.next_bits() >> 11) as f64;
        bits * (f64::EPSILON / 2.0)
    }

    fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_published_sequence_of_seed_1234567() {
        let mut random = Random::new(1_234_567);
        let bits: Vec<u64> = (0..3).map(|_| random.next_bits()).collect();
        assert_eq!(bits, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_lie_in_the_unit_interval() {
        let mut random = Random::new(u64::MAX);
        assert!((0..1_000).map(|_| random.next_unit()).all(|unit| (0.0..1.0).contains(&unit)));
    }
}
