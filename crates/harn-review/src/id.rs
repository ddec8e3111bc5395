//! Numbers with a letter: findings `R1`, turns `t1`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The text is not a number of this kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not {what}, expected `{letter}` and a number from 1, such as `{letter}1`", text.escape_debug())]
pub struct InvalidNumber {
    /// The text.
    pub text: String,
    /// What was expected.
    pub what: &'static str,
    /// The letter that it begins with.
    pub letter: char,
}

impl InvalidNumber {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "number_invalid"
    }
}

macro_rules! numbered {
    ($(#[$meta:meta])* $name:ident, $letter:literal, $what:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The one with this number, counted from 1.
            #[must_use]
            pub const fn new(number: u32) -> Option<Self> {
                if number == 0 { None } else { Some(Self(number)) }
            }

            /// The one that comes after `count` others.
            #[must_use]
            pub fn after(count: usize) -> Self {
                Self(u32::try_from(count).map_or(u32::MAX, |count| count.saturating_add(1)))
            }

            /// The number.
            #[must_use]
            pub const fn number(self) -> u32 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $letter, self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidNumber;

            fn from_str(text: &str) -> Result<Self, InvalidNumber> {
                let digits = text.strip_prefix($letter).filter(|digits| !digits.starts_with(['0', '+']));
                let number = digits.and_then(|digits| digits.parse().ok()).and_then(Self::new);
                number.ok_or_else(|| InvalidNumber { text: text.to_owned(), what: $what, letter: $letter })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

numbered! {
    /// A review finding: `R1`, `R2`, … Assigned by the ledger, unique for the life of the review, never reused.
    FindingId, 'R', "a review finding"
}

numbered! {
    /// A turn of a reviewer: `t1`, `t2`, …
    TurnId, 't', "a turn"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form() {
        assert_eq!("R12".parse::<FindingId>().map(FindingId::number), Ok(12));
        assert_eq!(TurnId::after(0).to_string(), "t1");
        for bad in ["", "R", "R0", "R01", "R+1", "r1", "t1", "R1 ", "R-1", "R4294967296", "1"] {
            assert!(bad.parse::<FindingId>().is_err(), "{bad}");
        }
    }
}
