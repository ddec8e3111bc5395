//! SHA-256 digests: the name of every blob and the links of every chain.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, written as 64 lower-case hexadecimal digits.
///
/// ```
/// use harn_ledger::Digest;
/// let digest = Digest::of(b"abc");
/// assert_eq!(digest.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
/// assert_eq!(digest.to_string().parse(), Ok(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// The text is not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256 digest, expected 64 lower-case hexadecimal digits")]
pub struct ParseDigestError;

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The first two of its digits, as a number.
    pub(crate) const fn first_byte(&self) -> u8 {
        self.0[0]
    }

    /// The 64 digits as ASCII bytes, without allocating.
    #[must_use]
    pub fn hex(&self) -> [u8; 64] {
        let mut out = [0; 64];
        for (digits, four) in out.as_chunks_mut().0.iter_mut().zip(self.0.as_chunks().0) {
            *digits = eight_digits(u32::from_be_bytes(*four));
        }
        out
    }

    /// Reads exactly 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn from_hex(hex: &[u8]) -> Option<Self> {
        if hex.len() != 64 {
            return None;
        }
        let mut out = [0; 32];
        for (byte, pair) in out.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Self(out))
    }
}

/// Computes a digest piece by piece.
#[derive(Debug, Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Takes in the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything taken in.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// The digits of four bytes, all eight computed at once: every line of a log that is read is compared with such digits.
const fn eight_digits(four: u32) -> [u8; 8] {
    // One nibble in each byte.
    let mut nibbles = four as u64;
    nibbles = (nibbles & 0xffff_0000) << 16 | nibbles & 0xffff;
    nibbles = (nibbles & 0x0000_ff00_0000_ff00) << 8 | nibbles & 0x0000_00ff_0000_00ff;
    nibbles = (nibbles & 0x00f0_00f0_00f0_00f0) << 4 | nibbles & 0x000f_000f_000f_000f;
    // 1 in each byte whose digit is a letter.
    let letters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (nibbles + 0x3030_3030_3030_3030 + letters * (b'a' - b'0' - 10) as u64).to_be_bytes()
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.hex()).expect("digits are ASCII"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_hex(text.as_bytes()).ok_or(ParseDigestError)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Digest;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("64 lower-case hexadecimal digits")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Digest, E> {
                text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn only_64_lower_case_digits_are_a_digest() {
        let good = Digest::of(b"").to_string();
        assert_eq!(good, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        for bad in [&good[1..], &good.to_uppercase(), &format!("{good}0"), &good.replace('e', "g"), ""] {
            assert_eq!(bad.parse::<Digest>(), Err(ParseDigestError), "{bad}");
        }
        for text in [&b""[..], b"a", b"abc", b"0123456789"] {
            let digest = Digest::of(text);
            let mut plain = String::new();
            digest.0.iter().for_each(|byte| write!(plain, "{byte:02x}").unwrap());
            assert_eq!(digest.hex(), plain.as_bytes());
        }
    }
}
