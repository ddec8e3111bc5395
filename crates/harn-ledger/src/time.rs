//! Points in time, to the microsecond, in UTC.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::Offset;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point in time with microsecond precision, written as `2026-07-22T12:00:00.000000Z` and in no other way.
///
/// ```
/// use harn_ledger::Timestamp;
/// let noon: Timestamp = "2026-07-22T12:00:00.000000Z".parse().unwrap();
/// assert_eq!(noon.to_string(), "2026-07-22T12:00:00.000000Z");
/// assert!("2026-07-22T12:00:00Z".parse::<Timestamp>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(jiff::Timestamp);

/// The text is not a timestamp in the one form that the ledger writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a timestamp, expected the form `2026-07-22T12:00:00.000000Z`")]
pub struct ParseTimestampError(String);

static PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(6));

/// Bytes in the written form.
pub(crate) const TIMESTAMP_LEN: usize = 27;

impl Timestamp {
    /// The start of the Unix epoch.
    pub const UNIX_EPOCH: Self = Self(jiff::Timestamp::UNIX_EPOCH);

    /// A timestamp from microseconds since the Unix epoch, limited to the years 0000 to 9999.
    #[must_use]
    pub fn from_microseconds(microseconds: i64) -> Self {
        let (low, high) = (-62_167_219_200_000_000, 253_402_207_199_999_999);
        let inside = microseconds.clamp(low, high);
        Self(jiff::Timestamp::from_microsecond(inside).expect("years 0 to 9999 are within jiff's range"))
    }

    /// Reads the one written form. Every line of a log has one, so this takes the digits by itself.
    pub(crate) fn from_written(text: &[u8]) -> Option<Self> {
        let text: &[u8; TIMESTAMP_LEN] = text.try_into().ok()?;
        let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (26, b'Z')];
        if marks.iter().any(|&(at, mark)| text[at] != mark) {
            return None;
        }
        let number = |from: usize, to: usize| {
            text[from..to].iter().try_fold(0_i32, |number, digit| {
                digit.is_ascii_digit().then(|| number * 10 + i32::from(digit - b'0'))
            })
        };
        let small = |from| number(from, from + 2).and_then(|number| i8::try_from(number).ok());
        let year = number(0, 4).and_then(|year| i16::try_from(year).ok())?;
        let nanosecond = number(20, 26)? * 1000;
        let civil = DateTime::new(year, small(5)?, small(8)?, small(11)?, small(14)?, small(17)?, nanosecond);
        let at = Offset::UTC.to_timestamp(civil.ok()?).ok()?;
        Some(Self(at))
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub fn as_microseconds(self) -> i64 {
        self.0.as_microsecond()
    }

    /// Milliseconds since the Unix epoch, rounded down.
    #[must_use]
    pub fn as_milliseconds(self) -> i64 {
        self.as_microseconds().div_euclid(1000)
    }

    /// Reads any RFC 3339 text with an offset, dropping what is finer than a microsecond.
    pub fn from_rfc3339(text: &str) -> Result<Self, ParseTimestampError> {
        let parsed: jiff::Timestamp = text.parse().map_err(|_| ParseTimestampError(text.to_owned()))?;
        Ok(Self::from_microseconds(parsed.as_microsecond()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&PRINTER.timestamp_to_string(&self.0))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = ParseTimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_written(text.as_bytes()).ok_or_else(|| ParseTimestampError(text.to_owned()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_written_form() {
        for bad in [
            "2026-07-22T12:00:00Z",
            "2026-07-22T12:00:00.000Z",
            "2026-07-22T12:00:00.0000000Z",
            "2026-07-22 12:00:00.000000Z",
            "2026-07-22t12:00:00.000000z",
            "2026-07-22T12:00:00.000000+00:00",
            "2026-07-22T12:00:60.000000Z",
            "2026-07-22T24:00:00.000000Z",
            "2026-02-29T12:00:00.000000Z",
            "2026-00-22T12:00:00.000000Z",
            "2026-07-22T12:00:00.0000+0Z",
            "-026-07-22T12:00:00.000000Z",
            "2026-07-22T12:00:00.00000éZ",
            "2026",
            "",
        ] {
            assert!(bad.parse::<Timestamp>().is_err(), "{bad}");
        }
        let limits = [i64::MIN, 0, 1_753_185_600_123_456, i64::MAX];
        for at in limits.map(Timestamp::from_microseconds) {
            assert_eq!(at.to_string().len(), TIMESTAMP_LEN);
            assert_eq!(at.to_string().parse(), Ok(at));
        }
    }
}
