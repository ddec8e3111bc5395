//! What the output of a tool must show: a text, or a version.

use semver::{Version, VersionReq};
use serde::{Deserialize, Serialize};

/// Longest expectation, in characters.
const EXPECT_MAX: usize = 200;

/// What the output of a tool must show.
///
/// A text that begins with `>`, `<`, `=`, `^` or `~` is a range of versions, such as `>=1.89` or `^20, <20.11`: the first
/// version in the output must lie in it. Any other text must stand in the output as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Expect {
    text: String,
    range: Option<VersionReq>,
}

/// The text is not an expectation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidExpect {
    /// It is blank or too long.
    #[error("an expectation has {characters} characters, expected 1 to {EXPECT_MAX}, not blank")]
    Length {
        /// Its length.
        characters: usize,
    },
    /// It begins like a range of versions and is none.
    #[error("`{}` is not a range of versions: {why}", text.escape_debug())]
    Range {
        /// The text.
        text: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Expect {
    /// Reads an expectation.
    pub fn new(text: &str) -> Result<Self, InvalidExpect> {
        let characters = text.chars().count();
        if text.trim().is_empty() || characters > EXPECT_MAX {
            return Err(InvalidExpect::Length { characters });
        }
        let range =
            if text.starts_with(['>', '<', '=', '^', '~']) {
                let parsed = VersionReq::parse(text);
                Some(parsed.map_err(|error| InvalidExpect::Range {
                    text: text.to_owned(),
                    why: error.to_string(),
                })?)
            } else {
                None
            };
        Ok(Self { text: text.to_owned(), range })
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether `output` shows it.
    #[must_use]
    pub fn is_met_by(&self, output: &str) -> bool {
        match &self.range {
            None => output.contains(&self.text),
            Some(range) => first_version(output).is_some_and(|version| {
                // A release that is not out yet is as good as the release for a tool.
                range.matches(&Version::new(version.major, version.minor, version.patch))
            }),
        }
    }
}

/// The first version in a text: two or three numbers with dots between them.
fn first_version(text: &str) -> Option<Version> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    text.split(|c: char| !is_part(c)).find_map(|run| {
        let mut numbers = run.trim_matches('.').split('.').map(str::parse::<u64>);
        let major = numbers.next()?.ok()?;
        let minor = numbers.next()?.ok()?;
        let patch = numbers.next().map_or(Some(0), Result::ok)?;
        Some(Version::new(major, minor, patch))
    })
}

impl TryFrom<String> for Expect {
    type Error = InvalidExpect;

    fn try_from(text: String) -> Result<Self, InvalidExpect> {
        Self::new(&text)
    }
}

impl From<Expect> for String {
    fn from(expect: Expect) -> Self {
        expect.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_ranges() {
        for (expect, output, met) in [
            ("git version", "git version 2.47.3\n", true),
            ("git version", "hg 6", false),
            (">=1.89", "rustc 1.95.0 (59807616e 2026-04-14)", true),
            (">=1.89", "rustc 1.88.2", false),
            (">=1.89", "rustc 1.89.0-nightly", true),
            ("^20, <20.11", "v20.10.4", true),
            ("^20, <20.11", "v20.11", false),
            ("~3.12", "Python 3.12.3", true),
            (">=1", "no number here", false),
            ("=2.0", "tool 7 of release 2.0.0", true),
        ] {
            assert_eq!(Expect::new(expect).map(|it| it.is_met_by(output)), Ok(met), "{expect}: {output}");
        }
        for bad in ["", "  ", ">=", ">= one", &"x".repeat(201)] {
            assert!(Expect::new(bad).is_err(), "{bad}");
        }
    }
}
