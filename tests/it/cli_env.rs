//! `harn env`: preparing, checking, looking, and deciding what becomes of a changed source.

use std::fs;
use std::path::Path;
use std::process::Command;

use harn_tests::{PASS, Project};
use serde_json::{Value, json};

/// A recipe with one set-up, one tool and this baseline, all of them scripts of `sh`.
fn recipe(setup: &str, tool: &str, baseline: &[(&str, &str)]) -> String {
    let command = |name: &str, script: &str| json!({ "name": name, "argv": ["sh", "-c", script] });
    json!({
        "schema": "environment.v1",
        "setup": [command("install", setup)],
        "tools": [{ "name": "compiler", "command": command("version", tool) }],
        "baseline": baseline.iter().map(|(name, script)| command(name, script)).collect::<Vec<_>>(),
    })
    .to_string()
}

fn project(setup: &str, tool: &str, baseline: &[(&str, &str)]) -> Project {
    let project = Project::new();
    project.write(".harn/environment.json", &recipe(setup, tool, baseline));
    project
}

const BASELINE: [(&str, &str); 2] =
    [("unit", "test ! -e broken"), ("old", "echo it never worked >&2; exit 3")];

#[test]
fn a_project_is_prepared_checked_and_shown() {
    let project = project("true", "echo 1.2.3", &BASELINE);
    let prepared = project.harn(&["env", "prepare", "--json"]).ok().json();
    let id = prepared["receipt"]["id"].as_str().unwrap().to_owned();
    assert_eq!(prepared["receipt"]["status"], "ready");
    assert_eq!(prepared["intent"]["origin"], json!({ "project": { "path": ".harn/environment.json" } }));
    let outcome = |document: &Value, at: usize| document["results"][at]["result"]["outcome"].clone();
    let outcomes: Vec<_> = (0..4).map(|at| outcome(&prepared, at)).collect();
    assert_eq!(outcomes, ["passed", "passed", "passed", "failed"]);

    let shown = project.harn(&["env", "show"]).ok();
    for line in ["status: ready", "unit: passed", "old: failed", "it never worked"] {
        assert!(shown.stdout.contains(line), "{line} in {}", shown.stdout);
    }
    assert_eq!(project.harn(&["env", "show", &id[..12], "--json"]).ok().json(), prepared);

    // Nothing was changed by the work, so what failed before is what fails.
    let same = project.harn(&["env", "check", "--json"]).exits(1).json();
    let verdicts = |document: &Value| -> Vec<String> {
        let list = document["receipt"]["comparisons"].as_array().unwrap();
        list.iter().map(|it| it["verdict"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(verdicts(&same), ["holds", "pre_existing"]);
    project.write("broken", "");
    let broken = project.harn(&["env", "check", &id]).exits(1);
    assert!(broken.stdout.contains("unit: regression"), "{}", broken.stdout);

    // The set-up holds still, and the baseline is run again.
    let again = project.harn(&["env", "prepare", "--json"]).ok().json();
    assert_eq!(again["receipt"]["reused_from"], id.as_str());
    assert_eq!(again["results"].as_array().unwrap().len(), 3);
    let listed = project.harn(&["env", "list", "--json"]).ok().json();
    let purposes: Vec<_> =
        listed["items"].as_array().unwrap().iter().map(|it| it["purpose"].clone()).collect();
    assert_eq!(purposes, ["prepare", "check", "check", "prepare"]);
    let newer = again["receipt"]["id"].as_str().unwrap();
    let compared = project.harn(&["env", "compare", &id, newer, "--json"]).ok().json();
    assert_eq!(compared["comparisons"][0]["comparison"]["verdict"], "suspected_regression");
    assert_eq!(compared["source"], json!({ "paths": [["broken", "added"]], "left_out": 0 }));
    assert!(project.harn(&["env", "compare", &id, newer]).ok().stdout.contains("  added    broken\n"));
    let _ = project.harn(&["verify"]).ok();

    project.item("a", PASS, &[]);
    let owned = project.harn(&["env", "prepare", "--work", "a", "--json"]).ok().json();
    assert_eq!(owned["intent"]["owner"], json!({ "work_item": "a" }));
    let _ = project.harn(&["env", "prepare", "--work", "b"]).exits(3);
}

#[test]
fn what_holds_the_work_exits_with_6_and_says_why() {
    let cases = [
        (recipe("echo no network >&2; exit 1", "true", &[]), "setup", "no network"),
        (recipe("true", "exit 4", &[]), "tools", "a tool does not work"),
        (recipe("echo x > new.txt", "true", &[]), "source", "preparation changed `new.txt`"),
    ];
    for (plan, hold, words) in cases {
        let project = Project::new();
        project.write("plan.json", &plan);
        let held = project.harn(&["env", "prepare", "--plan", "plan.json"]).exits(6);
        assert!(held.stdout.contains(words), "{hold}: {}", held.stdout);
        let shown = project.harn(&["env", "show", "--json"]).ok().json();
        assert_eq!((&shown["receipt"]["status"], &shown["receipt"]["hold"]), (&json!("held"), &json!(hold)));
        assert_eq!(shown["intent"]["origin"], "plan");
    }
}

#[test]
fn a_recipe_that_is_none_is_refused_and_nothing_is_recorded() {
    let cases = [
        (r#"{"schema":"environment.v1","set_up":[]}"#, "recipe_form"),
        (r#"{"schema":"environment.v2"}"#, "recipe_form"),
        (r#"{"schema":"environment.v1","inputs":["../x"]}"#, "recipe_form"),
        (
            r#"{"schema":"environment.v1","setup":[{"name":"a","argv":["true"],"timeout_seconds":181}]}"#,
            "recipe_form",
        ),
        (r#"{"schema":"environment.v1","setup":[{"name":"a","argv":[]}]}"#, "recipe_member"),
        ("", "recipe_form"),
    ];
    for (text, code) in cases {
        let project = Project::new();
        project.write("plan.json", text);
        let refused = project.harn(&["env", "prepare", "--plan", "plan.json", "--json"]).exits(3);
        assert_eq!(refused.code(), code, "{text}");
        project.write(".harn/environment.json", text);
        project.item("a", PASS, &[]);
        let _ = project.harn(&["work", "run", "a"]).exits(3);
        let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
        assert_eq!(shown["projection"]["attempts"], json!([]), "{text}");
        assert!(project.harn(&["env", "list"]).ok().stdout.contains("no receipts"));
    }
    let project = Project::new();
    let _ = project.harn(&["env", "prepare", "--plan", "missing.json"]).exits(3);
    let _ = project.harn(&["env", "show"]).exits(3);
    let _ = project.harn(&["env", "show", "env-x"]).exits(3);
    let _ = project.harn(&["env", "check"]).exits(3);
}

/// B02: that there is no recipe is on record, and is no pass.
#[test]
fn without_a_recipe_the_receipt_says_so() {
    let project = Project::new();
    let prepared = project.harn(&["env", "prepare"]).ok();
    assert!(prepared.stdout.contains("recipe: none, so nothing was checked"), "{}", prepared.stdout);
    let checked = project.harn(&["env", "check", "--json"]).ok().json();
    assert_eq!(checked["receipt"]["comparisons"], json!([]));
}

#[test]
fn the_key_says_what_a_set_up_depends_on_and_what_differs() {
    let project = project("true", "true", &[]);
    project.write("Cargo.lock", "one");
    assert!(project.harn(&["env", "key"]).ok().stdout.contains("last set-up: none"));
    let _ = project.harn(&["env", "prepare"]).ok();
    assert!(project.harn(&["env", "key"]).ok().stdout.contains("has the same key"));
    project.write("Cargo.lock", "two");
    let key = project.harn(&["env", "key", "--sandbox-version", "image 7", "--json"]).ok().json();
    let misses: Vec<_> = key["misses"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(misses.iter().any(|miss| miss.contains("Cargo.lock")), "{misses:?}");
    assert!(misses.iter().any(|miss| miss.contains("image 7")), "{misses:?}");
    // The configuration states it as well.
    project.write(".harn/config.toml", "[env]\nsandbox_version = \"image 7\"\n");
    assert_eq!(project.harn(&["env", "key", "--json"]).ok().json()["digest"], key["digest"]);
    let digest =
        |project: &Project| project.harn(&["env", "fingerprint", "--json"]).ok().json()["digest"].clone();
    let before = digest(&project);
    project.write("src.txt", "x");
    assert_ne!(digest(&project), before);
}

fn git(directory: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(directory)
        .env("HOME", directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
}

#[test]
fn a_changed_source_is_kept_or_put_back_when_a_person_says_so() {
    for (flag, expected) in [("--keep", "edited by set-up"), ("--restore", "as it was")] {
        let project = project("echo edited by set-up > src.txt; echo x > more.txt", "true", &[]);
        project.write("src.txt", "as it was");
        let root = project.root().to_owned();
        git(&root, &["init", "-q"]);
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-q", "-m", "first"]);
        let held = project.harn(&["env", "prepare", "--json"]).exits(6).json();
        let id = held["receipt"]["id"].as_str().unwrap();
        project.item("a", PASS, &[]);
        let shown = project.harn(&["env", "show"]).ok().stdout;
        for line in
            ["changed by setup:", "  added    more.txt", "  content  src.txt", "try: harn env resolve"]
        {
            assert!(shown.contains(line), "{line} in {shown}");
        }

        let refused = project.harn(&["env", "prepare", "--json"]).exits(3);
        assert_eq!(refused.code(), "source_unresolved");
        let _ = project.harn(&["work", "run", "a"]).exits(3);
        let _ = project.harn(&["env", "resolve", id, "--reason", "x"]).exits(2);
        let resolved =
            project.harn(&["env", "resolve", id, flag, "--reason", "because", "--json"]).ok().json();
        assert_eq!(fs::read_to_string(root.join("src.txt")).unwrap().trim(), expected);
        assert_eq!(root.join("more.txt").exists(), flag == "--keep");
        let restored = if flag == "--keep" { json!([]) } else { json!(["more.txt", "src.txt"]) };
        assert_eq!(resolved["restored"], restored);
        let twice = project.harn(&["env", "resolve", id, flag, "--reason", "x", "--json"]).exits(3);
        assert_eq!(twice.code(), "nothing_to_resolve");
        assert!(project.harn(&["env", "show"]).ok().stdout.contains("resolved: the "));
        let _ = project.harn(&["verify"]).ok();
        // What was kept is the starting point, which the same set-up does not change again.
        let _ = project.harn(&["env", "prepare"]).exits(if flag == "--keep" { 0 } else { 6 });
    }
}

#[test]
fn an_attempt_shows_its_receipts_and_what_they_say() {
    let project = project("true", "true", &BASELINE);
    project.item("a", PASS, &[]);
    let run = project.harn(&["work", "run", "a"]).ok();
    assert!(run.stdout.contains("1 of 2 in its baseline did not pass"), "{}", run.stdout);
    assert!(run.stdout.contains("old pre existing"), "{}", run.stdout);
    let shown = project.harn(&["work", "show", "a"]).ok();
    let receipts = project.harn(&["env", "list", "--json"]).ok().json();
    for item in receipts["items"].as_array().unwrap() {
        let id = item["summary"]["id"].as_str().unwrap();
        assert!(shown.stdout.contains(id), "{id} in {}", shown.stdout);
    }
    let adopted =
        project.harn(&["env", "adopt", receipts["items"][1]["summary"]["id"].as_str().unwrap(), "old"]);
    let adopted = adopted.ok();
    assert!(adopted.stdout.contains("it never worked"), "{}", adopted.stdout);
    let _ = project.harn(&["work", "reopen", "a", "--finding", adopted.stdout.trim()]).ok();
    let skipped = project.harn(&["work", "run", "a", "--no-env"]).ok();
    assert!(skipped.stdout.contains("environment: not prepared, as was asked"), "{}", skipped.stdout);

    let ready = receipts["items"][1]["summary"]["id"].as_str().unwrap();
    let passed = project.harn(&["env", "adopt", ready, "unit", "--json"]).exits(3);
    assert_eq!(passed.code(), "nothing_to_adopt");
    let unknown = project.harn(&["env", "adopt", ready, "nope", "--json"]).exits(3);
    assert_eq!(unknown.code(), "no_such_command");
}

/// The documents that these commands print: their members are a contract.
#[test]
fn documents_have_their_members() {
    fn has(value: &Value, expected: &str) {
        let mut expected: Vec<_> = expected.split(' ').collect();
        expected.sort_unstable();
        let found: Vec<_> = value.as_object().unwrap().keys().collect();
        assert_eq!(found, expected);
    }
    let project = project("true", "true", &BASELINE);
    let prepared = project.harn(&["env", "prepare", "--json"]).ok().json();
    has(&prepared, "schema_version receipt intent results");
    has(&prepared["receipt"], "id status recipe retry results comparisons");
    has(&prepared["results"][0], "stage index round result");
    has(&prepared["results"][3]["result"], "name outcome exit duration_ms limit_seconds stderr signature");
    has(&prepared["results"][3]["result"]["stderr"], "content bytes whole tail");
    let checked = project.harn(&["env", "check", "--json"]).exits(1).json();
    has(&checked["receipt"]["comparisons"][0], "verdict");
    let lists = [
        (vec!["env", "list", "--json"], "schema_version items"),
        (vec!["env", "key", "--json"], "schema_version digest key compared_with misses"),
        (vec!["env", "fingerprint", "--json"], "schema_version digest fingerprint"),
    ];
    for (line, expected) in lists {
        has(&project.harn(&line).ok().json(), expected);
    }
    project.item("a", PASS, &[]);
    let report = project.harn(&["work", "run", "a", "--json"]).ok().json();
    has(&report["environment"], "preparation final");
    has(&report["environment"]["preparation"], "receipt reused_from retried baseline");
    has(&report["environment"]["final"], "receipt comparisons");
}
