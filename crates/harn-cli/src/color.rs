//! One decision about colour for each stream, made once at the start.

use crate::args::ColorWhen;
use crate::io::Io;

/// Whether standard output and standard error get colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colored {
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
}

/// Decides: the option first, then `NO_COLOR`, `CLICOLOR_FORCE`, `TERM=dumb`, then whether the stream is a terminal.
pub(crate) fn decide(when: ColorWhen, io: &Io<'_>) -> Colored {
    let for_all = |colored| Colored { stdout: colored, stderr: colored };
    match when {
        ColorWhen::Always => for_all(true),
        ColorWhen::Never => for_all(false),
        ColorWhen::Auto if io.variable("NO_COLOR").is_some() => for_all(false),
        ColorWhen::Auto if io.variable("CLICOLOR_FORCE").is_some_and(|value| value != "0") => for_all(true),
        ColorWhen::Auto if io.variable("TERM").is_some_and(|value| value == "dumb") => for_all(false),
        ColorWhen::Auto => {
            Colored { stdout: io.stdout.terminal.is_some(), stderr: io.stderr.terminal.is_some() }
        }
    }
}

/// The option, read before anything is parsed, because help and usage errors obey it too.
pub(crate) fn asked_for<'a>(arguments: impl Iterator<Item = &'a std::ffi::OsStr>) -> ColorWhen {
    let words: Vec<&str> = arguments.map(|argument| argument.to_str().unwrap_or_default()).collect();
    let value = words.iter().enumerate().find_map(|(index, word)| match word.strip_prefix("--color") {
        Some("") => words.get(index + 1).copied(),
        Some(value) => value.strip_prefix('='),
        None => None,
    });
    match value {
        Some("always") => ColorWhen::Always,
        Some("never") => ColorWhen::Never,
        _ => ColorWhen::Auto,
    }
}
