//! Masks what looks like a secret before anything is written.
//!
//! Output goes through a [`Redacted`] sink, texts through [`Redactor::text`]. What is masked becomes `[redacted]`. It is a
//! net with holes, not a wall: a secret that looks like an ordinary word passes. What it knows: exact values that are given,
//! such as those of variables whose names speak of secrets; tokens of known services by their prefixes; JSON Web Tokens;
//! `Authorization` headers; assignments to names such as `password`; passwords in URLs; blocks of private keys.

mod rules;

use std::io;

use aho_corasick::AhoCorasick;
use memchr::memrchr;

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
#[derive(Debug, Clone)]
pub struct Redactor {
    /// The longest first, so that one that holds another is masked whole.
    values: Vec<Vec<u8>>,
    /// What a text must have in it to be looked at line by line.
    signs: AhoCorasick,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

impl Redactor {
    /// Masks what looks like a secret.
    #[must_use]
    pub fn new() -> Self {
        Self { values: Vec::new(), signs: rules::signs(&[]) }
    }

    /// Masks these values too, wherever they stand. Of a value with several lines each counts for itself. Those of fewer than 6
    /// bytes are left out.
    #[must_use]
    pub fn with_values<V: Into<Vec<u8>>>(mut self, values: impl IntoIterator<Item = V>) -> Self {
        for value in values {
            let value: Vec<u8> = value.into();
            let lines = value.split(|byte| matches!(byte, b'\n' | b'\r'));
            self.values.extend(lines.filter(|line| line.len() >= VALUE_MIN).map(<[u8]>::to_vec));
        }
        self.values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        self.values.dedup();
        self.signs = rules::signs(&self.values);
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

/// Passes the whole lines on before the first in which a secret can be, and gives back the rest.
fn pass_clean_lines<'a>(redactor: &Redactor, chunk: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let Some(last) = memrchr(b'\n', chunk) else { return chunk };
    let lines = &chunk[..=last];
    let sign = redactor.signs.find(lines).map_or(lines.len(), |sign| sign.start());
    let clean = memrchr(b'\n', &lines[..sign]).map_or(0, |end| end + 1);
    out.extend_from_slice(&lines[..clean]);
    &chunk[clean..]
}

impl Stream {
    fn receive(&mut self, redactor: &Redactor, mut chunk: &[u8], out: &mut Vec<u8>) {
        while !chunk.is_empty() {
            if self.held.is_empty() && !self.in_private_key {
                chunk = pass_clean_lines(redactor, chunk, out);
                if chunk.is_empty() {
                    return;
                }
            }
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
        if !self.in_private_key && !redactor.signs.is_match(&piece) {
            out.extend_from_slice(&piece);
            return;
        }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text with every line looked at, whatever is in it.
    fn thorough(redactor: &Redactor, text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        for line in text.as_bytes().split_inclusive(|byte| *byte == b'\n') {
            rules::mask(line, &redactor.values, &mut out);
        }
        out
    }

    fn any_text() -> impl Strategy<Value = String> {
        let parts = [
            "\n",
            " ",
            "\"",
            "=",
            ": ",
            "x",
            "7",
            "word",
            "Bearer ",
            "authorization: BASIC ",
            "eyJhbGciOi.eyJzdWIi.",
            "abcdefghijklmnopqrstuvwxyz012345",
            "ghp_",
            "sk-",
            "AKIA",
            "Token",
            "API_KEY",
            "password=",
            "https://u:",
            "@host/",
            "hunter2secret",
            "é",
        ];
        prop::collection::vec(prop::sample::select(parts.to_vec()), 0..60).prop_map(|parts| parts.concat())
    }

    proptest! {
        /// What is passed on without being looked at has no secret, and how a text is cut makes no difference.
        #[test]
        fn the_quick_way_masks_the_same(text in any_text(), size in 1_usize..50) {
            let redactor = Redactor::new().with_values(["hunter2secret"]);
            let expected = thorough(&redactor, &text);
            let mut out = Vec::new();
            let mut stream = Stream::default();
            text.as_bytes().chunks(size).for_each(|chunk| stream.receive(&redactor, chunk, &mut out));
            stream.finish(&redactor, &mut out);
            prop_assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&expected));
        }
    }

    #[test]
    fn each_line_of_a_value_is_masked() {
        let redactor = Redactor::new().with_values(["first line\nsecond line\r\nx"]);
        assert_eq!(redactor.text("a second line x"), format!("a {MASK} x"));
    }
}
