//! Checks a stream of bytes for valid UTF-8 across chunk boundaries.

use std::str;

/// The longest encoding of a character.
const LONGEST: usize = 4;

/// The state between chunks: at most the start of one character.
#[derive(Debug)]
pub(super) struct Utf8Check {
    valid: bool,
    pending: Vec<u8>,
}

impl Utf8Check {
    pub(super) fn new() -> Self {
        Self { valid: true, pending: Vec::with_capacity(LONGEST) }
    }

    pub(super) fn receive(&mut self, mut chunk: &[u8]) {
        while self.valid && !self.pending.is_empty() {
            let Some((&first, rest)) = chunk.split_first() else {
                return;
            };
            chunk = rest;
            self.pending.push(first);
            match str::from_utf8(&self.pending) {
                Ok(_) => self.pending.clear(),
                Err(error) => self.valid = error.error_len().is_none(),
            }
        }
        if !self.valid {
            return;
        }
        if let Err(error) = str::from_utf8(chunk) {
            self.valid = error.error_len().is_none();
            if self.valid {
                self.pending.extend_from_slice(&chunk[error.valid_up_to()..]);
            }
        }
    }

    /// Whether everything received was valid; a character cut off by the end is not.
    pub(super) fn finish(&self) -> bool {
        self.valid && self.pending.is_empty()
    }
}
