//! Stops commands from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::wake::Waker;

/// A switch that stops every command it was given to. Clones share the switch; it cannot be turned back.
///
/// A command that has not started then is [`NotRun`](super::Outcome::NotRun); a running one gets `TERM`, later
/// `KILL`, and is [`Stopped`](super::Outcome::Stopped). Running commands notice at once, without polling.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    wakers: Mutex<Vec<Weak<Waker>>>,
}

impl Cancel {
    /// A switch that is not yet thrown.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Throws the switch. Does not wait for the commands to end. Not for use inside a signal handler: it
    /// takes a lock.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::SeqCst);
        for waker in self.shared.wakers.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            if let Some(waker) = waker.upgrade() {
                waker.wake();
            }
        }
    }

    /// Whether the switch was thrown.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::SeqCst)
    }

    /// Wakes `waker` when the switch is thrown. The caller looks at [`is_cancelled`](Self::is_cancelled)
    /// afterwards: a switch thrown before this call wakes nobody.
    pub(super) fn subscribe(&self, waker: &Arc<Waker>) {
        let mut wakers = self.shared.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        wakers.retain(|known| known.strong_count() > 0);
        wakers.push(Arc::downgrade(waker));
    }
}
