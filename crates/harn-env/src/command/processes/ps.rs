//! Asks `ps` for processes where there is no Linux `/proc`.

use std::process::{Command, Stdio};

use rustix::process::Pid;

use super::Process;

pub(super) fn in_groups(groups: &[Pid]) -> Vec<Process> {
    let output = Command::new("ps")
        .args(["-A", "-o", "pid=", "-o", "pgid=", "-o", "stat=", "-o", "comm="])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(output) = output else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| running_in(groups, line)).collect()
}

/// The process of a line `PID GROUP STATE NAME`, if it is in one of the groups and has not exited.
fn running_in(groups: &[Pid], line: &str) -> Option<Process> {
    let (pid, rest) = line.trim_start().split_once(' ')?;
    let (group, rest) = rest.trim_start().split_once(' ')?;
    let (state, name) = rest.trim_start().split_once(' ')?;
    let group: i32 = group.parse().ok()?;
    let wanted = groups.iter().any(|number| number.as_raw_pid() == group) && !state.starts_with('Z');
    // Some systems give the whole path.
    let name = name.trim().rsplit('/').next().unwrap_or_default().to_owned();
    wanted.then(|| pid.parse().ok().map(|pid| Process { pid, name })).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whatever_their_layout() {
        let groups = [Pid::from_raw(40).expect("40 is not 0")];
        for (line, name) in [
            ("   41    40 S    sleep", Some("sleep")),
            ("41 40 Ss+ /usr/bin/tail -f", Some("tail -f")),
            ("   41    40 Z    sleep", None),
            ("   41     4 S    sleep", None),
            ("  PID  PGID STAT COMMAND", None),
            ("", None),
        ] {
            assert_eq!(running_in(&groups, line).map(|found| found.name).as_deref(), name, "{line:?}");
        }
    }

    #[test]
    fn this_process_is_in_its_group() {
        let group = rustix::process::getpgrp();
        assert!(in_groups(&[group]).iter().any(|found| found.pid == std::process::id()));
    }
}
