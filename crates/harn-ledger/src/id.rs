//! Names: stream ids, kinds, actors and event names, each parsed once into its own type.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::text;

/// Defines an owned, validated string type with the conversions that all of them share.
macro_rules! validated_string {
    ($(#[$meta:meta])* $name:ident, $error:ty, $check:path) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks `text` and takes a copy of it.
            pub fn new(text: &str) -> Result<Self, $error> {
                $check(text)?;
                Ok(Self(text.into()))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::new(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::new(&text).map_err(de::Error::custom)
            }
        }
    };
}

validated_string! {
    /// The id of a stream within its kind: an ASCII letter or digit, then letters, digits, `.`, `_` or `-`; 1 to 100
    /// bytes. It is also the name of the stream's directory.
    StreamId, InvalidId, check_id
}

validated_string! {
    /// Who caused an event: one line of 1 to 100 characters without control characters, trimmed.
    Actor, text::TextError, check_actor
}

impl Actor {
    /// Checks `text` and takes no copy of it.
    pub(crate) fn check(text: &str) -> Result<(), text::TextError> {
        check_actor(text)
    }

    /// A copy of a text that was checked before.
    pub(crate) fn from_checked(text: &str) -> Self {
        debug_assert!(check_actor(text).is_ok());
        Self(text.into())
    }
}

/// The text is not a stream id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not an id, expected a letter or digit, then letters, digits, `.`, `_` or `-`, 1 to 100 in all", .0.escape_debug())]
pub struct InvalidId(pub String);

/// The text is not a kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a kind, expected 1 to 32 lower-case letters, and neither `blobs` nor `catalog`", .0.escape_debug())]
pub struct InvalidKind(pub String);

/// Longest actor, in characters.
pub const ACTOR_MAX: usize = 100;

fn check_id(text: &str) -> Result<(), InvalidId> {
    let mut bytes = text.bytes();
    let starts_well = bytes.next().is_some_and(|b| b.is_ascii_alphanumeric());
    let goes_on_well = bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    if starts_well && goes_on_well && text.len() <= 100 { Ok(()) } else { Err(InvalidId(text.to_owned())) }
}

fn check_actor(text: &str) -> Result<(), text::TextError> {
    text::check_line("actor", text, ACTOR_MAX)
}

/// Whether `text` may name a kind of streams.
pub(crate) fn check_kind(text: &str) -> Result<(), InvalidKind> {
    let letters = !text.is_empty() && text.len() <= 32 && text.bytes().all(|b| b.is_ascii_lowercase());
    let reserved = matches!(text, "blobs" | "catalog");
    if letters && !reserved { Ok(()) } else { Err(InvalidKind(text.to_owned())) }
}

/// Whether `name` matches `[a-z][a-z_]*(\.[a-z][a-z_]*)?` and has at most 64 bytes.
pub(crate) fn is_event_name(name: &[u8]) -> bool {
    let (mut in_word, mut words) = (false, 1);
    let spelt = name.iter().all(|byte| match byte {
        b'a'..=b'z' => {
            in_word = true;
            true
        }
        b'_' => in_word,
        b'.' => {
            words += 1;
            std::mem::take(&mut in_word)
        }
        _ => false,
    });
    spelt && in_word && words <= 2 && name.len() <= 64
}

/// A stream's full name, written `<kind>/<id>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamName {
    kind: Box<str>,
    id: StreamId,
}

impl StreamName {
    /// Names the stream `id` of `kind`.
    pub fn new(kind: &str, id: StreamId) -> Result<Self, InvalidKind> {
        check_kind(kind)?;
        Ok(Self { kind: kind.into(), id })
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &StreamId {
        &self.id
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        for good in ["a", "9", "work-2026-07-22T12-00-00-000Z-a1b2c3", "a.", "a..b", &"x".repeat(100)] {
            assert!(StreamId::new(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "../escape", "-rf", "a/b", "ñ", "a b", "a\n", &"x".repeat(101)] {
            assert_eq!(StreamId::new(bad), Err(InvalidId(bad.to_owned())));
        }
    }

    #[test]
    fn kinds() {
        for good in ["work", "run", "approval"] {
            assert!(check_kind(good).is_ok());
        }
        for bad in ["", "blobs", "catalog", ".new", "Work", "a-b", "a/b"] {
            assert!(check_kind(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn event_names() {
        for good in ["created", "work.created", "a.b_c", &format!("{}.{}", "a".repeat(31), "b".repeat(32))] {
            assert!(is_event_name(good.as_bytes()), "{good}");
        }
        for bad in ["", ".a", "a.", "a.b.c", "A", "_a", "a1", "a-b", &"a".repeat(65)] {
            assert!(!is_event_name(bad.as_bytes()), "{bad}");
        }
    }
}
