//! Foreign texts brought into the bounds of a ledger.

/// One line of at most `max` characters: the first that is not blank, without control characters, runs of white space as one
/// space. None if nothing is left.
pub(super) fn line(text: &str, max: usize) -> Option<String> {
    let lines = text.split(['\n', '\r']).map(|line| {
        let shown: String = line.chars().filter(|&c| c == '\t' || !c.is_control()).collect();
        shown.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    let line = lines.into_iter().find(|line| !line.is_empty())?;
    Some(cut(line, max))
}

/// The same, but where it is too long its end is kept.
pub(super) fn line_end(text: &str, max: usize) -> Option<String> {
    let line = line(text, usize::MAX)?;
    let over = line.chars().count().saturating_sub(max);
    if over == 0 {
        return Some(line);
    }
    let kept: String = line.chars().skip(over + 1).collect();
    Some(format!("\u{2026}{}", kept.trim_start()))
}

/// A text of several lines, of at most `max` characters, without control characters but line feeds and tabs. None if nothing
/// is left.
pub(super) fn block(text: &str, max: usize) -> Option<String> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let shown: String = text.chars().filter(|&c| matches!(c, '\n' | '\t') || !c.is_control()).collect();
    let shown = shown.trim();
    (!shown.is_empty()).then(|| cut(shown.to_owned(), max))
}

/// A text of at most `max` characters; what is left out is shown by an ellipsis.
fn cut(text: String, max: usize) -> String {
    if text.len() <= max || text.chars().count() <= max {
        return text;
    }
    let kept: String = text.chars().take(max.saturating_sub(1)).collect();
    format!("{}\u{2026}", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use harn_ledger::text::{check_block, check_line};

    use super::*;

    #[test]
    fn of_an_address_the_end_is_kept() {
        assert_eq!(line_end("file:///a/b.rs", 7).as_deref(), Some("\u{2026}a/b.rs"));
        assert_eq!(line_end("b.rs", 4).as_deref(), Some("b.rs"));
    }

    #[test]
    fn a_foreign_text_fits_the_ledger() {
        let long = format!("{} {}", "ñ".repeat(8), "x".repeat(20));
        let cases = [
            ("a", Some("a"), Some("a")),
            (" \n\t a\t b \nc ", Some("a b"), Some("a\t b \nc")),
            ("a\r\nb\rc", Some("a"), Some("a\nb\nc")),
            ("\u{1b}[2Ja\u{85}", Some("[2Ja"), Some("[2Ja")),
            ("\u{7}\r\n \u{0}", None, None),
            ("", None, None),
            (&*long, Some("ññññññññ\u{2026}"), Some("ññññññññ\u{2026}")),
        ];
        for (text, as_line, as_block) in cases {
            assert_eq!(line(text, 10).as_deref(), as_line, "{text:?}");
            assert_eq!(block(text, 10).as_deref(), as_block, "{text:?}");
            assert!(line(text, 10).is_none_or(|it| check_line("title", &it, 10).is_ok()), "{text:?}");
            assert!(block(text, 10).is_none_or(|it| check_block("text", &it, 10).is_ok()), "{text:?}");
        }
    }
}
