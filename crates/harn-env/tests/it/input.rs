//! Input for a command, read or not.

use std::path::Path;
use std::time::Duration;

use harn_env::command::{CommandSpec, Outcome};

use crate::subject::{guarded_and_not, run_alone, sh};

/// Far more than a pipe holds.
fn much() -> Vec<u8> {
    b"0123456789abcde\n".repeat(256 * 1024)
}

#[test]
fn input_comes_back_while_it_is_written() {
    for spec in guarded_and_not(CommandSpec::new("cat", "/").stdin(much())) {
        let finished = run_alone(&spec);
        assert_eq!(finished.outcome, Outcome::Passed);
        assert_eq!(finished.stdout.total_bytes, much().len() as u64);
        assert!(finished.stdout.excerpt().ends_with("0123456789abcde\n"));
    }
}

#[test]
fn a_program_need_not_read_its_input() {
    for (script, outcome) in [
        ("exit 0", Outcome::Passed),
        ("exit 5", Outcome::Failed),
        ("exec <&-; sleep 0.1", Outcome::Passed),
        ("head -c 10 >/dev/null", Outcome::Passed),
        ("head -c 10 >/dev/null; exec <&-; head -c 300000 /dev/zero", Outcome::Passed),
        ("sleep 0.1", Outcome::Passed),
    ] {
        let finished = run_alone(&sh(script).stdin(much()));
        assert_eq!(finished.outcome, outcome, "{script}");
    }
    let finished = run_alone(&sh("exec sleep 300").stdin(much()).timeout(Duration::from_millis(200)));
    assert_eq!(finished.outcome, Outcome::Timeout);
}

#[test]
fn without_input_there_is_nothing_to_read() {
    let finished = run_alone(&sh("cat; readlink /proc/self/fd/0"));
    if Path::new("/proc/self/fd").exists() {
        assert_eq!(finished.stdout.excerpt(), "/dev/null\n");
    }
    assert_eq!(finished.outcome, Outcome::Passed);
}
