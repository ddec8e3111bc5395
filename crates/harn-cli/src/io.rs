//! What a command may touch besides the project: streams, environment, working directory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::PathBuf;

/// The surroundings of one call of the command line. A test makes its own.
pub struct Io<'a> {
    /// Standard input.
    pub stdin: &'a mut dyn Read,
    /// Where data goes.
    pub stdout: Stream<'a>,
    /// Where words go.
    pub stderr: Stream<'a>,
    /// The environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// The working directory.
    pub directory: PathBuf,
}

/// An output stream.
pub struct Stream<'a> {
    /// Where it goes.
    pub writer: &'a mut (dyn Write + Send),
    /// Its width in columns, if it is a terminal.
    pub terminal: Option<usize>,
}

impl std::fmt::Debug for Io<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Io").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("terminal", &self.terminal).finish_non_exhaustive()
    }
}

impl Io<'_> {
    /// A variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable as text.
    pub(crate) fn text_variable(&self, name: &str) -> Option<&str> {
        self.variable(name).and_then(OsStr::to_str)
    }

    /// The width that output for people has to fit, if there is one: `COLUMNS`, else the terminal's.
    pub(crate) fn width(&self) -> Option<usize> {
        let stated = self
            .text_variable("COLUMNS")
            .and_then(|columns| columns.parse().ok())
            .filter(|&n: &usize| n >= 20);
        stated.or(self.stdout.terminal)
    }
}
