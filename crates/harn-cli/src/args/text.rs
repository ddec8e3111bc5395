//! Texts that people type: anything but what can only be a forgotten text before the next option.

/// A text as an option takes it. It may begin with a hyphen, as a list or a remark about an option does, but a single
/// word that looks like an option is taken for one.
pub(super) fn text(text: &str) -> Result<String, String> {
    let is_option = text.len() > 1 && text.starts_with('-') && !text.contains(char::is_whitespace);
    if is_option {
        Err("expected a text, found what looks like an option".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_single_word_looks_like_an_option() {
        for good in ["", "-", "a", "- a list", "--color is ignored", "-v prints nothing", "a -b"] {
            assert_eq!(text(good).as_deref(), Ok(good));
        }
        for option in ["--json", "-h", "--", "--reason=x"] {
            assert!(text(option).is_err(), "{option}");
        }
    }
}
