//! The message of a result, with its arguments in their places.

use super::log::{Component, Message, Rule};

/// Where a message is cut, in bytes: arguments that are repeated do not grow without end.
const MESSAGE: usize = 64 << 10;

/// What a message says; none if it names a text that is not there.
pub(super) fn message(message: &Message, rule: Option<&Rule>, of: &Component) -> Option<String> {
    if let Some(text) = &message.text {
        // Without arguments braces are meant as they stand: nearly no program doubles them.
        return Some(if message.arguments.is_empty() {
            text.clone()
        } else {
            fill(text, &message.arguments)
        });
    }
    let named = message.id.as_deref().and_then(|id| {
        let of_rule = rule.and_then(|rule| rule.message_strings.get(id));
        of_rule.or_else(|| of.global_message_strings.get(id))?.text.as_deref()
    });
    named.map(|text| fill(text, &message.arguments)).or_else(|| message.markdown.clone())
}

/// Puts arguments in the places of `{0}`, `{1}`, …; `{{` and `}}` are braces.
fn fill(text: &str, arguments: &[String]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']).filter(|_| filled.len() < MESSAGE) {
        filled.push_str(&rest[..at]);
        let from = &rest[at..];
        if from.starts_with("{{") || from.starts_with("}}") {
            filled.push_str(&from[..1]);
            rest = &from[2..];
            continue;
        }
        let argument = from[1..]
            .split_once('}')
            .filter(|_| from.starts_with('{'))
            .and_then(|(number, after)| Some((arguments.get(number.parse::<usize>().ok()?)?, after)));
        if let Some((argument, after)) = argument {
            filled.push_str(argument);
            rest = after;
        } else {
            filled.push_str(&from[..1]);
            rest = &from[1..];
        }
    }
    if filled.len() < MESSAGE {
        filled.push_str(rest);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_in_their_places() {
        let arguments = ["a".to_owned(), "b{0}".to_owned()];
        let cases = [
            ("{0} and {1}", "a and b{0}"),
            ("{{0}} {0}", "{0} a"),
            ("}} { {2} {x} {", "} { {2} {x} {"),
            ("{0", "{0"),
            ("no place", "no place"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(fill(text, &arguments), expected, "{text:?}");
        }
    }

    #[test]
    fn a_message_does_not_grow_without_end() {
        let filled = fill(&"{0}".repeat(1_000_000), &["x".repeat(10_000)]);
        assert!(filled.len() < MESSAGE + 20_000, "{}", filled.len());
    }
}
