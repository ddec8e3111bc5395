//! One line of a log: its bytes, and nothing but its bytes.

use std::borrow::Cow;
use std::io::Write as _;
use std::ops::Range;

use crate::compact;
use crate::digest::Digest;
use crate::id::{Actor, is_event_name};
use crate::time::{TIMESTAMP_LEN, Timestamp};

/// The version of the line format that this build writes.
pub(crate) const LINE_VERSION: u64 = 1;

/// Bytes of `,"hash":"`, 64 digits and `"}`: the part of a line that its hash does not cover.
const SEAL: usize = 9 + 64 + 2;

/// How far before the end of a line, its line feed included, the digits of its hash begin.
pub(crate) const HASH_FROM_END: u64 = 64 + 3;

/// Bytes of `,"prev":"`, 64 digits and `"`.
const PREV: usize = 9 + 64 + 1;

/// A line as it was read. It verifies, and so does its place in the chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    parts: &'a Parts,
    /// Without the line feed.
    bytes: &'a [u8],
    /// The hash of the line before, or the digest of the intent.
    pub(crate) prev: Digest,
}

impl<'a> Line<'a> {
    /// The line in whose `bytes` these parts were found.
    pub(crate) const fn new(parts: &'a Parts, bytes: &'a [u8], prev: Digest) -> Self {
        Self { parts, bytes, prev }
    }

    pub(crate) const fn seq(&self) -> u64 {
        self.parts.seq
    }

    pub(crate) const fn ts(&self) -> Timestamp {
        self.parts.ts
    }

    pub(crate) fn actor(&self) -> Cow<'a, str> {
        let Range { start, end } = self.parts.actor;
        let actor = &self.bytes[widen(start..end)];
        if memchr::memchr(b'\\', actor).is_none() {
            return Cow::Borrowed(checked(actor));
        }
        let quoted = &self.bytes[widen(start - 1..end + 1)];
        serde_json::from_slice(quoted).map(Cow::Owned).expect("it was read when it was taken apart")
    }

    pub(crate) fn event(&self) -> &'a str {
        checked(&self.bytes[widen(self.parts.event.clone())])
    }

    /// A JSON object, compact and without `null`.
    pub(crate) fn data(&self) -> &'a [u8] {
        &self.bytes[widen(self.parts.data.clone())]
    }

    /// Whether the batch goes on with the next line.
    pub(crate) const fn more(&self) -> bool {
        self.parts.more
    }

    pub(crate) const fn hash(&self) -> Digest {
        self.parts.hash
    }
}

/// What was found in the bytes of a line. Its hash has been checked; its place in a chain has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) seq: u64,
    pub(crate) ts: Timestamp,
    pub(crate) more: bool,
    pub(crate) hash: Digest,
    /// Where the actor stands between its quotation marks, in bytes from the start of the line.
    actor: Range<u32>,
    event: Range<u32>,
    data: Range<u32>,
}

/// Why bytes are not a line of this stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineFault {
    /// There are zero bytes where text should be.
    Hole,
    /// The hash does not match the bytes.
    Hash,
    /// The hash matches, but the line has another shape than this format gives it; says which part.
    Shape(&'static str),
    /// The hash matches, and the line says that it belongs to another stream.
    Foreign(String),
    /// The hash matches, and the line has a newer version of the format.
    Newer(u64),
}

/// What a line holds besides its place in the chain.
pub(crate) struct Content<'a> {
    pub(crate) ts: Timestamp,
    pub(crate) actor: &'a str,
    pub(crate) event: &'a str,
    pub(crate) data: &'a [u8],
    pub(crate) more: bool,
}

/// Appends the line and its line feed to `out` and returns the line's hash.
pub(crate) fn encode(
    out: &mut Vec<u8>,
    opening: &str,
    seq: u64,
    prev: &Digest,
    content: &Content<'_>,
) -> Digest {
    let start = out.len();
    out.extend_from_slice(opening.as_bytes());
    write!(out, r#"{seq},"ts":"{}","actor":"#, content.ts).expect("writing to memory cannot fail");
    serde_json::to_writer(&mut *out, content.actor).expect("writing a string to memory cannot fail");
    out.extend_from_slice(br#","event":""#);
    out.extend_from_slice(content.event.as_bytes());
    out.extend_from_slice(br#"","data":"#);
    out.extend_from_slice(content.data);
    out.extend_from_slice(if content.more { br#","more":true,"prev":""# } else { br#","prev":""# });
    out.extend_from_slice(&prev.hex());
    out.push(b'"');
    let hash = Digest::of(&out[start..]);
    out.extend_from_slice(br#","hash":""#);
    out.extend_from_slice(&hash.hex());
    out.extend_from_slice(b"\"}\n");
    hash
}

/// What every line of a stream begins with, up to its sequence number.
pub(crate) fn opening(stream: &str) -> String {
    format!(r#"{{"schema_version":{LINE_VERSION},"stream":"{stream}","seq":"#)
}

/// Takes a line apart, given its bytes without the line feed and the opening of its stream.
pub(crate) fn decode(bytes: &[u8], opening: &str) -> Result<Parts, LineFault> {
    let (body, hash) = unseal(bytes)?;
    let mut rest = Cursor { bytes: body, at: 0 };
    if !body.starts_with(opening.as_bytes()) {
        return Err(other_opening(rest).unwrap_or_else(|fault| fault));
    }
    rest.at = opening.len();
    let seq = rest.number("seq")?;
    rest.literal(br#","ts":""#, "ts")?;
    let ts = Timestamp::from_written(rest.take(TIMESTAMP_LEN, "ts")?).ok_or(LineFault::Shape("ts"))?;
    rest.literal(br#"","actor":""#, "actor")?;
    let actor = rest.actor()?;
    rest.literal(br#"","event":""#, "event")?;
    let event = rest.until_quote("event")?;
    if !is_event_name(&body[event.clone()]) {
        return Err(LineFault::Shape("event"));
    }
    rest.literal(br#"","data":"#, "data")?;
    let (data, more) = rest.data_more()?;
    Ok(Parts { seq, ts, more, hash, actor: narrow(actor), event: narrow(event), data: narrow(data) })
}

/// What is wrong with a line that does not begin as the lines of its stream do.
fn other_opening(mut rest: Cursor<'_>) -> Part<LineFault> {
    rest.literal(br#"{"schema_version":"#, "schema_version")?;
    match rest.number("schema_version")? {
        LINE_VERSION => {}
        newer if newer > LINE_VERSION => return Ok(LineFault::Newer(newer)),
        _ => return Ok(LineFault::Shape("schema_version")),
    }
    rest.literal(br#","stream":""#, "stream")?;
    let stream = rest.until_quote("stream")?;
    let stream = std::str::from_utf8(&rest.bytes[stream]).map_err(|_| LineFault::Shape("stream"))?;
    // An opening that names the right stream fails behind it.
    Ok(match rest.literal(br#"","seq":"#, "seq") {
        Ok(()) => LineFault::Foreign(stream.to_owned()),
        Err(fault) => fault,
    })
}

/// The digits of a line's hash, as they stand in a line that was taken apart.
pub(crate) fn hash_digits(line: &[u8]) -> &[u8] {
    &line[line.len() - 66..line.len() - 2]
}

/// The digits that name the line before, as they stand in a line that was taken apart.
pub(crate) fn prev_digits(line: &[u8]) -> &[u8] {
    &line[line.len() - SEAL - 65..line.len() - SEAL - 1]
}

/// Whether digits are written as those of a digest are.
pub(crate) fn are_digits(digits: &[u8]) -> bool {
    digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Text that was checked when its line was taken apart.
pub(crate) fn checked(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it was checked when it was taken apart")
}

fn narrow(range: Range<usize>) -> Range<u32> {
    let narrow = |at| u32::try_from(at).expect("a line is shorter than 4 GiB");
    narrow(range.start)..narrow(range.end)
}

fn widen(range: Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// Splits a line into the part that its hash covers and the hash, and checks that they agree.
fn unseal(bytes: &[u8]) -> Result<(&[u8], Digest), LineFault> {
    let broken = || {
        if bytes.contains(&0) { LineFault::Hole } else { LineFault::Hash }
    };
    let (body, seal) = bytes.split_at_checked(bytes.len().wrapping_sub(SEAL)).ok_or_else(broken)?;
    let digits =
        seal.strip_prefix(br#","hash":""#).and_then(|seal| seal.strip_suffix(br#""}"#)).ok_or_else(broken)?;
    // The digits are compared, not read: so there is one way to write a hash, and it is faster.
    let hash = Digest::of(body);
    if hash.hex() == digits { Ok((body, hash)) } else { Err(broken()) }
}

/// A place in a line while it is taken apart.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

type Part<T> = Result<T, LineFault>;

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Its length being known, the comparison takes a few instructions.
    fn literal<const N: usize>(&mut self, literal: &[u8; N], part: &'static str) -> Part<()> {
        if self.rest().first_chunk() == Some(literal) {
            self.at += N;
            Ok(())
        } else {
            Err(LineFault::Shape(part))
        }
    }

    fn take(&mut self, length: usize, part: &'static str) -> Part<&'a [u8]> {
        let taken = self.rest().get(..length).ok_or(LineFault::Shape(part))?;
        self.at += length;
        Ok(taken)
    }

    /// Decimal digits without a leading zero.
    fn number(&mut self, part: &'static str) -> Part<u64> {
        let fault = LineFault::Shape(part);
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = match self.take(digits, part)? {
            b"" | [b'0', _, ..] => None,
            digits => digits.iter().try_fold(0_u64, |number, digit| {
                number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
            }),
        };
        number.ok_or(fault)
    }

    /// Text up to the next quotation mark, which stays. For parts that never hold an escape.
    fn until_quote(&mut self, part: &'static str) -> Part<Range<usize>> {
        let length = memchr::memchr(b'"', self.rest()).ok_or(LineFault::Shape(part))?;
        self.at += length;
        Ok(self.at - length..self.at)
    }

    /// The actor up to its closing quotation mark, which stays.
    fn actor(&mut self) -> Part<Range<usize>> {
        let fault = || LineFault::Shape("actor");
        let start = self.at;
        let mut plain = true;
        loop {
            self.at += memchr::memchr2(b'"', b'\\', self.rest()).ok_or_else(fault)?;
            if self.bytes[self.at] == b'"' {
                break;
            }
            plain = false;
            self.take(2, "actor")?;
        }
        let range = start..self.at;
        let text = std::str::from_utf8(&self.bytes[range.clone()]).map_err(|_| fault())?;
        if plain {
            Actor::check(text).map_err(|_| fault())?;
            return Ok(range);
        }
        let quoted = &self.bytes[start - 1..=self.at];
        let text: String = serde_json::from_slice(quoted).map_err(|_| fault())?;
        let canonical = serde_json::to_vec(&text).is_ok_and(|canonical| canonical == quoted);
        (canonical && Actor::check(&text).is_ok()).then_some(range).ok_or_else(fault)
    }

    /// The end of the line, read backwards because only its parts after the data have a fixed length.
    fn data_more(self) -> Part<(Range<usize>, bool)> {
        let rest = self.rest();
        let (rest, prev) =
            rest.split_at_checked(rest.len().wrapping_sub(PREV)).ok_or(LineFault::Shape("prev"))?;
        prev.strip_prefix(br#","prev":""#)
            .and_then(|prev| prev.strip_suffix(b"\""))
            .ok_or(LineFault::Shape("prev"))?;
        let (data, more) = match rest.strip_suffix(br#","more":true"#) {
            Some(data) => (data, true),
            None => (rest, false),
        };
        if compact::is_object(data) {
            Ok((self.at..self.at + data.len(), more))
        } else {
            Err(LineFault::Shape("data"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "work/a";

    fn content(more: bool) -> Content<'static> {
        let data = br#"{"hash":"x","text":",\"more\":true \\\" null"}"#;
        Content { ts: Timestamp::UNIX_EPOCH, actor: r#"a "b" \ ñ"#, event: "it.said", data, more }
    }

    fn encoded(more: bool) -> Vec<u8> {
        let mut out = Vec::new();
        encode(&mut out, &opening(STREAM), 7, &Digest::of(b"before"), &content(more));
        assert_eq!(out.pop(), Some(b'\n'));
        out
    }

    #[test]
    fn a_line_reads_back() {
        for more in [false, true] {
            let bytes = encoded(more);
            let prev = Digest::of(b"before");
            let parts = decode(&bytes, &opening(STREAM)).unwrap();
            let line = Line::new(&parts, &bytes, prev);
            let expected = content(more);
            assert_eq!((line.seq(), line.ts(), &*line.actor()), (7, expected.ts, expected.actor));
            assert_eq!((line.event(), line.data(), line.more()), (expected.event, expected.data, more));
            assert_eq!(prev_digits(&bytes), prev.hex());
            assert_eq!(hash_digits(&bytes), line.hash().hex());
            assert_eq!(line.hash(), Digest::of(&bytes[..bytes.len() - SEAL]));
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        for bytes in [encoded(false), encoded(true)] {
            for index in 0..bytes.len() {
                for bit in 0..8 {
                    let mut changed = bytes.clone();
                    changed[index] ^= 1 << bit;
                    assert!(decode(&changed, &opening(STREAM)).is_err(), "byte {index}, bit {bit}");
                }
            }
        }
    }

    /// Seals `body` with a hash that matches, so that only its shape can be at fault.
    fn sealed(body: &str) -> Vec<u8> {
        format!(r#"{body},"hash":"{}"}}"#, Digest::of(body.as_bytes())).into_bytes()
    }

    #[test]
    fn a_line_with_another_shape_is_told_apart_from_a_broken_one() {
        let prev = Digest::of(b"");
        let ts = "1970-01-01T00:00:00.000000Z";
        let line = |version: &str, stream: &str, seq: &str, rest: &str| {
            sealed(&format!(
                r#"{{"schema_version":{version},"stream":"{stream}","seq":{seq},"ts":"{ts}",{rest},"prev":"{prev}""#
            ))
        };
        let rest = r#""actor":"a","event":"b","data":{}"#;
        assert!(decode(&line("1", STREAM, "1", rest), &opening(STREAM)).is_ok());
        let cases = [
            (line("2", STREAM, "1", rest), LineFault::Newer(2)),
            (line("0", STREAM, "1", rest), LineFault::Shape("schema_version")),
            (line("1", "work/b", "1", rest), LineFault::Foreign("work/b".to_owned())),
            (line("1", STREAM, "01", rest), LineFault::Shape("seq")),
            (line("1", STREAM, "-1", rest), LineFault::Shape("seq")),
            (line("1", STREAM, "", rest), LineFault::Shape("seq")),
            (line("1", STREAM, "1", r#""actor":"\u0061","event":"b","data":{}"#), LineFault::Shape("actor")),
            (line("1", STREAM, "1", r#""actor":"","event":"b","data":{}"#), LineFault::Shape("actor")),
            (line("1", STREAM, "1", r#""actor":"a","event":"B","data":{}"#), LineFault::Shape("event")),
            (line("1", STREAM, "1", r#""actor":"a","event":"b","data":[]"#), LineFault::Shape("data")),
            (
                line("1", STREAM, "1", r#""actor":"a","event":"b","data":{"a":null}"#),
                LineFault::Shape("data"),
            ),
            (line("1", STREAM, "1", r#""actor":"a","event":"b","data":{ }"#), LineFault::Shape("data")),
            (
                line("1", STREAM, "1", r#""actor":"a","event":"b","data":{},"more":false"#),
                LineFault::Shape("data"),
            ),
            (vec![0; 300], LineFault::Hole),
            (b"{}".to_vec(), LineFault::Hash),
            (Vec::new(), LineFault::Hash),
        ];
        for (bytes, fault) in cases {
            assert_eq!(decode(&bytes, &opening(STREAM)), Err(fault), "{}", bytes.escape_ascii());
        }
    }
}
