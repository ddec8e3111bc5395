//! The exit codes, which are a public contract: R58.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use harn_tests::{AGENT, BLOCKED, FAIL, PASS, Project};

use crate::PROGRAM;

/// Longest wait for another process. Nothing here takes nearly as long; a test that hangs must end.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn r_58_the_table() {
    let project = Project::new();
    for (id, script) in
        [("passes", PASS), ("fails", FAIL), ("asks", BLOCKED), ("calls", AGENT), ("gone", PASS)]
    {
        project.item(id, script, &[]);
    }
    project.item("broken", PASS, &[]);
    std::fs::write(project.of_item("broken", "events.jsonl"), "{}\n").unwrap();
    let cases: [(&str, u8); 34] = [
        ("--version", 0),
        ("--help", 0),
        ("work show --help", 0),
        ("init", 0),
        ("work list", 0),
        ("work show passes", 0),
        ("work log passes", 0),
        ("work run passes", 0),
        ("work accept passes", 0),
        ("work cancel gone", 0),
        ("work reopen gone", 0),
        ("run list", 0),
        ("verify --against", 2),
        ("work run fails", 1),
        ("work retry fails", 1),
        ("", 2),
        ("work", 2),
        ("work frobnicate", 2),
        ("work show", 2),
        ("work run fails --max-agents 3x", 2),
        ("work show nope", 3),
        ("run show nope", 3),
        ("work run fails", 3),
        ("work accept fails", 3),
        ("--root nowhere work list", 3),
        ("work run asks", 4),
        ("work show broken", 5),
        ("work reconcile", 5),
        ("verify", 5),
        ("checkpoint", 5),
        ("verify --against passes.mjs", 3),
        ("verify --against nowhere", 6),
        ("work run calls --exec ./does-not-exist", 6),
        ("work retry calls --exec false", 1),
    ];
    for (line, exit) in cases {
        let words: Vec<&str> = line.split_whitespace().collect();
        let outcome = project.harn(&words).exits(exit);
        let said = if exit == 0 || outcome.stdout.is_empty() { &outcome.stdout } else { &outcome.stderr };
        assert!(!outcome.stdout.is_empty() || !outcome.stderr.is_empty(), "{line}: nothing was said");
        assert!(exit != 0 || !said.is_empty(), "{line}: output is due");
    }
}

/// Waits until the file is there, which another process makes.
fn wait_for(path: &Path) {
    let since = Instant::now();
    while !path.exists() {
        assert!(since.elapsed() < PATIENCE, "`{}` was not made", path.display());
        sleep(Duration::from_millis(5));
    }
}

/// A process that does not outlive its test, whatever comes of that.
struct Runner(Option<Child>);

impl Runner {
    fn id(&self) -> u32 {
        self.0.as_ref().map_or(0, Child::id)
    }

    fn output(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Somebody else holds the item: 7, with the holder's words. Interrupted: 130, with a report of what took place.
#[test]
fn r_58_held_and_interrupted() {
    let project = Project::new();
    project.item("a", AGENT, &[]);
    let agent = ["--adapter", "exec", "--exec", "sh -c 'touch started; sleep 600'"];
    let runner = project
        .process(PROGRAM, &[&["work", "run", "a", "--actor", "ann", "--json"], &agent[..]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let runner = Runner(Some(runner));
    wait_for(&project.root().join("started"));

    let before = project.tree();
    for verb in ["run", "retry", "reopen", "accept"] {
        let busy = project.harn(&["work", verb, "a", "--json"]).exits(7);
        assert!(["lease_held", "running"].contains(&busy.code().as_str()), "{}", busy.stdout);
        assert!(busy.stderr.contains("hint: harn work show a"), "{}", busy.stderr);
    }
    let busy = project.harn(&["work", "run", "a"]).exits(7);
    let holder = format!("ann (test clock) runs it, process {}", runner.id());
    assert!(busy.stderr.contains(&holder), "{}", busy.stderr);
    assert_eq!(project.tree(), before);
    assert_eq!(project.harn(&["work", "show", "a"]).ok().after("state: "), "running");

    let killed = Command::new("kill").args(["-INT", &runner.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let ended = runner.output();
    assert_eq!(ended.status.code(), Some(130), "{}", String::from_utf8_lossy(&ended.stderr));
    let report: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((&report["status"], &report["state"]), (&"failed".into(), &"blocked".into()));
}
