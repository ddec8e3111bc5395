//! The keeper of a guarded command: leads its process group and ends it when this process dies.
//!
//! A keeper per command, rather than one process with a list of groups, leaves nothing to go wrong between
//! the start of a command and its entry in the list: the group exists, and is watched, before the command
//! joins it. As its leader the keeper also holds the group's number: no other group can get it as long as the
//! keeper is not reaped, so a signal to the group never reaches a stranger.

use std::env;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{read, retry_on_intr};
use rustix::process::Pid;

/// How long the shell may take to come up.
const START_LIMIT: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// Ignores what a terminal or a command may send to the whole group, says that it is ready, and waits for the
/// end of its input, which comes when the last process that holds the other end is gone.
///
/// The input names the program's process: it is a group of its own if the program made itself a leader, as
/// `timeout` does. Nobody holds that number once this process is dead, so the keeper forgets it as soon as it
/// sees no such group. If `sleep` is missing or refuses a fraction, `KILL` comes at once.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
echo
exec >/dev/null
own=
while read -r line; do own=$line; done
alive() { [ -n "$own" ] && kill -s 0 -- "-$own"; }
alive && kill -s TERM -- "-$own"
kill -s TERM 0
for round in 1 2 3 4 5 6 7 8 9 10; do
    alive || own=
    sleep 0.2
done
alive && kill -s KILL -- "-$own"
kill -s KILL 0
"#;

/// A running keeper. Dropping it ends and reaps it; from then on another group may get the number.
#[derive(Debug)]
pub(super) struct Keeper {
    process: Child,
    input: ChildStdin,
}

impl Keeper {
    /// Starts a keeper and waits until it ignores signals.
    pub(super) fn start() -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        // Of the environment it gets no more than what finds `sleep`, and it must not keep a directory busy.
        command.args(["-c", SCRIPT, "harn-keeper"]).current_dir("/").env_clear();
        if let Some(path) = env::var_os("PATH") {
            command.env("PATH", path);
        }
        let mut process = command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = process.stdin.take().expect("the input is a pipe");
        let output = process.stdout.take().expect("the output is a pipe");
        let keeper = Self { process, input };
        wait_until_ready(&output)?;
        Ok(keeper)
    }

    /// The process group it leads; the number is that of its process as well.
    pub(super) fn group(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Tells the keeper which process the program is.
    pub(super) fn tell(&mut self, program: Pid) {
        // Fails only if the command has killed its whole group already; then there is nothing to keep.
        let _ = writeln!(self.input, "{}", program.as_raw_pid());
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Both fail only if it is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn wait_until_ready(output: &ChildStdout) -> io::Result<()> {
    let ready = retry_on_intr(|| poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&START_LIMIT)))?;
    if ready == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    match retry_on_intr(|| read(output, &mut [0; 1]))? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}
