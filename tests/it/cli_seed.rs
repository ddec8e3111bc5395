//! The command lines of the description that this program is built from, as they stand there. Ids are those of items
//! that exist, and `exec` stands in for a vendor's adapter.

use harn_tests::{AGENT, CONTEXT, PASS, Project};

/// The line that a run prints which asked for isolation and got none.
const SHARED: &str =
    "note: ran shared; worktree isolation was requested but not allocated (no --workspace-root given)";

/// The words of a command line, as a shell would split it.
fn words(line: &str) -> Vec<String> {
    shlex::split(line).unwrap().into_iter().skip(1).collect()
}

fn typed(project: &Project, line: &str) -> harn_tests::Outcome {
    let words = words(line);
    project.harn(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn create_and_inspect() {
    let project = Project::new();
    project.write("workflows/release.mjs", PASS);
    let created = typed(
        &project,
        "harn work create \"Release the package\" ./workflows/release.mjs \
         --objective \"Publish a verified package release\" \
         --accept \"The full suite passes\" \
         --accept \"The installed package smoke test passes\" \
         --max-attempts 3",
    )
    .ok();
    // The new id stands on a line of its own, for a script to take.
    let id = created.stdout.lines().next().unwrap();
    assert_eq!(id, "work-2026-07-22T12-00-00-000Z-000001");
    assert!(typed(&project, "harn work list").ok().stdout.contains("  ready  0/3  run  Release the package"));
    let shown = typed(&project, &format!("harn work show {id}")).ok();
    for line in ["state: ready", "next: run", "attempts: 0/3"] {
        assert!(shown.stdout.lines().any(|found| found == line), "{}", shown.stdout);
    }
    let again = typed(&project, "harn work create Another workflows/release.mjs --objective Publish").ok();
    assert_eq!(again.stdout.lines().next(), Some("work-2026-07-22T12-00-00-000Z-000002"));
    let dependent =
        format!("harn work create Third workflows/release.mjs --objective O --depends-on {id},{id}2");
    assert!(typed(&project, &dependent).exits(3).stderr.contains("does not exist"));
    let second = again.stdout.lines().next().unwrap();
    let dependent =
        format!("harn work create Third workflows/release.mjs --objective O --depends-on {id},{second}");
    assert!(typed(&project, &dependent).ok().stdout.contains("  waiting  "));
}

#[test]
fn run_review_and_correct() {
    let project = Project::new();
    project.item("writer", AGENT, &[]);
    let _ =
        typed(&project, "harn work run writer --adapter exec --exec 'tr a-z A-Z' --subscription-only").ok();
    let reopened = typed(
        &project,
        "harn work reopen writer --actor reviewer \
         --finding \"The bounded writer throws on a large result instead of truncating it.\"",
    )
    .ok();
    assert!(reopened.stdout.contains("  - f1 by reviewer (test clock): The bounded writer throws"));
    let _ = typed(&project, "harn work run writer --adapter exec --exec cat").ok();
    let _ = typed(&project, "harn work reconcile writer").ok();
    let accepted = typed(
        &project,
        "harn work accept writer --dispose f1=fixed --actor reviewer --reason \"proof and artifacts reviewed\"",
    )
    .ok();
    assert_eq!(accepted.after("state: "), "succeeded");
    assert_eq!(accepted.after("reason: "), "proof and artifacts reviewed");
}

/// A deferral needs no quotes: the words up to the next option are its reason.
#[test]
fn an_unquoted_deferral() {
    for (line, reason) in [
        (
            "harn work accept a --dispose f1=deferred:tracked separately, out of scope here",
            "tracked separately, out of scope here",
        ),
        (
            "harn work accept a --dispose f1=deferred:tracked separately, out of scope --reason seen",
            "tracked separately, out of scope",
        ),
        ("harn work accept a --dispose \"f1=deferred:see f2=fixed: later\"", "see f2=fixed: later"),
    ] {
        let project = Project::new();
        project.item("a", PASS, &[]);
        let _ = typed(&project, "harn work run a").ok();
        let _ = typed(&project, "harn work reopen a --finding x").ok();
        let _ = typed(&project, "harn work run a").ok();
        let accepted = typed(&project, line).ok();
        let said = format!("    deferred by operator (test clock): {reason}\n");
        assert!(accepted.stdout.contains(&said), "{line}: {}", accepted.stdout);
    }
}

/// Isolation without a root does not fail the run: it runs shared, and says so wherever the run is shown.
#[test]
fn isolation_that_is_not_allocated_is_said() {
    let project = Project::new();
    project.item("a", CONTEXT, &[]);
    let run = typed(&project, "harn work run a --isolation worktree").ok();
    assert_eq!(run.stdout.lines().filter(|line| *line == SHARED).count(), 1, "{}", run.stdout);
    let run_id = run.after("run: ").to_owned();
    for line in [format!("harn run show {run_id}"), format!("harn run proof {run_id}")] {
        let shown = typed(&project, &line).ok();
        assert!(shown.stdout.lines().any(|line| line == SHARED), "{}", shown.stdout);
    }
    let proof = typed(&project, &format!("harn run proof {run_id} --json")).ok().json();
    assert_eq!(proof["execution"]["requested_isolation"], "worktree");
    assert_eq!(proof["execution"]["effective_isolation"], "shared");

    let _ = typed(&project, "harn work reopen a").ok();
    let report = typed(&project, "harn work run a --isolation worktree --json").ok().json();
    let isolation = &report["isolation"];
    assert_eq!(isolation["note"], SHARED.strip_prefix("note: ").unwrap());
    assert_eq!((&isolation["requested"], &isolation["effective"]), (&"worktree".into(), &"shared".into()));

    // Nothing is said where nothing was asked for.
    let _ = typed(&project, "harn work reopen a").ok();
    let report = typed(&project, "harn work run a --json").ok().json();
    assert_eq!(report["isolation"]["note"], serde_json::Value::Null);
}

/// Every option of the synopsis is taken, in the way that it is written there.
#[test]
fn the_synopsis() {
    let project = Project::new();
    project.write("w.mjs", PASS);
    for line in [
        "harn work create T w.mjs --objective O --id base",
        "harn work create T w.mjs --objective O --accept A --accept B --depends-on base --max-attempts 2 \
         --source-kind external --source-ref https://example.org/1 --id a --actor ann --json",
        "harn work list --state waiting --json",
        "harn work show a --json",
        "harn work run base --max-agents 5 --concurrency 2 --cwd . --allow-api-billing --isolation shared \
         --approval-to ops --json",
        "harn work reconcile base --actor ann --json",
        "harn work reconcile --json",
        "harn work reopen base --actor ann --reason why --finding One --finding Two --json",
        "harn work run base",
        "harn work accept base --actor ann --reason why --dispose f1=fixed --dispose f2=deferred:later --json",
        "harn work cancel a --actor ann --reason why --json",
    ] {
        let _ = typed(&project, line).ok();
    }
}
