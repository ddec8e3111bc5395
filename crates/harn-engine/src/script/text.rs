//! Text that crosses the border between JavaScript and Rust. Lengths are Unicode scalar values.

use rquickjs::{Ctx, Error, Value};

/// Replaces the rest of a label that was cut.
const CUT: &str = "… [cut]";

/// `text` itself when it has at most `limit` characters, else its start and a marker, together `limit` characters.
pub(super) fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit - CUT.chars().count()).chain(CUT.chars()).collect()
}

/// `None` for text that says nothing.
pub(super) fn unless_blank(text: String) -> Option<String> {
    (!text.trim().is_empty()).then_some(text)
}

/// A JavaScript string as text; halves of a surrogate pair that stand alone become U+FFFD.
pub(super) fn from_js(string: &rquickjs::String<'_>) -> rquickjs::Result<String> {
    match string.to_string() {
        Err(Error::Utf8(_)) => {
            let quoted = json(string.ctx(), string.as_value().clone())?.unwrap_or_default();
            Ok(serde_json::from_str(&quoted).unwrap_or_default())
        }
        other => other,
    }
}

/// `value` as JSON text that any parser reads; `None` for a value that JSON has no form for, such as `undefined`.
///
/// The engine writes a lone half of a surrogate pair as `\ud83d`, which strict parsers refuse; it becomes `\ufffd`.
pub(super) fn json<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> rquickjs::Result<Option<String>> {
    let text = ctx.json_stringify(value)?;
    text.map(|text| text.to_string().map(|text| without_lone_surrogates(&text))).transpose()
}

fn without_lone_surrogates(json: &str) -> String {
    let mut clean = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        clean.push_str(&rest[..at]);
        let escape = &rest[at..];
        // `\d800` to `\dfff`; the engine writes whole pairs as plain characters.
        let lone = escape.as_bytes().get(1..4).is_some_and(|start| {
            start[0] == b'u' && start[1].eq_ignore_ascii_case(&b'd') && b"89abcdefABCDEF".contains(&start[2])
        });
        let length = if lone { 6 } else { 2 };
        clean.push_str(if lone { "\\ufffd" } else { &escape[..2] });
        rest = &escape[length..];
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::{cut, without_lone_surrogates};

    #[test]
    fn cut_text_has_exactly_the_limit() {
        assert_eq!(cut("abc", 10), "abc");
        assert_eq!(cut("0123456789", 10), "0123456789");
        assert_eq!(cut("0123456789a", 10), "012… [cut]");
        assert_eq!(cut("ööööööööööö", 10), "ööö… [cut]");
    }

    #[test]
    fn only_lone_surrogates_are_replaced() {
        let cases = [
            (r#""plain""#, r#""plain""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#"["\udc00x","\\ud83d","\n\uD800"]"#, r#"["\ufffdx","\\ud83d","\n\ufffd"]"#),
            (r#""\u0001\\""#, r#""\u0001\\""#),
        ];
        for (json, expected) in cases {
            assert_eq!(without_lone_surrogates(json), expected);
        }
    }
}
