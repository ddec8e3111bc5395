//! Noticing that a person cancelled the work while it runs.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use harn_ledger::Stream;
use harn_workflow::work::Work;

use crate::run::{StopReason, Stopper};

/// How often the item is looked at. Reading that nothing was appended costs one system call.
const PERIOD: Duration = Duration::from_millis(200);

/// Does `work`, and stops the run if the item is cancelled meanwhile.
pub(super) fn while_not_cancelled<T>(item: &Stream<Work>, stopper: &Stopper, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (done, watch) = mpsc::channel::<()>();
        scope.spawn(move || {
            while watch.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                // An item that cannot be read just now is no reason to stop what it is for.
                if item.state().is_ok_and(|state| state.is_finished()) {
                    stopper.stop(StopReason::Cancelled);
                    return;
                }
            }
        });
        let result = work();
        drop(done);
        result
    })
}
