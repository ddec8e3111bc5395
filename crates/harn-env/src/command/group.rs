//! The process group of a running command: signals to all of it, and who is in it.
//!
//! A process group's number is safe to signal only as long as nobody else can get it. Two processes hold the
//! numbers used here, because a number is not given out again before its process is reaped, even if that has
//! exited: the keeper holds the group's, the program its own. The program's number is a group as well, if the
//! command is not guarded or the program made itself a leader. Therefore neither is reaped before the last
//! signal is sent, and the exit of the program is looked up without reaping it.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgid, kill_process, kill_process_group, waitid,
};

use super::Exit;
use super::keeper::Keeper;
use super::processes::{self, Process};
use super::pump::Pipes;
use super::wake::Waker;

/// The group of a command that was started.
///
/// Dropped without [`finish`](Self::finish), it kills the command: that is what happens when a sink panics.
#[derive(Debug)]
pub(super) struct Group {
    program: Child,
    exited: bool,
    finished: bool,
    keeper: Option<Keeper>,
    watcher: Option<JoinHandle<()>>,
}

impl Group {
    /// Starts the program in the keeper's group, or without a keeper as the leader of a new one.
    pub(super) fn start(command: &mut Command, keeper: Option<Keeper>) -> io::Result<Self> {
        let leader = keeper.as_ref().map_or(0, |keeper| keeper.group().as_raw_pid());
        let program = command.process_group(leader).spawn()?;
        let mut group = Self { program, exited: false, finished: false, keeper, watcher: None };
        let pid = group.pid();
        if let Some(keeper) = &mut group.keeper {
            keeper.tell(pid);
        }
        Ok(group)
    }

    pub(super) fn take_pipes(&mut self) -> io::Result<Pipes> {
        Pipes::take(&mut self.program)
    }

    /// Wakes `waker` once the program has exited. A thread, because it works on every system.
    pub(super) fn watch(&mut self, waker: Arc<Waker>) -> io::Result<()> {
        let pid = self.pid();
        let watcher = thread::Builder::new().name("harn-command-exit".to_owned()).spawn(move || {
            let _ = retry_on_intr(|| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
            waker.wake();
        })?;
        self.watcher = Some(watcher);
        Ok(())
    }

    /// Whether the program has exited.
    pub(super) fn exited(&mut self) -> bool {
        if !self.exited {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            // An error means that there is no such child any more: somebody else has reaped it.
            self.exited = !matches!(retry_on_intr(|| waitid(WaitId::Pid(self.pid()), options)), Ok(None));
        }
        self.exited
    }

    /// Asks every process of the group to end. `CONT` lets a stopped one see it.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Ends every process of the group, the keeper included.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// The running processes of the group, without the keeper. Empty as well if the system does not tell.
    pub(super) fn members(&self) -> Vec<Process> {
        let keeper = self.keeper.as_ref().map(Keeper::group);
        processes::in_groups(&self.numbers().collect::<Vec<_>>(), keeper)
    }

    /// Reaps what has exited. How the program exited, unless it is still running.
    pub(super) fn finish(mut self) -> Option<Exit> {
        self.finished = true;
        if !self.exited() {
            return None;
        }
        if let Some(watcher) = self.watcher.take() {
            // It ends with the program, and must not look at the number after the reaping.
            let _ = watcher.join();
        }
        self.program.wait().ok().and_then(Exit::from_status)
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.program)
    }

    fn numbers(&self) -> impl Iterator<Item = Pid> {
        self.keeper.as_ref().map(Keeper::group).into_iter().chain([self.pid()])
    }

    /// Errors are ignored: a group may be empty, and a process that changed its user may be out of reach. The
    /// latter shows as a survivor.
    fn signal(&self, signal: Signal) {
        // Asked before, because afterwards the program may be on its way out.
        let outside = !self.exited
            && getpgid(Some(self.pid())).is_ok_and(|group| self.numbers().all(|number| number != group));
        for number in self.numbers() {
            let _ = kill_process_group(number, signal);
        }
        if outside {
            let _ = kill_process(self.pid(), signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.finished {
            self.kill();
            let _ = self.program.wait();
        }
    }
}
