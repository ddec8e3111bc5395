//! Compact JSON: the one form in which a line holds its data.

/// How deep objects and arrays may lie in each other: as deep as `serde_json` reads them.
const DEPTH_MAX: u32 = 127;

/// Whether `json` is one object of compact JSON in UTF-8: no white space and no `null` outside texts, and nothing behind
/// its end. Texts may hold any escape that JSON knows.
pub(crate) fn is_object(json: &[u8]) -> bool {
    json.first() == Some(&b'{') && Scanner { rest: json }.value().is_some_and(<[u8]>::is_empty)
}

/// How many bytes at the start of `text` can stand in a text as they are: ASCII that is neither a control character nor a
/// quotation mark nor a backslash.
fn plain_length(text: &[u8]) -> usize {
    let (eights, rest) = text.as_chunks::<8>();
    for (index, eight) in eights.iter().enumerate() {
        let special = special_bytes(u64::from_le_bytes(*eight));
        if special != 0 {
            return 8 * index + special.trailing_zeros() as usize / 8;
        }
    }
    let is_plain = |byte: &u8| matches!(byte, 0x20..=0x7f) && !matches!(byte, b'"' | b'\\');
    8 * eights.len() + rest.iter().take_while(|byte| is_plain(byte)).count()
}

/// Looks at eight bytes at once: the high bit of the lowest byte that is not plain is set, and none below it.
const fn special_bytes(eight: u64) -> u64 {
    const LOW: u64 = u64::MAX / 255;
    const HIGH: u64 = LOW << 7;
    // Subtracting borrows from the next byte only if a byte is too small, and then that one is the lower.
    let control = eight.wrapping_sub(LOW * 0x20) & !eight;
    let quote = eight ^ (LOW * b'"' as u64);
    let quote = quote.wrapping_sub(LOW) & !quote;
    let backslash = eight ^ (LOW * b'\\' as u64);
    let backslash = backslash.wrapping_sub(LOW) & !backslash;
    (control | quote | backslash | eight) & HIGH
}

/// What is left of the JSON while it is passed over.
struct Scanner<'a> {
    rest: &'a [u8],
}

/// The objects and arrays that are open: one bit for each, set for an object, the innermost lowest.
#[derive(Default)]
struct Open {
    objects: u128,
    depth: u32,
}

impl Open {
    fn push(&mut self, object: bool) -> Option<()> {
        self.objects = self.objects << 1 | u128::from(object);
        self.depth += 1;
        (self.depth <= DEPTH_MAX).then_some(())
    }

    fn pop(&mut self) {
        self.objects >>= 1;
        self.depth -= 1;
    }

    const fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }
}

impl<'a> Scanner<'a> {
    /// Passes over one value and returns what stands behind it. Without recursion, so that depth costs no stack.
    fn value(mut self) -> Option<&'a [u8]> {
        let mut open = Open::default();
        loop {
            // At the start of a value.
            match self.next()? {
                b'"' => self.text()?,
                b'{' => {
                    open.push(true)?;
                    if self.rest.first() != Some(&b'}') {
                        self.name()?;
                        continue;
                    }
                }
                b'[' => {
                    open.push(false)?;
                    if self.rest.first() != Some(&b']') {
                        continue;
                    }
                }
                b't' => self.literal(b"rue")?,
                b'f' => self.literal(b"alse")?,
                first @ (b'-' | b'0'..=b'9') => self.number(first)?,
                _ => return None,
            }
            // At the end of a value.
            loop {
                if open.depth == 0 {
                    return Some(self.rest);
                }
                match (self.next()?, open.in_object()) {
                    (b'}', true) | (b']', false) => open.pop(),
                    (b',', true) => {
                        self.name()?;
                        break;
                    }
                    (b',', false) => break,
                    _ => return None,
                }
            }
        }
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn literal(&mut self, literal: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(literal)?;
        Some(())
    }

    /// The name of a member and its colon.
    fn name(&mut self) -> Option<()> {
        self.literal(b"\"")?;
        self.text()?;
        self.literal(b":")
    }

    /// The rest of a text, its opening quotation mark being behind.
    fn text(&mut self) -> Option<()> {
        let (mut length, mut ascii) = (0, true);
        loop {
            length += plain_length(&self.rest[length..]);
            match self.rest.get(length)? {
                b'"' => break,
                b'\\' => length += escape(&self.rest[length + 1..])? + 1,
                0x80.. => {
                    ascii = false;
                    length += 1;
                }
                _ => return None,
            }
        }
        let (text, rest) = self.rest.split_at(length);
        self.rest = &rest[1..];
        (ascii || std::str::from_utf8(text).is_ok()).then_some(())
    }

    /// The rest of a number: no leading zeros, and digits on both sides of a point and behind an exponent.
    fn number(&mut self, first: u8) -> Option<()> {
        let first = if first == b'-' { self.next()? } else { first };
        match first {
            b'0' => {}
            b'1'..=b'9' => self.digits(),
            _ => return None,
        }
        if self.literal(b".").is_some() {
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.rest.first() {
            self.next()?;
            if let Some(b'+' | b'-') = self.rest.first() {
                self.next()?;
            }
            self.some_digits()?;
        }
        Some(())
    }

    fn digits(&mut self) {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.rest = &self.rest[digits..];
    }

    fn some_digits(&mut self) -> Option<()> {
        let before = self.rest.len();
        self.digits();
        (self.rest.len() < before).then_some(())
    }
}

/// The length of an escape behind its backslash.
fn escape(rest: &[u8]) -> Option<usize> {
    match rest.first()? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(1),
        b'u' => rest.get(1..5)?.iter().all(u8::is_ascii_hexdigit).then_some(5),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;
    use crate::payload::holds_null_or_space;

    /// The same said with `serde_json`. It counts no depth when it ignores a value.
    fn oracle(json: &[u8]) -> bool {
        json.first() == Some(&b'{')
            && !holds_null_or_space(json)
            && std::str::from_utf8(json).is_ok_and(|json| serde_json::from_str::<IgnoredAny>(json).is_ok())
    }

    #[test]
    fn only_one_compact_object_is_one() {
        let good = [
            r"{}",
            r#"{"a":1}"#,
            r#"{"a":[{},[],"",true,false,-0,0.5e-7,1E+2],"b":{"c":"\u00e9\"\\\/\b\f\n\r\t null"}}"#,
            r#"{"é":"ñ 🚀"}"#,
        ];
        let bad = [
            "",
            "[]",
            "1",
            "{",
            "}",
            "{}{}",
            "{} ",
            "{ }",
            r#"{"a":null}"#,
            r#"{"a":nul}"#,
            r#"{"a":}"#,
            r#"{"a"}"#,
            r#"{"a":1,}"#,
            "{,}",
            r#"{"a":[1,]}"#,
            r#"{"a":[}"#,
            r#"{"a":01}"#,
            r#"{"a":1.}"#,
            r#"{"a":.5}"#,
            r#"{"a":-}"#,
            r#"{"a":1e}"#,
            r#"{"a":+1}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u00g0"}"#,
            r#"{"a":"\u00e"#,
            "{\"a\":\"\u{1}\"}",
            "{\"a\":\"\n\"}",
            r#"{"a:1}"#,
            "{a:1}",
            r#"{"a":tru}"#,
            r#"{"a":[1}"#,
            r#"{"a":{"b":1]}"#,
            r#"{"a":1]"#,
            r#"{"a" :1}"#,
            r#"{"a":1 }"#,
        ];
        for (cases, expected) in [(&good[..], true), (&bad[..], false)] {
            for json in cases {
                assert_eq!(is_object(json.as_bytes()), expected, "{json}");
                assert_eq!(oracle(json.as_bytes()), expected, "{json}");
            }
        }
        assert!(!is_object(b"{\"a\":\"\xff\"}"));
    }

    #[test]
    fn plain_bytes_are_counted_alike_at_every_place() {
        for byte in 0..=u8::MAX {
            let plain = byte.is_ascii() && byte >= 0x20 && byte != b'"' && byte != b'\\';
            for place in 0..20 {
                let mut text = [b'a'; 20];
                text[place] = byte;
                assert_eq!(plain_length(&text), if plain { 20 } else { place }, "{byte} at {place}");
                // A byte behind it must not count before it.
                text[place..].fill(byte);
                assert_eq!(plain_length(&text), if plain { 20 } else { place }, "{byte} from {place} on");
            }
        }
    }

    #[test]
    fn depth_is_bounded_as_it_is_for_typed_reading() {
        let nested = |depth: usize| format!(r#"{{"a":{}1{}}}"#, "[".repeat(depth), "]".repeat(depth));
        for (depth, expected) in [(126, true), (127, false), (1_000_000, false)] {
            let json = nested(depth);
            assert_eq!(is_object(json.as_bytes()), expected, "{depth}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), expected, "{depth}");
        }
    }

    /// Something like JSON: most of it is, and what is not is nearly.
    fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"a\":", "{\"b\":", "0", "1", "-", ".", "e", "E+",
            "12", "true", "false", "null", " ", "\\", "\\u00e9", "\\n", "é", "\n", "x",
        ]);
        let pieces = prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes());
        (pieces, any::<bool>()).prop_map(|(inner, wrapped)| {
            if wrapped { [b"{\"a\":".as_slice(), &inner, b"}"].concat() } else { inner }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn it_agrees_with_serde_json(json in nearly_json()) {
            prop_assert_eq!(is_object(&json), oracle(&json), "{}", String::from_utf8_lossy(&json));
        }
    }
}
