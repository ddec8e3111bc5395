//! Reads a log from a known position on, and verifies every line on the way.

mod ahead;
mod piece;

use std::io;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};

use self::piece::{CHUNK, Piece, Pieces};
use crate::digest::Digest;
use crate::disk::DiskFile;
use crate::limits::{BATCH_MAX, Limits};
use crate::line::{self, Line, LineFault, Parts};
use crate::parallel;
use crate::time::Timestamp;

/// A place between two batches of a log up to which everything is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// Bytes before it.
    pub(crate) offset: u64,
    /// Sequence number of the line before it; 0 at the start.
    pub(crate) seq: u64,
    /// Hash of the line before it; at the start the digest of the intent.
    pub(crate) hash: Digest,
    /// Time of the line before it.
    pub(crate) ts: Timestamp,
}

impl Position {
    /// The start of the log that belongs to an intent.
    pub(crate) const fn start(intent: Digest) -> Self {
        Self { offset: 0, seq: 0, hash: intent, ts: Timestamp::UNIX_EPOCH }
    }
}

/// Bytes behind the last whole batch: what a crash leaves of an append that nobody acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnfinishedTail {
    /// Where it begins, in bytes from the start of the log.
    pub offset: u64,
    /// How long it is, in bytes.
    pub bytes: u64,
}

/// Where a log stops being one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The first line that does not verify, counted from 1; 0 if it is the intent.
    pub line: u64,
    /// Where that line begins, in bytes from the start of the log.
    pub offset: u64,
    /// What is wrong with it.
    pub kind: DamageKind,
    /// How many lines stand behind it, whatever they hold. Where a log of its kind would be too long, nobody counts on.
    pub lines_behind: u64,
}

/// What is wrong with a damaged line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DamageKind {
    /// Zero bytes: the file system lost what was written there.
    #[error("zero bytes where a line should be, as a power loss leaves them")]
    Hole,
    /// The line was changed.
    #[error("the line does not match its hash")]
    Hash,
    /// The line verifies but is not one that the ledger writes.
    #[error("the member `{part}` is not in the form that the ledger writes")]
    Shape {
        /// The member.
        part: &'static str,
    },
    /// The line belongs to another stream.
    #[error("the line belongs to the stream `{}`", stream.escape_debug())]
    Foreign {
        /// The stream it names.
        stream: String,
    },
    /// A line was removed, inserted or moved.
    #[error("the line has sequence number {found}, expected {expected}")]
    Sequence {
        /// The number expected.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// The line does not follow from the one before.
    #[error("the line does not follow from the one before it")]
    Chain,
    /// The first line does not follow from the intent.
    #[error("the first line does not follow from `intent.json`: one of the two was changed")]
    Intent,
    /// A stream is created with its first event, so a log without one has lost it.
    #[error("the log has no whole event, though a stream is created with one")]
    Empty,
    /// Time runs backwards.
    #[error("the line is older than the one before it")]
    Time,
    /// A line, the number of lines or the whole log exceeds the limits of its kind.
    #[error("the {what} exceeds the limit of {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A line that was verified earlier is no longer there.
    #[error("the log was cut before byte {expected}, up to which it was verified")]
    CutOff {
        /// Where that line ended.
        expected: u64,
    },
}

/// How a scan ended.
#[derive(Debug)]
pub(crate) struct ScanEnd {
    pub(crate) tail: Option<UnfinishedTail>,
    pub(crate) fault: Option<ScanFault>,
}

/// What stopped a scan before the end of the log.
#[derive(Debug)]
pub(crate) enum ScanFault {
    Damage(Damage),
    /// A line of a newer version of the format.
    NewerFormat {
        seq: u64,
        version: u64,
    },
    /// The visitor said so.
    Stopped,
}

/// The part of a log that is to be read, and what it is read as.
pub(crate) struct Reading<'a> {
    pub(crate) file: &'a dyn DiskFile,
    /// Where the log ended when the reading began.
    pub(crate) end: u64,
    /// What every line begins with.
    pub(crate) opening: &'a str,
    pub(crate) limits: &'a Limits,
    /// How many threads may read at once; as the machine has it, if nobody said.
    pub(crate) threads: Option<NonZeroUsize>,
}

impl Reading<'_> {
    /// How many threads read at once. Asking the machine is dear, so it is not asked for a short log.
    fn threads_for(&self, bytes: u64) -> usize {
        if bytes < WORTH_THREADS {
            return 1;
        }
        // More than these find nothing left to do: one of them runs the domain's code.
        self.threads.unwrap_or_else(parallel::threads).min(parallel::THREADS_MAX).get()
    }
}

/// How much there must be to read before other threads are worth starting, in bytes.
const WORTH_THREADS: u64 = 1 << 20;

/// Reads the log from `done` to its end and shows every line of every whole batch to `visit`, in order.
///
/// `done` moves behind every batch that was shown, also when the scan fails later.
pub(crate) fn scan(
    reading: &Reading<'_>,
    done: &mut Position,
    visit: &mut dyn FnMut(&Line<'_>) -> ControlFlow<()>,
) -> io::Result<ScanEnd> {
    let mut pieces = Pieces::new(reading, done.offset);
    let threads = reading.threads_for(reading.end - done.offset);
    let mut scan = Scan::new(reading, done, visit);
    if threads > 1 {
        let (pieces, ended) =
            ahead::for_each_piece(pieces, reading.opening, threads, |piece| scan.piece(piece))?;
        return match ended {
            Ok(()) => scan.finish(&pieces),
            Err(stop) => scan.stopped(stop),
        };
    }
    while let Some(mut piece) = pieces.next()? {
        piece.take_apart(reading.opening);
        match scan.piece(piece) {
            Ok(over) => {
                for piece in over {
                    pieces.reuse(piece);
                }
            }
            Err(stop) => return scan.stopped(stop),
        }
    }
    scan.finish(&pieces)
}

struct Scan<'a> {
    reading: &'a Reading<'a>,
    /// The end of the last whole batch.
    done: &'a mut Position,
    /// The end of the last line.
    at: Position,
    /// The hash of the last line, in digits.
    digits: [u8; 64],
    /// The hash of the last line that was shown.
    shown: Digest,
    /// The pieces that hold the lines since `done`, each with its first line that was not shown.
    batch: Vec<(Piece, usize)>,
    visit: &'a mut dyn FnMut(&Line<'_>) -> ControlFlow<()>,
}

enum Stop {
    Damage(DamageKind),
    Newer(u64),
    Visitor,
}

impl From<LineFault> for Stop {
    fn from(fault: LineFault) -> Self {
        Self::Damage(match fault {
            LineFault::Hole => DamageKind::Hole,
            LineFault::Hash => DamageKind::Hash,
            LineFault::Shape(part) => DamageKind::Shape { part },
            LineFault::Foreign(stream) => DamageKind::Foreign { stream },
            LineFault::Newer(version) => return Self::Newer(version),
        })
    }
}

impl<'a> Scan<'a> {
    fn new(
        reading: &'a Reading<'a>,
        done: &'a mut Position,
        visit: &'a mut dyn FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> Self {
        Self { reading, at: *done, digits: done.hash.hex(), shown: done.hash, done, batch: Vec::new(), visit }
    }

    /// Checks the lines of the next piece, and shows those whose batch is whole. Returns the pieces that are done with.
    fn piece(&mut self, piece: Piece) -> Result<Vec<Piece>, Stop> {
        let mut over = Vec::new();
        let mut hidden = 0;
        for (index, parts) in piece.lines.iter().enumerate() {
            let line = piece.bytes(index);
            self.check_limits(line)?;
            self.check_place(parts, line)?;
            let offset = self.at.offset + line.len() as u64 + 1;
            self.at = Position { offset, seq: parts.seq, hash: parts.hash, ts: parts.ts };
            self.digits.copy_from_slice(line::hash_digits(line));
            if !parts.more {
                let batch = std::mem::take(&mut self.batch);
                for (earlier, first) in batch {
                    self.show(&earlier, first..earlier.lines.len())?;
                    over.push(earlier);
                }
                self.show(&piece, hidden..index + 1)?;
                hidden = index + 1;
                *self.done = self.at;
            } else if self.at.offset - self.done.offset > BATCH_MAX {
                return Err(Stop::Damage(DamageKind::TooLarge { what: "batch", limit: BATCH_MAX }));
            }
        }
        if let Some((line, fault)) = &piece.fault {
            self.check_limits(&piece.text[line.clone()])?;
            return Err(fault.clone().into());
        }
        if hidden < piece.lines.len() {
            self.batch.push((piece, hidden));
        } else {
            over.push(piece);
        }
        Ok(over)
    }

    fn show(&mut self, piece: &Piece, lines: Range<usize>) -> Result<(), Stop> {
        for index in lines {
            let line = Line::new(&piece.lines[index], piece.bytes(index), self.shown);
            self.shown = line.hash();
            (self.visit)(&line).is_continue().then_some(()).ok_or(Stop::Visitor)?;
        }
        Ok(())
    }

    fn check_limits(&self, line: &[u8]) -> Result<(), Stop> {
        let limits = self.reading.limits;
        let length = line.len() as u64 + 1;
        let (what, limit) = if length > limits.line_bytes {
            ("line", limits.line_bytes)
        } else if self.at.offset + length > limits.log_bytes {
            ("log", limits.log_bytes)
        } else if self.at.seq >= limits.events {
            ("number of events", limits.events)
        } else {
            return Ok(());
        };
        Err(Stop::Damage(too_large(line, what, limit)))
    }

    /// Whether the line follows from the line before.
    fn check_place(&self, parts: &Parts, line: &[u8]) -> Result<(), Stop> {
        let expected = self.at.seq + 1;
        let prev = line::prev_digits(line);
        Err(Stop::Damage(if prev != self.digits && !line::are_digits(prev) {
            DamageKind::Shape { part: "prev" }
        } else if parts.seq != expected {
            DamageKind::Sequence { expected, found: parts.seq }
        } else if prev != self.digits {
            if expected == 1 { DamageKind::Intent } else { DamageKind::Chain }
        } else if parts.ts < self.at.ts {
            DamageKind::Time
        } else {
            return Ok(());
        }))
    }

    /// What the bytes behind the last line feed mean.
    fn finish(&self, pieces: &Pieces<'_>) -> io::Result<ScanEnd> {
        let (rest, limit) = (&pieces.rest, self.reading.limits.line_bytes);
        if rest.len() as u64 >= limit {
            let kind = too_large(rest, "line", limit);
            // A power loss may have left the length of the last batch, but not its bytes: nothing was lost that was
            // finished. Of what is longer than a batch, that cannot be said.
            let is_batch = pieces.end - self.done.offset <= BATCH_MAX;
            if kind != DamageKind::Hole || !is_batch || count_lines(self.reading, self.at.offset)? > 0 {
                return self.stopped(Stop::Damage(kind));
            }
        }
        let bytes = pieces.end - self.done.offset;
        let tail = (bytes > 0).then_some(UnfinishedTail { offset: self.done.offset, bytes });
        Ok(ScanEnd { tail, fault: None })
    }

    fn stopped(&self, stop: Stop) -> io::Result<ScanEnd> {
        let fault = match stop {
            Stop::Visitor => ScanFault::Stopped,
            Stop::Newer(version) => ScanFault::NewerFormat { seq: self.at.seq + 1, version },
            Stop::Damage(kind) => {
                let offset = self.at.offset;
                let lines_behind = count_lines(self.reading, offset)?.saturating_sub(1);
                ScanFault::Damage(Damage { line: self.at.seq + 1, offset, kind, lines_behind })
            }
        };
        Ok(ScanEnd { tail: None, fault: Some(fault) })
    }
}

/// What is wrong with a line that is too long. Where a power loss took a line feed, two lines look like one.
fn too_large(line: &[u8], what: &'static str, limit: u64) -> DamageKind {
    if line.contains(&0) { DamageKind::Hole } else { DamageKind::TooLarge { what, limit } }
}

/// Line feeds from `offset` to the end of the log, or to where no log of its kind goes on.
fn count_lines(reading: &Reading<'_>, mut offset: u64) -> io::Result<u64> {
    let end = reading.end.min(reading.limits.log_bytes);
    let mut buffer = vec![0; CHUNK];
    let mut lines = 0;
    while offset < end {
        let wanted = usize::try_from(end - offset).map_or(CHUNK, |left| left.min(CHUNK));
        match reading.file.read_at(offset, &mut buffer[..wanted])? {
            0 => break,
            read => {
                lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
                offset += read as u64;
            }
        }
    }
    Ok(lines)
}
