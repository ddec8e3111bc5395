//! Bounds on what a stream may hold, checked before writing and again on reading.

/// The limits of one kind of streams.
///
/// The last 16 events and the last 16 lines' worth of bytes are a reserve for events that close the stream
/// ([`Decider::closes`](crate::Decider::closes)) and for the ledger's own, so that a full stream can always be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest `intent.json`, in bytes.
    pub intent_bytes: u64,
    /// Longest event line, in bytes, its line feed included.
    pub line_bytes: u64,
    /// Most events in a log.
    pub events: u64,
    /// Longest log, in bytes.
    pub log_bytes: u64,
}

/// Lines kept free for closing events.
pub(crate) const RESERVED_EVENTS: u64 = 16;

/// Longest batch, in bytes: 16 MiB. A reader keeps a batch in memory until it has seen its end.
pub(crate) const BATCH_MAX: u64 = 16 << 20;

impl Limits {
    /// Intent 128 KiB, line 64 KiB, 10,000 events, 16 MiB.
    pub const DEFAULT: Self =
        Self { intent_bytes: 128 << 10, line_bytes: 64 << 10, events: 10_000, log_bytes: 16 << 20 };

    /// What verification holds a kind to when it knows no better: only single reads are bounded.
    pub(crate) const WIDEST: Self =
        Self { intent_bytes: 16 << 20, line_bytes: 16 << 20, events: u64::MAX, log_bytes: u64::MAX };

    /// What is left for events that do not close the stream.
    pub(crate) const fn without_reserve(self) -> Self {
        Self {
            events: self.events.saturating_sub(RESERVED_EVENTS),
            log_bytes: self.log_bytes.saturating_sub(RESERVED_EVENTS * self.line_bytes),
            ..self
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
