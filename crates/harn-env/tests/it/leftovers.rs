//! What a program leaves running when it exits by itself.

use std::time::Duration;

use harn_env::command::{CommandSpec, Exit, Outcome};

use crate::subject::{guarded_and_not, is_running, pid_in, put_down, run_alone, sh, sh_in};

fn impatient(mut spec: CommandSpec) -> [CommandSpec; 2] {
    spec.grace = Duration::from_millis(200);
    guarded_and_not(spec)
}

#[test]
fn a_command_that_forks_and_exits_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    for script in [
        "sleep 300 & echo $! >left; exit 4",
        "sleep 300 >/dev/null 2>&1 & echo $! >left; exit 4",
        "trap '' TERM; sleep 300 & echo $! >left; exit 4",
        "(sleep 300 & echo $! >left); exit 4",
    ] {
        for spec in impatient(sh_in(scratch.path(), script)) {
            let finished = run_alone(&spec);
            let left = pid_in(&scratch.path().join("left"));
            assert!(!is_running(left), "{script}");
            // The outcome is that of the program.
            assert_eq!((finished.outcome, finished.exit), (Outcome::Failed, Some(Exit::Code(4))), "{script}");
            let leftovers: Vec<_> = finished.leftovers.iter().map(|l| (l.pid, l.name.as_str())).collect();
            assert_eq!(leftovers, [(left.as_raw_pid().unsigned_abs(), "sleep")], "{script}");
            assert!(finished.survivors.is_empty(), "{script}");
            assert!(!finished.output_open, "{script}");
        }
    }
}

#[test]
fn who_ends_soon_is_no_leftover_and_is_heard() {
    for spec in guarded_and_not(sh("(sleep 0.05; echo late) & echo early")) {
        let finished = run_alone(&spec);
        assert_eq!(finished.stdout.excerpt(), "early\nlate\n");
        assert_eq!(finished.outcome, Outcome::Passed);
        assert!(finished.leftovers.is_empty());
    }
}

#[test]
fn an_escaped_process_that_talks_on_is_named_and_not_waited_for() {
    let scratch = tempfile::tempdir().unwrap();
    let script = "setsid sh -c 'echo $$ >escaped; while :; do echo noise; done' & \
                  while ! test -s escaped; do sleep 0.01; done; echo mine >&2";
    for spec in impatient(sh_in(scratch.path(), script)) {
        let finished = run_alone(&spec);
        let escaped = pid_in(&scratch.path().join("escaped"));
        // Its output is closed now, which may have ended it.
        if is_running(escaped) {
            put_down(escaped);
        }
        std::fs::remove_file(scratch.path().join("escaped")).unwrap();
        assert_eq!(finished.outcome, Outcome::Passed);
        assert!(finished.output_open);
        assert!(finished.leftovers.is_empty());
        assert_eq!(finished.stderr.excerpt(), "mine\n");
    }
}
