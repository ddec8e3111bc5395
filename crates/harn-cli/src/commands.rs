//! One module per command: arguments in, one library call, a result out.

mod checkpoint;
mod completions;
mod env;
mod import;
mod init;
mod repair;
mod review;
mod run;
mod verify;
mod work;

use harn_ledger::{StreamId, UnfinishedTail};

use crate::args::{Args, Command};
use crate::color::Colored;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::output::Output;
use crate::session::Session;
use crate::text::{Palette, paint, safe_line};

/// What a command works with.
pub(crate) struct Context<'a, 'io> {
    pub(crate) io: &'a mut Io<'io>,
    pub(crate) output: &'a mut Output,
    /// For standard output.
    pub(crate) palette: Palette,
    /// For standard error.
    words: Palette,
    pub(crate) session: Session,
}

impl Context<'_, '_> {
    /// Says something on standard error that does not stop the command.
    pub(crate) fn warn(&mut self, message: &str) {
        // A closed stream ends quietly.
        let _ =
            writeln!(self.io.stderr.writer, "{} {}", paint(self.words.hint, "warning:"), safe_line(message));
    }

    /// Says something on standard error that is nothing to worry about.
    pub(crate) fn note(&mut self, message: &str) {
        // A closed stream ends quietly.
        let _ = writeln!(self.io.stderr.writer, "{} {}", paint(self.words.hint, "note:"), safe_line(message));
    }

    /// Warns that what was shown cannot be changed. A command that wanted to change it has failed and said so.
    fn warn_of_read_only_file_system(&mut self) {
        if self.session.on_read_only_file_system() {
            let state = self.session.project.state.display();
            self.warn(&format!("{state} is on a read-only file system: its records cannot be changed"));
        }
    }

    /// Warns of bytes that a crash left behind the last event of a stream, and returns the words.
    pub(crate) fn warn_of_tail(
        &mut self,
        kind: &str,
        id: &StreamId,
        events: u64,
        tail: UnfinishedTail,
    ) -> String {
        let path = self.session.project.state.join(kind).join(id.as_str()).join("events.jsonl");
        let warning = format!(
            "{}: line {}, byte {}: {} unfinished bytes were left by a crash and are not counted; the next change moves \
             them aside",
            path.display(),
            events + 1,
            tail.offset,
            tail.bytes
        );
        self.warn(&warning);
        warning
    }

    /// The width that text has to fit; prose is wrapped at 80 columns where there is no terminal.
    pub(crate) fn prose_width(&self) -> usize {
        self.io.width().unwrap_or(80).min(100)
    }

    /// Whether an id may be given by a prefix although the command changes something: only where a person sees it.
    pub(crate) fn prefixes_change_things(&self) -> bool {
        self.io.stdout.terminal.is_some()
    }
}

/// Runs the command.
pub(crate) fn run(
    args: &Args,
    io: &mut Io<'_>,
    output: &mut Output,
    colored: Colored,
) -> Result<Exit, Failure> {
    let root = args.root.as_deref();
    match &args.command {
        Command::Init => return init::run(root, io, output),
        Command::Completions { shell } => {
            completions::run(*shell, output);
            return Ok(Exit::Done);
        }
        Command::Work(_)
        | Command::Run(_)
        | Command::Verify(_)
        | Command::Checkpoint(_)
        | Command::Env(_)
        | Command::Review(_)
        | Command::Import(_)
        | Command::Repair(_) => {}
    }
    let session = Session::open(root, io)?;
    let (palette, words) = (Palette::new(colored.stdout), Palette::new(colored.stderr));
    let mut context = Context { io, output, palette, words, session };
    let result = match &args.command {
        Command::Work(command) => work::run(&mut context, command),
        Command::Run(command) => run::run(&mut context, command),
        Command::Verify(args) => verify::run(&mut context, args),
        Command::Checkpoint(args) => checkpoint::run(&mut context, args),
        Command::Repair(args) => repair::run(&mut context, args),
        Command::Env(command) => env::run(&mut context, command),
        Command::Review(command) => review::run(&mut context, command),
        Command::Import(command) => import::run(&mut context, command),
        Command::Init | Command::Completions { .. } => Ok(Exit::Done),
    };
    match result {
        Ok(exit) => {
            context.warn_of_read_only_file_system();
            Ok(exit)
        }
        Err(failure) => Err(context.session.explain(failure)),
    }
}
