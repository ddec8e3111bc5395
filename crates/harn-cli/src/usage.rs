//! A command line that is wrong, or that asks for help: in words, and as a document.

use std::ffi::OsString;

use clap::CommandFactory as _;
use clap::error::ErrorKind;

use crate::args::Args;
use crate::color::Colored;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::text::{Palette, paint};

/// What the parser says instead of a hint.
const PARSER_HINT: &str = "\n\nFor more information, try ";

/// Help and version go to standard output; what is wrong with a command line goes to standard error.
pub(crate) fn explain(
    error: &clap::Error,
    arguments: &[OsString],
    colored: Colored,
    io: &mut Io<'_>,
) -> Exit {
    let rendered = error.render();
    let text = |colored: bool| if colored { rendered.ansi().to_string() } else { rendered.to_string() };
    if !error.use_stderr() {
        // A closed stream ends quietly.
        let _ = io.stdout.writer.write_all(text(colored.stdout).as_bytes());
        return Exit::Done;
    }
    let mut words = text(colored.stderr);
    if error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let hint = paint(Palette::new(colored.stderr).hint, "hint:");
        words.truncate(words.find(PARSER_HINT).unwrap_or(words.trim_end().len()));
        words = format!("{words}\n\n{hint} {}\n", help_hint(arguments));
    }
    let _ = io.stderr.writer.write_all(words.as_bytes());
    if words_of(arguments).any(|word| word == "--json") {
        let failure = Failure::new(Exit::Usage, "usage", message(error)).or_hint(|| help_hint(arguments));
        let _ = writeln!(io.stdout.writer, "{}", failure.json());
    }
    Exit::Usage
}

/// What is wrong, without label, usage line and hint.
fn message(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "a command is missing".to_owned();
    }
    let text = error.render().to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let lines: Vec<&str> = paragraph.trim_start_matches("error: ").lines().map(str::trim).collect();
    lines.join(" ")
}

/// Points at the help of the command that was meant, as far as it can be told.
pub(crate) fn help_hint(arguments: &[OsString]) -> String {
    let root = Args::command();
    let (mut command, mut line) = (&root, String::from("harn"));
    for word in words_of(arguments) {
        if let Some(found) = command.find_subcommand(word) {
            command = found;
            line = format!("{line} {}", found.get_name());
        }
    }
    format!("`{line} --help` says what it takes")
}

/// The words after the program's name, up to a `--`.
fn words_of(arguments: &[OsString]) -> impl Iterator<Item = &str> {
    arguments.iter().skip(1).map(|word| word.to_str().unwrap_or_default()).take_while(|word| *word != "--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_names_the_command_that_was_meant() {
        for (line, expected) in [
            ("harn", "`harn --help` says what it takes"),
            ("harn frobnicate", "`harn --help` says what it takes"),
            ("harn --root x work --json run a --max-agents 3x", "`harn work run --help` says what it takes"),
            ("harn run show", "`harn run show --help` says what it takes"),
            ("harn work -- run", "`harn work --help` says what it takes"),
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(help_hint(&arguments), expected, "{line}");
        }
    }

    #[test]
    fn the_message_is_one_line_without_decoration() {
        for (line, expected) in [
            ("harn work show", "the following required arguments were not provided: <WORK-ID>"),
            ("harn work", "a command is missing"),
            (
                "harn work run a --max-agents 3x",
                "invalid value '3x' for '--max-agents <N>': expected a whole number of at least 1",
            ),
            (
                "harn work accept a --dispose f1",
                "`--dispose f1` has no `=`, expected `--dispose f1=fixed` or `--dispose f1=deferred:REASON`",
            ),
        ] {
            let error = Args::command()
                .try_get_matches_from(line.split(' '))
                .and_then(|matches| <Args as clap::FromArgMatches>::from_arg_matches(&matches))
                .unwrap_err();
            assert_eq!(message(&error), expected, "{line}");
        }
    }
}
