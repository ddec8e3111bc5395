//! The program told to stop: no child survives, the transcript says so, and the next command works.

use std::fs;
use std::process::{Child, Command, Stdio};

use harn_tests::{AGENT, Project};

use crate::PROGRAM;
use crate::process_children::{alive, wait_until};

/// An agent with a child of its own, both of which take no notice of the end of anything else.
const AGENT_WITH_CHILD: &str = "sh -c 'sleep 600 & echo $! > grandchild; echo $$ > child; sleep 600'";

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_signal_ends_the_run_and_all_its_children() {
    for name in ["INT", "TERM", "HUP"] {
        let project = Project::new();
        project.item("a", AGENT, &[]);
        let line = ["work", "run", "a", "--adapter", "exec", "--exec", AGENT_WITH_CHILD];
        let mut child =
            project.process(PROGRAM, &line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pids = ["child", "grandchild"].map(|file| project.root().join(file));
        wait_until("the agent has started", || {
            pids.iter().all(|file| fs::read_to_string(file).is_ok_and(|pid| pid.ends_with('\n')))
        });
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{name}");
        for file in &pids {
            let pid = fs::read_to_string(file).unwrap();
            assert!(!alive(pid.trim()), "{name}: process {} of the agent survived", pid.trim());
        }

        let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
        let attempt = &shown["projection"]["attempts"][0];
        assert_eq!(
            (attempt["status"].as_str(), attempt["charged"].as_bool()),
            (Some("failed"), Some(true)),
            "{name}"
        );
        let run = attempt["run_id"].as_str().unwrap();
        let log = project.harn(&["run", "log", run, "--json"]).ok().json();
        let last = log["events"].as_array().unwrap().last().unwrap();
        assert_eq!(
            (last["event"].as_str(), last["data"]["failure"].as_str()),
            (Some("run.ended"), Some("signal"))
        );
        let _ = project.harn(&["verify"]).ok();
        let _ = project.harn(&["work", "retry", "a", "--adapter", "exec", "--exec", "cat"]).ok();
    }
}

/// Nobody was sent at the work yet, so the attempt is not charged.
#[test]
fn a_signal_before_any_agent_costs_nothing() {
    let project = Project::new();
    project.item("a", "export default async ({ log }) => { log('here'); for (;;) {} };", &[]);
    let child =
        project.process(PROGRAM, &["work", "run", "a"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.unwrap();
    wait_until("the script runs", || {
        let runs = project.harn(&["run", "list", "--json"]).ok().json();
        let Some(run) = runs["items"].get(0).and_then(|run| run["id"].as_str().map(str::to_owned)) else {
            return false;
        };
        project.harn(&["run", "log", &run]).ok().stdout.contains("here")
    });
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
    let attempt = &shown["projection"]["attempts"][0];
    assert_eq!((attempt["class"].as_str(), attempt["charged"].as_bool()), (Some("interrupted"), Some(false)));
}
