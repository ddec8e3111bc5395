//! One line of a log: its bytes, and nothing but its bytes.

use std::borrow::Cow;

use crate::digest::Digest;
use crate::id::{Actor, is_event_name};
use crate::payload::holds_null_or_space;
use crate::time::{TIMESTAMP_LEN, Timestamp};

/// The version of the line format that this build writes.
pub(crate) const LINE_VERSION: u64 = 1;

/// Bytes of `,"hash":"`, 64 digits and `"}`: the part of a line that its hash does not cover.
const SEAL: usize = 9 + 64 + 2;

/// A line as it was read, without its line feed. Its hash has been checked; its place in a chain has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) seq: u64,
    pub(crate) ts: Timestamp,
    pub(crate) actor: Actor,
    pub(crate) event: Cow<'a, str>,
    /// A JSON object, compact and without `null`.
    pub(crate) data: Cow<'a, [u8]>,
    /// Whether the batch goes on with the next line.
    pub(crate) more: bool,
    pub(crate) prev: Digest,
    pub(crate) hash: Digest,
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
    stream: &str,
    seq: u64,
    prev: &Digest,
    content: &Content<'_>,
) -> Digest {
    let start = out.len();
    out.extend_from_slice(br#"{"schema_version":1,"stream":""#);
    out.extend_from_slice(stream.as_bytes());
    out.extend_from_slice(format!(r#"","seq":{seq},"ts":"{}","actor":"#, content.ts).as_bytes());
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

/// Reads a line of `stream` from its bytes without the line feed.
pub(crate) fn decode<'a>(bytes: &'a [u8], stream: &str) -> Result<Line<'a>, LineFault> {
    let (body, hash) = unseal(bytes)?;
    let mut rest = Cursor(body);
    rest.literal(br#"{"schema_version":"#, "schema_version")?;
    match rest.number("schema_version")? {
        LINE_VERSION => {}
        newer if newer > LINE_VERSION => return Err(LineFault::Newer(newer)),
        _ => return Err(LineFault::Shape("schema_version")),
    }
    rest.literal(br#","stream":""#, "stream")?;
    let found = rest.until_quote("stream")?;
    if found != stream {
        return Err(LineFault::Foreign(found.to_owned()));
    }
    rest.literal(br#"","seq":"#, "seq")?;
    let seq = rest.number("seq")?;
    rest.literal(br#","ts":""#, "ts")?;
    let ts = rest.take(TIMESTAMP_LEN, "ts")?.parse().map_err(|_| LineFault::Shape("ts"))?;
    rest.literal(br#"","actor":"#, "actor")?;
    let actor = rest.actor()?;
    rest.literal(br#","event":""#, "event")?;
    let event = rest.until_quote("event")?;
    if !is_event_name(event) {
        return Err(LineFault::Shape("event"));
    }
    rest.literal(br#"","data":"#, "data")?;
    let (data, more, prev) = rest.data_more_prev()?;
    Ok(Line { seq, ts, actor, event: event.into(), data: data.into(), more, prev, hash })
}

/// Splits a line into the part that its hash covers and the hash, and checks that they agree.
fn unseal(bytes: &[u8]) -> Result<(&[u8], Digest), LineFault> {
    let broken = || {
        if bytes.contains(&0) { LineFault::Hole } else { LineFault::Hash }
    };
    let (body, seal) = bytes.split_at_checked(bytes.len().saturating_sub(SEAL)).ok_or_else(broken)?;
    let hash = seal
        .strip_prefix(br#","hash":""#)
        .and_then(|seal| seal.strip_suffix(br#""}"#))
        .and_then(Digest::from_hex)
        .ok_or_else(broken)?;
    if Digest::of(body) == hash { Ok((body, hash)) } else { Err(broken()) }
}

impl Line<'_> {
    /// The same line, with its own copy of the bytes.
    pub(crate) fn into_owned(self) -> Line<'static> {
        Line { event: self.event.into_owned().into(), data: self.data.into_owned().into(), ..self }
    }
}

/// What is left of a line while it is taken apart.
struct Cursor<'a>(&'a [u8]);

type Part<T> = Result<T, LineFault>;

impl<'a> Cursor<'a> {
    fn literal(&mut self, literal: &[u8], part: &'static str) -> Part<()> {
        self.0 = self.0.strip_prefix(literal).ok_or(LineFault::Shape(part))?;
        Ok(())
    }

    fn take(&mut self, length: usize, part: &'static str) -> Part<&'a str> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(LineFault::Shape(part))?;
        self.0 = rest;
        std::str::from_utf8(taken).map_err(|_| LineFault::Shape(part))
    }

    /// Decimal digits without a leading zero.
    fn number(&mut self, part: &'static str) -> Part<u64> {
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = self.take(digits, part)?;
        let canonical = !text.starts_with('0') || text == "0";
        canonical.then(|| text.parse().ok()).flatten().ok_or(LineFault::Shape(part))
    }

    /// Text up to the next quotation mark, which stays. For parts that never hold an escape.
    fn until_quote(&mut self, part: &'static str) -> Part<&'a str> {
        let length = self.0.iter().position(|&byte| byte == b'"').ok_or(LineFault::Shape(part))?;
        self.take(length, part)
    }

    fn actor(&mut self) -> Part<Actor> {
        let fault = LineFault::Shape("actor");
        let mut escaped = false;
        let inner = self.0.strip_prefix(b"\"").ok_or_else(|| fault.clone())?;
        let end = inner.iter().position(|&byte| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        });
        let json = self.take(end.ok_or_else(|| fault.clone())? + 2, "actor")?;
        let text: String = serde_json::from_str(json).map_err(|_| fault.clone())?;
        if serde_json::to_string(&text).is_ok_and(|canonical| canonical == json) {
            Actor::new(&text).map_err(|_| fault)
        } else {
            Err(fault)
        }
    }

    /// The end of the line, read backwards because only its parts after the data have a fixed length.
    fn data_more_prev(self) -> Part<(&'a [u8], bool, Digest)> {
        const PREV: usize = 9 + 64 + 1;
        let (rest, prev) =
            self.0.split_at_checked(self.0.len().saturating_sub(PREV)).ok_or(LineFault::Shape("prev"))?;
        let prev = prev
            .strip_prefix(br#","prev":""#)
            .and_then(|prev| prev.strip_suffix(b"\""))
            .and_then(Digest::from_hex)
            .ok_or(LineFault::Shape("prev"))?;
        let (data, more) = match rest.strip_suffix(br#","more":true"#) {
            Some(data) => (data, true),
            None => (rest, false),
        };
        let object = data.first() == Some(&b'{')
            && !holds_null_or_space(data)
            && std::str::from_utf8(data)
                .is_ok_and(|data| serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok());
        if object { Ok((data, more, prev)) } else { Err(LineFault::Shape("data")) }
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
        encode(&mut out, STREAM, 7, &Digest::of(b"before"), &content(more));
        assert_eq!(out.pop(), Some(b'\n'));
        out
    }

    #[test]
    fn a_line_reads_back() {
        for more in [false, true] {
            let bytes = encoded(more);
            let line = decode(&bytes, STREAM).unwrap();
            let expected = content(more);
            assert_eq!((line.seq, line.ts, line.actor.as_str()), (7, expected.ts, expected.actor));
            assert_eq!((&*line.event, &*line.data, line.more), (expected.event, expected.data, more));
            assert_eq!(line.prev, Digest::of(b"before"));
            assert_eq!(line.hash, Digest::of(&bytes[..bytes.len() - SEAL]));
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        for bytes in [encoded(false), encoded(true)] {
            for index in 0..bytes.len() {
                for bit in 0..8 {
                    let mut changed = bytes.clone();
                    changed[index] ^= 1 << bit;
                    assert!(decode(&changed, STREAM).is_err(), "byte {index}, bit {bit}");
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
        assert!(decode(&line("1", STREAM, "1", rest), STREAM).is_ok());
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
            assert_eq!(decode(&bytes, STREAM), Err(fault), "{}", String::from_utf8_lossy(&bytes));
        }
    }
}
