//! Text from elsewhere made harmless: control characters are shown, not obeyed.

use std::borrow::Cow;

/// A text on one line: line feeds and tabs too are shown.
pub(crate) fn safe_line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// A text that may have several lines: line feeds stay, tabs become spaces.
pub(crate) fn safe_block(text: &str) -> Cow<'_, str> {
    match escape(text, |c| c == '\n' || c == '\t') {
        text if text.contains('\t') => text.replace('\t', "    ").into(),
        text => text,
    }
}

/// Characters that change where or in which direction other text appears.
const fn is_misleading(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

fn escape(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let acts = |c: char| (c.is_control() || is_misleading(c)) && !keep(c);
    if !text.chars().any(acts) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !acts(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.extend(c.escape_unicode()),
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n_13_nothing_acts_on_the_terminal() {
        let cases = [
            ("plain ñ 漢 🚀", "plain ñ 漢 🚀", "plain ñ 漢 🚀"),
            ("a\nb\tc", "a\\nb\\tc", "a\nb    c"),
            ("\u{1b}[2J\u{7}", "\\u{1b}[2J\\u{7}", "\\u{1b}[2J\\u{7}"),
            ("\u{9b}2J", "\\u{9b}2J", "\\u{9b}2J"),
            ("a\rb", "a\\rb", "a\\rb"),
            ("abc\u{202e}txt.exe", "abc\\u{202e}txt.exe", "abc\\u{202e}txt.exe"),
            ("a\u{2028}b", "a\\u{2028}b", "a\\u{2028}b"),
        ];
        for (text, line, block) in cases {
            assert_eq!(safe_line(text), line);
            assert_eq!(safe_block(text), block);
        }
    }
}
