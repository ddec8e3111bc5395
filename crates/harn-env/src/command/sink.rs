//! Where the whole output of a command goes.

use std::io;

/// Takes the output of one stream as it comes, chunk by chunk and in order.
///
/// An error does not disturb the command: it is recorded in [`Captured::sink_error`](super::Captured), the
/// sink gets nothing more, and the stream is still read to its end. A sink that blocks holds up the command
/// and its time limit, because the same thread reads, writes and watches the clock.
pub trait Sink {
    /// Takes one chunk, never empty and at most 64 KiB.
    fn receive(&mut self, chunk: &[u8]) -> io::Result<()>;
}

/// Drops everything.
impl Sink for () {
    fn receive(&mut self, _chunk: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps everything in memory, up to [`Limits::sink`](super::Limits).
impl Sink for Vec<u8> {
    fn receive(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.extend_from_slice(chunk);
        Ok(())
    }
}

/// Hands everything to a writer, which is not flushed.
#[derive(Debug)]
pub struct Writer<W>(pub W);

impl<W: io::Write> Sink for Writer<W> {
    fn receive(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.0.write_all(chunk)
    }
}

/// The sinks for the two output streams of a command.
pub struct Streams<'a> {
    /// For standard output.
    pub stdout: &'a mut dyn Sink,
    /// For standard error.
    pub stderr: &'a mut dyn Sink,
}
