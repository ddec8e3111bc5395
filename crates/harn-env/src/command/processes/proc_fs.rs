//! Reads processes from `/proc` as Linux lays it out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use rustix::process::{Pid, RawPid};

use super::Process;

pub(super) fn is_there() -> bool {
    Path::new("/proc/self/stat").exists()
}

pub(super) fn in_groups(groups: &[Pid]) -> Vec<Process> {
    let groups: Vec<_> = groups.iter().map(|group| group.as_raw_pid()).collect();
    // `getpgid` would be cheaper, but gives 0 for kernel threads, which is no `Pid`.
    pids()
        .filter_map(running)
        .filter(|(_, group)| groups.contains(group))
        .map(|(process, _)| process)
        .collect()
}

pub(super) fn holding(pipes: &[u64]) -> Vec<Process> {
    let links: Vec<_> = pipes.iter().map(|inode| PathBuf::from(format!("pipe:[{inode}]"))).collect();
    pids()
        .filter(|pid| *pid != process::id())
        .filter(|pid| {
            // Unreadable for processes of other users.
            let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
                return false;
            };
            entries.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|link| links.contains(&link)))
        })
        .filter_map(running)
        .map(|(process, _)| process)
        .collect()
}

fn pids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()))
}

/// A process that has not exited, and its group.
fn running(pid: u32) -> Option<(Process, RawPid)> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let (name, group) = name_and_group(&String::from_utf8_lossy(&stat))?;
    Some((Process { pid, name }, group))
}

/// From a line `PID (NAME) STATE PARENT GROUP …`, unless the process has exited. The name may hold parentheses
/// and spaces; what follows it does not.
fn name_and_group(stat: &str) -> Option<(String, RawPid)> {
    let (before, after) = stat.rsplit_once(") ")?;
    let (_, name) = before.split_once(" (")?;
    let mut fields = after.split(' ');
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    (!matches!(state, "Z" | "X" | "x")).then(|| (name.to_owned(), group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_is_read_whole() {
        assert_eq!(name_and_group("7 (a) Z (b) S 1 6 7"), Some(("a) Z (b".to_owned(), 6)));
    }

    #[test]
    fn an_exited_process_is_not_running() {
        assert_eq!(name_and_group("7 (sleep) Z 1 6 7"), None);
    }

    #[test]
    fn this_process_is_in_its_group() {
        let group = rustix::process::getpgrp();
        assert!(in_groups(&[group]).iter().any(|found| found.pid == process::id()));
    }
}
