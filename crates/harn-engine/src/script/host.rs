//! What the engine needs from the run: the `Host` trait and the values that pass through it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::{AgentCall, CheckCall, EvidenceInput, Meta};

/// The run behind a script: records what the script does, starts agents and checks, and says when they are done.
///
/// All methods are called on the thread that called [`run`](super::run()), and none after the script has ended, which
/// it does when the [stop flag](Self::stop_flag) is set.
pub trait Host {
    /// A failure after which nothing can be recorded, say a full disk. It ends the script at once, and
    /// [`run`](super::run()) returns it.
    type Fatal;

    /// The flag that stops the script; see [`StopFlag`]. Asked for once, at the start.
    fn stop_flag(&self) -> StopFlag;

    /// The module has been evaluated and its `meta` is good. Follows any [`log`](Self::log) of the module itself.
    fn loaded(&mut self, meta: &Meta) -> Result<(), Self::Fatal>;

    /// `ctx.stage(title)`; 1 to 200 characters.
    fn stage(&mut self, title: &str) -> Result<(), Self::Fatal>;

    /// `ctx.log(…)` or `console.…`; any length, perhaps empty.
    fn log(&mut self, text: &str) -> Result<(), Self::Fatal>;

    /// `ctx.evidence(…)`: records it and returns its id, `e1` and so on.
    fn evidence(&mut self, evidence: EvidenceInput) -> Result<String, HostError<Self::Fatal>>;

    /// `ctx.agent(…)`: starts the agent and returns at once.
    fn agent(&mut self, call: AgentCall) -> Result<CallId, HostError<Self::Fatal>>;

    /// `ctx.check(…)`: starts the command and returns at once.
    fn check(&mut self, call: CheckCall) -> Result<CallId, HostError<Self::Fatal>>;

    /// `ctx.blocked(…)`: records it. The stop flag is set right after.
    fn blocked(&mut self, blocked: Blocked) -> Result<(), Self::Fatal>;

    /// The thunk at `index` of a `ctx.parallel(…)` failed and became `null`; `message` is absent when it was blank.
    fn parallel_item_failed(&mut self, index: u32, message: Option<&str>) -> Result<(), Self::Fatal>;

    /// Waits for the next completion. Returns [`Next::Stop`] soon after the stop flag is set.
    fn next(&mut self) -> Result<Next, Self::Fatal>;
}

/// Why the host did not do what a script asked; a closed list.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a host constructs it, a script sees one and the caller the other"
)]
pub enum HostError<F> {
    /// The request is refused; the script gets an error with this message and goes on.
    Refused(String),
    /// The run cannot go on.
    Fatal(F),
}

/// One started agent or check. Every id is used once in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u32);

/// What happened next; a closed list.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// A call is done.
    Completed {
        /// The call. A completion that the script does not wait for is ignored.
        call: CallId,
        /// When it was recorded, in milliseconds since 1970 UTC: script time from here on.
        at_ms: i64,
        /// The value that the script gets, or the message of the error that it gets.
        outcome: Result<Value, String>,
    },
    /// The run is to stop: it was cancelled, ran out of time, or parks.
    Stop,
    /// No call is outstanding.
    Idle,
}

/// `ctx.blocked({reason, decision})`: the run cannot go on without a human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// Why, 1 to 2,000 characters; longer reasons are cut.
    pub reason: String,
    /// The decision that is waited for, 1 to 200 characters.
    pub decision: Option<String>,
}

/// Stops a script from outside: shared, settable at any time from any thread, never unset.
///
/// A set flag interrupts running script code, endless loops included, and wins over whatever the script returns,
/// throws or catches. While it is set the script's calls do nothing and never settle. Only a single native operation
/// of the engine, such as reversing an array-like object of astronomic length, is waited for.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the flag is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl From<Arc<AtomicBool>> for StopFlag {
    /// Shares a flag that something else sets, such as a signal handler.
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}
