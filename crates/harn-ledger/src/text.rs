//! The rule for texts that people type: trimmed, not blank, bounded, and without control characters.

/// Why a text was refused. Lengths count Unicode scalar values after trimming.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// Nothing is left after trimming.
    #[error("{field} is blank, expected 1 to {max} characters")]
    Blank {
        /// Which text.
        field: &'static str,
        /// The largest length allowed.
        max: usize,
    },
    /// The text is longer than its limit.
    #[error("{field} has {length} characters, expected at most {max}")]
    TooLong {
        /// Which text.
        field: &'static str,
        /// The length found.
        length: usize,
        /// The largest length allowed.
        max: usize,
    },
    /// The text holds a character that could act on a terminal or break a line.
    #[error("{field} has the control character `{}` at character {position}, expected {allowed}", character.escape_unicode())]
    Control {
        /// Which text.
        field: &'static str,
        /// The character found.
        character: char,
        /// Its index, counted in characters from 1.
        position: usize,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A stored text has white space at an end.
    #[error("{field} has white space at its start or end")]
    Untrimmed {
        /// Which text.
        field: &'static str,
    },
}

impl TextError {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Blank { .. } => "text_blank",
            Self::TooLong { .. } => "text_too_long",
            Self::Control { .. } => "text_control_character",
            Self::Untrimmed { .. } => "text_untrimmed",
        }
    }
}

/// Trims a text that may have several lines and checks it: 1 to `max` characters, no control characters but line feed
/// and tab.
pub fn block(field: &'static str, text: &str, max: usize) -> Result<String, TextError> {
    let text = text.trim();
    check_block(field, text, max)?;
    Ok(text.to_owned())
}

/// Trims a text of one line and checks it: 1 to `max` characters, no control characters at all.
pub fn line(field: &'static str, text: &str, max: usize) -> Result<String, TextError> {
    let text = text.trim();
    check_line(field, text, max)?;
    Ok(text.to_owned())
}

/// Checks a text as [`block`] leaves it.
pub fn check_block(field: &'static str, text: &str, max: usize) -> Result<(), TextError> {
    check(field, text, max, |c| c == '\n' || c == '\t', "only line feeds and tabs")
}

/// Checks a text as [`line()`] leaves it.
pub fn check_line(field: &'static str, text: &str, max: usize) -> Result<(), TextError> {
    check(field, text, max, |_| false, "one line without any")
}

fn check(
    field: &'static str,
    text: &str,
    max: usize,
    permitted: impl Fn(char) -> bool,
    allowed: &'static str,
) -> Result<(), TextError> {
    // Most texts, told quickly.
    let (first, last) = (text.as_bytes().first(), text.as_bytes().last());
    let plain = text.len() <= max && text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if plain && first.is_some_and(u8::is_ascii_graphic) && last.is_some_and(u8::is_ascii_graphic) {
        return Ok(());
    }
    if text.trim().is_empty() {
        return Err(TextError::Blank { field, max });
    }
    let length = text.chars().count();
    if length > max {
        return Err(TextError::TooLong { field, length, max });
    }
    if let Some((index, character)) = text.chars().enumerate().find(|&(_, c)| c.is_control() && !permitted(c))
    {
        return Err(TextError::Control { field, character, position: index + 1, allowed });
    }
    if text.trim().len() != text.len() {
        return Err(TextError::Untrimmed { field });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Outcome = Result<&'static str, &'static str>;

    #[test]
    fn the_rule() {
        let long = "ñ".repeat(11);
        let cases: [(&str, Outcome, Outcome); 8] = [
            (" a ", Ok("a"), Ok("a")),
            ("a\n\tb", Err("text_control_character"), Ok("a\n\tb")),
            ("a\rb", Err("text_control_character"), Err("text_control_character")),
            ("a\u{85}b", Err("text_control_character"), Err("text_control_character")),
            ("\u{1b}[2J", Err("text_control_character"), Err("text_control_character")),
            ("a\u{2028}b", Ok("a\u{2028}b"), Ok("a\u{2028}b")),
            (" \n ", Err("text_blank"), Err("text_blank")),
            (&long, Err("text_too_long"), Err("text_too_long")),
        ];
        for (text, as_line, as_block) in cases {
            assert_eq!(line("title", text, 10).as_deref().map_err(TextError::code), as_line, "{text:?}");
            assert_eq!(block("title", text, 10).as_deref().map_err(TextError::code), as_block, "{text:?}");
        }
        assert_eq!(line("title", &long[2..], 10).map(|text| text.chars().count()), Ok(10));
        assert_eq!(check_line("title", " a", 10).map_err(|error| error.code()), Err("text_untrimmed"));
    }
}
