//! An attempt whose process was killed goes on with `work resume`.

use std::fs;
use std::process::Stdio;

use harn_tests::{PASS, Project};

use crate::PROGRAM;
use crate::process_children::wait_until;

/// Asks two agents and checks something.
const SCRIPT: &str = r#"
export const meta = { acceptance: [{ id: "suite", statement: "The suite passes" }] };
export default async ({ agent, check }) => {
  const first = await agent("first");
  const second = await agent("second");
  await check({ name: "suite", argv: ["true"], acceptanceIds: ["suite"] });
  return [first, second];
};
"#;

/// Says what it is asked in a file. The second question is not answered as long as `hold` is there.
const AGENT: &str = r#"sh -c 'read -r prompt; echo "$prompt" >> asked
while [ "$prompt" = second ] && [ -e hold ]; do sleep 0.05; done; printf "to %s" "$prompt"'"#;

/// A project with the item `a` whose only attempt was killed while its second agent was at work.
fn killed() -> Project {
    let project = Project::new();
    project.item("a", SCRIPT, &["--max-attempts", "1"]);
    project.write("hold", "");
    let run = ["work", "run", "a", "--adapter", "exec", "--exec", AGENT];
    let mut child =
        project.process(PROGRAM, &run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the second agent is at work", || asked(&project).len() == 2);
    child.kill().unwrap();
    child.wait().unwrap();
    fs::remove_file(project.root().join("hold")).unwrap();
    // Its agent holds the lease until it is ended too.
    wait_until("the lease is free", || {
        project.harn(&["work", "show", "a"]).stdout.contains("state: blocked")
    });
    project
}

fn asked(project: &Project) -> Vec<String> {
    let text = fs::read_to_string(project.root().join("asked")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_killed_attempt_goes_on_without_asking_again_what_was_answered() {
    let project = killed();
    let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
    assert_eq!(shown["projection"]["try"][0], "harn work resume a");

    let report = project.harn(&["work", "resume", "a", "--exec", AGENT, "--json"]).ok().json();
    assert_eq!((&report["state"], &report["attempt"]), (&"in_review".into(), &1.into()), "{report}");
    assert_eq!(report["result"], serde_json::json!(["to first", "to second"]), "{report}");
    assert_eq!(asked(&project), ["first", "second", "second"]);

    let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
    assert_eq!(shown["projection"]["charged_attempts"], 1);
    let events: Vec<_> = shown["events"].as_array().unwrap().iter().map(|event| &event["event"]).collect();
    assert!(events.contains(&&"attempt.resumed".into()));
    let _ = project.harn(&["verify"]).ok();
    let _ = project.harn(&["work", "accept", "a"]).ok();
}

#[test]
fn what_the_attempt_needs_is_asked_for_before_anything_is_recorded() {
    let project = killed();
    let before = project.records();
    assert_eq!(project.harn(&["work", "resume", "a", "--json"]).exits(3).code(), "adapter_unknown");
    project.write("a.mjs", "export default () => 2");
    assert_eq!(
        project.harn(&["work", "resume", "a", "--exec", AGENT, "--json"]).exits(3).code(),
        "script_changed"
    );
    assert!(project.records() == before, "something was recorded");
}

/// A cancelled item is resumed by no path, and neither is one that has nothing to go on with.
#[test]
fn what_cannot_go_on_is_refused() {
    let project = killed();
    project.item("ready", PASS, &[]);
    project.item("done", PASS, &[]);
    let _ = project.harn(&["work", "run", "done"]).ok();
    let _ = project.harn(&["work", "cancel", "a"]).ok();
    let before = project.records();
    for (id, code) in
        [("a", "finished"), ("ready", "wrong_state"), ("done", "wrong_state"), ("nobody", "not_found")]
    {
        let outcome = project.harn(&["work", "resume", id, "--exec", AGENT, "--json"]).exits(3);
        assert_eq!(outcome.code(), code, "{id}");
    }
    assert!(project.records() == before, "something was recorded");
    assert_eq!(asked(&project).len(), 2);
}

/// K-50. The lease is a lock that the kernel holds: whoever comes second is told so, and it is free with its holder's end.
#[test]
fn k_50_an_attempt_is_resumed_by_one_at_a_time() {
    let project = killed();
    let ledger = harn_ledger::Ledger::open(project.state()).unwrap();
    let lease = ledger.stream::<harn_workflow::work::Work>("a").unwrap().lease("somebody else").unwrap();
    let second = project.harn(&["work", "resume", "a", "--exec", AGENT, "--json"]).exits(7);
    assert_eq!(second.code(), "lease_held");
    assert!(second.stderr.contains("somebody else"), "{}", second.stderr);
    assert_eq!(asked(&project).len(), 2);
    drop(lease);
    let _ = project.harn(&["work", "resume", "a", "--exec", AGENT]).ok();
}
