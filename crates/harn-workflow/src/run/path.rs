//! Absolute paths as text, checked once.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Longest path, in bytes.
const PATH_MAX: usize = 4096;

/// An absolute path in UTF-8: at most 4,096 bytes and no control character.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsolutePath(Box<str>);

/// The text is not such a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a usable path, expected an absolute one of at most 4096 bytes without control characters", .0.escape_debug())]
pub struct InvalidPath(pub String);

impl AbsolutePath {
    /// Checks `path` and takes a copy of it.
    pub fn new(path: &str) -> Result<Self, InvalidPath> {
        if path.starts_with('/') && path.len() <= PATH_MAX && !path.contains(char::is_control) {
            Ok(Self(path.into()))
        } else {
            Err(InvalidPath(path.to_owned()))
        }
    }

    /// The path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AbsolutePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AbsolutePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for AbsolutePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for AbsolutePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_paths() {
        let (longest, longer) = (format!("/{}", "a".repeat(4095)), format!("/{}", "a".repeat(4096)));
        for good in ["/", "/a b/ñ", "/a/../b", &longest] {
            assert!(AbsolutePath::new(good).is_ok(), "{good}");
        }
        for bad in ["", "a", "./a", "~/a", "/a\nb", "/a\0", &longer] {
            assert_eq!(AbsolutePath::new(bad), Err(InvalidPath(bad.to_owned())));
        }
    }
}
