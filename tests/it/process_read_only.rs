//! R17: a project on a read-only file system. What only looks works and says so; what would change something fails at
//! once, with the exit code of the environment, the words and the path.
//!
//! The file system is the project's own directory, mounted over itself in a name space of each command's own.

use std::io::Write as _;

use harn_tests::{Outcome, PASS, Project};

use crate::PROGRAM;

/// Makes the working directory read-only, then becomes the program. 77 says that the machine does not allow the first.
const SCRIPT: &str =
    r#"mount --bind . . && mount -o remount,ro,bind . && cd "$PWD" || exit 77; exec "$harn" "$@""#;

const NOT_ALLOWED: u8 = 77;

/// With and without being the administrator of the machine.
const NAME_SPACES: [&str; 2] = ["-Urm", "-m"];

/// Runs a command line in the project's directory, mounted for reading only; `None` if that cannot be done here.
fn harn_read_only(project: &Project, line: &str) -> Option<Outcome> {
    let words = line.split_whitespace();
    NAME_SPACES.into_iter().find_map(|options| {
        let arguments: Vec<&str> =
            [options, "sh", "-c", SCRIPT, "sh"].into_iter().chain(words.clone()).collect();
        let output = project.process("unshare", &arguments).env("harn", PROGRAM).output().ok()?;
        let exit = u8::try_from(output.status.code()?).ok().filter(|exit| *exit != NOT_ALLOWED)?;
        // Without the right to a name space, `unshare` itself fails, and says that it was it.
        let refused = output.stderr.starts_with(b"unshare:");
        (!refused).then(|| Outcome::new(line.to_owned(), exit, &output.stdout, &output.stderr))
    })
}

/// Says on the real standard error, past what catches the output of tests, that a test could not do all of its work.
fn skipped() {
    let reason = "skipped: this machine allows no mount in a name space of one's own";
    let _ = writeln!(std::io::stderr(), "process_read_only: {reason}");
}

fn project() -> Project {
    let project = Project::new();
    project.item("a", PASS, &[]);
    project.item("c", PASS, &[]);
    let _ = project.harn(&["work", "run", "a"]).ok();
    project
}

const READS: [&str; 7] =
    ["work list", "work show a", "work log a", "run list", "verify", "work list --json", "verify --json"];

#[test]
fn r_17_reads_work_and_say_so() {
    let project = project();
    let before = project.records();
    let state = project.state();
    for line in READS {
        // On any disk, what only looks makes nothing and says the same.
        let words: Vec<&str> = line.split_whitespace().collect();
        let writable = project.harn(&words).ok();
        assert_eq!(writable.stderr, "", "{line}");
        assert!(project.records() == before, "{line}: something was made");
        let Some(outcome) = harn_read_only(&project, line) else { return skipped() };
        let outcome = outcome.ok();
        assert_eq!(outcome.stdout, writable.stdout, "{line}");
        let warning = format!(
            "warning: {} is on a read-only file system: its records cannot be changed\n",
            state.display()
        );
        assert_eq!(outcome.stderr, warning, "{line}");
        if line.ends_with("--json") {
            let _ = outcome.json();
        }
    }
}

#[test]
fn r_17_writes_fail_at_once_with_words_and_path() {
    let project = project();
    // The first is stored already, as part of other items; the second is not.
    project.write("b.mjs", PASS);
    project.write("d.mjs", &format!("{PASS}\n"));
    let before = project.records();
    let lines = [
        "work note a --text x",
        "work create Title b.mjs --objective Objective --id b",
        "work create Title d.mjs --objective Objective --id d",
        "work run c",
        "work accept a",
        "work cancel a",
        "work reopen a",
    ];
    for line in lines {
        for json in [false, true] {
            let line = if json { format!("{line} --json") } else { line.to_owned() };
            let Some(outcome) = harn_read_only(&project, &line) else { return skipped() };
            let outcome = outcome.exits(6);
            let said = format!("`{}", project.state().display());
            let error = outcome.stderr.lines().next().unwrap_or_default();
            assert!(
                error.contains(&said) && error.ends_with("is on a read-only file system"),
                "{line}: {error}"
            );
            assert!(outcome.stderr.contains("hint: mount it writable"), "{line}: {}", outcome.stderr);
            assert!(!outcome.stderr.contains("warning:"), "{line}: {}", outcome.stderr);
            if json {
                assert_eq!(outcome.code(), "read_only_file_system", "{line}");
            }
        }
    }
    assert!(project.records() == before);
}

/// A project is not made on such a disk, nor the state of one that has lost it.
#[test]
fn r_17_what_is_missing_cannot_be_made() {
    let project = Project::uninitialised();
    let Some(outcome) = harn_read_only(&project, "init --json") else { return skipped() };
    assert_eq!(outcome.exits(6).code(), "read_only_file_system");

    let _ = project.harn(&["init"]).ok();
    let Some(outcome) = harn_read_only(&project, "init") else { return skipped() };
    assert!(outcome.ok().stdout.starts_with("already there: "));

    std::fs::remove_dir(project.state()).unwrap();
    let Some(outcome) = harn_read_only(&project, "work list --json") else { return skipped() };
    let outcome = outcome.exits(6);
    assert_eq!(outcome.code(), "read_only_file_system");
    assert!(outcome.stderr.contains(project.state().to_str().unwrap()), "{}", outcome.stderr);
}
