//! Reading one JSON document, and checking members of it as Harnery does.

use harn_ledger::Timestamp;
use serde::de::DeserializeOwned;

use super::damage::DamageKind;

/// A document of the form `T`. Members that `T` does not know are left out, as Harnery does.
pub(super) fn document<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DamageKind> {
    serde_json::from_slice(bytes).map_err(|error| DamageKind::Form { why: error.to_string() })
}

/// A trimmed text of 1 to `max` UTF-16 units, which is how Harnery counts.
pub(super) fn text(member: &'static str, text: &str, max: usize) -> Result<(), DamageKind> {
    let length = text.trim().encode_utf16().count();
    if (1..=max).contains(&length) {
        return Ok(());
    }
    Err(DamageKind::Member { member, expected: format!("1 to {max} characters") })
}

/// A name of 1 to `max` letters, digits, `.`, `_` and `-`, the first a letter or digit.
pub(super) fn name(member: &'static str, name: &str, max: usize) -> Result<(), DamageKind> {
    let mut bytes = name.bytes();
    let fits = name.len() <= max
        && bytes.next().is_some_and(|first| first.is_ascii_alphanumeric())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    if fits {
        return Ok(());
    }
    Err(DamageKind::Member {
        member,
        expected: format!("a letter or digit, then letters, digits, `.`, `_` or `-`, {max} at most"),
    })
}

/// A number from `min` to `max`.
pub(super) fn number(member: &'static str, number: u64, min: u32, max: u32) -> Result<u32, DamageKind> {
    u32::try_from(number)
        .ok()
        .filter(|number| (min..=max).contains(number))
        .ok_or_else(|| DamageKind::Member { member, expected: format!("{min} to {max}") })
}

/// A time as Harnery writes it.
pub(super) fn time(member: &'static str, text: &str) -> Result<Timestamp, DamageKind> {
    Timestamp::from_rfc3339(text).map_err(|_| DamageKind::Member {
        member,
        expected: "a time such as 2026-07-22T12:00:00.000Z".to_owned(),
    })
}

/// 64 hexadecimal digits.
pub(super) fn digest(member: &'static str, text: &str) -> Result<harn_ledger::Digest, DamageKind> {
    text.parse().map_err(|_| DamageKind::Member { member, expected: "64 hexadecimal digits".to_owned() })
}

/// Whether a record is about what it should be about.
pub(super) fn same(member: &'static str, found: &str, expected: &str) -> Result<(), DamageKind> {
    if found == expected {
        return Ok(());
    }
    Err(DamageKind::Foreign { member, found: found.to_owned(), expected: expected.to_owned() })
}

/// Whether a record has the version that is read.
pub(super) fn version(found: u64, expected: u64) -> Result<(), DamageKind> {
    if found == expected { Ok(()) } else { Err(DamageKind::SchemaVersion { found, expected }) }
}

/// Whether there are at most `max`.
pub(super) fn at_most(what: &'static str, count: usize, max: usize) -> Result<(), DamageKind> {
    if count <= max { Ok(()) } else { Err(DamageKind::TooMuch { what, count, max }) }
}
