//! Several processes at one item: nothing that was acknowledged is lost, and one attempt is one attempt.

use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use harn_tests::{AGENT, PASS, Project};

use crate::PROGRAM;

/// Processes at a time.
const PROCESSES: usize = 8;
/// Longest wait for other processes. Nothing here takes nearly as long; a test that hangs must end.
const PATIENCE: Duration = Duration::from_secs(60);

fn start(project: &Project, words: &[&str]) -> Child {
    project.process(PROGRAM, words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// R07. Every note whose command reported success is there once, and the numbers have no gap.
#[test]
fn r_07_parallel_notes_are_all_there() {
    let project = Project::new();
    project.item("a", PASS, &[]);
    let mut expected = Vec::new();
    for round in 0..4 {
        let texts: Vec<String> = (0..PROCESSES).map(|number| format!("note {round}.{number}")).collect();
        let children: Vec<Child> =
            texts.iter().map(|text| start(&project, &["work", "note", "a", "--text", text])).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        expected.extend(texts);
    }
    let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
    let notes = shown["projection"]["notes"].as_array().unwrap();
    let mut texts: Vec<&str> = notes.iter().map(|note| note["text"].as_str().unwrap()).collect();
    texts.sort_unstable();
    assert_eq!(texts, expected);
    let numbers: Vec<u64> =
        shown["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=expected.len() as u64 + 1).collect::<Vec<_>>());
    let _ = project.harn(&["verify"]).ok();
}

/// R08. Exactly one of many processes that start an attempt at once does. The others are told that it is held: the agent
/// of the one does not end before they all have.
#[test]
fn r_08_one_of_many_runners_wins() {
    let project = Project::new();
    project.item("a", AGENT, &[]);
    let agent = "sh -c 'while [ ! -e go ]; do sleep 0.02; done'";
    let line = ["work", "run", "a", "--adapter", "exec", "--exec", agent];
    let mut running: Vec<Child> = (0..PROCESSES).map(|_| start(&project, &line)).collect();
    let mut codes = Vec::new();
    let since = Instant::now();
    while running.len() > 1 && since.elapsed() < PATIENCE {
        running.retain_mut(|child| match child.try_wait().unwrap() {
            Some(status) => {
                codes.push(status.code());
                false
            }
            None => true,
        });
        sleep(Duration::from_millis(5));
    }
    // From here on the agents end, also those of a second winner.
    fs::write(project.root().join("go"), "").unwrap();
    let winners: Vec<_> = running.iter_mut().map(|child| child.wait().unwrap().code()).collect();
    assert_eq!(codes, vec![Some(7); PROCESSES - 1]);
    assert_eq!(winners, [Some(0)]);
    let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
    assert_eq!(shown["projection"]["attempts_used"], 1);
    assert_eq!(project.harn(&["run", "list", "--json"]).ok().json()["items"].as_array().unwrap().len(), 1);
    let _ = project.harn(&["verify"]).ok();
}
