//! Looks up running processes by group or by open pipe.

mod proc_fs;
mod ps;

use rustix::process::Pid;
use serde::{Deserialize, Serialize};

/// A process that was seen running.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The name of its program, without directory and arguments; the system may shorten it.
    pub name: String,
}

/// The processes of `groups` that have not exited, without `except`.
///
/// Empty as well if neither `/proc` nor `ps` is there.
pub(super) fn in_groups(groups: &[Pid], except: Option<Pid>) -> Vec<Process> {
    let mut found = if proc_fs::is_there() { proc_fs::in_groups(groups) } else { ps::in_groups(groups) };
    found.retain(|process| except.is_none_or(|pid| !process.is(pid)));
    found
}

/// The processes other than this one that hold one of these pipes open, as far as `/proc` tells.
pub(super) fn holding(pipes: &[u64]) -> Vec<Process> {
    if proc_fs::is_there() { proc_fs::holding(pipes) } else { Vec::new() }
}

impl Process {
    fn is(&self, pid: Pid) -> bool {
        i64::from(self.pid) == i64::from(pid.as_raw_pid())
    }
}
