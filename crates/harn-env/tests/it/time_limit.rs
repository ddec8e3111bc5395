//! The time limit ends the whole group, and the call returns whatever the command does.

use std::path::Path;
use std::time::Duration;

use harn_env::command::{CommandSpec, Exit, Outcome};
use rustix::process::Signal;

use crate::subject::{
    guarded_and_not, has, is_running, pid_in, put_down, run_alone, sh, sh_in, side_by_side, wait_for_end_of,
};

/// Long enough for a script to set itself up on a busy machine.
const LIMIT: Duration = Duration::from_secs(1);
const GRACE: Duration = Duration::from_millis(300);

fn limited(directory: &Path, script: &str) -> [CommandSpec; 2] {
    let mut spec = sh_in(directory, script).timeout(LIMIT);
    spec.grace = GRACE;
    guarded_and_not(spec)
}

/// R28, but for the process that leaves its group.
#[test]
fn nothing_of_a_group_survives_the_limit() {
    let scratch = tempfile::tempdir().unwrap();
    let script =
        r#"trap "" TERM; (sleep 297 & echo $! >k1); (trap - TERM; sleep 298 & echo $! >k2); sleep 299"#;
    for spec in limited(scratch.path(), script) {
        let finished = run_alone(&spec);
        assert_eq!(finished.outcome, Outcome::Timeout);
        assert_eq!(finished.exit, Some(Exit::Signal(Signal::KILL.as_raw())));
        assert!(finished.leftovers.is_empty());
        assert!(finished.survivors.is_empty());
        assert!(!finished.output_open);
        for file in ["k1", "k2"] {
            assert!(!is_running(pid_in(&scratch.path().join(file))), "survivor {file}");
        }
    }
}

/// R28: who leaves the group escapes, but holds nobody up, and is named.
#[test]
fn an_escaped_process_does_not_hold_up_the_call() {
    let scratch = tempfile::tempdir().unwrap();
    let script = "(setsid sh -c 'echo $$ >escaped; exec sleep 298' &); sleep 299";
    for spec in limited(scratch.path(), script) {
        let finished = run_alone(&spec);
        let escaped = pid_in(&scratch.path().join("escaped"));
        let escaped_is_running = is_running(escaped);
        put_down(escaped);
        assert!(escaped_is_running);
        assert_eq!(finished.outcome, Outcome::Timeout);
        assert!(finished.output_open);
        if cfg!(target_os = "linux") {
            let survivors: Vec<_> = finished.survivors.iter().map(|s| (s.pid, s.name.as_str())).collect();
            assert_eq!(survivors, [(escaped.as_raw_pid().unsigned_abs(), "sleep")]);
        }
    }
}

/// K-68
#[test]
fn exit_code_0_after_the_limit_is_a_timeout() {
    for spec in limited(Path::new("/"), "trap 'echo bye; exit 0' TERM; while :; do sleep 0.02; done") {
        let finished = run_alone(&spec);
        assert_eq!((finished.outcome, finished.exit), (Outcome::Timeout, Some(Exit::Code(0))));
        assert_eq!(finished.stdout.excerpt(), "bye\n");
        assert!(finished.elapsed >= LIMIT);
    }
}

#[test]
fn a_command_within_its_limit_passes() {
    let finished = run_alone(&sh("echo done").timeout(Duration::from_secs(600)));
    assert_eq!(finished.outcome, Outcome::Passed);
    let finished = run_alone(&sh("echo done").timeout(Duration::MAX));
    assert_eq!(finished.outcome, Outcome::Passed);
}

#[test]
fn the_limit_holds_for_every_kind_of_stubbornness() {
    let scripts = [
        "sleep 300",
        "trap '' TERM; sleep 300",
        // Stopped: it sees TERM only once it goes on.
        "kill -s STOP $$; sleep 300",
        "trap '' TERM; kill -s STOP 0; sleep 300",
        // Closed outputs are not the end of the program.
        "exec >&- 2>&-; exec sleep 300",
        "while :; do echo noise; done",
        "trap '' TERM; while :; do echo noise; echo more >&2; done",
    ];
    side_by_side(scripts, |script| {
        for mut spec in limited(Path::new("/"), script) {
            spec.timeout = Some(Duration::from_millis(100));
            let finished = run_alone(&spec);
            assert_eq!(finished.outcome, Outcome::Timeout, "{script}");
            assert!(finished.survivors.is_empty(), "{script}");
            assert!(!finished.output_open, "{script}");
        }
    });
}

/// `timeout` and `setsid` as the program itself leave the keeper's group and are still within reach.
#[test]
fn a_program_that_leaves_its_group_itself_is_ended() {
    let scratch = tempfile::tempdir().unwrap();
    let wrappers = [&["timeout", "300"][..], &["setsid", "--wait"]];
    for wrapper in wrappers.into_iter().filter(|wrapper| has(wrapper[0])) {
        let script = "trap '' TERM; sleep 300 & echo $! >inner; wait";
        let args = [&wrapper[1..], &["sh", "-c", script]].concat();
        let mut spec = CommandSpec::new(wrapper[0], scratch.path()).args(args).timeout(LIMIT);
        spec.grace = GRACE;
        let finished = run_alone(&spec);
        assert_eq!(finished.outcome, Outcome::Timeout);
        assert!(finished.survivors.is_empty(), "{wrapper:?}");
        wait_for_end_of(pid_in(&scratch.path().join("inner")));
    }
}

#[test]
fn a_program_that_joins_another_group_is_ended() {
    if !has("perl") {
        return;
    }
    let join_ours = "setpgrp(0, getpgrp(getppid())) or die; $SIG{TERM} = 'IGNORE'; sleep 300";
    for mut spec in guarded_and_not(CommandSpec::new("perl", "/").args(["-e", join_ours]).timeout(LIMIT)) {
        spec.grace = GRACE;
        let finished = run_alone(&spec);
        assert_eq!(finished.outcome, Outcome::Timeout);
        assert_eq!(finished.exit, Some(Exit::Signal(Signal::KILL.as_raw())));
    }
}

#[test]
fn a_stopped_program_may_still_end_in_good_order() {
    for spec in limited(Path::new("/"), "trap 'echo bye; exit 0' TERM; kill -s STOP $$; sleep 0.01") {
        let finished = run_alone(&spec);
        assert_eq!((finished.outcome, finished.exit), (Outcome::Timeout, Some(Exit::Code(0))));
        assert_eq!(finished.stdout.excerpt(), "bye\n");
    }
}
