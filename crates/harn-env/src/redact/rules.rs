//! Where in a line the secrets are.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::MASK;

/// Beginnings of the tokens of known services, and how many characters of a token follow at least.
const PREFIXES: [(&str, usize); 21] = [
    ("github_pat_", 22),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("glpat-", 16),
    ("sk-ant-", 16),
    ("sk-", 20),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("pypi-", 16),
    ("hf_", 24),
    ("dckr_pat_", 16),
];

/// Names whose value is a secret, in lower case. A longer name may end with one of them.
const NAMES: [&str; 9] =
    ["password", "passwd", "secret", "token", "api_key", "apikey", "access_key", "private_key", "credential"];

/// What every other secret has in it, or right before it: headers, web tokens, URLs, private keys.
const OTHERS: [&str; 5] = ["bearer", "authorization", "eyj", "://", "private key-----"];

/// Finds where a secret can be at all: text without a match has none.
pub(super) fn signs(values: &[Vec<u8>]) -> AhoCorasick {
    let known = PREFIXES.iter().map(|(prefix, _)| prefix.as_bytes());
    let words = NAMES.iter().chain(&OTHERS).map(|word| word.as_bytes());
    let patterns = known.chain(words).chain(values.iter().map(Vec::as_slice));
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(patterns)
        .expect("some dozens of short patterns are not too many")
}

/// Whether a byte may be a part of a token.
pub(super) const fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+' | b'=' | b'~')
}

/// Whether the line begins a block with a private key.
pub(super) fn begins_private_key(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----") && !text.contains("-----END ")
}

/// Whether the line ends such a block.
pub(super) fn ends_private_key(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    text.contains("-----END ") && text.contains("PRIVATE KEY-----")
}

/// Appends `line` to `out` without its secrets.
pub(super) fn mask(line: &[u8], values: &[Vec<u8>], out: &mut Vec<u8>) {
    let mut secrets = Vec::new();
    for value in values {
        find_all(line, value, &mut secrets);
    }
    tokens(line, &mut secrets);
    assignments(line, &mut secrets);
    urls(line, &mut secrets);
    secrets.sort_unstable_by_key(|secret| (secret.start, secret.end));
    let mut at = 0;
    for secret in secrets {
        if secret.end <= at {
            continue;
        }
        if secret.start >= at {
            out.extend_from_slice(&line[at..secret.start]);
            out.extend_from_slice(MASK.as_bytes());
        }
        at = secret.end;
    }
    out.extend_from_slice(&line[at..]);
}

fn find_all(line: &[u8], value: &[u8], secrets: &mut Vec<Range<usize>>) {
    if value.len() > line.len() {
        return;
    }
    let starts = line.windows(value.len()).enumerate().filter(|(_, window)| *window == value);
    secrets.extend(starts.map(|(start, _)| start..start + value.len()));
}

/// Tokens that show by themselves what they are.
fn tokens(line: &[u8], secrets: &mut Vec<Range<usize>>) {
    let mut start = 0;
    while start < line.len() {
        if !is_of_token(line[start]) {
            start += 1;
            continue;
        }
        let length = line[start..].iter().take_while(|byte| is_of_token(**byte)).count();
        let token = &line[start..start + length];
        if let Some(from) = begins_at(token) {
            secrets.push(start + from..start + length);
        } else if is_web_token(token) || follows_bearer(line, start, token) {
            secrets.push(start..start + length);
        }
        start += length;
    }
}

/// Where in a run of token characters a known prefix begins a token.
fn begins_at(run: &[u8]) -> Option<usize> {
    PREFIXES
        .iter()
        .filter_map(|(prefix, least)| {
            let prefix = prefix.as_bytes();
            let at = run.windows(prefix.len()).position(|window| window == prefix)?;
            // `=` may stand before a token, a letter may not.
            let begins = at == 0 || !run[at - 1].is_ascii_alphanumeric();
            let rest = run[at + prefix.len()..].iter();
            let long =
                rest.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count()
                    >= *least;
            (begins && long).then_some(at)
        })
        .min()
}

/// Three parts in base64, the first two of which are JSON objects.
fn is_web_token(token: &[u8]) -> bool {
    let parts: Vec<&[u8]> = token.split(|byte| *byte == b'.').collect();
    matches!(&*parts, [header, claims, signature]
        if header.starts_with(b"eyJ") && claims.starts_with(b"eyJ") && signature.len() >= 16)
}

fn follows_bearer(line: &[u8], start: usize, token: &[u8]) -> bool {
    let before = line[..start].trim_ascii_end();
    let ends_with = |words: &[u8]| {
        before.len().checked_sub(words.len()).is_some_and(|at| before[at..].eq_ignore_ascii_case(words))
    };
    token.len() >= 8 && (ends_with(b"bearer") || ends_with(b"authorization: basic"))
}

/// Values of names that speak of secrets: `password=…`, `"api_key": "…"`.
fn assignments(line: &[u8], secrets: &mut Vec<Range<usize>>) {
    let lower = line.to_ascii_lowercase();
    for name in NAMES {
        let starts = lower.windows(name.len()).enumerate().filter(|(_, window)| *window == name.as_bytes());
        for (start, _) in starts {
            secrets.extend(value_of(line, start + name.len(), name));
        }
    }
}

/// The value that is assigned behind a name that ends at `at`.
fn value_of(line: &[u8], at: usize, name: &str) -> Option<Range<usize>> {
    let skip =
        |at: usize, fits: fn(&u8) -> bool| at + line[at..].iter().take_while(|byte| fits(byte)).count();
    let sign = skip(at, |byte| matches!(byte, b'"' | b'\'' | b' '));
    let is_colon = match line.get(sign) {
        Some(b'=') => false,
        Some(b':') => true,
        _ => return None,
    };
    let start = skip(sign + 1, |byte| matches!(byte, b'"' | b'\'' | b' '));
    let end = skip(start, |byte| {
        !matches!(byte, b'"' | b'\'' | b' ' | b',' | b';' | b'&' | b'\n' | b'\r' | b'`' | b')')
    });
    let value = &line[start..end];
    // `unexpected token: …` is a compiler's word.
    let is_word = is_colon && name == "token" && !(value.len() >= 16 && value.iter().any(u8::is_ascii_digit));
    let least = if is_colon { 6 } else { 4 };
    (value.len() >= least && !is_word).then_some(start..end)
}

/// Passwords in `scheme://user:password@host`.
fn urls(line: &[u8], secrets: &mut Vec<Range<usize>>) {
    let schemes = line.windows(3).enumerate().filter(|(_, window)| window == b"://");
    for (at, _) in schemes {
        let start = at + 3;
        let length = line[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'"' | b'\''))
            .count();
        let authority = &line[start..start + length];
        let Some(host) = authority.iter().rposition(|byte| *byte == b'@') else { continue };
        if let Some(colon) = authority[..host].iter().position(|byte| *byte == b':')
            && colon + 1 < host
        {
            secrets.push(start + colon + 1..start + host);
        }
    }
}
