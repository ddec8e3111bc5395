//! How a command ended: every outcome and every reason not to start.

use std::ffi::OsString;
use std::fs;

use harn_env::command::{CommandSpec, Exit, Outcome};
use rustix::process::Signal;

use crate::subject::{guarded_and_not, run_alone, sh, side_by_side};

#[test]
fn an_exit_says_passed_or_failed() {
    // K-61: a shell that exits with 127, for whatever reason, has failed.
    for (script, outcome, exit) in [
        ("exit 0", Outcome::Passed, Exit::Code(0)),
        ("exit 1", Outcome::Failed, Exit::Code(1)),
        ("exit 3", Outcome::Failed, Exit::Code(3)),
        ("exit 255", Outcome::Failed, Exit::Code(255)),
        ("exit 126", Outcome::Failed, Exit::Code(126)),
        ("exit 127", Outcome::Failed, Exit::Code(127)),
        ("no-such-tool-anywhere", Outcome::Failed, Exit::Code(127)),
        ("exec no-such-tool-anywhere", Outcome::Failed, Exit::Code(127)),
        ("kill -s KILL $$", Outcome::Failed, Exit::Signal(Signal::KILL.as_raw())),
        ("kill -s TERM $$", Outcome::Failed, Exit::Signal(Signal::TERM.as_raw())),
        // The keeper of a guarded command is in that group as well.
        ("kill -s KILL 0", Outcome::Failed, Exit::Signal(Signal::KILL.as_raw())),
        ("trap '' TERM; kill -s TERM 0", Outcome::Passed, Exit::Code(0)),
    ] {
        for spec in guarded_and_not(sh(script)) {
            let finished = run_alone(&spec);
            assert_eq!((finished.outcome, finished.exit), (outcome, Some(exit)), "{spec:?}");
            assert!(finished.start_error.is_none());
            assert!(finished.leftovers.is_empty(), "{spec:?}");
            assert!(finished.survivors.is_empty(), "{spec:?}");
            assert!(!finished.output_open, "{spec:?}");
        }
    }
}

#[test]
fn what_cannot_start_says_why() {
    let scratch = tempfile::tempdir().unwrap();
    let there = scratch.path();
    fs::write(there.join("plain-file"), "echo no").unwrap();
    fs::write(there.join("lost-interpreter"), "#!/no/such/interpreter\n").unwrap();
    make_executable(&there.join("lost-interpreter"));
    let missing = there.join("missing");

    let long = OsString::from("x".repeat(4 * 1024 * 1024));
    for (spec, outcome, code) in [
        // K-60: the operating system says that the program is not there.
        (CommandSpec::new("no-such-tool-anywhere", there), Outcome::MissingTool, "tool_not_found"),
        (CommandSpec::new("./no-such-tool", there), Outcome::MissingTool, "tool_not_found"),
        (CommandSpec::new("/no/such/tool", there), Outcome::MissingTool, "tool_not_found"),
        (CommandSpec::new("", there), Outcome::MissingTool, "tool_not_found"),
        (CommandSpec::new("./lost-interpreter", there), Outcome::MissingTool, "tool_not_found"),
        // A missing directory never makes a tool missing.
        (CommandSpec::new("sh", &missing), Outcome::CouldNotStart, "directory_missing"),
        (CommandSpec::new("no-such-tool-anywhere", &missing), Outcome::CouldNotStart, "directory_missing"),
        (CommandSpec::new("sh", there.join("plain-file")), Outcome::CouldNotStart, "directory_unusable"),
        (CommandSpec::new("sh", there.join("plain-file/in")), Outcome::CouldNotStart, "directory_unusable"),
        (CommandSpec::new("/", there), Outcome::MissingTool, "not_executable"),
        (CommandSpec::new("./plain-file", there), Outcome::MissingTool, "not_executable"),
        (CommandSpec::new("sh", there).args([long]), Outcome::CouldNotStart, "refused"),
        (CommandSpec::new("sh", there).args(["a\0b"]), Outcome::CouldNotStart, "refused"),
    ] {
        for spec in guarded_and_not(spec) {
            let finished = run_alone(&spec);
            let error = finished.start_error.unwrap();
            assert_eq!(
                (finished.outcome, error.code()),
                (outcome, code),
                "{:?} in {:?}",
                spec.program,
                spec.cwd
            );
            assert_eq!(finished.exit, None);
            assert_eq!(finished.stdout.total_bytes, 0);
            // The digest of nothing.
            assert!(finished.stdout.sha256.starts_with("e3b0c442"));
        }
    }
}

#[test]
fn errors_say_what_is_wrong_and_what_helps() {
    let error = run_alone(&CommandSpec::new("/no/such/tool", "/")).start_error.unwrap();
    assert_eq!(error.to_string(), "`/no/such/tool` was not found");
    assert_eq!(
        error.hint().unwrap(),
        "install `/no/such/tool`, or name the directory that holds it in `PATH`"
    );
    let error = run_alone(&CommandSpec::new("sh", "/no/such/directory")).start_error.unwrap();
    assert_eq!(error.to_string(), "the directory `/no/such/directory` does not exist");
    assert_eq!(error.hint().unwrap(), "create `/no/such/directory` first");
}

#[test]
fn a_program_is_found_from_the_directory_it_starts_in() {
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir(scratch.path().join("bin")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", scratch.path().join("bin/our-shell")).unwrap();
    let spec = CommandSpec::new("bin/our-shell", scratch.path()).args(["-c", "pwd -P"]);
    let finished = run_alone(&spec);
    let here = scratch.path().canonicalize().unwrap();
    assert_eq!(finished.stdout.excerpt().trim_end(), here.to_str().unwrap());
}

#[test]
fn many_commands_run_at_once() {
    side_by_side(0..8, |thread| {
        for number in 0..10 {
            for spec in guarded_and_not(sh("cat; exit 7").stdin(format!("{thread} {number}"))) {
                let finished = run_alone(&spec);
                assert_eq!(finished.exit, Some(Exit::Code(7)));
                assert_eq!(finished.stdout.excerpt(), format!("{thread} {number}"));
                assert!(finished.leftovers.is_empty());
                assert!(!finished.output_open);
            }
        }
    });
}

#[test]
fn names_of_outcomes_are_fixed() {
    for (outcome, name) in [
        (Outcome::Passed, "passed"),
        (Outcome::Failed, "failed"),
        (Outcome::MissingTool, "missing_tool"),
        (Outcome::Timeout, "timeout"),
        (Outcome::Stopped, "stopped"),
        (Outcome::NotRun, "not_run"),
        (Outcome::CouldNotStart, "could_not_start"),
    ] {
        assert_eq!(serde_json::to_value(outcome).unwrap(), name);
        assert_eq!(serde_json::from_value::<Outcome>(name.into()).unwrap(), outcome);
        assert_eq!(outcome.to_string(), name);
    }
    assert_eq!(serde_json::to_string(&Exit::Code(3)).unwrap(), r#"{"code":3}"#);
    assert_eq!(serde_json::to_string(&Exit::Signal(9)).unwrap(), r#"{"signal":9}"#);
}

fn make_executable(file: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}
