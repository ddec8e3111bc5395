//! Whether what a failed agent printed on standard error says that an outside service was reached and refused.
//!
//! The rule is narrow, because what it finds is not charged: a status number counts only where one stands, and words only
//! where they are said of a service. It reads standard error alone; a model may say anything on standard output.

/// Most characters that are read: the end of the text, which is also what the failure quotes.
pub(super) const READ_MAX: usize = 500;

/// What services say when they refuse, in lower case and single words apart.
const PHRASES: [&str; 12] = [
    "bad gateway",
    "circuit open",
    "circuitopen",
    "gateway time out",
    "gateway timeout",
    "internal server error",
    "overloaded error",
    "rate limit",
    "ratelimit",
    "service temporarily unavailable",
    "service unavailable",
    "too many requests",
];

/// What may stand behind a status number that begins a line. A number alone may count anything: `500 tests failed`.
const AFTER_STATUS: [&str; 5] = ["circuit open", "error", "overloaded", "server error", "upstream"];

/// Whether the end of `stderr` says so.
#[must_use]
pub fn is_upstream(stderr: &str) -> bool {
    let text = stderr.trim_end();
    let start = text.char_indices().rev().nth(READ_MAX - 1).map_or(0, |(start, _)| start);
    // Where a line is cut, neither a line nor a word begins.
    let cut = if text[..start].is_empty() || text[..start].ends_with('\n') { "" } else { "x" };
    format!("{cut}{}", &text[start..]).to_ascii_lowercase().lines().any(says_so)
}

fn says_so(line: &str) -> bool {
    let words: String = line.chars().map(|c| if matches!(c, '_' | '-') { ' ' } else { c }).collect();
    PHRASES.iter().any(|phrase| begins_a_word(&words, phrase)) || is_overloaded(&words) || has_status(line)
}

/// `overloaded`, unless it is said of code: `no overloaded method matches`, `function f is overloaded`.
fn is_overloaded(words: &str) -> bool {
    words.match_indices("overloaded").any(|(at, word)| {
        let after = words[at + word.len()..].trim_start_matches([' ', '\t']);
        let of_a_service = ["is ", "are ", "currently ", "temporarily "];
        let of_code = ["function", "method", "operator", "constructor", "candidate"];
        let has_word = |word: &&str| words.match_indices(word).any(|(at, _)| starts_word(words, at));
        starts_word(words, at)
            && !of_code.iter().any(has_word)
            && (!after.starts_with(|c: char| c.is_alphanumeric())
                || of_a_service.iter().any(|before| words[..at].ends_with(before)))
    })
}

/// Whether a status that refuses stands where a status stands: behind `HTTP`, behind `status`, or first on the line
/// before what it means.
fn has_status(line: &str) -> bool {
    let begins = line.trim_start();
    if let Some(rest) = status(begins)
        && let after = rest.trim_start_matches([' ', '\t', ':'])
        && after.len() < rest.len()
        && AFTER_STATUS.iter().any(|word| says_only(&after.replace(['_', '-'], " "), word))
    {
        return true;
    }
    let behind_http = line.match_indices("http").any(|(at, word)| {
        let rest = &line[at + word.len()..];
        // A version may stand between: `HTTP/1.1 503`.
        let version = rest
            .strip_prefix('/')
            .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
        let rest = version.unwrap_or(rest);
        let number = rest.trim_start_matches([' ', '/']);
        starts_word(line, at) && number.len() < rest.len() && status(number).is_some()
    });
    behind_http
        || line.match_indices("status").any(|(at, word)| {
            let rest = line[at + word.len()..].trim_start_matches(['_', ' ']);
            let rest = rest.strip_prefix("code").unwrap_or(rest);
            let number = rest.trim_start_matches([' ', '\t', ':', '=']);
            // A process has an exit status.
            let before = line[..at].trim_end_matches([' ', '\t', '_', '-']);
            let of_a_process =
                ["exit", "exited with", "exited with a"].iter().any(|word| before.ends_with(word));
            starts_word(line, at) && !of_a_process && status(number).is_some()
        })
}

/// What stands behind 429 or a number from 500 to 599 that `text` begins with, if it is a number of its own.
fn status(text: &str) -> Option<&str> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = text.split_at(digits);
    let refuses = number == "429" || (number.len() == 3 && number.starts_with('5'));
    refuses.then_some(rest)
}

/// Whether `text` begins with `phrase`, and no count of things follows: `500 error`, but neither `500 errors` nor
/// `500 error lines`.
fn says_only(text: &str, phrase: &str) -> bool {
    text.strip_prefix(phrase).is_some_and(|rest| {
        phrase == "upstream" && rest.starts_with(' ')
            || !rest.trim_start_matches([' ', '\t']).starts_with(|c: char| c.is_alphanumeric())
    })
}

fn begins_a_word(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| starts_word(text, at))
}

fn starts_word(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|c: char| c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn k_69_a_status_that_refuses() {
        for number in [500, 502, 503, 504, 599, 429] {
            assert!(is_upstream(&format!("status {number}")), "{number}");
        }
        for number in [200, 404, 428, 430, 499, 600] {
            assert!(!is_upstream(&format!("status {number}")), "{number}");
        }
    }

    #[test]
    fn k_70_k_71_numbers_that_are_no_status() {
        for text in [
            "status 4295",
            "status: 5031",
            "HTTP 15000",
            "at line 500 in",
            "got 429 items",
            "after 502 seconds",
            "processed 500 records",
            "503ms",
            "port 5001",
            "x503 upstream connect error",
        ] {
            assert!(!is_upstream(text), "{text}");
        }
    }

    #[test]
    fn k_72_k_73_what_services_say() {
        for text in [
            "HTTP 429",
            "HTTP/1.1 503 Service Unavailable",
            "http/2 502",
            "status: 500",
            "status=503",
            "status code 502",
            "status_code=529",
            "429 Too Many Requests",
            // The reference takes any word behind the number; here it must be one that says what the number means.
            "503 upstream connect error",
            "  500 Internal Server Error",
            "agent: request failed\n503 circuit_open: try later",
            "circuit_open",
            "circuit open",
            "circuit-open",
            "CircuitOpen",
            "Service Unavailable",
            "Too Many Requests",
            "rate limit reached",
            "rate_limit_error",
            "RateLimitError: slow down",
            "overloaded",
            "The model is overloaded right now",
            "overloaded_error",
            "502 Bad Gateway",
            "gateway timeout",
            "Gateway Time-out",
            "internal server error",
        ] {
            assert!(is_upstream(text), "{text}");
            assert!(is_upstream(&format!("first line\n{text}\n")), "{text}");
        }
    }

    #[test]
    fn k_74_other_failures() {
        for text in
            ["out of credits", "the reply does not match its schema", "TypeError: x is not a function", ""]
        {
            assert!(!is_upstream(text), "{text}");
        }
    }

    /// What the reference's rule would not charge although the work failed.
    #[test]
    fn w_30_failures_that_only_look_like_it() {
        for text in [
            "500 tests failed",
            "  503 assertions, 2 failures",
            "exit status 500",
            "HTTP 12500",
            "HTTP 1.500",
            "error: no overloaded method matches the call",
            "note: overloaded operator is declared here",
            "prorate limits",
            "thttp 503",
            // Counts of things.
            "500 errors, 3 warnings",
            "599 errors generated.",
            "500 internal links are broken",
            "503 services checked, 1 failed",
            "500 http requests recorded",
            "500 error lines found",
            // The status of a process.
            "exit_status=500",
            "exit-status: 500",
            "exited with status 500",
            // What compilers say of functions.
            "function `f` is overloaded",
            "function overloaded: candidates are",
        ] {
            assert!(!is_upstream(text), "{text}");
        }
    }

    #[test]
    fn only_the_end_is_read() {
        let far = format!("503 Service Unavailable\n{}", "x".repeat(READ_MAX));
        assert!(!is_upstream(&far));
        let near = format!("{}\n503 Service Unavailable\n\n", "é".repeat(10 * READ_MAX));
        assert!(is_upstream(&near));
        // Where a line is cut, no line begins and no word does.
        for cut in ["500 error", "rate limit reached", "overloaded"] {
            let rest = " ".repeat(READ_MAX - cut.len() - 1);
            assert!(!is_upstream(&format!("we counted {cut}{rest}.")), "{cut}");
            assert!(is_upstream(&format!("we counted\n{cut}{rest}.")), "{cut}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_judged_and_its_case_makes_no_difference(text in "(?s).{0,40}(HTTP|status|429|503|overloaded|rate limit|é|\n| ){0,6}.{0,40}") {
            prop_assert_eq!(is_upstream(&text), is_upstream(&text.to_ascii_uppercase()));
        }
    }
}
