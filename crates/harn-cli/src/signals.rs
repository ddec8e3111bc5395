//! Ctrl-C and polite requests to end, while a run is under way.

use std::io;
use std::thread::{self, JoinHandle};

use harn_engine::run::{StopReason, Stopper};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// Listens until it is dropped.
pub(crate) struct Listening {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

/// Stops the run on the first signal. The run then ends its children and records its own end.
pub(crate) fn stop_on_signal(stopper: &Stopper) -> io::Result<Listening> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let handle = signals.handle();
    let stopper = stopper.clone();
    let thread = thread::spawn(move || {
        for _ in signals.forever() {
            stopper.stop(StopReason::Signal);
        }
    });
    Ok(Listening { handle, thread: Some(thread) })
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            // The thread only passes signals on and cannot panic.
            let _ = thread.join();
        }
    }
}
