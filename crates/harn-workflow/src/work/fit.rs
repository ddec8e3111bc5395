//! Makes a text from outside fit for the record: bounded, trimmed and without control characters.
//!
//! A script's error or a composed reason must never keep an attempt from being ended, so nothing is refused here.

/// A text that may have several lines, cut to `max` characters; `None` when nothing is left of it.
pub(crate) fn block(text: &str, max: usize) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    cut(text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }), max)
}

/// A text of one line, cut to `max` characters; `None` when nothing is left of it.
pub(crate) fn line(text: &str, max: usize) -> Option<String> {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(words.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }), max)
}

fn cut(text: impl Iterator<Item = char>, max: usize) -> Option<String> {
    let text: String = text.collect();
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    if text.chars().nth(max).is_none() {
        return Some(text.to_owned());
    }
    let kept: String = text.chars().take(max - 1).collect();
    Some(format!("{}…", kept.trim_end()))
}

#[cfg(test)]
mod tests {
    use harn_ledger::text;

    use super::*;

    #[test]
    fn what_fits_is_kept_and_the_rest_is_made_to_fit() {
        let cases: [(&str, Option<&str>, Option<&str>); 7] = [
            ("", None, None),
            (" \n", None, None),
            ("ab\n\tc", Some("ab\n\tc"), Some("ab c")),
            ("a\r\nb", Some("a\nb"), Some("a b")),
            ("\u{1b}[2J", Some("\u{fffd}[2J"), Some("\u{fffd}[2J")),
            ("12345678901", Some("123456789…"), Some("123456789…")),
            ("12345678 \n01", Some("12345678…"), Some("12345678…")),
        ];
        for (input, as_block, as_line) in cases {
            assert_eq!(block(input, 10).as_deref(), as_block, "{input:?}");
            assert_eq!(line(input, 10).as_deref(), as_line, "{input:?}");
            if let Some(fitted) = block(input, 10) {
                assert_eq!(text::check_block("text", &fitted, 10), Ok(()));
            }
            if let Some(fitted) = line(input, 10) {
                assert_eq!(text::check_line("text", &fitted, 10), Ok(()));
            }
        }
    }
}
