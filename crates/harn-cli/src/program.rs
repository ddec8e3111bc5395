//! The program: reads the command line, runs one command, and turns whatever happens into output and an exit code.

use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::args::Args;
use crate::color::{self, Colored};
use crate::commands;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::{Io, Stream};
use crate::output::Output;
use crate::text::Palette;
use crate::usage;

/// Runs the program in its process: arguments, streams and environment are the process's own.
#[must_use]
pub fn main() -> ExitCode {
    let (mut stdout, mut stderr) = (std::io::stdout(), std::io::stderr());
    let width = |terminal: bool| terminal.then(terminal_width);
    let (stdout_width, stderr_width) = (width(stdout.is_terminal()), width(stderr.is_terminal()));
    let io = Io {
        stdin: &mut std::io::stdin(),
        stdout: Stream { writer: &mut stdout, terminal: stdout_width },
        stderr: Stream { writer: &mut stderr, terminal: stderr_width },
        environment: std::env::vars_os().collect(),
        directory: std::env::current_dir().unwrap_or_else(|_| "/".into()),
    };
    run(std::env::args_os(), io).into()
}

fn terminal_width() -> usize {
    textwrap::termwidth()
}

/// Runs one command line, the program's name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>, mut io: Io<'_>) -> Exit {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let colored = color::decide(color::asked_for(arguments.iter().map(OsString::as_os_str)), &io);
    let args = match parse(&arguments, &io) {
        Ok(args) => args,
        Err(error) => return usage::explain(&error, &arguments, colored, &mut io),
    };
    let mut output = Output::new(args.json);
    let failure = match commands::run(&args, &mut io, &mut output, colored) {
        Ok(exit) => match output.print(&mut io) {
            // What was to be changed has been changed by now. If nobody reads, there is nobody to tell.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                let message = format!("cannot write to standard output: {error}");
                let failure = Failure::new(Exit::Environment, "output_failed", message);
                say(&failure, colored, &mut io);
                return failure.exit;
            }
            _ => return exit,
        },
        Err(failure) => failure,
    };
    let failure = match failure.exit {
        Exit::Refused | Exit::Usage => failure.or_hint(|| usage::help_hint(&arguments)),
        _ => failure,
    };
    say(&failure, colored, &mut io);
    if args.json {
        // A closed stream ends quietly.
        let _ = writeln!(io.stdout.writer, "{}", failure.json());
    }
    failure.exit
}

fn parse(arguments: &[OsString], io: &Io<'_>) -> Result<Args, clap::Error> {
    let mut command = Args::command();
    if let Some(width) = io.width() {
        command = command.term_width(width.min(100));
    }
    let matches = command.try_get_matches_from(arguments)?;
    Args::from_arg_matches(&matches)
}

fn say(failure: &Failure, colored: Colored, io: &mut Io<'_>) {
    // A closed stream ends quietly.
    let _ = io.stderr.writer.write_all(failure.text(Palette::new(colored.stderr)).as_bytes());
}
