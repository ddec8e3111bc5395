//! Stopping commands from another thread.

use std::thread;
use std::time::Duration;

use harn_env::command::{Cancel, Exit, Outcome, Streams, run};
use rustix::process::Signal;

use crate::subject::{guarded_and_not, is_running, pid_in, sh_in, wait_for_line};

#[test]
fn cancelled_before_its_start_a_command_is_not_run() {
    let scratch = tempfile::tempdir().unwrap();
    let cancel = Cancel::new();
    cancel.clone().cancel();
    for spec in guarded_and_not(sh_in(scratch.path(), "echo >ran")) {
        let finished = run(&spec, Streams { stdout: &mut (), stderr: &mut () }, &cancel);
        assert_eq!((finished.outcome, finished.exit), (Outcome::NotRun, None));
        assert!(finished.start_error.is_none());
        assert!(!scratch.path().join("ran").exists());
    }
}

#[test]
fn cancelled_while_they_run_all_commands_are_stopped() {
    let scratch = tempfile::tempdir().unwrap();
    let cancel = Cancel::new();
    let scripts = [
        // Stopped while it ends by itself in good order.
        ("a", "trap 'echo bye; exit 0' TERM; echo $$ >a; while :; do sleep 0.02; done", Exit::Code(0)),
        ("b", "sleep 300 & echo $! >b; wait", Exit::Signal(Signal::TERM.as_raw())),
        ("c", "trap '' TERM; sleep 300 & echo $! >c; wait", Exit::Signal(Signal::KILL.as_raw())),
    ];
    thread::scope(|scope| {
        let mut running = Vec::new();
        for (file, script, exit) in scripts {
            for (number, mut spec) in guarded_and_not(sh_in(scratch.path(), script)).into_iter().enumerate() {
                let directory = scratch.path().join(number.to_string());
                std::fs::create_dir_all(&directory).unwrap();
                spec.cwd.clone_from(&directory);
                spec.grace = Duration::from_millis(200);
                let cancel = &cancel;
                let command =
                    scope.spawn(move || run(&spec, Streams { stdout: &mut (), stderr: &mut () }, cancel));
                running.push((directory.join(file), exit, command));
            }
        }
        for (file, _, _) in &running {
            wait_for_line(file);
        }
        assert!(!cancel.is_cancelled());
        cancel.cancel();
        assert!(cancel.is_cancelled());
        for (file, exit, command) in running {
            let finished = command.join().unwrap();
            assert_eq!((finished.outcome, finished.exit), (Outcome::Stopped, Some(exit)));
            assert!(!is_running(pid_in(&file)));
        }
    });
}
