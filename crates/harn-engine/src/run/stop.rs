//! Stopping a run: one switch for the script, its children and everybody who waits.

use std::sync::{Arc, OnceLock};

use harn_env::command::Cancel;

use crate::script::StopFlag;

/// Why a run was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The script said that a person must rule.
    Blocked,
    /// The process was told to end.
    Signal,
    /// The run's time was over.
    Deadline,
    /// A person cancelled the work.
    Cancelled,
    /// The transcript is full.
    TranscriptFull,
}

/// Stops one run. Clones share the switch; the first reason counts.
#[derive(Debug, Clone, Default)]
pub struct Stopper {
    script: StopFlag,
    children: Cancel,
    /// Apart from the children, which also end with their script.
    environment: Cancel,
    reason: Arc<OnceLock<StopReason>>,
}

impl Stopper {
    /// A run that nobody has stopped.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the script where it is and ends all children. Returns at once. Not for use inside a signal handler.
    pub fn stop(&self, reason: StopReason) {
        // A reason that came first stays.
        let _ = self.reason.set(reason);
        self.script.set();
        self.children.cancel();
        self.environment.cancel();
    }

    /// Why the run was stopped, if it was.
    #[must_use]
    pub fn reason(&self) -> Option<StopReason> {
        self.reason.get().copied()
    }

    /// What stops the script.
    pub(super) fn script(&self) -> StopFlag {
        self.script.clone()
    }

    /// What ends the children.
    pub(super) const fn children(&self) -> &Cancel {
        &self.children
    }

    /// What ends the commands that prepare and check an environment.
    #[must_use]
    pub const fn environment(&self) -> &Cancel {
        &self.environment
    }
}
