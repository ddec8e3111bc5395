//! SARIF 2.1.0: the results of other programs are read, and a review is written for them.
//!
//! A log is foreign and its form is open, so members that are not known here are passed over. What is interpreted has to be
//! right.

mod fill;
mod log;
mod prints;
mod read;
mod uri;
mod words;
mod write;

use std::collections::BTreeSet;

use crate::bounds;
use crate::import::Imported;
use crate::plan::Plan;
use crate::source::Source;
use log::Log;

pub use write::write;

/// Largest log, in bytes.
pub const LOG: usize = 16 << 20;

/// The only version that is read and written.
pub const VERSION: &str = "2.1.0";

/// Why a log is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSarif {
    /// It is too large.
    #[error("the SARIF log has {0} bytes, expected at most 16777216")]
    TooLarge(usize),
    /// It is of another version.
    #[error("the SARIF log has version `{}`, expected `2.1.0`", .0.escape_debug())]
    Version(String),
    /// It is no log.
    #[error("the SARIF log is not valid: {0}")]
    Json(String),
    /// A run keeps its results in other files.
    #[error("the SARIF log keeps its results in other files, expected them in the log itself")]
    External,
    /// There are more results than a review can hold.
    #[error("the SARIF log has {0} results that are findings, expected at most 2000")]
    TooMany(usize),
}

impl InvalidSarif {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge(_) => "sarif_too_large",
            Self::Version(_) => "sarif_version",
            Self::Json(_) => "sarif_invalid",
            Self::External => "sarif_external",
            Self::TooMany(_) => "sarif_too_many",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Version(_) => Some("have the program write SARIF 2.1.0, or convert the log"),
            Self::External => Some("inline the external property files first"),
            Self::TooMany(_) => Some("narrow the rules or the files that the program looks at"),
            Self::TooLarge(_) | Self::Json(_) => None,
        }
    }
}

/// Reads a log. Absolute paths in it lead into the project only if the log names its root.
pub fn read(bytes: &[u8], plan: &Plan, source: &Source) -> Result<Imported, InvalidSarif> {
    Ok(read::imported(&parse(bytes)?, None, plan, source))
}

/// Reads a log of a project at this absolute path.
pub fn read_below(root: &str, bytes: &[u8], plan: &Plan, source: &Source) -> Result<Imported, InvalidSarif> {
    Ok(read::imported(&parse(bytes)?, Some(root), plan, source))
}

/// The paths in the project that [`read`] looks for in the source, in order, each once.
pub fn paths(bytes: &[u8]) -> Result<Vec<String>, InvalidSarif> {
    Ok(paths_of(&parse(bytes)?, None))
}

/// The paths in the project that [`read_below`] looks for in the source, in order, each once.
pub fn paths_below(root: &str, bytes: &[u8]) -> Result<Vec<String>, InvalidSarif> {
    Ok(paths_of(&parse(bytes)?, Some(root)))
}

fn paths_of(log: &Log, root: Option<&str>) -> Vec<String> {
    let mut paths = BTreeSet::new();
    for run in &log.runs {
        let roots = uri::Roots::of(run, root);
        let live = run.results.iter().filter(|result| result.is_live());
        paths.extend(live.filter_map(|result| roots.path(result.artifact()?)));
    }
    paths.into_iter().map(|path| path.to_string()).collect()
}

fn parse(bytes: &[u8]) -> Result<Log, InvalidSarif> {
    if bytes.len() > LOG {
        return Err(InvalidSarif::TooLarge(bytes.len()));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let log: Log = match serde_json::from_slice(bytes) {
        Ok(log) => log,
        // A log of another version has another form; that it is of another version says more.
        Err(error) => match log::version(bytes) {
            Some(version) if version != VERSION => return Err(InvalidSarif::Version(version)),
            _ => return Err(InvalidSarif::Json(error.to_string())),
        },
    };
    if log.version != VERSION {
        return Err(InvalidSarif::Version(log.version));
    }
    if log.runs.iter().any(log::Run::is_external) {
        return Err(InvalidSarif::External);
    }
    let live = log.runs.iter().flat_map(|run| &run.results).filter(|result| result.is_live()).count();
    if live > bounds::FINDINGS { Err(InvalidSarif::TooMany(live)) } else { Ok(log) }
}
