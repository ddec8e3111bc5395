//! What is kept of one output stream.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use sha2::{Digest as _, Sha256};

use super::head_tail::{self, HeadTail};
use super::utf8::Utf8Check;
use super::{Limits, Sink};

/// What is known of one output stream at its end. Its size does not depend on how much came.
///
/// The counts are in bytes of the stream. The texts are valid UTF-8: every invalid sequence is replaced by
/// U+FFFD, which can make a text up to three times as long as the bytes it stands for.
#[derive(Debug)]
#[non_exhaustive]
pub struct Captured {
    /// The text from the start, at most [`Limits::head`] bytes of the stream, cut between characters; the
    /// whole text if nothing is left out.
    pub head: String,
    /// The text up to the end, at most [`Limits::tail`] bytes of the stream, cut between characters; empty
    /// if nothing is left out.
    pub tail: String,
    /// Bytes left out between head and tail.
    pub gap_bytes: u64,
    /// All bytes that came.
    pub total_bytes: u64,
    /// Bytes that the sink took. Fewer than all after an error of the sink or beyond [`Limits::sink`].
    pub sink_bytes: u64,
    /// The SHA-256 of all bytes that came, as 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// Whether the whole stream was valid UTF-8.
    pub valid_utf8: bool,
    /// The error that ended the use of the sink.
    pub sink_error: Option<io::Error>,
}

impl Captured {
    /// What is kept of a stream that consists of `bytes`, within the limits that a command has by default and without a
    /// sink: an output that was stored whole gives the same excerpt again.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut nowhere = ();
        let mut capture = Capture::new(&mut nowhere, &Limits::default());
        capture.receive(bytes);
        capture.finish()
    }

    /// Head and tail as one text, with the line `… N bytes left out …` between them if N is not 0.
    #[must_use]
    pub fn excerpt(&self) -> Cow<'_, str> {
        if self.gap_bytes == 0 {
            return Cow::Borrowed(&self.head);
        }
        let line_end = if self.head.is_empty() || self.head.ends_with('\n') { "" } else { "\n" };
        Cow::Owned(format!("{}{line_end}… {} bytes left out …\n{}", self.head, self.gap_bytes, self.tail))
    }
}

/// Keeps the two ends of a stream that passes through it, for a sink that hands on something else than it gets.
#[derive(Debug)]
pub struct Ends(HeadTail);

impl Default for Ends {
    fn default() -> Self {
        let limits = Limits::default();
        Self(HeadTail::new(limits.head, limits.tail))
    }
}

impl Ends {
    /// All bytes that came.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.total()
    }

    /// Head and tail as one text, like [`Captured::excerpt`].
    #[must_use]
    pub fn excerpt(&self) -> String {
        let total_bytes = self.0.total();
        let head_tail::Ends { head, tail, gap } = self.0.clone().finish();
        let (sha256, valid_utf8) = (String::new(), true);
        let sink_bytes = total_bytes;
        let kept = Captured {
            head,
            tail,
            gap_bytes: gap,
            total_bytes,
            sink_bytes,
            sha256,
            valid_utf8,
            sink_error: None,
        };
        kept.excerpt().into_owned()
    }
}

impl Sink for Ends {
    fn receive(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.0.receive(chunk);
        Ok(())
    }
}

/// Takes one output stream as it comes.
pub(super) struct Capture<'a> {
    sink: &'a mut dyn Sink,
    sink_limit: u64,
    sink_bytes: u64,
    sink_error: Option<io::Error>,
    ends: HeadTail,
    utf8: Utf8Check,
    digest: Sha256,
}

impl<'a> Capture<'a> {
    pub(super) fn new(sink: &'a mut dyn Sink, limits: &Limits) -> Self {
        Self {
            sink,
            sink_limit: limits.sink,
            sink_bytes: 0,
            sink_error: None,
            ends: HeadTail::new(limits.head, limits.tail),
            utf8: Utf8Check::new(),
            digest: Sha256::new(),
        }
    }

    pub(super) fn receive(&mut self, chunk: &[u8]) {
        self.ends.receive(chunk);
        self.utf8.receive(chunk);
        self.digest.update(chunk);
        self.hand_over(chunk);
    }

    fn hand_over(&mut self, chunk: &[u8]) {
        let room = usize::try_from(self.sink_limit - self.sink_bytes).unwrap_or(usize::MAX);
        let chunk = &chunk[..chunk.len().min(room)];
        if chunk.is_empty() || self.sink_error.is_some() {
            return;
        }
        match self.sink.receive(chunk) {
            Ok(()) => self.sink_bytes += chunk.len() as u64,
            Err(error) => self.sink_error = Some(error),
        }
    }

    pub(super) fn finish(self) -> Captured {
        let total_bytes = self.ends.total();
        let head_tail::Ends { head, tail, gap } = self.ends.finish();
        Captured {
            head,
            tail,
            gap_bytes: gap,
            total_bytes,
            sink_bytes: self.sink_bytes,
            sha256: hex(&self.digest.finalize()),
            valid_utf8: self.utf8.finish(),
            sink_error: self.sink_error,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const LIMITS: Limits = Limits { head: 7, tail: 9, sink: 21 };

    fn captured(chunks: &[Vec<u8>]) -> (Captured, Vec<u8>) {
        let mut sink = Vec::new();
        let mut capture = Capture::new(&mut sink, &LIMITS);
        for chunk in chunks {
            capture.receive(chunk);
        }
        (capture.finish(), sink)
    }

    /// Pieces of characters, whole characters, and bytes that are never part of one.
    fn piece() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            vec(any::<u8>(), 0..6),
            "[a-c\n]{0,6}".prop_map(String::into_bytes),
            "[ñ界😀]{1,4}".prop_map(String::into_bytes),
            ("[ñ界😀]", 1_usize..4).prop_map(|(text, cut)| text.into_bytes().into_iter().take(cut).collect()),
        ]
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(chunks in vec(piece(), 0..16)) {
            let whole = chunks.concat();
            let (in_chunks, chunked_sink) = captured(&chunks);
            let (at_once, sink) = captured(std::slice::from_ref(&whole));
            prop_assert_eq!(format!("{in_chunks:?}"), format!("{at_once:?}"));
            prop_assert_eq!(&chunked_sink, &sink);
            prop_assert_eq!(&sink[..], &whole[..whole.len().min(21)]);
            prop_assert_eq!(in_chunks.valid_utf8, std::str::from_utf8(&whole).is_ok());
            prop_assert_eq!(in_chunks.total_bytes, whole.len() as u64);
        }

        #[test]
        fn ends_of_a_valid_text_are_as_long_as_can_be(text in "[a-cñ界😀]{0,12}") {
            let (kept, _) = captured(&[text.clone().into_bytes()]);
            if text.len() <= LIMITS.head + LIMITS.tail {
                prop_assert_eq!(kept.excerpt(), text);
            } else {
                // Said differently: the longest prefix and suffix at character boundaries.
                let head = (0..=LIMITS.head).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
                let tail = (text.len() - LIMITS.tail..=text.len()).find(|start| text.is_char_boundary(*start)).unwrap_or(0);
                prop_assert_eq!(&kept.head, &text[..head]);
                prop_assert_eq!(&kept.tail, &text[tail..]);
                prop_assert_eq!(kept.gap_bytes, (tail - head) as u64);
            }
        }
    }
}
