//! Waiting for a kernel lock, with a deadline.

use std::io;
use std::thread;
use std::time::Duration;

use crate::disk::{DiskFile, Lock};

/// A lock that is given back when this is dropped.
pub(crate) struct Held<'a>(&'a dyn DiskFile);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // The kernel releases the lock anyway when the file is closed; a failure here only makes others wait for that.
        let _ = self.0.unlock();
    }
}

/// Locks are held for the length of one write, so most waits are over within a few yields.
const YIELDS: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_micros(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// How long an append or a read waits for the lock of a log.
pub(crate) const LOG_DEADLINE: Duration = Duration::from_secs(5);

/// How long taking a lease waits: long enough to outlast somebody who only asks whether it is held.
pub(crate) const LEASE_DEADLINE: Duration = Duration::from_millis(250);

/// Takes the lock, or gives up with `None` once the pauses add up to `deadline`.
pub(crate) fn take(file: &dyn DiskFile, lock: Lock, deadline: Duration) -> io::Result<Option<Held<'_>>> {
    for _ in 0..YIELDS {
        if file.try_lock(lock)? {
            return Ok(Some(Held(file)));
        }
        thread::yield_now();
    }
    let (mut pause, mut waited) = (FIRST_PAUSE, Duration::ZERO);
    while waited < deadline {
        if file.try_lock(lock)? {
            return Ok(Some(Held(file)));
        }
        thread::sleep(pause);
        waited += pause;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Ok(None)
}
