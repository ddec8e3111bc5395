//! A guarded command ends with the process that runs it, even if that has no chance to clean up.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harn_env::command::{Cancel, CommandSpec, Sink, Streams, run};

use crate::subject::{
    guarded_and_not, is_running, pid_in, run_alone, sh_in, side_by_side, wait_for_end_of, wait_for_line,
};

const DIRECTORY: &str = "HARN_ENV_TEST_DIRECTORY";
const SCRIPT: &str = "HARN_ENV_TEST_SCRIPT";
const PROGRAM: &str = "HARN_ENV_TEST_PROGRAM";

/// Starts a process of its own that runs `program` on a script, waits until the script has written the files,
/// and kills that process.
fn run_and_kill_the_runner(directory: &Path, program: &str, script: &str, files: &[&str]) {
    let mut runner = Command::new(env::current_exe().unwrap())
        .args(["--exact", "guard::runner_process"])
        .env(DIRECTORY, directory)
        .env(PROGRAM, program)
        .env(SCRIPT, script)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    for file in files {
        wait_for_line(&directory.join(file));
    }
    runner.kill().unwrap();
    runner.wait().unwrap();
}

/// Does nothing unless [`run_and_kill_the_runner`] starts it.
#[test]
fn runner_process() {
    let Some(directory) = env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let program = env::var(PROGRAM).unwrap();
    let mut words = program.split(' ').map(str::to_owned);
    let spec = CommandSpec::new(words.next().unwrap(), directory);
    let _ = run_alone(&spec.args(words).args(["-c".to_owned(), env::var(SCRIPT).unwrap()]));
}

#[test]
fn a_killed_runner_leaves_no_process() {
    let cases = [
        ("sh", "sleep 300 & echo $! >one; echo $$ >two; wait"),
        // Whoever ignores TERM gets KILL.
        ("sh", "trap '' TERM; sleep 300 & echo $! >one; (sleep 300 & echo $! >two); wait"),
        // What would end a keeper that listens to signals.
        (
            "sh",
            "trap '' TERM HUP INT; kill -s TERM 0; kill -s HUP 0; kill -s INT 0; \
             sleep 300 & echo $! >one; echo $$ >two; wait",
        ),
        // Stopped, with the keeper.
        ("sh", "sleep 300 & echo $! >one; echo $$ >two; kill -s STOP 0"),
        // The program makes itself the leader of another group.
        ("timeout 300 sh", "trap '' TERM; sleep 300 & echo $! >one; echo $$ >two; wait"),
    ];
    side_by_side(cases, |(program, script)| {
        let scratch = tempfile::tempdir().unwrap();
        run_and_kill_the_runner(scratch.path(), program, script, &["one", "two"]);
        for file in ["one", "two"] {
            wait_for_end_of(pid_in(&scratch.path().join(file)));
        }
    });
}

#[test]
fn nothing_is_left_of_a_keeper() {
    let scratch = tempfile::tempdir().unwrap();
    // The parent of the group's leader is this process; the leader is the keeper.
    let spec = sh_in(scratch.path(), "ps -o pgid= -p $$ >keeper");
    assert_eq!(run_alone(&spec).outcome.as_str(), "passed");
    assert!(!is_running(pid_in(&scratch.path().join("keeper"))));
}

#[test]
fn a_keeper_holds_on_to_nothing() {
    if !Path::new("/proc/self/environ").exists() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let script = "keeper=/proc/$(ps -o pgid= -p $$ | tr -d ' '); \
                  tr '\\0' '\\n' <$keeper/environ | grep -v ^PATH=; \
                  for link in cwd fd/1 fd/2; do readlink $keeper/$link; done";
    let finished = run_alone(&sh_in(scratch.path(), script));
    assert_eq!(finished.stdout.excerpt(), "/\n/dev/null\n/dev/null\n");
}

struct Panics;

impl Sink for Panics {
    fn receive(&mut self, _chunk: &[u8]) -> std::io::Result<()> {
        std::panic::resume_unwind(Box::new("the sink panics"))
    }
}

#[test]
fn a_sink_that_panics_leaves_no_process() {
    let scratch = tempfile::tempdir().unwrap();
    for spec in guarded_and_not(sh_in(scratch.path(), "sleep 300 & echo $! >left; echo go; wait")) {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            run(&spec, Streams { stdout: &mut Panics, stderr: &mut () }, &Cancel::new())
        }));
        assert!(caught.is_err());
        wait_for_end_of(pid_in(&scratch.path().join("left")));
    }
}
