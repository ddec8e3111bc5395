//! A pipe that ends the wait of a command's poll loop.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use rustix::io::ioctl_fionbio;

/// The end that wakes; shared with other threads.
#[derive(Debug)]
pub(super) struct Waker {
    pipe: PipeWriter,
}

/// The end that is polled.
#[derive(Debug)]
pub(super) struct Wake {
    pipe: PipeReader,
}

/// A fresh pair.
pub(super) fn wake_pair() -> io::Result<(Wake, Arc<Waker>)> {
    let (reader, writer) = io::pipe()?;
    ioctl_fionbio(&reader, true)?;
    ioctl_fionbio(&writer, true)?;
    Ok((Wake { pipe: reader }, Arc::new(Waker { pipe: writer })))
}

impl Waker {
    /// Ends the current or the next wait.
    pub(super) fn wake(&self) {
        // A full pipe wakes just as well, and without a reader there is nobody to wake.
        let _ = (&self.pipe).write(&[1]);
    }
}

impl Wake {
    /// Forgets all wake-ups so far.
    pub(super) fn clear(&self) {
        let mut bytes = [0; 16];
        while matches!((&self.pipe).read(&mut bytes), Ok(1..)) {}
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}
