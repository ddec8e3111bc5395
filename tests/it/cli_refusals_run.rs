//! What `harn work run` and `harn work retry` refuse, before anything is recorded.

use std::fs;

use harn_tests::{FAIL, PASS, Project};

use crate::cli_refused::{Case, assert_refused};

fn run<'a>(id: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["work", "run", id], more].concat()
}

fn retry(id: &str) -> Vec<&str> {
    vec!["work", "retry", id]
}

/// One item in every state that a person can bring it into without an approval.
fn states() -> Project {
    let project = Project::new();
    project.item("ready", PASS, &[]);
    project.item("blocked", FAIL, &[]);
    project.item("spent", FAIL, &["--max-attempts", "1"]);
    project.item("review", PASS, &[]);
    project.item("done", PASS, &[]);
    project.item("gone", PASS, &[]);
    project.item("waiting", PASS, &["--depends-on", "ready,done"]);
    for (id, exit) in [("blocked", 1), ("spent", 1), ("review", 0), ("done", 0)] {
        let _ = project.harn(&["work", "run", id]).exits(exit);
    }
    let _ = project.harn(&["work", "accept", "done"]).ok();
    let _ = project.harn(&["work", "cancel", "gone"]).ok();
    project
}

#[test]
fn an_item_that_is_not_ready() {
    let project = states();
    let cases: [Case<'_>; 12] = [
        ("K-05: blocked needs an explicit retry", run("blocked", &[]), 3, "needs_retry"),
        ("K-05: no charged attempt is left", retry("spent"), 3, "attempts_exhausted"),
        ("nor for a run", run("spent", &[]), 3, "needs_retry"),
        ("in review", run("review", &[]), 3, "wrong_state"),
        ("in review", retry("review"), 3, "wrong_state"),
        ("accepted", run("done", &[]), 3, "finished"),
        ("cancelled", retry("gone"), 3, "finished"),
        ("K-03: waits for a dependency", run("waiting", &[]), 3, "waiting"),
        ("nothing to retry", retry("ready"), 3, "wrong_state"),
        ("no such item", run("nope", &[]), 3, "not_found"),
        ("a prefix is not enough to change something", run("read", &[]), 3, "not_found"),
        ("no item at all", run("", &[]), 3, "not_found"),
    ];
    assert_refused(&project, &[], &cases);
}

#[test]
fn a_prefix_is_enough_to_look_and_must_be_unique() {
    let project = states();
    project.item("rest", PASS, &[]);
    let ambiguous = ("two items begin so", vec!["work", "show", "re"], 3, "ambiguous_id");
    assert_refused(
        &project,
        &[],
        &[ambiguous, ("none begins so", vec!["work", "show", "x"], 3, "not_found")],
    );
    let error = project.harn(&["work", "show", "re", "--json"]).exits(3).json();
    assert_eq!(error["error"]["details"]["candidates"], serde_json::json!(["ready", "rest", "review"]));
    assert!(project.harn(&["work", "show", "wait"]).ok().stdout.starts_with("waiting: Title\n"));
    // On a terminal, where a person sees what happens, a prefix may change something.
    let noted = project.harn_on_terminal(80, &[], &["work", "note", "wait", "--text", "seen"]).ok();
    assert!(noted.stdout.contains("seen"), "{}", noted.stdout);
    let ambiguous = project.harn_on_terminal(80, &[], &["work", "note", "re", "--text", "seen"]).exits(3);
    assert!(ambiguous.stderr.contains("ready, rest, review"), "{}", ambiguous.stderr);
}

#[test]
fn n_08_every_option_of_a_run_is_checked_before_anything_is_recorded() {
    let project = states();
    project.write("file", "");
    let long = "ñ".repeat(201);
    let actor = "ñ".repeat(101);
    let (blank, control) = ("text_blank", "text_control_character");
    let cases: [Case<'_>; 24] = [
        ("unknown adapter", run("ready", &["--adapter", "codex"]), 3, "adapter_unknown"),
        ("blank adapter", run("ready", &["--adapter", ""]), 3, "adapter_unknown"),
        ("exec without a command", run("ready", &["--adapter", "exec"]), 2, "exec_missing"),
        ("an open quotation", run("ready", &["--exec", "sh -c 'x"]), 2, "exec_unreadable"),
        ("an empty command", run("ready", &["--exec", ""]), 3, "adapter_command_empty"),
        ("two adapters", run("ready", &["--adapter", "a", "--exec", "cat"]), 2, "exec_with_other_adapter"),
        ("deadline without a unit", run("ready", &["--deadline", "90"]), 2, "usage"),
        ("deadline of nothing", run("ready", &["--deadline", "0s"]), 2, "usage"),
        ("missing directory", run("ready", &["--cwd", "nowhere"]), 3, "cwd_missing"),
        ("missing directory, absolute", run("ready", &["--cwd", "/nowhere"]), 3, "cwd_missing"),
        ("a file", run("ready", &["--cwd", "file"]), 3, "cwd_missing"),
        ("both", run("ready", &["--subscription-only", "--allow-api-billing"]), 2, "usage"),
        ("no policies yet", run("ready", &["--policy", "p.json"]), 3, "not_built"),
        ("unknown isolation", run("ready", &["--isolation", "vm"]), 2, "isolation_unknown"),
        ("of the reference only", run("ready", &["--isolation", "sandbox"]), 2, "isolation_unknown"),
        (
            "K-32: the root needs the isolation, known before the item is looked for",
            run("nope", &["--workspace-root", "/tmp"]),
            2,
            "workspace_root_without_worktree",
        ),
        (
            "and not a shared one",
            run("ready", &["--workspace-root", "/tmp", "--isolation", "shared"]),
            2,
            "workspace_root_without_worktree",
        ),
        (
            "no worktrees yet",
            run("ready", &["--workspace-root", "/tmp", "--isolation", "worktree"]),
            3,
            "not_built",
        ),
        ("nobody to ask", run("ready", &["--approval-to", ""]), 3, blank),
        ("201 characters", run("ready", &["--approval-to", &long]), 3, "text_too_long"),
        ("two lines", run("ready", &["--approval-to", "a\nb"]), 3, control),
        ("blank actor", run("ready", &["--actor", " "]), 3, blank),
        ("actor of 101 characters", run("ready", &["--actor", &actor]), 3, "text_too_long"),
        ("actor with an escape", run("ready", &["--actor", "a\u{1b}[1m"]), 3, control),
    ];
    assert_refused(&project, &[], &cases);
    for option in ["--max-agents", "--concurrency"] {
        for number in ["3x", "0", "-1", "1e3", "x"] {
            for verb in ["run", "retry"] {
                let line = vec!["work", verb, "ready", option, number];
                assert_refused(&project, &[], &[("not a number", line, 2, "usage")]);
            }
        }
    }
}

/// Here the path is made absolute, so a relative one is no error; the reference wants it refused (N-08).
#[test]
fn a_relative_directory_is_made_absolute() {
    let project = Project::new();
    project.item("a", PASS, &[]);
    project.write("sub/file", "");
    let run = project.harn(&["work", "run", "a", "--cwd", "sub", "--json"]).ok().json();
    let run_id = run["run_id"].as_str().unwrap();
    let manifest = &project.harn(&["run", "show", run_id, "--json"]).ok().json()["manifest"];
    assert_eq!(manifest["execution"]["cwd"], project.root().join("sub").to_str().unwrap());
}

#[test]
fn k_26_a_script_that_changed() {
    let project = Project::new();
    let importing = "import { x } from './module.mjs'; export default async () => x;";
    project.write("module.mjs", "export const x = 1;");
    project.item("changed", PASS, &[]);
    project.item("importing", importing, &[]);
    project.item("missing", PASS, &[]);
    project.write("changed.mjs", FAIL);
    project.write("module.mjs", "export const x = 2;");
    fs::remove_file(project.root().join("missing.mjs")).unwrap();
    let cases: [Case<'_>; 3] = [
        ("the script", run("changed", &[]), 3, "script_changed"),
        ("a module that it imports", run("importing", &[]), 3, "script_changed"),
        ("the script is gone", run("missing", &[]), 3, "script_missing"),
    ];
    assert_refused(&project, &[], &cases);
    for (id, file) in [("changed", "changed.mjs"), ("importing", "module.mjs"), ("missing", "missing.mjs")] {
        let refused = project.harn(&["work", "run", id]).exits(3);
        assert!(refused.stderr.contains(file), "{}", refused.stderr);
        let shown = project.harn(&["work", "show", id, "--json"]).ok().json();
        assert_eq!(shown["projection"]["attempts_used"], 0);
    }
    // Both digests are named, so that a person can tell which file it was.
    let refused = project.harn(&["work", "run", "changed"]).exits(3);
    let digests =
        refused.stderr.split(|c: char| !c.is_ascii_hexdigit()).filter(|word| word.len() == 64).count();
    assert_eq!(digests, 2, "{}", refused.stderr);
}
