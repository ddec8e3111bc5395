//! Ids that count up within a run: agents `a1`, checks `c1`, evidence `e1`.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The text is not an id of the expected sort.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not an id, expected `{letter}` and a number that counts from 1", .text.escape_debug())]
pub struct InvalidNumberedId {
    /// The text found.
    pub text: String,
    /// The letter that such ids begin with.
    pub letter: char,
}

/// Defines an id made of a letter and a number.
macro_rules! numbered_id {
    ($(#[$meta:meta])* $name:ident, $letter:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The `number`th of its sort, counted from 1.
            #[must_use]
            pub const fn new(number: NonZeroU32) -> Self {
                Self(number)
            }

            /// Its number, counted from 1.
            #[must_use]
            pub const fn number(self) -> u32 {
                self.0.get()
            }

            /// The id that follows `count` earlier ones.
            pub(crate) const fn after(count: u32) -> Self {
                Self(NonZeroU32::MIN.saturating_add(count))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $letter, self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidNumberedId;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.strip_prefix($letter)
                    .filter(|digits| digits.starts_with(|c: char| matches!(c, '1'..='9')))
                    .and_then(|digits| digits.parse().ok())
                    .map(Self)
                    .ok_or_else(|| InvalidNumberedId {
                        text: text.to_owned(),
                        letter: $letter,
                    })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

numbered_id! {
    /// One call of an agent, in the order of the calls.
    AgentId, 'a'
}

numbered_id! {
    /// One check, in the order of the calls.
    CheckId, 'c'
}

numbered_id! {
    /// One record of evidence, in the order of recording.
    EvidenceId, 'e'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_written_form() {
        for good in ["a1", "a10", "a4294967295"] {
            assert_eq!(good.parse::<AgentId>().unwrap().to_string(), good);
        }
        for bad in ["", "a", "a0", "a01", "a+1", "a-1", "e1", "1", "a1 ", "a4294967296"] {
            assert!(bad.parse::<AgentId>().is_err(), "{bad}");
        }
        assert_eq!(EvidenceId::after(0).to_string(), "e1");
        assert_eq!(CheckId::after(1).number(), 2);
    }
}
