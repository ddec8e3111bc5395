//! Time and randomness as inputs, so that tests and replays are exact.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::time::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// Supplies the random part of generated ids.
pub trait IdSource: Send + Sync + std::fmt::Debug {
    /// Three bytes that are unlikely to come again.
    fn next_bytes(&self) -> [u8; 3];
}

/// A clock that always tells the same time.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Counts up from a seed: exact ids for tests.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl CountingIds {
    /// Starts at `seed`.
    #[must_use]
    pub const fn from_seed(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl IdSource for CountingIds {
    fn next_bytes(&self) -> [u8; 3] {
        let [.., a, b, c] = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        [a, b, c]
    }
}
