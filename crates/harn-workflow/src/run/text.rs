//! Texts with a bound that their type carries, made from what people type or from whatever a program printed.

use std::fmt;

use harn_ledger::text::{self, TextError};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A text without white space at its ends, 1 to `MAX` characters long. `LINES` says whether it may have line feeds and
/// tabs; no other control character is ever in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const LINES: bool, const MAX: usize>(Box<str>);

/// One line of at most `MAX` characters.
pub type Line<const MAX: usize> = Text<false, MAX>;

/// A text of several lines and at most `MAX` characters.
pub type Block<const MAX: usize> = Text<true, MAX>;

impl<const LINES: bool, const MAX: usize> Text<LINES, MAX> {
    /// Trims `text` and checks it. `field` names it in the refusal.
    pub fn new(field: &'static str, text: &str) -> Result<Self, TextError> {
        let trimmed = if LINES { text::block(field, text, MAX)? } else { text::line(field, text, MAX)? };
        Ok(Self(trimmed.into()))
    }

    /// Makes any text fit: control characters that it may not have are replaced, white space by a space and others by
    /// `U+FFFD`, and what is too long ends in `…`. Nothing is left of a blank text.
    #[must_use]
    pub fn clip(text: &str) -> Option<Self> {
        Self::clip_to(text, MAX)
    }

    /// Like [`Text::clip`], to `max` characters when that is fewer.
    pub(crate) fn clip_to(text: &str, max: usize) -> Option<Self> {
        let max = max.clamp(1, MAX);
        let clean: String = text.replace("\r\n", "\n").chars().map(Self::visible).collect();
        let clean = clean.trim();
        if clean.is_empty() {
            return None;
        }
        let Some((cut, _)) = clean.char_indices().nth(max) else {
            return Some(Self(clean.into()));
        };
        let (last, _) = clean[..cut].char_indices().next_back()?;
        Some(Self(format!("{}…", clean[..last].trim_end()).into()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn visible(c: char) -> char {
        match c {
            '\n' | '\t' if LINES => c,
            '\n' | '\t' | '\r' => ' ',
            c if c.is_control() => char::REPLACEMENT_CHARACTER,
            c => c,
        }
    }

    fn check(text: &str) -> Result<(), TextError> {
        if LINES { text::check_block("text", text, MAX) } else { text::check_line("text", text, MAX) }
    }
}

impl<const LINES: bool, const MAX: usize> fmt::Display for Text<LINES, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<const LINES: bool, const MAX: usize> fmt::Debug for Text<LINES, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<const LINES: bool, const MAX: usize> AsRef<str> for Text<LINES, MAX> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<const LINES: bool, const MAX: usize> Serialize for Text<LINES, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de, const LINES: bool, const MAX: usize> Deserialize<'de> for Text<LINES, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::check(&text).map_err(de::Error::custom)?;
        Ok(Self(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_made_to_fit() {
        let cases: [(&str, Option<&str>, Option<&str>); 9] = [
            (" a ", Some("a"), Some("a")),
            ("", None, None),
            (" \r\n\t ", None, None),
            ("a\r\nb\rc", Some("a b c"), Some("a\nb c")),
            ("\u{1b}[1mé", Some("\u{fffd}[1mé"), Some("\u{fffd}[1mé")),
            ("12345678", Some("12345678"), Some("12345678")),
            ("123456789", Some("1234567…"), Some("1234567…")),
            ("12345   9", Some("12345…"), Some("12345…")),
            (
                "\u{1f980}\u{1f980}\u{1f980}\u{1f980}\u{1f980}\u{1f980}\u{1f980}\u{1f980}\u{1f980}",
                Some("\u{1f980}\u{1f980}\u{1f980}\u{1f980}\u{1f980}\u{1f980}\u{1f980}…"),
                Some("\u{1f980}\u{1f980}\u{1f980}\u{1f980}\u{1f980}\u{1f980}\u{1f980}…"),
            ),
        ];
        for (text, line, block) in cases {
            assert_eq!(Line::<8>::clip(text).as_ref().map(Text::as_str), line, "{text:?}");
            assert_eq!(Block::<8>::clip(text).as_ref().map(Text::as_str), block, "{text:?}");
        }
    }

    #[test]
    fn what_is_clipped_can_be_read_again() {
        for text in ["\u{0}", "\n\u{85}x\u{7f}\n", "a\tb", "123456 \u{2003} 9", "\u{feff}x"] {
            let clipped = Block::<8>::clip(text).unwrap();
            let json = serde_json::to_string(&clipped).unwrap();
            assert_eq!(serde_json::from_str::<Block<8>>(&json).unwrap(), clipped);
        }
        for bad in ["\" a\"", "\"\"", "\"123456789\"", "\"a\\rb\"", "1", "null"] {
            assert!(serde_json::from_str::<Block<8>>(bad).is_err(), "{bad}");
        }
    }
}
