//! What to run and within which bounds.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::Environment;

/// One command: program, arguments, directory, variables, input and bounds.
///
/// No shell is involved: the program gets exactly these arguments. Whoever wants a shell names it, as in
/// `CommandSpec::new("sh", dir).args(["-c", script])`.
///
/// [`new`](Self::new) sets the defaults; every field may be changed afterwards. `Debug` shows the names of
/// variables and the size of the input, never their content.
#[derive(Clone)]
#[non_exhaustive]
pub struct CommandSpec {
    /// The program. A name without `/` is looked up in the `PATH` of [`environment`](Self::environment); a
    /// relative path with `/` starts at [`cwd`](Self::cwd).
    pub program: OsString,
    /// The arguments, without the program itself.
    pub args: Vec<OsString>,
    /// The directory the program starts in. A relative one starts at the directory of this process.
    pub cwd: PathBuf,
    /// The variables the program gets. Default: those of this process.
    pub environment: Environment,
    /// Bytes for the program's standard input, which then ends. Default: none, the input is `/dev/null`.
    ///
    /// A program that does not read them is not a failure.
    pub stdin: Vec<u8>,
    /// How long the program may run, counted from its start. Default: without limit.
    pub timeout: Option<Duration>,
    /// How long processes have between `TERM` and `KILL`. Default: 5 seconds; at most one hour.
    pub grace: Duration,
    /// What is kept of each of the two output streams.
    pub limits: Limits,
    /// Whether the command ends when this process dies without a chance to clean up, by `kill -9` for
    /// example. Default: `true`.
    ///
    /// A guarded command runs in a process group led by a keeper: a small `/bin/sh` loop that waits for the
    /// end of a pipe which only this process holds open, then sends `TERM` and two seconds later `KILL` to the
    /// group. The keeper is there before the command, so there is no moment in which the command runs
    /// unguarded. It costs one idle shell while the command runs. An unguarded command leads its group itself.
    pub guarded: bool,
}

/// How much is kept of one output stream; the rest is still read, counted and hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes kept in memory from the start. Default: 16 KiB.
    pub head: usize,
    /// Bytes kept in memory from the end. Default: 48 KiB.
    pub tail: usize,
    /// Bytes handed to the [`Sink`](super::Sink). Default: 256 MiB.
    pub sink: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { head: 16 * 1024, tail: 48 * 1024, sink: 256 * 1024 * 1024 }
    }
}

impl CommandSpec {
    /// A command without arguments and with default bounds.
    #[must_use]
    pub fn new(program: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            environment: Environment::inherit(),
            stdin: Vec::new(),
            timeout: None,
            grace: Duration::from_secs(5),
            limits: Limits::default(),
            guarded: true,
        }
    }

    /// Appends arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Replaces the environment.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Replaces the input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Sets the time limit.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }
}

impl fmt::Debug for CommandSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandSpec")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("cwd", &self.cwd)
            .field("environment", &self.environment)
            .field("stdin_bytes", &self.stdin.len())
            .field("timeout", &self.timeout)
            .field("grace", &self.grace)
            .field("limits", &self.limits)
            .field("guarded", &self.guarded)
            .finish()
    }
}
