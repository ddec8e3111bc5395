//! Strict numbers: decimal digits and nothing else.

use std::time::Duration;

/// A positive number as an option takes it. `3x`, `1e3`, `+1` and `0` are refused.
pub(super) fn positive(text: &str) -> Result<u32, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if digits && number > 0 => Ok(number),
        _ => Err("expected a whole number of at least 1".to_owned()),
    }
}

/// A length of time such as `90s`, `15m` or `2h`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a whole number with a unit, such as `90s`, `15m` or `2h`".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        _ => return Err(wrong()),
    };
    let number = positive(&text[..text.len() - 1]).map_err(|_| wrong())?;
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_strict() {
        assert_eq!(positive("3"), Ok(3));
        for bad in ["", "0", "3x", "1e3", "+1", "-1", " 1", "1.0", "4294967296", "x"] {
            assert!(positive(bad).is_err(), "{bad:?}");
        }
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for bad in ["", "s", "90", "1d", "0s", "1.5h", "90ß"] {
            assert!(duration(bad).is_err(), "{bad:?}");
        }
    }
}
