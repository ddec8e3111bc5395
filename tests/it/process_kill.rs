//! The program killed with `kill -9` at many points: the next command works, and nothing acknowledged is gone.

use std::fs;
use std::io::Read as _;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use harn_tests::{PASS, Project};
use serde_json::Value;

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

/// Delays that spread kills evenly over a command that takes about `whole`, and a little beyond.
fn delays(rounds: u32, whole: Duration) -> impl Iterator<Item = Duration> {
    (1..=rounds).map(move |round| whole * 5 / 4 * round / rounds)
}

/// Lets a command come to its end. Returns how long that took, and what it printed.
fn uninterrupted(project: &Project, words: &[&str]) -> (Duration, String) {
    let since = Instant::now();
    let output = start(project, words).wait_with_output().unwrap();
    assert!(output.status.success());
    (since.elapsed(), String::from_utf8(output.stdout).unwrap())
}

/// The charged attempts of an item, told from the raw logs and from nothing else.
fn charged(project: &Project, id: &str) -> usize {
    let events = |kind: &str, id: &str| -> Vec<Value> {
        let log = project.state().join(kind).join(id).join("events.jsonl");
        let text = fs::read_to_string(log).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    let work = events("work", id);
    let is_charged = |run: &Value| {
        let end =
            work.iter().find(|event| event["event"] == "attempt.ended" && event["data"]["run_id"] == *run);
        let run = events("run", run.as_str().unwrap());
        let named = |name: &str| run.iter().find(|event| event["event"] == name);
        match end.or_else(|| named("run.ended")) {
            Some(end) => end["data"]["class"].is_null(),
            // Cut off: it counts if it can have touched anything.
            None => named("agent.started").or_else(|| named("check.started")).is_some(),
        }
    };
    work.iter()
        .filter(|event| event["event"] == "attempt.started" && is_charged(&event["data"]["run_id"]))
        .count()
}

/// Checks that the record is sound and explains the item. Returns what can be done next.
fn next_step(project: &Project, id: &str, when: &str) -> &'static str {
    assert_sound(project, when);
    // Whoever is killed while it starts a process leaves a copy of itself that holds the lease until that process has
    // begun, and has a right to be called running for so long.
    for _ in 0..200 {
        match shown_state(project, id, when).as_str() {
            "ready" => return "run",
            "blocked" => return "retry",
            "in_review" => return "accept",
            "running" => sleep(Duration::from_millis(10)),
            other => panic!("{when}: the item is {other}"),
        }
    }
    panic!("{when}: the item goes on running")
}

/// The state of the item, after making sure that the logs explain what is shown.
fn shown_state(project: &Project, id: &str, when: &str) -> String {
    let shown = project.harn(&["work", "show", id, "--json"]).ok().json();
    let projection = &shown["projection"];
    let events = shown["events"].as_array().unwrap();
    let started = events.iter().filter(|event| event["event"] == "attempt.started").count();
    assert_eq!(projection["attempts_used"], started, "{when}: the log explains the attempts");
    assert_eq!(projection["charged_attempts"], charged(project, id), "{when}: the logs explain the charge");
    projection["state"].as_str().unwrap().to_owned()
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
    let line = ["work", "create", "Title", "w.mjs", "--objective", "Objective"];
    let (whole, printed) = uninterrupted(&project, &line);
    let mut acknowledged: Vec<String> = printed.lines().next().map(str::to_owned).into_iter().collect();
    for delay in delays(40, whole) {
        let child = start(&project, &line);
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
    project.item("b", BUSY, &[]);
    let (whole, _) = uninterrupted(&project, &["work", "run", "b", "--adapter", "exec", "--exec", "cat"]);
    let mut verb = "run";
    for delay in delays(60, whole) {
        let child = start(&project, &["work", verb, "a", "--adapter", "exec", "--exec", "cat"]);
        kill_after(child, delay);
        verb = next_step(&project, "a", &format!("killed after {delay:?} of {whole:?}"));
        if verb == "accept" {
            let _ = project.harn(&["work", "reopen", "a"]).ok();
            verb = "run";
        }
    }
    // What was killed is recorded as what it was, and the work goes on to its end.
    let _ = project.harn(&["work", "reconcile", "a"]).ok();
    let last = project.harn(&["work", verb, "a", "--adapter", "exec", "--exec", "cat"]).ok();
    assert!(last.stdout.contains("state: in_review"), "{}", last.stdout);
    let _ = project.harn(&["work", "accept", "a"]).ok();
    let _ = project.harn(&["verify"]).ok();
}

/// One agent and one check, either of which can be made to stay where it is.
const STAGED: &str = r#"
export default async ({ agent, check, log }) => {
  log("a long text that becomes a blob: " + "x".repeat(5000));
  await agent("write it");
  const script = 'echo $$ >check.pid; [ "$HOLD" != check ] || sleep 600';
  return (await check({ name: "suite", argv: ["sh", "-c", script] })).outcome;
};
"#;

/// Killed as soon as each event can be seen in a log. Where the program would go on at once, an agent or a check that
/// stays where it is keeps it there; elsewhere it may get a little further, and all that counts is what is on record.
#[test]
fn r_22_a_run_killed_at_any_of_its_events_can_go_on() {
    let cases = [
        ("work", "attempt.started", ""),
        ("run", "run.started", ""),
        ("run", "log", ""),
        ("run", "script.loaded", ""),
        ("run", "agent.started", "agent"),
        ("run", "agent.try", ""),
        ("run", "agent.ended", "check"),
        ("run", "check.started", "check"),
        ("run", "evidence.recorded", ""),
        ("run", "run.ended", ""),
        ("work", "attempt.ended", ""),
    ];
    for (kind, event, hold) in cases {
        let mut project = Project::new();
        project.set("HOLD", Some(hold));
        project.item("a", STAGED, &[]);
        let agent = "sh -c 'echo $$ >agent.pid; [ \"$HOLD\" != agent ] || sleep 600; cat'";
        let line = |verb| ["work", verb, "a", "--adapter", "exec", "--exec", agent];
        let mut child = start(&project, &line("run"));
        let name = format!("\"event\":\"{event}\"");
        loop {
            // Looked at before the log, so that whatever a program wrote before it ended is seen.
            let ended = child.try_wait().unwrap().is_some();
            if logs(&project, kind).contains(&name) {
                break;
            }
            assert!(!ended, "the run ended without `{event}`");
        }
        // It may have ended by itself.
        let _ = child.kill();
        child.wait().unwrap();
        let when = format!("killed at `{event}`");
        for file in ["agent.pid", "check.pid"] {
            let pid = fs::read_to_string(project.root().join(file)).unwrap_or_default();
            wait_until("what ran has ended", || pid.is_empty() || !alive(pid.trim()));
        }

        project.set("HOLD", Some(""));
        let verb = next_step(&project, "a", &when);
        if verb != "accept" {
            let _ = project.harn(&line(verb)).ok();
        }
        assert_eq!(next_step(&project, "a", &when), "accept");
        let _ = project.harn(&["work", "accept", "a"]).ok();
        let _ = project.harn(&["verify"]).ok();
    }
}

/// All logs of a kind, one after the other.
fn logs(project: &Project, kind: &str) -> String {
    let streams = fs::read_dir(project.state().join(kind)).into_iter().flatten();
    let logs = streams.map(|stream| stream.unwrap().path().join("events.jsonl"));
    logs.filter_map(|log| fs::read_to_string(log).ok()).collect()
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
