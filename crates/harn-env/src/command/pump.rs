//! Moves bytes between this process and a command, without ever waiting for one of its pipes alone.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstat;
use rustix::io::{Errno, ioctl_fionbio, read, retry_on_intr, write};

use super::capture::{Capture, Captured};
use super::wake::Wake;
use super::{CommandSpec, Streams};

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// No pipe holds more, unless an administrator raised the limit.
const LARGEST_PIPE: usize = 1024 * 1024;

/// This process's ends of the pipes, set not to block. The command's own ends are not affected.
#[derive(Debug)]
pub(super) struct Pipes {
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
}

impl Pipes {
    pub(super) fn take(child: &mut Child) -> io::Result<Self> {
        let pipes = Self {
            stdin: child.stdin.take().map(OwnedFd::from),
            stdout: child.stdout.take().map(OwnedFd::from),
            stderr: child.stderr.take().map(OwnedFd::from),
        };
        for pipe in [&pipes.stdin, &pipes.stdout, &pipes.stderr].into_iter().flatten() {
            ioctl_fionbio(pipe, true)?;
        }
        Ok(pipes)
    }
}

/// The input that is not yet written, and the two outputs.
pub(super) struct Pump<'a> {
    stdin: Option<OwnedFd>,
    input: &'a [u8],
    stdout: Output<'a>,
    stderr: Output<'a>,
    buffer: Vec<u8>,
}

struct Output<'a> {
    pipe: Option<OwnedFd>,
    capture: Capture<'a>,
}

impl<'a> Pump<'a> {
    pub(super) fn new(pipes: Pipes, spec: &'a CommandSpec, streams: Streams<'a>) -> Self {
        let Streams { stdout, stderr } = streams;
        Self {
            stdin: pipes.stdin,
            input: &spec.stdin,
            stdout: Output { pipe: pipes.stdout, capture: Capture::new(stdout, &spec.limits) },
            stderr: Output { pipe: pipes.stderr, capture: Capture::new(stderr, &spec.limits) },
            buffer: vec![0; CHUNK],
        }
    }

    /// Waits until a pipe is ready, `wake` was woken, or the time has come.
    pub(super) fn wait(&self, wake: &Wake, until: Option<Instant>) {
        let outputs = [&self.stdout.pipe, &self.stderr.pipe];
        let mut polled: Vec<_> =
            outputs.into_iter().flatten().map(|p| PollFd::new(p, PollFlags::IN)).collect();
        polled.extend(self.stdin.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        polled.push(PollFd::new(wake, PollFlags::IN));
        let rest = until.map(|until| until.saturating_duration_since(Instant::now()));
        let rest = rest.and_then(|rest| Timespec::try_from(rest).ok());
        // An error is a signal or a shortage of memory: the caller looks at everything and comes back.
        let _ = poll(&mut polled, rest.as_ref());
    }

    /// Moves what can be moved, at most one chunk per stream.
    pub(super) fn turn(&mut self) {
        self.feed();
        self.stdout.read(&mut self.buffer);
        self.stderr.read(&mut self.buffer);
    }

    /// Reads what the pipes hold now. What an exited program wrote is all there.
    pub(super) fn drain(&mut self) {
        for output in [&mut self.stdout, &mut self.stderr] {
            let mut taken = 0;
            // One more time than needed, to see the end of the stream.
            while taken <= LARGEST_PIPE {
                match output.read(&mut self.buffer) {
                    0 => break,
                    length => taken += length,
                }
            }
        }
    }

    /// Ends the input, whatever is left of it.
    pub(super) fn close_input(&mut self) {
        self.stdin = None;
    }

    /// The inode numbers of the output pipes that have not come to their end.
    pub(super) fn open_outputs(&self) -> Vec<u64> {
        let pipes = [&self.stdout.pipe, &self.stderr.pipe].into_iter().flatten();
        pipes.map(|pipe| fstat(pipe).map_or(0, |found| found.st_ino)).collect()
    }

    /// What came on standard output and standard error.
    pub(super) fn finish(self) -> (Captured, Captured) {
        (self.stdout.capture.finish(), self.stderr.capture.finish())
    }

    fn feed(&mut self) {
        let Some(pipe) = &self.stdin else { return };
        match write(pipe, self.input) {
            Ok(length) => self.input = &self.input[length..],
            Err(Errno::AGAIN | Errno::INTR) => return,
            // The program closed its input, which it may.
            Err(_) => self.input = &[],
        }
        if self.input.is_empty() {
            self.close_input();
        }
    }
}

impl Output<'_> {
    /// Takes one chunk if there is one, and gives its length.
    fn read(&mut self, buffer: &mut [u8]) -> usize {
        let Some(pipe) = &self.pipe else { return 0 };
        match retry_on_intr(|| read(pipe, &mut *buffer)) {
            Ok(0) => self.pipe = None,
            Ok(length) => {
                self.capture.receive(&buffer[..length]);
                return length;
            }
            Err(Errno::AGAIN) => {}
            // Nothing more can come from a pipe that cannot be read.
            Err(_) => self.pipe = None,
        }
        0
    }
}
