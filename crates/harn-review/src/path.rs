//! Paths in a project: relative, exact, without a step that leads elsewhere.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::bounds;

/// An exact path below the project's root: `/` between its steps, no step `.` or `..`, none empty, no backslash, no
/// `*` or `?`, no control character, at most 1,000 bytes. Brackets and braces are what they are: files are called so.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcePath(String);

/// The text is not such a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a path in the project: {why}", path.escape_debug())]
pub struct InvalidPath {
    /// The text.
    pub path: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl SourcePath {
    /// Checks `path`.
    pub fn new(path: &str) -> Result<Self, InvalidPath> {
        let why = if path.is_empty() {
            "it is empty"
        } else if path.len() > bounds::PATH {
            "it has more than 1,000 bytes"
        } else if path.starts_with('/') {
            "it is absolute"
        } else if path.contains('\\') {
            "it has a backslash"
        } else if path.contains(['*', '?']) {
            "it has a wildcard"
        } else if path.chars().any(char::is_control) {
            "it has a control character"
        } else if path.split('/').any(|step| matches!(step, "" | "." | "..")) {
            "it has an empty step, `.` or `..`"
        } else {
            return Ok(Self(path.to_owned()));
        };
        Err(InvalidPath { path: path.to_owned(), why })
    }

    /// The path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourcePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for SourcePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Serialize for SourcePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SourcePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::new(&text).map_err(de::Error::custom)
    }
}
