//! What a script is given: its contexts, its limits, and the seed of everything that would otherwise vary.

use serde_json::Value;

/// The default memory limit: 256 MiB.
pub const DEFAULT_MEMORY_LIMIT: usize = 256 * 1024 * 1024;

/// The default stack limit: 4 MiB.
pub const DEFAULT_STACK_LIMIT: usize = 4 * 1024 * 1024;

/// Under this the engine cannot even start.
const MIN_MEMORY_LIMIT: usize = 4 * 1024 * 1024;
const MIN_STACK_LIMIT: usize = 256 * 1024;
/// The engine takes a larger stack limit to mean none.
const MAX_STACK_LIMIT: usize = 16 * 1024 * 1024;

/// The values behind `ctx.work`, `ctx.attempt` and `ctx.workspace`. The script gets deep-frozen copies.
#[derive(Debug, Clone, PartialEq)]
pub struct Contexts {
    /// `ctx.work`; the member does not exist when there is none.
    pub work: Option<Value>,
    /// `ctx.attempt`; the member does not exist when there is none.
    pub attempt: Option<Value>,
    /// `ctx.workspace`: `{root, isolated, branch?}`.
    pub workspace: Value,
}

/// Limits and fixed points of one run. The same options, bundle, contexts and completions give the same run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The most memory the script may use, in bytes; at least 4 MiB is granted.
    pub memory_limit: usize,
    /// The most stack the script may use, in bytes; values outside 256 KiB to 16 MiB are moved to the nearer end.
    pub stack_limit: usize,
    /// The seed of `Math.random`.
    pub random_seed: u64,
    /// Script time until the first completion, in milliseconds since 1970 UTC.
    pub start_ms: i64,
    /// The zone of `Date` in minutes east of UTC; it does not change over the year.
    pub zone_offset_minutes: i32,
}

impl Options {
    /// Default limits, UTC, and the given start time and seed.
    #[must_use]
    pub fn new(start_ms: i64, random_seed: u64) -> Self {
        Self {
            memory_limit: DEFAULT_MEMORY_LIMIT,
            stack_limit: DEFAULT_STACK_LIMIT,
            random_seed,
            start_ms,
            zone_offset_minutes: 0,
        }
    }

    pub(super) fn granted_memory(&self) -> usize {
        self.memory_limit.max(MIN_MEMORY_LIMIT)
    }

    pub(super) fn granted_stack(&self) -> usize {
        self.stack_limit.clamp(MIN_STACK_LIMIT, MAX_STACK_LIMIT)
    }
}
