//! Commands for the tests, and what became of their processes.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use harn_env::command::{Cancel, CommandSpec, Finished, Streams, run};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// A shell script that starts in `/`.
pub(crate) fn sh(script: &str) -> CommandSpec {
    CommandSpec::new("sh", "/").args(["-c", script])
}

/// A shell script that starts in `directory`.
pub(crate) fn sh_in(directory: &Path, script: &str) -> CommandSpec {
    CommandSpec::new("sh", directory).args(["-c", script])
}

/// The spec once guarded and once not.
pub(crate) fn guarded_and_not(spec: CommandSpec) -> [CommandSpec; 2] {
    let mut unguarded = spec.clone();
    unguarded.guarded = false;
    [spec, unguarded]
}

/// Runs a command whose whole output nobody wants.
pub(crate) fn run_alone(spec: &CommandSpec) -> Finished {
    run(spec, Streams { stdout: &mut (), stderr: &mut () }, &Cancel::new())
}

/// Runs a test on all its cases at once, because most of them only wait.
pub(crate) fn side_by_side<C: Send>(cases: impl IntoIterator<Item = C>, test: impl Fn(C) + Sync) {
    thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| test(case));
        }
    });
}

/// The process whose number the command wrote to a file.
pub(crate) fn pid_in(file: &Path) -> Pid {
    Pid::from_raw(fs::read_to_string(file).unwrap().trim().parse().unwrap()).unwrap()
}

/// Waits until a file has a line in it.
pub(crate) fn wait_for_line(file: &Path) {
    wait_until(&format!("a line in {}", file.display()), || {
        fs::read_to_string(file).is_ok_and(|text| text.ends_with('\n'))
    });
}

/// Whether a process exists and has not exited.
pub(crate) fn is_running(pid: Pid) -> bool {
    if test_kill_process(pid).is_err() {
        return false;
    }
    // A process that exited may wait for a parent that has not reaped it.
    let state = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid()));
    state.map_or(true, |stat| !stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('Z')))
}

/// Waits until a process is gone.
pub(crate) fn wait_for_end_of(pid: Pid) {
    wait_until(&format!("the end of process {}", pid.as_raw_pid()), || !is_running(pid));
}

/// Whether this machine has a program that only some tests need. They have nothing to say without it.
pub(crate) fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Ends a process that escaped on purpose.
pub(crate) fn put_down(pid: Pid) {
    kill_process(pid, Signal::KILL).unwrap();
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("waited in vain for {what}");
}
