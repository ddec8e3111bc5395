//! What is kept of what commands print, and what becomes of commands that do not simply end.

use harn_env::prepare;
use harn_env::receipt::{CommandResult, Output};
use harn_env::redact::{MASK, Redactor};
use serde_json::json;

use super::project::{Project, bytes_below, command, reason, recipe, result, story, tool};
use crate::subject::{is_running, pid_in, side_by_side};

/// Prepares with one command in the baseline, and gives what it came to.
fn ran(project: &Project) -> CommandResult {
    result(&project.prepare(), 0)
}

fn with_baseline(script: &str) -> Project {
    Project::new(recipe(&[], &[], &[command("unit", script)]))
}

#[test]
fn nothing_printed_is_no_output() {
    let unit = ran(&with_baseline(""));
    assert_eq!((unit.stdout, unit.stderr), (None, None));
}

/// B31: of 20 MB and an error, the beginning, a mark with the count, and the end with the error are kept.
#[test]
fn b31_a_long_output_is_kept_at_its_ends() {
    let (printed, last) = (20_000_000, "error: it broke\n");
    let project = with_baseline(&format!(
        "yes '!!!!!!!!!!!!!!!!!!!' | head -c {printed}; echo 'error: it broke'; exit 1"
    ));
    let unit = ran(&project);
    assert_eq!(unit.outcome.as_str(), "failed");
    let output = unit.stdout.as_ref().unwrap();
    let bytes = printed + last.len();
    assert_eq!((output.bytes, output.whole), (bytes as u64, false));
    let kept = String::from_utf8(project.kept(Some(output))).unwrap();
    let left_out = bytes - (16 << 10) - (48 << 10);
    assert!(kept.contains(&format!("\n… {left_out} bytes left out …\n")), "{}", kept.len());
    assert!(kept.starts_with("!!!!!!!!!!!!!!!!!!!\n") && kept.len() < 70_000, "{}", kept.len());
    assert!(output.tail.len() <= 2_048 && kept.ends_with(&output.tail) && output.tail.ends_with(last));
}

/// What is not too long is kept to the last byte.
#[test]
fn b31_an_output_of_four_mebibytes_is_kept_whole() {
    side_by_side([(4 << 20, true), ((4 << 20) + 1, false)], |(bytes, whole)| {
        let project = with_baseline(&format!("yes '!!!!!!!!!!!!!!!!!!!' | head -c {bytes}"));
        let unit = ran(&project);
        let output = unit.stdout.as_ref().unwrap();
        assert_eq!((output.bytes, output.whole), (bytes, whole));
        assert_eq!(project.kept(Some(output)).len() as u64 == bytes, whole);
    });
}

/// Bytes that are no text are kept as they are; in the event they are shown as such.
#[test]
fn bytes_that_are_no_text_are_kept() {
    let project = with_baseline(r"printf 'a\377\376\000b\303'; printf '\033[31m\r\377' >&2; exit 1");
    let unit = ran(&project);
    assert_eq!(project.kept(unit.stdout.as_ref()), b"a\xff\xfe\0b\xc3");
    assert_eq!(project.kept(unit.stderr.as_ref()), b"\x1b[31m\r\xff");
    let Output { bytes, whole, tail, .. } = unit.stdout.unwrap();
    assert_eq!((bytes, whole, tail.as_str()), (6, true, "a\u{fffd}\u{fffd}\0b\u{fffd}"));
    // The end of a long text is cut between characters.
    let project = with_baseline("i=0; while [ $i -lt 1000 ]; do printf 'ñ界'; i=$((i+1)); done; printf x");
    let tail = ran(&project).stdout.unwrap().tail;
    assert!(tail.len() <= 2_048 && tail.len() > 2_040 && !tail.contains('\u{fffd}'), "{}", tail.len());
}

/// B32: a secret is in no file of the ledger, wherever it was printed.
#[test]
fn b32_a_secret_is_kept_nowhere() {
    let token = format!("ghp_{}", "aB3".repeat(12));
    let value = "correct-horse-battery";
    let script = "echo \"with $A here\"; printf %s \"$B\"; echo \"error: $A and $B\" >&2; exit 1";
    let mut node = tool(&command("node", "echo \"$B\""));
    node["expect"] = json!("horse");
    let mut project = Project::new(recipe(&[], &[], &[command("unit", script)]));
    project.variables = vec![("A", token.clone()), ("B", value.to_owned())];
    project.redactor = Redactor::new().with_values([value]);
    let prepared = project.prepare();
    let unit = result(&prepared, 0);
    assert_eq!(project.kept(unit.stdout.as_ref()), format!("with {MASK} here\n{MASK}").as_bytes());
    assert_eq!(unit.stderr.as_ref().unwrap().tail, format!("error: {MASK} and {MASK}\n"));
    project.check(&prepared);
    // A set-up that fails with it on its last line, and is the reason of a hold.
    project.plan = recipe(&[command("install", script)], &[], &[]);
    assert!(!reason(&project.prepare()).contains(value));
    // And a program whose name it is.
    project.plan =
        recipe(&[], &[tool(&json!({ "name": "node", "argv": ["sh", "-c", "exec \"./$B\""] }))], &[]);
    assert!(story(&project.prepare()).starts_with("held tools"));
    let written = bytes_below(project.ledger.root());
    for secret in [token.as_bytes(), value.as_bytes()] {
        assert!(
            !written.windows(secret.len()).any(|window| window == secret),
            "{}",
            String::from_utf8_lossy(secret)
        );
    }
    assert!(written.windows(MASK.len()).any(|window| window == MASK.as_bytes()));
}

/// What a set-up leaves running is ended before the source is looked at.
#[test]
fn b35_a_command_that_forks_and_exits_leaves_nothing() {
    let script = "{ sleep 300; echo late >src/late.rs; } >/dev/null 2>&1 & echo $! >\"$OUT/pid\"";
    let project = Project::new(recipe(&[command("install", script)], &[], &[]));
    let receipt = project.prepare();
    assert_eq!(story(&receipt), "ready: setup install passed");
    let note = result(&receipt, 0).note.unwrap();
    assert!(note.starts_with("what it left running was ended: "), "{note}");
    assert!(!is_running(pid_in(&project.out("pid"))));
    assert!(!project.root().join("src/late.rs").exists());
}

#[test]
fn b30_a_command_that_closes_its_output_and_lives_on_meets_its_limit() {
    let mut unit = command("unit", "echo said; exec >&- 2>&-; exec sleep 300");
    unit["timeout_seconds"] = json!(1);
    let project = Project::new(recipe(&[], &[], &[unit, command("next", "")]));
    let receipt = project.prepare();
    assert_eq!(story(&receipt), "ready: baseline unit timeout, baseline next passed");
    assert_eq!(project.kept(result(&receipt, 0).stdout.as_ref()), b"said\n");
}

/// A directory to run in that is not there is no missing tool.
#[test]
fn a_directory_that_is_not_there_is_told() {
    let mut unit = command("unit", "pwd -P");
    unit["cwd"] = json!("sub");
    let project = Project::new(recipe(&[unit], &[], &[]));
    let receipt = project.prepare();
    assert_eq!(story(&receipt), "held setup: setup unit could_not_start");
    assert!(reason(&receipt).contains("does not exist"), "{}", reason(&receipt));
    project.write("sub/file", "");
    let receipt = project.ask(&mut |_| {}, prepare::prepare).unwrap();
    assert_eq!(story(&receipt), "ready: setup unit passed");
    let here = format!("{}\n", project.root().canonicalize().unwrap().join("sub").display());
    assert_eq!(project.kept(result(&receipt, 0).stdout.as_ref()), here.as_bytes());
}

/// A failed test is found wherever in an output it is named, also where the output is too long to be kept.
#[test]
fn b22_a_failed_test_is_found_in_the_middle_of_a_long_output() {
    let noise = "yes 'some words of a long output' | head -c 3000000; echo;";
    let script = format!("{noise} echo 'test deep::inside ... FAILED'; {noise} exit 101");
    let project = Project::new(recipe(&[], &[], &[command("unit", &script)]));
    let receipt = project.prepare();
    let unit = result(&receipt, 0);
    assert!(!unit.stdout.unwrap().whole);
    assert_eq!(unit.signature.tests().iter().collect::<Vec<_>>(), ["deep::inside"]);
}
