//! What was sent or printed: in the event itself when it is short text, else a blob and what stands at its two ends.

use std::num::NonZeroU64;

use harn_ledger::{BlobRef, Digest};
use serde::{Deserialize, Serialize};

/// Longest text that stands in an event, in bytes.
pub const INLINE_MAX: usize = 4096;
/// Longest head of an excerpt, in bytes.
pub const HEAD_MAX: usize = 1024;
/// Longest tail of an excerpt, in bytes.
pub const TAIL_MAX: usize = 2048;

/// A prompt, a reply or an output, whole: `{"text":"…"}` or `{"stored":{…}}`.
///
/// UTF-8 text of at most 4 KiB stands in the event. Anything else is a blob, which must be stored before the event that
/// cites it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub struct Captured(Form);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    Text(String),
    Stored(Excerpt),
}

/// A blob and what stands at its two ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excerpt {
    /// The blob.
    pub content: BlobRef,
    /// Its beginning, at most 1 KiB; what is not UTF-8 is replaced by `U+FFFD`.
    pub head: String,
    /// Its end, at most 2 KiB, in the same way. It may repeat what the head shows.
    pub tail: String,
    /// Bytes that came after the last one stored, when the blob reached its cap. They were counted and dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<NonZeroU64>,
}

/// The record holds more text than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{part}` has {bytes} bytes, expected at most {max}")]
pub struct InvalidCaptured {
    /// `text`, `head` or `tail`.
    pub part: &'static str,
    /// Its length in bytes.
    pub bytes: usize,
    /// The most allowed.
    pub max: usize,
}

impl Captured {
    /// Captures `bytes`. When [`Captured::blob`] of the result is not `None`, they must be stored as a blob.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.len() <= INLINE_MAX => Self(Form::Text(text.to_owned())),
            _ => Self::streamed(BlobRef::of(bytes), bytes, bytes, 0),
        }
    }

    /// Captures what was written to a blob piece by piece. `head` begins where the content begins and `tail` ends where it
    /// ends; both may be longer than what is kept. `dropped` counts the bytes after the last one stored.
    #[must_use]
    pub fn streamed(content: BlobRef, head: &[u8], tail: &[u8], dropped: u64) -> Self {
        Self(Form::Stored(Excerpt {
            content,
            head: beginning(head),
            tail: ending(tail),
            dropped: NonZeroU64::new(dropped),
        }))
    }

    /// The text, when it stands in the record whole.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.0 {
            Form::Text(text) => Some(text),
            Form::Stored(_) => None,
        }
    }

    /// The excerpt, when the content is a blob.
    #[must_use]
    pub fn excerpt(&self) -> Option<&Excerpt> {
        match &self.0 {
            Form::Text(_) => None,
            Form::Stored(excerpt) => Some(excerpt),
        }
    }

    /// The blob, when the content is one.
    #[must_use]
    pub fn blob(&self) -> Option<BlobRef> {
        self.excerpt().map(|excerpt| excerpt.content)
    }

    /// Digest and length of what was captured, wherever it stands.
    #[must_use]
    pub fn digest(&self) -> ContentDigest {
        let content = match &self.0 {
            Form::Text(text) => BlobRef::of(text.as_bytes()),
            Form::Stored(excerpt) => excerpt.content,
        };
        ContentDigest { sha256: content.blob, bytes: content.bytes }
    }
}

impl From<Captured> for Form {
    fn from(captured: Captured) -> Self {
        captured.0
    }
}

impl TryFrom<Form> for Captured {
    type Error = InvalidCaptured;

    fn try_from(form: Form) -> Result<Self, Self::Error> {
        let parts = match &form {
            Form::Text(text) => [("text", text.len(), INLINE_MAX), ("text", 0, INLINE_MAX)],
            Form::Stored(excerpt) => {
                [("head", excerpt.head.len(), HEAD_MAX), ("tail", excerpt.tail.len(), TAIL_MAX)]
            }
        };
        for (part, bytes, max) in parts {
            if bytes > max {
                return Err(InvalidCaptured { part, bytes, max });
            }
        }
        Ok(Self(form))
    }
}

/// Digest and length of a content, without citing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentDigest {
    /// SHA-256 of the bytes.
    pub sha256: Digest,
    /// Their number.
    pub bytes: u64,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PayloadKind {
    /// Plain text.
    Text,
    /// A JSON document.
    Json,
}

/// What an agent answered or a script returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// What it is.
    pub kind: PayloadKind,
    /// Its bytes.
    pub content: Captured,
}

/// As much of the beginning as fits, cut between characters.
fn beginning(bytes: &[u8]) -> String {
    let mut end = bytes.len().min(HEAD_MAX);
    if end < bytes.len() {
        end -= continuation_bytes(bytes[..=end].iter().rev());
    }
    // Replacement characters are longer than the bytes they stand for.
    let mut text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let fits = text.len().min(HEAD_MAX);
    text.truncate((0..=fits).rfind(|at| text.is_char_boundary(*at)).unwrap_or(0));
    text
}

/// As much of the end as fits, cut between characters.
fn ending(bytes: &[u8]) -> String {
    let mut start = bytes.len().saturating_sub(TAIL_MAX);
    if start > 0 {
        start += continuation_bytes(bytes[start..].iter());
    }
    let text = String::from_utf8_lossy(&bytes[start..]);
    let excess = text.len().saturating_sub(TAIL_MAX);
    let from = (excess..text.len()).find(|at| text.is_char_boundary(*at));
    text[from.unwrap_or(text.len())..].to_owned()
}

/// How many bytes, at most three, only continue a character.
fn continuation_bytes<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
    bytes.take(3).take_while(|byte| **byte & 0xC0 == 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_stays_and_anything_else_becomes_a_blob() {
        let longest = "x".repeat(INLINE_MAX);
        for inline in ["", "hello\u{0}", &longest] {
            let captured = Captured::of(inline.as_bytes());
            assert_eq!((captured.text(), captured.blob()), (Some(inline), None));
        }
        let longer = "x".repeat(INLINE_MAX + 1);
        for stored in [longer.as_bytes(), b"\xff"] {
            let captured = Captured::of(stored);
            assert_eq!((captured.text(), captured.blob()), (None, Some(BlobRef::of(stored))));
        }
    }

    #[test]
    fn excerpts_are_cut_between_characters() {
        for shift in 0..4 {
            let text = format!("{}{}", "x".repeat(shift), "\u{1f980}".repeat(2000));
            let captured = Captured::of(text.as_bytes());
            let excerpt = captured.excerpt().unwrap();
            assert!(text.starts_with(&excerpt.head) && excerpt.head.len() > HEAD_MAX - 4);
            assert!(text.ends_with(&excerpt.tail) && excerpt.tail.len() > TAIL_MAX - 4);
        }
    }

    #[test]
    fn a_short_excerpt_is_whole() {
        let captured = Captured::of(b"\x80ab");
        let excerpt = captured.excerpt().unwrap();
        assert_eq!((&*excerpt.head, &*excerpt.tail), ("\u{fffd}ab", "\u{fffd}ab"));
    }

    #[test]
    fn excerpts_of_binary_data_keep_their_bounds() {
        for bytes in [vec![0xff; 9000], vec![0x80; 9000], vec![0xf0; 2], Vec::new()] {
            let captured = Captured::streamed(BlobRef::of(&bytes), &bytes, &bytes, 7);
            let json = serde_json::to_string(&captured).unwrap();
            assert_eq!(serde_json::from_str::<Captured>(&json).unwrap(), captured);
        }
    }

    #[test]
    fn forms_that_are_not_written_are_not_read() {
        let digest = Digest::of(b"");
        let over = |max: usize| "x".repeat(max + 1);
        for bad in [
            format!(r#"{{"text":"{}"}}"#, over(INLINE_MAX)),
            format!(
                r#"{{"stored":{{"content":{{"blob":"{digest}","bytes":0}},"head":"{}","tail":""}}}}"#,
                over(HEAD_MAX)
            ),
            format!(
                r#"{{"stored":{{"content":{{"blob":"{digest}","bytes":0}},"head":"","tail":"{}"}}}}"#,
                over(TAIL_MAX)
            ),
            format!(
                r#"{{"stored":{{"content":{{"blob":"{digest}","bytes":0}},"head":"","tail":"","dropped":0}}}}"#
            ),
            r#"{"text":"a","stored":null}"#.to_owned(),
            r#"{"text":null}"#.to_owned(),
            "{}".to_owned(),
        ] {
            assert!(serde_json::from_str::<Captured>(&bad).is_err(), "{bad}");
        }
    }
}
