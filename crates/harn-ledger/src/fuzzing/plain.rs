//! The format read a second time: whole texts cut at what stands between their members, and logs as lists of lines.

use crate::digest::Digest;
use crate::id::Actor;
use crate::limits::Limits;
use crate::line::{LineFault, decode, opening};
use crate::scan::{Damage, DamageKind, ScanEnd, ScanFault, UnfinishedTail};
use crate::time::Timestamp;

/// What a line says about its place.
pub(super) struct PlainLine {
    pub(super) seq: u64,
    pub(super) ts: Timestamp,
    pub(super) more: bool,
    pub(super) prev: Digest,
    pub(super) hash: Digest,
}

/// The stream that the bytes name, as far as it could be one, or some other.
pub(super) fn stream_of(bytes: &[u8]) -> &str {
    let named = bytes
        .strip_prefix(br#"{"schema_version":1,"stream":""#)
        .and_then(|rest| rest.split(|&byte| byte == b'"').next())
        .and_then(|name| std::str::from_utf8(name).ok());
    let could_be = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    named.filter(could_be).unwrap_or("account/a")
}

/// The line, if it is one of `stream`.
pub(super) fn line(bytes: &[u8], stream: &str) -> Option<PlainLine> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (body, hash) = text.strip_suffix("\"}")?.rsplit_once(r#","hash":""#)?;
    let hash: Digest = hash.parse().ok().filter(|hash| Digest::of(body.as_bytes()) == *hash)?;
    let (rest, prev) = body.strip_suffix('"')?.rsplit_once(r#","prev":""#)?;
    let prev = prev.parse().ok()?;
    // Within a text every quotation mark has a backslash before it, so none of these can stand in one.
    let (rest, data) = rest.split_once(r#","data":"#)?;
    let (data, more) = data.strip_suffix(r#","more":true"#).map_or((data, false), |data| (data, true));
    let (rest, event) = rest.strip_suffix('"')?.rsplit_once(r#","event":""#)?;
    let (rest, actor) = rest.split_once(r#","actor":"#)?;
    let (rest, ts) = rest.strip_suffix('"')?.split_once(r#","ts":""#)?;
    let seq = rest.strip_prefix(&format!(r#"{{"schema_version":1,"stream":"{stream}","seq":"#))?;
    let number: u64 = seq.parse().ok()?;

    let text: String = serde_json::from_str(actor).ok()?;
    let canonical = number.to_string() == seq && serde_json::to_string(&text).ok()? == actor;
    let legal = Actor::new(&text).is_ok() && is_event(event) && is_object(data);
    let ts = ts.parse().ok()?;
    (canonical && legal).then_some(PlainLine { seq: number, ts, more, prev, hash })
}

fn is_event(name: &str) -> bool {
    let words: Vec<&str> = name.split('.').collect();
    let is_word = |word: &&str| {
        matches!(word.chars().next(), Some('a'..='z')) && word.chars().all(|c| matches!(c, 'a'..='z' | '_'))
    };
    words.len() <= 2 && words.iter().all(is_word) && name.len() <= 64
}

/// Compact JSON without `null`, in which no more than 127 objects and lists lie in each other.
fn is_object(data: &str) -> bool {
    // What is left once the escapes are gone alternates between what is outside and what is inside of texts.
    let bare = data.replace(r"\\", "").replace(r#"\""#, "");
    let outside = bare.split('"').step_by(2).collect::<Vec<_>>().concat();
    let mut open = 0;
    let depths = outside.chars().map(|c| {
        open += i32::from("{[".contains(c)) - i32::from("}]".contains(c));
        open
    });
    let compact = depths.max().is_some_and(|deepest| deepest <= 127)
        && !outside.contains("null")
        && !outside.contains([' ', '\t', '\r', '\n']);
    data.starts_with('{') && compact && serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok()
}

/// What a scan should find.
pub(super) struct PlainScan {
    /// Sequence number and hash of every line of every whole batch.
    pub(super) shown: Vec<(u64, Digest)>,
    /// Where the last whole batch ends.
    pub(super) whole: u64,
    pub(super) verdict: Verdict,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Whole,
    Tail(UnfinishedTail),
    Damage(Damage),
    Newer { seq: u64, version: u64 },
}

impl Verdict {
    pub(super) fn of(end: &ScanEnd) -> Self {
        match (&end.fault, end.tail) {
            (None, None) => Self::Whole,
            (None, Some(tail)) => Self::Tail(tail),
            (Some(ScanFault::Damage(damage)), _) => Self::Damage(damage.clone()),
            (Some(ScanFault::NewerFormat { seq, version }), _) => {
                Self::Newer { seq: *seq, version: *version }
            }
            (Some(ScanFault::Stopped), _) => panic!("nobody stopped it"),
        }
    }
}

pub(super) fn scan(log: &[u8], intent: Digest, stream: &str, limits: &Limits) -> PlainScan {
    let lines: Vec<&[u8]> = log.split_inclusive(|&byte| byte == b'\n').collect();
    let mut found: Vec<PlainLine> = Vec::new();
    let mut offset = 0;
    let mut fault = None;
    for line in &lines {
        match check(line, offset, found.last(), intent, stream, limits) {
            Ok(Some(line)) => found.push(line),
            Ok(None) => break,
            Err(verdict) => {
                fault = Some(verdict);
                break;
            }
        }
        offset += line.len() as u64;
    }
    let whole_lines = found.iter().rposition(|line| !line.more).map_or(0, |last| last + 1);
    let whole = lines[..whole_lines].concat().len() as u64;
    let bytes = log.len() as u64 - whole;
    let verdict = match fault {
        Some(Fault::Newer(version)) => Verdict::Newer { seq: found.len() as u64 + 1, version },
        Some(Fault::Damage(kind)) => {
            // Lines are counted as far as a log of its kind could go on.
            let ends = lines.iter().scan(0, |end, line| {
                *end += line.len() as u64;
                Some((*end, line.ends_with(b"\n")))
            });
            let counts = |&(end, fed): &(u64, bool)| fed && end > offset && end <= limits.log_bytes;
            let feeds = ends.filter(counts).count() as u64;
            let line = found.len() as u64 + 1;
            Verdict::Damage(Damage { line, offset, kind, lines_behind: feeds.saturating_sub(1) })
        }
        None if bytes > 0 => Verdict::Tail(UnfinishedTail { offset: whole, bytes }),
        None => Verdict::Whole,
    };
    let shown = found[..whole_lines].iter().map(|line| (line.seq, line.hash)).collect();
    PlainScan { shown, whole, verdict }
}

enum Fault {
    Damage(DamageKind),
    Newer(u64),
}

/// The line behind `before`; `None` if its end was never written.
fn check(
    line: &[u8],
    offset: u64,
    before: Option<&PlainLine>,
    intent: Digest,
    stream: &str,
    limits: &Limits,
) -> Result<Option<PlainLine>, Fault> {
    let hole = line.contains(&0);
    let too_large = |what, limit| {
        Err(Fault::Damage(if hole { DamageKind::Hole } else { DamageKind::TooLarge { what, limit } }))
    };
    let length = line.len() as u64;
    let Some(content) = line.strip_suffix(b"\n") else {
        // No write of a line leaves as much; but of many lines, a power loss can leave zeros.
        return if length >= limits.line_bytes && !hole {
            too_large("line", limits.line_bytes)
        } else {
            Ok(None)
        };
    };
    let expected = before.map_or(1, |before| before.seq + 1);
    if length > limits.line_bytes {
        return too_large("line", limits.line_bytes);
    }
    if offset + length > limits.log_bytes {
        return too_large("log", limits.log_bytes);
    }
    if expected > limits.events {
        return too_large("number of events", limits.events);
    }
    let Some(line) = self::line(content, stream) else {
        // Why it is none is for the line's own reader to say.
        return Err(match decode(content, &opening(stream)) {
            Err(LineFault::Newer(version)) => Fault::Newer(version),
            Err(LineFault::Hole) => Fault::Damage(DamageKind::Hole),
            Err(LineFault::Hash) => Fault::Damage(DamageKind::Hash),
            Err(LineFault::Shape(part)) => Fault::Damage(DamageKind::Shape { part }),
            Err(LineFault::Foreign(stream)) => Fault::Damage(DamageKind::Foreign { stream }),
            Ok(_) => Fault::Damage(DamageKind::Shape { part: "prev" }),
        });
    };
    let prev = before.map_or(intent, |before| before.hash);
    if line.seq != expected {
        Err(Fault::Damage(DamageKind::Sequence { expected, found: line.seq }))
    } else if line.prev != prev {
        Err(Fault::Damage(if expected == 1 { DamageKind::Intent } else { DamageKind::Chain }))
    } else if line.ts < before.map_or(Timestamp::UNIX_EPOCH, |before| before.ts) {
        Err(Fault::Damage(DamageKind::Time))
    } else {
        Ok(Some(line))
    }
}
