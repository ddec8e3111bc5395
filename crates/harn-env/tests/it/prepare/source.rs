//! What a preparation may change, and what it may not.

use harn_env::fingerprint::{Change, Fingerprint};
use harn_env::prepare;
use harn_env::receipt::{Event, Receipt, Snapshot, Stage};
use harn_ledger::Stream;
use serde_json::{Value, json};

use super::project::{Project, command, reason, recipe, story, tool};

/// The comparisons of the source that a receipt has: after which stage, and what changed.
fn compared(receipt: &Stream<Receipt>) -> Vec<(Stage, Vec<(String, Change)>)> {
    let history = receipt.history().unwrap();
    let compared = history.iter().filter_map(|entry| match &entry.domain()?.event {
        Event::SourceCompared { after, changed, .. } => Some((*after, changed.paths.clone())),
        _ => None,
    });
    compared.collect()
}

/// A project without Git, and one with it where there is Git.
fn projects(plan: &Value) -> Vec<Project> {
    std::iter::once(Project::new(plan.clone())).chain(Project::with_git(plan.clone())).collect()
}

fn fingerprint(project: &Project, snapshot: &Snapshot) -> Fingerprint {
    let bytes = project.ledger.blobs().get(&snapshot.content).unwrap();
    let found = Fingerprint::from_bytes(&bytes).unwrap();
    assert_eq!(found.digest(), snapshot.digest);
    found
}

#[test]
fn b14_a_set_up_that_changes_the_source_is_held_with_its_edits() {
    for (script, path, change) in [
        ("echo 'locked 2' >Cargo.lock", "Cargo.lock", Change::Content),
        ("echo more >src/new.rs", "src/new.rs", Change::Added),
        ("rm src/main.rs", "src/main.rs", Change::Removed),
        ("chmod +x src/main.rs", "src/main.rs", Change::Mode),
    ] {
        let plan =
            recipe(&[command("install", script)], &[tool(&command("node", ""))], &[command("unit", "")]);
        for project in projects(&plan) {
            let receipt = project.prepare();
            assert_eq!(story(&receipt), "held source: setup install passed, tools node passed", "{script}");
            assert_eq!(project.noted(), ["install", "node"], "{script}");
            assert_eq!(compared(&receipt), [(Stage::Setup, vec![(path.to_owned(), change)])]);
            assert_eq!(reason(&receipt), format!("preparation changed `{path}`"));
            // The edits stay, and both states can be looked at.
            if path == "Cargo.lock" {
                assert_eq!(project.read(path), "locked 2\n");
            }
            let history = receipt.history().unwrap();
            let after = history.iter().find_map(|entry| match &entry.domain()?.event {
                Event::SourceCompared { source, .. } => Some(*source),
                _ => None,
            });
            let (before, after) = (receipt.intent().source, after.unwrap());
            let changed = fingerprint(&project, &after).difference(&fingerprint(&project, &before), 10);
            assert_eq!(changed.paths, [(path.to_owned(), change)]);
        }
    }
}

#[test]
fn b15_what_is_ignored_may_be_written() {
    let script = "mkdir installed && echo x >installed/package-lock.json && echo y >installed/tool";
    let plan = recipe(&[command("install", script)], &[], &[command("unit", "echo z >installed/cache")]);
    for project in projects(&plan) {
        let receipt = project.prepare();
        assert_eq!(story(&receipt), "ready: setup install passed, baseline unit passed");
        assert_eq!(compared(&receipt), [(Stage::Setup, vec![]), (Stage::Baseline, vec![])]);
        assert_eq!(project.read("installed/cache"), "z\n");
    }
}

/// B16: a lockfile, and a declared input, count although they are ignored.
#[test]
fn b16_an_ignored_lockfile_counts() {
    for (path, inputs) in [("package-lock.json", json!([])), ("installed/input", json!(["installed/input"]))]
    {
        let mut plan =
            recipe(&[command("install", &format!("echo new >{path}"))], &[], &[command("unit", "")]);
        plan["inputs"] = inputs;
        for project in projects(&plan) {
            project.write(path, "old\n");
            let receipt = project.prepare();
            assert_eq!(story(&receipt), "held source: setup install passed", "{path}");
            assert_eq!(compared(&receipt), [(Stage::Setup, vec![(path.to_owned(), Change::Content)])]);
            assert_eq!(project.noted(), ["install"]);
        }
    }
}

#[test]
fn b17_a_baseline_that_changes_the_source_is_no_baseline() {
    let plan = recipe(&[], &[], &[command("unit", "echo snapshot >>src/main.rs"), command("lint", "")]);
    for project in projects(&plan) {
        let receipt = project.prepare();
        assert_eq!(story(&receipt), "held source: baseline unit passed, baseline lint passed");
        assert_eq!(
            compared(&receipt),
            [(Stage::Setup, vec![]), (Stage::Baseline, vec![("src/main.rs".to_owned(), Change::Content)])]
        );
        assert_eq!(reason(&receipt), "the baseline changed `src/main.rs`");
        let error = project.ask(&mut |_| {}, |request| prepare::check(request, receipt.id())).unwrap_err();
        assert_eq!(error.code(), "no_baseline");
        project.noted();
    }
}

/// Many changes, long names and names with control characters are told within bounds.
#[test]
fn b14_any_change_can_be_told() {
    let long = format!("d/{}", vec!["n".repeat(200); 4].join("/"));
    let many = "i=0; while [ $i -lt 250 ]; do echo x >src/f$i; i=$((i+1)); done".to_owned();
    let deep = format!("mkdir -p {long} && touch {long}/a {long}/b {long}/c");
    for (script, count, words) in [
        (many, 200, " and "),
        (deep, 3, "preparation changed "),
        ("touch \"$(printf 'a\\033b')\"".to_owned(), 1, "preparation changed "),
        ("touch \"$(printf 'a\\377b')\"".to_owned(), 1, "preparation changed "),
    ] {
        let project = Project::new(recipe(&[command("install", &script)], &[], &[]));
        let prepared = project.ask(&mut |_| {}, prepare::prepare);
        let receipt = prepared.unwrap_or_else(|error| panic!("{script}: {error}"));
        assert_eq!(story(&receipt), "held source: setup install passed", "{script}");
        assert_eq!(compared(&receipt)[0].1.len(), count, "{script}");
        assert!(reason(&receipt).contains(words), "{}", reason(&receipt));
    }
}

/// B34: the recipe is that of the commit; an edit of its file is a change of the source and governs nothing.
#[test]
fn b34_an_edited_recipe_governs_nothing() {
    let Some(project) = Project::with_git(Value::Null) else { return };
    let path = ".harn/environment.json";
    project.write(path, &recipe(&[], &[], &[command("strict", "exit 1")]).to_string());
    project.commit();
    let before = project.prepare();
    assert_eq!(story(&before), "ready: baseline strict failed");

    project.write(path, &recipe(&[], &[], &[command("lenient", "")]).to_string());
    let check = project.check(&before);
    assert_eq!(story(&check), "checked: final strict failed");
    assert_eq!(check.intent().recipe, before.intent().recipe);
    let again = project.prepare();
    assert_eq!(story(&again), "ready: baseline strict failed");
    assert!(!project.noted().contains(&"lenient".to_owned()));
    let [was, is] = [before, again].map(|receipt| fingerprint(&project, &receipt.intent().source));
    assert_eq!(is.difference(&was, 10).paths, [(path.to_owned(), Change::Content)]);
    // Not even the removal of the file does.
    std::fs::remove_file(project.root().join(path)).unwrap();
    assert_eq!(story(&project.prepare()), "ready: baseline strict failed");
}
