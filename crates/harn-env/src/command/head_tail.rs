//! Keeps the start and the end of a stream of bytes, and gives them as text.

use std::collections::VecDeque;
use std::str;

/// The longest start of a character that is not yet a whole one.
const LONGEST_PART: usize = 3;

/// The first and the last bytes of a stream, within fixed limits.
#[derive(Debug, Clone)]
pub(super) struct HeadTail {
    head_limit: usize,
    tail_limit: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

/// The two ends as text and the number of bytes between them.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) head: String,
    pub(super) tail: String,
    pub(super) gap: u64,
}

impl HeadTail {
    pub(super) fn new(head_limit: usize, tail_limit: usize) -> Self {
        Self { head_limit, tail_limit, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub(super) fn receive(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        let (for_head, rest) = chunk.split_at(chunk.len().min(self.head_limit - self.head.len()));
        self.head.extend_from_slice(for_head);
        let kept = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let too_many = (self.tail.len() + kept.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..too_many);
        self.tail.extend(kept);
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The ends as text. If nothing is left out, the whole text is the head: the two buffers then meet, and
    /// a character may lie across them.
    pub(super) fn finish(mut self) -> Ends {
        let tail = self.tail.make_contiguous();
        if (self.head.len() + tail.len()) as u64 == self.total {
            self.head.extend_from_slice(tail);
            return Ends { head: text(&self.head), tail: String::new(), gap: 0 };
        }
        let head = without_cut_end(&self.head);
        let tail = without_cut_start(tail);
        Ends { gap: self.total - (head.len() + tail.len()) as u64, head: text(head), tail: text(tail) }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Without the start of a character whose rest was left out.
fn without_cut_end(bytes: &[u8]) -> &[u8] {
    for length in 1..=LONGEST_PART.min(bytes.len()) {
        let (before, part) = bytes.split_at(bytes.len() - length);
        if str::from_utf8(part).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none()) {
            return before;
        }
    }
    bytes
}

/// Without the rest of a character whose start was left out.
fn without_cut_start(bytes: &[u8]) -> &[u8] {
    let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    &bytes[bytes.iter().take(LONGEST_PART).take_while(is_continuation).count()..]
}
