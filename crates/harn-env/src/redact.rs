//! Masks what looks like a secret before anything is written.
//!
//! Output goes through a [`Redacted`] sink, texts through [`Redactor::text`]. What is masked becomes `[redacted]`. It is a
//! net with holes, not a wall: a secret that looks like an ordinary word passes. What it knows: exact values that are given,
//! such as those of variables whose names speak of secrets; tokens of known services by their prefixes; JSON Web Tokens;
//! `Authorization` headers; assignments to names such as `password`; passwords in URLs; blocks of private keys.

mod rules;

use std::io;

use crate::command::Sink;

/// What stands in the place of a secret.
pub const MASK: &str = "[redacted]";

/// Shortest exact value that is masked, in bytes: shorter ones stand everywhere.
const VALUE_MIN: usize = 6;
/// Longest piece of one line that is looked at as a whole, in bytes.
const PIECE_MAX: usize = 64 << 10;

/// Parts of the names of variables that hold secrets.
const SECRET_NAMES: [&str; 8] =
    ["CREDENTIAL", "PASSWD", "PASSWORD", "PRIVATE_KEY", "SECRET", "TOKEN", "API_KEY", "ACCESS_KEY"];

/// Knows what to mask.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// The longest first, so that one that holds another is masked whole.
    values: Vec<Vec<u8>>,
}

impl Redactor {
    /// Masks what looks like a secret.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Masks these values too, wherever they stand. Those of fewer than 6 bytes are left out.
    #[must_use]
    pub fn with_values<V: Into<Vec<u8>>>(mut self, values: impl IntoIterator<Item = V>) -> Self {
        self.values.extend(values.into_iter().map(Into::into).filter(|value| value.len() >= VALUE_MIN));
        self.values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        self.values.dedup();
        self
    }

    /// Whether a variable of this name holds a secret by its name.
    #[must_use]
    pub fn is_secret_name(name: &str) -> bool {
        let name = name.to_ascii_uppercase();
        SECRET_NAMES.iter().any(|part| name.contains(part))
    }

    /// The text without its secrets.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut out = Vec::new();
        let mut stream = Stream::default();
        stream.receive(self, text.as_bytes(), &mut out);
        stream.finish(self, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Whether anything in `bytes` is masked.
    #[must_use]
    pub fn masks(&self, bytes: &[u8]) -> bool {
        let mut out = Vec::with_capacity(bytes.len());
        let mut stream = Stream::default();
        stream.receive(self, bytes, &mut out);
        stream.finish(self, &mut out);
        out != bytes
    }

    /// A sink that hands what it gets to `inner`, without secrets.
    pub fn sink<'a>(&'a self, inner: &'a mut dyn Sink) -> Redacted<'a> {
        Redacted { redactor: self, inner, stream: Stream::default() }
    }
}

/// A sink without secrets. [`Redacted::finish`] hands over what it still holds.
pub struct Redacted<'a> {
    redactor: &'a Redactor,
    inner: &'a mut dyn Sink,
    stream: Stream,
}

impl Redacted<'_> {
    /// Hands over the last line, which may have no end.
    pub fn finish(mut self) -> io::Result<()> {
        let mut out = Vec::new();
        self.stream.finish(self.redactor, &mut out);
        if out.is_empty() { Ok(()) } else { self.inner.receive(&out) }
    }
}

impl Sink for Redacted<'_> {
    fn receive(&mut self, chunk: &[u8]) -> io::Result<()> {
        let mut out = Vec::new();
        self.stream.receive(self.redactor, chunk, &mut out);
        if out.is_empty() { Ok(()) } else { self.inner.receive(&out) }
    }
}

/// A stream as it comes: whole lines are looked at, and how it is cut into chunks makes no difference.
#[derive(Debug, Default)]
struct Stream {
    /// The line that has no end yet, at most [`PIECE_MAX`].
    held: Vec<u8>,
    in_private_key: bool,
}

impl Stream {
    fn receive(&mut self, redactor: &Redactor, mut chunk: &[u8], out: &mut Vec<u8>) {
        while !chunk.is_empty() {
            let end = chunk.iter().position(|byte| *byte == b'\n').map_or(chunk.len(), |end| end + 1);
            let room = PIECE_MAX - self.held.len();
            let (taken, rest) = chunk.split_at(end.min(room));
            self.held.extend_from_slice(taken);
            chunk = rest;
            if self.held.ends_with(b"\n") {
                self.flush(redactor, self.held.len(), out);
            } else if self.held.len() == PIECE_MAX {
                // A token is not cut if that can be helped.
                let cut = self.held.iter().rposition(|byte| !rules::is_of_token(*byte));
                self.flush(redactor, cut.map_or(PIECE_MAX, |cut| cut + 1), out);
            }
        }
    }

    fn finish(&mut self, redactor: &Redactor, out: &mut Vec<u8>) {
        self.flush(redactor, self.held.len(), out);
        if self.in_private_key {
            out.extend_from_slice(MASK.as_bytes());
            out.push(b'\n');
        }
    }

    fn flush(&mut self, redactor: &Redactor, end: usize, out: &mut Vec<u8>) {
        let piece: Vec<u8> = self.held.drain(..end).collect();
        if rules::begins_private_key(&piece) {
            // A second beginning inside a block is a part of the block.
            if !std::mem::replace(&mut self.in_private_key, true) {
                rules::mask(&piece, &redactor.values, out);
            }
            return;
        }
        if self.in_private_key {
            if rules::ends_private_key(&piece) {
                self.in_private_key = false;
                out.extend_from_slice(MASK.as_bytes());
                out.push(b'\n');
                rules::mask(&piece, &redactor.values, out);
            }
            return;
        }
        rules::mask(&piece, &redactor.values, out);
    }
}
