//! Reads a log from a known position on, and verifies every line on the way.

use std::io;
use std::ops::ControlFlow;

use crate::digest::Digest;
use crate::disk::DiskFile;
use crate::limits::Limits;
use crate::line::{self, Line, LineFault};
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
    /// How many lines stand behind it, whatever they hold.
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
    /// The file ends before a line that was verified earlier.
    #[error("the log ends before byte {expected}, up to which it was verified")]
    CutOff {
        /// Where it was known to end.
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

const CHUNK: usize = 64 << 10;

/// Reads the log from `done` to its end and shows every line of every whole batch to `visit`, in order.
///
/// `done` moves behind every batch that was shown, also when the scan fails later.
pub(crate) fn scan(
    file: &dyn DiskFile,
    done: &mut Position,
    stream: &str,
    limits: &Limits,
    visit: &mut dyn FnMut(&Line<'_>) -> ControlFlow<()>,
) -> io::Result<ScanEnd> {
    let mut read_to = done.offset;
    let mut scan = Scan { at: *done, done, batch: Vec::new(), stream, limits };
    let mut buffer = vec![0; CHUNK];
    let mut filled = 0;
    loop {
        if filled == buffer.len() {
            buffer.resize(2 * filled, 0);
        }
        let read = file.read_at(read_to, &mut buffer[filled..])?;
        filled += read;
        read_to += read as u64;

        let mut used = 0;
        while let Some(length) = memchr::memchr(b'\n', &buffer[used..filled]) {
            if let Err(fault) = scan.line(&buffer[used..used + length], visit) {
                return scan.stopped(file, fault);
            }
            used += length + 1;
        }
        buffer.copy_within(used..filled, 0);
        filled -= used;
        if filled as u64 >= limits.line_bytes {
            let kind = too_large(&buffer[..filled], "line", limits.line_bytes);
            if kind != DamageKind::Hole || count_lines(file, scan.at.offset)? > 0 {
                return scan.stopped(file, Stop::Damage(kind));
            }
            // A power loss left the length of the last batch, but not its bytes: nothing was lost that was finished.
            read_to = read_to.max(file.stat()?.length);
        }
        if read == 0 || filled as u64 >= limits.line_bytes {
            let bytes = read_to - scan.done.offset;
            let tail = (bytes > 0).then_some(UnfinishedTail { offset: scan.done.offset, bytes });
            return Ok(ScanEnd { tail, fault: None });
        }
    }
}

struct Scan<'a> {
    /// The end of the last whole batch.
    done: &'a mut Position,
    /// The end of the last line.
    at: Position,
    /// The lines since `done`.
    batch: Vec<Line<'static>>,
    stream: &'a str,
    limits: &'a Limits,
}

enum Stop {
    Damage(DamageKind),
    Newer(u64),
    Visitor,
}

impl Scan<'_> {
    fn line(
        &mut self,
        bytes: &[u8],
        visit: &mut dyn FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> Result<(), Stop> {
        let line = self.check(bytes)?;
        let offset = self.at.offset + bytes.len() as u64 + 1;
        self.at = Position { offset, seq: line.seq, hash: line.hash, ts: line.ts };
        if line.more {
            self.batch.push(line.into_owned());
            return Ok(());
        }
        for earlier in self.batch.drain(..) {
            visit(&earlier).is_continue().then_some(()).ok_or(Stop::Visitor)?;
        }
        visit(&line).is_continue().then_some(()).ok_or(Stop::Visitor)?;
        *self.done = self.at;
        Ok(())
    }

    /// The line, if it is one and follows from the line before.
    fn check<'b>(&self, bytes: &'b [u8]) -> Result<Line<'b>, Stop> {
        let too_large = |what, limit| Err(Stop::Damage(too_large(bytes, what, limit)));
        let length = bytes.len() as u64 + 1;
        if length > self.limits.line_bytes {
            return too_large("line", self.limits.line_bytes);
        }
        if self.at.offset + length > self.limits.log_bytes {
            return too_large("log", self.limits.log_bytes);
        }
        if self.at.seq >= self.limits.events {
            return too_large("number of events", self.limits.events);
        }
        let line = line::decode(bytes, self.stream).map_err(|fault| match fault {
            LineFault::Hole => Stop::Damage(DamageKind::Hole),
            LineFault::Hash => Stop::Damage(DamageKind::Hash),
            LineFault::Shape(part) => Stop::Damage(DamageKind::Shape { part }),
            LineFault::Foreign(stream) => Stop::Damage(DamageKind::Foreign { stream }),
            LineFault::Newer(version) => Stop::Newer(version),
        })?;
        let expected = self.at.seq + 1;
        let broken = if line.seq != expected {
            DamageKind::Sequence { expected, found: line.seq }
        } else if line.prev != self.at.hash {
            if expected == 1 { DamageKind::Intent } else { DamageKind::Chain }
        } else if line.ts < self.at.ts {
            DamageKind::Time
        } else {
            return Ok(line);
        };
        Err(Stop::Damage(broken))
    }

    fn stopped(&self, file: &dyn DiskFile, stop: Stop) -> io::Result<ScanEnd> {
        let fault = match stop {
            Stop::Visitor => ScanFault::Stopped,
            Stop::Newer(version) => ScanFault::NewerFormat { seq: self.at.seq + 1, version },
            Stop::Damage(kind) => {
                let offset = self.at.offset;
                let lines_behind = count_lines(file, offset)?.saturating_sub(1);
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

/// Line feeds from `offset` to the end of the file.
fn count_lines(file: &dyn DiskFile, mut offset: u64) -> io::Result<u64> {
    let mut buffer = vec![0; CHUNK];
    let mut lines = 0;
    loop {
        match file.read_at(offset, &mut buffer)? {
            0 => return Ok(lines),
            read => {
                lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
                offset += read as u64;
            }
        }
    }
}
