//! What a command prints, on its way into a blob: without secrets, and bounded.

use std::io;

use harn_ledger::Blobs;

use super::PrepareError;
use crate::command::{Ends, Sink};
use crate::compare::FailedTests;
use crate::receipt::{EXCERPT_MAX, Output};
use crate::redact::{Redacted, Redactor};

/// Longest output that is kept whole, in bytes.
const WHOLE_MAX: usize = 4 << 20;

/// Takes what is left of an output when its secrets are masked.
#[derive(Debug, Default)]
pub(super) struct Kept {
    whole: Vec<u8>,
    ends: Ends,
    failed: FailedTests,
}

impl Sink for Kept {
    fn receive(&mut self, chunk: &[u8]) -> io::Result<()> {
        // One byte more than may be kept tells that there was more.
        let room = (WHOLE_MAX + 1).saturating_sub(self.whole.len());
        self.whole.extend_from_slice(&chunk[..chunk.len().min(room)]);
        self.failed.receive(chunk);
        self.ends.receive(chunk)
    }
}

/// An output stream of a command.
pub(super) fn masked<'a>(redactor: &'a Redactor, kept: &'a mut Kept) -> Redacted<'a> {
    redactor.sink(kept)
}

impl Kept {
    /// The text, or as much of its beginning and its end as is kept.
    pub(super) fn text(&self) -> String {
        if self.is_whole() { String::from_utf8_lossy(&self.whole).into_owned() } else { self.ends.excerpt() }
    }

    /// The failed tests that it names, wherever in it. They are taken out.
    pub(super) fn take_failed(&mut self) -> FailedTests {
        // The last line may have no end.
        self.failed.receive(b"\n");
        std::mem::take(&mut self.failed)
    }

    fn is_whole(&self) -> bool {
        self.whole.len() <= WHOLE_MAX
    }

    /// Stores it; none when nothing was printed. `bytes` is how much the command printed.
    pub(super) fn store(self, blobs: &Blobs, bytes: u64) -> Result<Option<Output>, PrepareError> {
        if bytes == 0 {
            return Ok(None);
        }
        let whole = self.is_whole();
        let excerpt = self.ends.excerpt();
        let kept = if whole { self.whole } else { excerpt.clone().into_bytes() };
        let content = blobs.put(&kept)?;
        let mut start = excerpt.len().saturating_sub(EXCERPT_MAX);
        while !excerpt.is_char_boundary(start) {
            start += 1;
        }
        Ok(Some(Output { content, bytes, whole, tail: excerpt[start..].to_owned() }))
    }
}
