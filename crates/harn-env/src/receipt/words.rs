//! Words that fit into a receipt, whatever they quote.

/// Longest reason or error, in characters.
pub(crate) const REASON_MAX: usize = 1_000;

/// The text without control characters, in as many characters as a reason may have; with a mark where it is cut. None when
/// nothing is left.
pub(crate) fn fitting(text: &str) -> Option<String> {
    let visible =
        |c: char| if c.is_control() && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c };
    let clean: String = text.trim().chars().map(visible).collect();
    let clean = clean.trim();
    let mut fit: String = clean.chars().take(REASON_MAX).collect();
    if fit.len() < clean.len() {
        fit.pop();
        fit.truncate(fit.trim_end().len());
        fit.push('…');
    }
    (!fit.is_empty()).then_some(fit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_made_to_fit() {
        let long = "é".repeat(REASON_MAX + 1);
        let cases = [
            (" a\u{7}b\n ", Some("a\u{fffd}b".to_owned())),
            (" \n", None),
            (&long, Some(format!("{}…", "é".repeat(REASON_MAX - 1)))),
            (&long[2..], Some("é".repeat(REASON_MAX))),
        ];
        for (text, expected) in cases {
            assert_eq!(fitting(text), expected);
            if let Some(text) = fitting(text) {
                harn_ledger::text::check_block("reason", &text, REASON_MAX).unwrap();
            }
        }
    }
}
