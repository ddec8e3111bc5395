//! The program killed with `kill -9` at many points: the next command works, and nothing acknowledged is gone.

use std::fs;
use std::io::Read as _;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use harn_tests::{PASS, Project};

use crate::PROGRAM;
use crate::process_children::{alive, wait_until};

/// Does a little of everything, so that there is a lot to be killed in between.
const BUSY: &str = r#"
export const meta = { acceptance: [{ id: "suite", statement: "The suite passes" }] };
export default async ({ agent, check, stage, log }) => {
  stage("write");
  log("a long text that becomes a blob: " + "x".repeat(5000));
  await agent("write it");
  stage("check");
  await check({ name: "suite", argv: ["true"], acceptanceIds: ["suite"] });
};
"#;

fn start(project: &Project, words: &[&str]) -> Child {
    project.process(PROGRAM, words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills the program after `delay`, and returns what it had printed by then.
fn kill_after(mut child: Child, delay: Duration) -> String {
    sleep(delay);
    // It may have ended by itself.
    let _ = child.kill();
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    child.wait().unwrap();
    printed
}

/// Delays that spread kills over a command that takes some milliseconds.
fn delays(rounds: u64) -> impl Iterator<Item = Duration> {
    (0..rounds).map(|round| Duration::from_micros(400 * round))
}

/// What verification may find after a kill: what it left unfinished, and nothing else.
fn assert_sound(project: &Project, when: &str) {
    let outcome = project.harn(&["verify", "--json"]);
    let problems = outcome.json()["problems"].clone();
    let sound = problems.as_array().unwrap().iter().all(|problem| problem["code"] == "unfinished_tail");
    assert!(sound, "{when}: {problems}");
}

#[test]
fn a_killed_create_leaves_a_whole_item_or_none() {
    let mut project = Project::new();
    // Ids from chance: a seed would give the same one to every process.
    project.set("HARN_TEST_SEED", None);
    project.write("w.mjs", PASS);
    let mut acknowledged = Vec::new();
    for delay in delays(40) {
        let child = start(&project, &["work", "create", "Title", "w.mjs", "--objective", "Objective"]);
        let printed = kill_after(child, delay);
        acknowledged.extend(printed.lines().next().map(str::to_owned));
    }
    assert_sound(&project, "after all kills");
    let listed = project.harn(&["work", "list", "--json"]).ok().json();
    assert!(listed["warnings"].as_array().unwrap().is_empty(), "{listed}");
    let ids: Vec<&str> =
        listed["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
    for id in &acknowledged {
        assert!(ids.contains(&&**id), "`{id}` was printed and is gone");
    }
    assert!(!acknowledged.is_empty(), "no command got to its end, so nothing was tested");
    // No clean-up: the next command works, and sweeps what the dead left.
    project.item("next", PASS, &[]);
    assert_eq!(fs::read_dir(project.state().join(".new")).unwrap().count(), 0);
}

/// Runs and retries one item, killing every attempt a little later than the one before.
#[test]
fn a_killed_run_can_always_go_on() {
    let mut project = Project::new();
    project.set("HARN_TEST_SEED", None);
    project.item("a", BUSY, &["--max-attempts", "100", "--max-uncharged-attempts", "100"]);
    let mut verb = "run";
    for delay in delays(90) {
        let child = start(&project, &["work", verb, "a", "--adapter", "exec", "--exec", "cat"]);
        kill_after(child, delay);
        let when = format!("killed after {delay:?}");
        assert_sound(&project, &when);

        let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
        let projection = &shown["projection"];
        let started = shown["events"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|event| event["event"] == "attempt.started")
            .count();
        assert_eq!(projection["attempts_used"], started, "{when}: the log explains the attempts");
        match projection["state"].as_str().unwrap() {
            "ready" => verb = "run",
            "blocked" => verb = "retry",
            "in_review" => {
                let _ = project.harn(&["work", "reopen", "a"]).ok();
                verb = "run";
            }
            other => panic!("{when}: the item is {other}"),
        }
    }
    // What was killed is recorded as what it was, and the work goes on to its end.
    let _ = project.harn(&["work", "reconcile", "a"]).ok();
    let last = project.harn(&["work", verb, "a", "--adapter", "exec", "--exec", "cat"]).ok();
    assert!(last.stdout.contains("state: in_review"), "{}", last.stdout);
    let _ = project.harn(&["work", "accept", "a"]).ok();
    let _ = project.harn(&["verify"]).ok();
}

/// An agent that is at work when the program dies is ended by its keeper.
#[test]
fn a_killed_run_leaves_no_agent() {
    let project = Project::new();
    project.item("a", BUSY, &[]);
    let agent = "sh -c 'sleep 600 & echo $! > grandchild; echo $$ > child; sleep 600'";
    let mut child = start(&project, &["work", "run", "a", "--adapter", "exec", "--exec", agent]);
    let pids = ["child", "grandchild"].map(|file| project.root().join(file));
    wait_until("the agent has started", || {
        pids.iter().all(|file| fs::read_to_string(file).is_ok_and(|pid| pid.ends_with('\n')))
    });
    child.kill().unwrap();
    child.wait().unwrap();
    for file in pids {
        let pid = fs::read_to_string(file).unwrap();
        wait_until("the agent has ended", || !alive(pid.trim()));
    }
    let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
    assert_eq!(shown["projection"]["state"], "blocked");
    assert_eq!(shown["projection"]["attempts"][0]["status"], "lost");
    assert_eq!(shown["projection"]["attempts"][0]["charged"], true, "an agent was started");
    let _ = project.harn(&["work", "retry", "a", "--adapter", "exec", "--exec", "cat"]).ok();
}
