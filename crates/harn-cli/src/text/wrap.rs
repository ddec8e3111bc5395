//! Breaking and cutting text by the columns that it takes on a terminal.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Breaks a safe text into lines of at most `width` columns, `first` before the first and `rest` before the others.
pub(crate) fn wrapped(text: &str, width: usize, first: &str, rest: &str) -> String {
    let mut out = String::new();
    for (index, paragraph) in text.split('\n').enumerate() {
        let initial = if index == 0 { first } else { rest };
        let options = textwrap::Options::new(width.max(20))
            .initial_indent(initial)
            .subsequent_indent(rest)
            // Ids and options keep their hyphens together.
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        for line in textwrap::wrap(paragraph, options) {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}

/// Cuts a safe text to at most `width` columns, between characters as people see them, with a mark where it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut taken = 0;
    for character in text.graphemes(true) {
        let columns = character.width();
        if taken + columns + 1 > width {
            break;
        }
        out.push_str(character);
        taken += columns;
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_31_cuts_fall_between_characters() {
        let family = "👩‍👩‍👧‍👦👩‍👩‍👧‍👦";
        for (text, width, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("漢漢漢", 4, "漢…"),
            ("漢漢漢", 5, "漢漢…"),
            ("ñññ", 2, "ñ…"),
            (family, 3, "👩‍👩‍👧‍👦…"),
        ] {
            assert_eq!(cut(text, width), expected, "{text} in {width}");
            assert!(cut(text, width).width() <= width);
        }
    }

    #[test]
    fn r_61_wide_text_is_wrapped_by_columns() {
        let text = wrapped(&"漢字 ".repeat(30), 40, "- ", "  ");
        assert!(text.lines().all(|line| line.width() <= 40), "{text}");
        assert_eq!(wrapped("one\ntwo", 40, "- ", "  "), "- one\n  two\n");
        assert_eq!(wrapped("of the item work-2026-07-22", 20, "", ""), "of the item\nwork-2026-07-22\n");
    }
}
