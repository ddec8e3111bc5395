//! Other processes, seen from a test.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest wait. Nothing here takes nearly as long; a test that hangs must end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether a process runs. One that has ended and waits to be reaped does not.
pub(crate) fn alive(pid: &str) -> bool {
    let stat = Path::new("/proc").join(pid).join("stat");
    match std::fs::read_to_string(stat) {
        Ok(stat) => stat.rsplit(") ").next().is_some_and(|rest| !rest.starts_with('Z')),
        Err(_) if Path::new("/proc/self").exists() => false,
        // Without `/proc`, ask for the process by a signal that does nothing.
        Err(_) => {
            std::process::Command::new("kill").args(["-0", pid]).status().is_ok_and(|status| status.success())
        }
    }
}

/// Waits for what another process is going to do.
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let since = Instant::now();
    while !done() {
        assert!(since.elapsed() < PATIENCE, "gave up waiting until {what}");
        sleep(Duration::from_millis(10));
    }
}
