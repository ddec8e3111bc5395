//! A log in pieces of whole lines, each taken apart by itself.

use std::io;
use std::ops::Range;

use super::Reading;
use crate::line::{self, LineFault, Parts};

/// How much of a log is read at once.
pub(super) const CHUNK: usize = 64 << 10;

/// How many pieces are kept to be used again: about as many as several threads have in hand.
const SPARE_MAX: usize = 16;

/// Some whole lines of a log that follow one another.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// The lines, each with its line feed.
    pub(super) text: Vec<u8>,
    /// What was found in each line, up to the first that is none.
    pub(super) lines: Vec<Parts>,
    /// Where each of these lines ends, without its line feed.
    ends: Vec<usize>,
    /// The first line that is none, where it stands, and why.
    pub(super) fault: Option<(Range<usize>, LineFault)>,
}

impl Piece {
    /// Takes the lines apart and checks each against its own hash. Needs nothing but the piece itself.
    pub(super) fn take_apart(&mut self, opening: &str) {
        self.lines.clear();
        self.ends.clear();
        self.fault = None;
        let mut start = 0;
        while let Some(length) = memchr::memchr(b'\n', &self.text[start..]) {
            let line = start..start + length;
            match line::decode(&self.text[line.clone()], opening) {
                Ok(parts) => self.lines.push(parts),
                Err(fault) => {
                    self.fault = Some((line, fault));
                    return;
                }
            }
            self.ends.push(line.end);
            start = line.end + 1;
        }
    }

    /// The bytes of a line, without its line feed.
    pub(super) fn bytes(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        &self.text[start..self.ends[index]]
    }
}

/// Reads a log piece by piece.
pub(super) struct Pieces<'a> {
    reading: &'a Reading<'a>,
    /// Where the next piece begins.
    offset: u64,
    /// Where the log ends: earlier than it did at first, if a writer takes back what it could not write whole.
    pub(super) end: u64,
    /// What stands behind the last line feed, once the pieces have come to an end; no more than the longest line.
    pub(super) rest: Vec<u8>,
    /// Pieces that are done with, whose memory serves again.
    spare: Vec<Piece>,
}

impl<'a> Pieces<'a> {
    pub(super) const fn new(reading: &'a Reading<'a>, offset: u64) -> Self {
        Self { reading, offset, end: reading.end, rest: Vec::new(), spare: Vec::new() }
    }

    /// Takes back a piece that is done with, unless there are enough or it grew beyond what most pieces need.
    pub(super) fn reuse(&mut self, piece: Piece) {
        if self.spare.len() < SPARE_MAX && piece.text.capacity() <= 2 * CHUNK {
            self.spare.push(piece);
        }
    }

    /// The next lines, at least one, not taken apart yet; `None` if no line feed is left, or none within the length of a
    /// line.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece>> {
        let mut piece = self.spare.pop().unwrap_or_default();
        let text = &mut piece.text;
        let (mut filled, mut wanted) = (0, CHUNK as u64);
        loop {
            let searched = filled;
            filled = self.fill(text, filled, wanted)?;
            if let Some(last) = memchr::memrchr(b'\n', &text[searched..filled]) {
                text.truncate(searched + last + 1);
                self.offset += text.len() as u64;
                return Ok(Some(piece));
            }
            let limit = self.reading.limits.line_bytes;
            if self.offset + filled as u64 == self.end || filled as u64 >= limit {
                text.truncate(filled);
                self.rest = std::mem::take(text);
                return Ok(None);
            }
            wanted = (2 * wanted).min(limit.max(wanted + 1));
        }
    }

    /// Reads on until so much of `text` is filled as is `wanted`, or the log ends; returns how much is filled.
    fn fill(&mut self, text: &mut Vec<u8>, mut filled: usize, wanted: u64) -> io::Result<usize> {
        let length = usize::try_from(wanted.min(self.end - self.offset)).map_err(io::Error::other)?;
        text.resize(length, 0);
        while filled < length {
            match self.reading.file.read_at(self.offset + filled as u64, &mut text[filled..])? {
                0 => {
                    self.end = self.offset + filled as u64;
                    break;
                }
                read => filled += read,
            }
        }
        Ok(filled)
    }
}
