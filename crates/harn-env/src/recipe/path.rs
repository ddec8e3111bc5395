//! Paths below a project, exact and in one form.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest path, in bytes.
const PATH_MAX: usize = 1_000;
/// What stands for other names in a pattern.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// The exact path of something below a project: names joined by `/`, none of them `.` or `..`, no pattern; at most 1,000
/// bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProjectPath(String);

/// The text is not a path below a project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a path below the project, expected names joined by `/`, without `.`, `..` or a pattern", .0.escape_debug())]
pub struct InvalidPath(pub String);

impl ProjectPath {
    /// Checks a path.
    pub fn new(path: &str) -> Result<Self, InvalidPath> {
        let is_name = |name: &str| !matches!(name, "" | "." | "..");
        let fits = path.len() <= PATH_MAX
            && path.split('/').all(is_name)
            && !path.chars().any(|c| WILDCARDS.contains(&c) || c.is_control() || c == '\\');
        if fits { Ok(Self(path.to_owned())) } else { Err(InvalidPath(path.to_owned())) }
    }

    /// The path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ProjectPath {
    type Error = InvalidPath;

    fn try_from(path: String) -> Result<Self, InvalidPath> {
        Self::new(&path)
    }
}

impl From<ProjectPath> for String {
    fn from(path: ProjectPath) -> Self {
        path.0
    }
}
