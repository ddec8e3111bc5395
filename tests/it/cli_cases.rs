//! The reference's cases of work items, driven through the command line. Each carries its number; where this program
//! behaves otherwise on purpose, a comment says how.

use std::os::unix::fs::PermissionsExt as _;

use harn_ledger::{Actor, FixedClock, Ledger, StreamId, Timestamp};
use harn_tests::{CONTEXT, FAIL, NOW, PASS, Project, RETRIED};
use harn_workflow::work::{Caller, Command, Facts, Observed, Role, Trigger, Work};
use serde_json::{Value, json};

fn show(project: &Project, id: &str) -> Value {
    project.harn(&["work", "show", id, "--json"]).ok().json()
}

fn events(project: &Project, id: &str) -> Vec<String> {
    let events = show(project, id)["events"].clone();
    let name = |event: &Value| event["event"].as_str().unwrap_or_default().to_owned();
    events.as_array().unwrap_or(&Vec::new()).iter().map(name).collect()
}

fn standing(project: &Project, id: &str) -> (String, String) {
    let projection = show(project, id)["projection"].clone();
    let word = |member: &str| projection[member].as_str().unwrap_or_default().to_owned();
    (word("state"), word("next_action"))
}

fn stands(state: &str, next: &str) -> (String, String) {
    (state.to_owned(), next.to_owned())
}

/// K-01. The exit code of the second create is 3, not 1, and both files are private.
#[test]
fn k_01_an_item_is_created_once() {
    let project = Project::new();
    project.item("a", PASS, &["--accept", "It holds", "--actor", "ann"]);
    assert_eq!(standing(&project, "a"), stands("ready", "run"));
    assert_eq!(events(&project, "a"), ["work.created"]);
    assert_eq!(show(&project, "a")["events"][0]["actor"], "ann (test clock)");
    for file in ["intent.json", "events.jsonl"] {
        let mode = std::fs::metadata(project.of_item("a", file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let again = ["work", "create", "T", "a.mjs", "--objective", "O", "--id", "a"];
    assert!(project.harn(&again).exits(3).stderr.contains("exists already"));
}

/// K-03. What is waited for is named with its own state.
#[test]
fn k_03_a_dependency_is_waited_for() {
    let project = Project::new();
    project.item("base", PASS, &[]);
    project.item("dependent", PASS, &["--depends-on", "base"]);
    assert_eq!(standing(&project, "dependent"), stands("waiting", "wait_for_dependencies"));
    let unresolved = &show(&project, "dependent")["projection"]["unresolved_dependencies"];
    assert_eq!(unresolved[0]["id"], "base");
    assert_eq!(unresolved[0]["state"], "ready");
    let text = project.harn(&["work", "show", "dependent"]).ok();
    assert!(text.stdout.contains("depends on:\n  - base (ready)"), "{}", text.stdout);

    let _ = project.harn(&["work", "run", "base"]).ok();
    assert_eq!(standing(&project, "dependent").0, "waiting");
    let _ = project.harn(&["work", "accept", "base"]).ok();
    assert_eq!(standing(&project, "dependent"), stands("ready", "run"));
}

/// K-04, K-132. The members are in `snake_case`: `work_item_id`, not `workItemId`.
#[test]
fn k_04_a_passing_attempt_is_reviewed_and_accepted() {
    let project = Project::new();
    let script =
        PASS.replace("({ evidence })", "({ evidence, work })").replace("});\n};", "});\n  return work;\n};");
    project.item("a", &script, &["--accept", "The suite passes"]);
    let report = project.harn(&["work", "run", "a", "--json"]).ok().json();
    assert_eq!(report["work_item_id"], "a");
    assert_eq!(report["status"], "finished");
    assert_eq!(report["state"], "in_review");
    let context = json!({
        "schema_version": 1, "id": "a", "title": "Title", "objective": "Objective",
        "acceptance": ["The suite passes"],
    });
    assert_eq!(report["result"], context);

    let run_id = report["run_id"].as_str().unwrap();
    let shown = show(&project, "a");
    assert_eq!(shown["projection"]["attempts_used"], 1);
    assert_eq!(shown["projection"]["attempts"][0]["run_id"], run_id);
    assert_eq!(shown["projection"]["latest_run_id"], run_id);
    let run = project.harn(&["run", "show", run_id, "--json"]).ok().json();
    for (place, expected) in [
        (&run["manifest"]["work_item_id"], json!("a")),
        (&run["proof"]["run"]["work_item_id"], json!("a")),
        (&run["manifest"]["work_context"], context.clone()),
        (&run["proof"]["run"]["work_context"], context),
        (&run["proof"]["run"]["attempt_context"], run["manifest"]["attempt_context"].clone()),
    ] {
        assert_eq!(*place, expected);
    }
    let _ = project.harn(&["work", "accept", "a", "--reason", "reviewed"]).ok();
    assert_eq!(standing(&project, "a"), stands("succeeded", "none"));
}

/// K-05. A run that took place prints its report whatever came of it, and exits 1.
#[test]
fn k_05_a_failing_attempt_blocks_until_an_explicit_retry() {
    let project = Project::new();
    project.item("a", FAIL, &["--max-attempts", "2"]);
    let first = project.harn(&["work", "run", "a"]).exits(1);
    assert!(first.stdout.contains("no good"), "{}", first.stdout);
    assert_eq!(standing(&project, "a"), stands("blocked", "retry"));
    assert!(project.harn(&["work", "run", "a"]).exits(3).stderr.contains("explicit retry"));
    let retried = project.harn(&["work", "retry", "a", "--json"]).exits(1).json();
    assert_eq!(retried["status"], "failed");
    assert_eq!(retried["error"], "no good");
    assert_eq!(show(&project, "a")["projection"]["attempts_used"], 2);
    assert_eq!(standing(&project, "a"), stands("blocked", "none"));
    assert!(
        project.harn(&["work", "retry", "a"]).exits(3).stderr.contains("no charged attempt is left (2/2)")
    );
}

/// K-06. What a retry is told about the attempt before it comes from that attempt's proof.
#[test]
fn k_06_a_retry_is_told_what_its_predecessor_proved() {
    let project = Project::new();
    project.item("a", RETRIED, &[]);
    let first = project.harn(&["work", "run", "a", "--json"]).exits(1).json();
    assert_eq!(first["result"], json!({ "schema_version": 1, "number": 1, "trigger": "initial" }));
    assert_eq!(first["state"], "blocked");
    let retried = project.harn(&["work", "retry", "a", "--json"]).ok().json();
    let context = json!({
        "schema_version": 1, "number": 2, "trigger": "retry",
        "prior": {
            "run_id": first["run_id"],
            "causes": ["acceptance_unknown"],
            "acceptance": { "satisfied": 0, "unsatisfied": 0, "unknown": 1, "total": 1 },
            "unresolved": [{ "id": "a", "statement": "It holds", "status": "unknown" }],
        },
    });
    assert_eq!(retried["result"], context);
    let run = project.harn(&["run", "show", retried["run_id"].as_str().unwrap(), "--json"]).ok().json();
    assert_eq!(run["manifest"]["attempt_context"], context);
    assert_eq!(run["proof"]["run"]["attempt_context"], context);
    assert_eq!(retried["state"], "in_review");
}

/// K-10, K-11. A reopen is no retry: the next attempt is initial and has no prior, but it carries the findings.
#[test]
fn k_10_k_11_an_attempt_after_a_reopen_is_initial_and_carries_findings() {
    let project = Project::new();
    project.item("plain", CONTEXT, &[]);
    project.item("found", CONTEXT, &[]);
    for (id, words) in [("plain", vec![]), ("found", vec!["--finding", "It throws."])] {
        let first = project.harn(&["work", "run", id, "--json"]).ok().json();
        let initial = json!({ "schema_version": 1, "number": 1, "trigger": "initial" });
        assert_eq!(first["result"]["attempt"], initial, "{id}");
        let _ = project.harn(&[&["work", "reopen", id], &words[..]].concat()).ok();
        let second = project.harn(&["work", "run", id, "--json"]).ok().json();
        let mut expected = json!({ "schema_version": 1, "number": 2, "trigger": "initial" });
        if id == "found" {
            let finding = json!({ "id": "f1", "actor": "operator (test clock)", "statement": "It throws." });
            expected["findings"] = json!([finding]);
        }
        assert_eq!(second["result"]["attempt"], expected, "{id}");
    }
}

/// K-12. Silence is not a disposition.
#[test]
fn k_12_acceptance_waits_for_a_word_on_every_finding() {
    let project = Project::new();
    project.item("a", PASS, &[]);
    let _ = project.harn(&["work", "run", "a"]).ok();
    let _ = project.harn(&["work", "reopen", "a", "--finding", "It throws."]).ok();
    let _ = project.harn(&["work", "run", "a"]).ok();
    assert!(project.harn(&["work", "accept", "a"]).exits(3).stderr.contains("`f1`"));
    let _ = project.harn(&["work", "accept", "a", "--dispose", "f1=deferred"]).exits(3);
    let _ = project.harn(&["work", "accept", "a", "--dispose", "f1=fixed"]).ok();
    assert_eq!(standing(&project, "a"), stands("succeeded", "none"));
    let findings = &show(&project, "a")["projection"]["findings"];
    assert_eq!(findings["open"], json!([]));
    assert_eq!(findings["past"][0]["outcome"], "fixed");
}

/// K-24. Unchanged evidence adds not one byte. Here nothing is written even the first time if nothing was learned.
#[test]
fn k_24_reconciling_twice_writes_once() {
    let project = Project::new();
    project.item("a", PASS, &[]);
    project.item("b", FAIL, &[]);
    let _ = project.harn(&["work", "run", "b"]).exits(1);
    let _ = project.harn(&["work", "reconcile", "a"]).ok();
    let _ = project.harn(&["work", "reconcile"]).ok();
    let after = project.tree();
    let _ = project.harn(&["work", "reconcile", "a"]).ok();
    let all = project.harn(&["work", "reconcile", "--json"]).ok().json();
    assert_eq!(project.tree(), after);
    assert_eq!(all["items"].as_array().unwrap().len(), 2);
}

/// K-25. Nothing is lost by a cancel or a reopen.
#[test]
fn k_25_a_cancelled_item_can_be_reopened() {
    let project = Project::new();
    project.item("a", PASS, &[]);
    let _ = project.harn(&["work", "cancel", "a", "--reason", "not now"]).ok();
    assert_eq!(standing(&project, "a"), stands("cancelled", "none"));
    let _ = project.harn(&["work", "reopen", "a"]).ok();
    assert_eq!(standing(&project, "a"), stands("ready", "run"));
    assert_eq!(events(&project, "a"), ["work.created", "work.cancelled", "work.reopened"]);
    assert!(project.harn(&["work", "list"]).ok().stdout.starts_with("a  ready"));
}

/// K-28. The reference refuses to read the item. Here the damage stays with the attempt: it counts as lost, and the run
/// of another item proves nothing about it.
#[test]
fn k_28_a_run_that_belongs_to_another_item_proves_nothing() {
    let project = Project::new();
    project.item("owner", PASS, &[]);
    project.item("victim", PASS, &[]);
    let report = project.harn(&["work", "run", "owner", "--json"]).ok().json();
    let clock = FixedClock(Timestamp::from_rfc3339(NOW).unwrap());
    let ledger = Ledger::builder(project.state()).clock(clock).open().unwrap();
    let caller = Caller { actor: Actor::new("forger").unwrap(), role: Role::Person };
    let run_id = StreamId::new(report["run_id"].as_str().unwrap()).unwrap();
    let command = Command::Begin { run_id, trigger: Trigger::Initial };
    let observed = Observed::default();
    let facts = Facts { observed, caller, now: clock.0, proof: None, unproven: None };
    let victim = ledger.stream::<Work>("victim").unwrap();
    victim.execute_with("forger", command, |_| Ok(facts.clone())).unwrap();

    assert_eq!(standing(&project, "victim"), stands("blocked", "retry"));
    let shown = show(&project, "victim");
    assert_eq!(shown["projection"]["attempts"][0]["status"], "lost");
    let reason = shown["projection"]["reason"].as_str().unwrap();
    assert!(
        reason.contains("does not belong to attempt 1 of `victim`: it is attempt 1 of `owner`"),
        "{reason}"
    );
    let _ = project.harn(&["work", "accept", "victim"]).exits(3);
    let retried = project.harn(&["work", "retry", "victim", "--json"]).ok().json();
    assert_eq!(retried["attempt"], 2);
    assert_eq!(standing(&project, "owner"), stands("in_review", "review"));
}

/// K-36. The budget in `show`: charged of allowed, and what was not charged.
#[test]
fn k_36_the_budget_names_what_was_not_charged() {
    let project = Project::new();
    let agent = "export default async ({ agent }) => agent('x');\n";
    project.item("a", agent, &[]);
    let missing = ["--adapter", "exec", "--exec", "no-such-program"];
    let run = |verb: &str, more: &[&str]| project.harn(&[&["work", verb, "a"], more].concat());
    let _ = run("run", &missing).exits(6);
    let _ = run("retry", &missing).exits(6);
    assert_eq!(project.harn(&["work", "show", "a"]).ok().after("attempts: "), "0/3 (+2 uncharged)");
    let _ = run("retry", &["--exec", "false"]).exits(1);
    let shown = project.harn(&["work", "show", "a"]).ok();
    assert_eq!(shown.after("attempts: "), "1/3 (+2 uncharged)");
    assert!(shown.stdout.contains("not charged (environment)"), "{}", shown.stdout);
    assert!(project.harn(&["work", "list"]).ok().stdout.starts_with("a  blocked  1/3 (+2 uncharged)  retry"));
}

/// K-130, K-131.
#[test]
fn k_130_k_131_help_and_the_empty_list() {
    let project = Project::new();
    let help = project.harn(&["work", "--help"]).ok().stdout;
    assert!(help.contains("reconcile") && help.contains("retry"), "{help}");
    assert_eq!(project.harn(&["work", "list"]).ok().stdout, "no work items\n");
    assert_eq!(project.harn(&["work", "reconcile"]).ok().stdout, "no work items\n");
    assert_eq!(project.harn(&["run", "list"]).ok().stdout, "no runs\n");
    project.item("a", PASS, &[]);
    assert_eq!(
        project.harn(&["work", "list", "--state", "blocked"]).ok().stdout,
        "no work items in this state\n"
    );
}
