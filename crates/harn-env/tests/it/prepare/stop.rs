//! Stopping, and waiting for one another.

use std::thread;

use harn_env::command::Outcome;
use harn_env::prepare::{self, Progress};
use harn_env::receipt::Stage;

use super::project::{Project, command, events, reason, recipe, story, told, tool};
use crate::subject::wait_for_line;

/// Runs until its project is stopped.
const FOREVER: &str = "echo >\"$OUT/begun\"; exec sleep 300";

/// Does `work` and stops it when a command has begun that runs forever.
fn stopped<T: Send>(project: &Project, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let work = scope.spawn(work);
        wait_for_line(&project.out("begun"));
        project.cancel.cancel();
        work.join().unwrap()
    })
}

#[test]
fn b28_a_stop_during_the_baseline_keeps_what_ran() {
    let baseline = [command("unit", ""), command("slow", FOREVER), command("lint", "")];
    let project = Project::new(recipe(&[command("install", "")], &[], &baseline));
    let receipt = stopped(&project, || project.prepare());
    assert_eq!(
        story(&receipt),
        "held cancelled: setup install passed, baseline unit passed, baseline slow stopped"
    );
    assert_eq!(project.noted(), ["install", "unit", "slow"]);
    assert!(receipt.state().unwrap().done().iter().all(|done| done.result.outcome != Outcome::Failed));
    assert_eq!(events(&receipt).last(), Some(&"receipt.ended"));
    assert!(reason(&receipt).contains("stopped"));
    assert_eq!(
        told(&receipt),
        "setup install passed, baseline unit passed, baseline slow stopped, baseline lint not_run"
    );
}

/// B29: a stop during the set-up or a tool is no failure of theirs, and nothing is done again.
#[test]
fn b29_a_stop_before_the_baseline_is_not_made_up_for() {
    let setup = [command("install", FOREVER), command("second", "")];
    let project = Project::new(recipe(&setup, &[tool(&command("node", ""))], &[command("unit", "")]));
    let receipt = stopped(&project, || project.prepare());
    assert_eq!(story(&receipt), "held cancelled: setup install stopped");
    assert_eq!(receipt.state().unwrap().summary().retry, 0);
    assert_eq!(project.noted(), ["install"]);

    let tools = [tool(&command("node", FOREVER)), tool(&command("lint", ""))];
    let project = Project::new(recipe(&[command("install", "")], &tools, &[command("unit", "")]));
    let receipt = stopped(&project, || project.prepare());
    assert_eq!(story(&receipt), "held cancelled: setup install passed, tools node stopped");
    assert_eq!(receipt.state().unwrap().summary().retry, 0);
    assert_eq!(project.noted(), ["install", "node"]);
}

/// B29: a set-up that was stopped is not reused.
#[test]
fn b29_a_stopped_set_up_is_done_again() {
    let install = command("install", "test -e \"$OUT/begun\" || { echo >\"$OUT/begun\"; exec sleep 300; }");
    let mut project = Project::new(recipe(&[install], &[], &[]));
    let receipt = stopped(&project, || project.prepare());
    assert_eq!(story(&receipt), "held cancelled: setup install stopped");
    project.cancel = harn_env::command::Cancel::new();
    assert_eq!(story(&project.prepare()), "ready: setup install passed");
}

/// B28, B29: a stop that is there before a command begins: the command does not run, and none is said to have failed.
#[test]
fn b28_b29_a_stop_between_commands_runs_no_other() {
    let plan =
        || recipe(&[command("install", "")], &[tool(&command("node", "exit 1"))], &[command("unit", "")]);
    for (at, told, noted) in [
        (Stage::Setup, "held cancelled: setup install not_run", vec![]),
        (Stage::Tools, "held cancelled: setup install passed, tools node not_run", vec!["install"]),
    ] {
        let project = Project::new(plan());
        let mut progress = |it: Progress<'_>| {
            if matches!(it, Progress::Begins(stage, _) if stage == at) {
                project.cancel.cancel();
            }
        };
        assert_eq!(story(&project.ask(&mut progress, prepare::prepare).unwrap()), told);
        assert_eq!(project.noted(), noted);
    }
    // After a tool failed, and where the set-up was about to be done again.
    for retried in [false, true] {
        let project = Project::new(plan());
        let mut progress = |it: Progress<'_>| match it {
            Progress::Retried(_) if retried => project.cancel.cancel(),
            Progress::Ended(Stage::Tools, _) if !retried => project.cancel.cancel(),
            _ => {}
        };
        let receipt = project.ask(&mut progress, prepare::prepare).unwrap();
        assert_eq!(story(&receipt), "held cancelled: setup install passed, tools node failed");
        assert_eq!(project.noted(), ["install", "node"]);
    }
    // Before anything.
    let project = Project::new(plan());
    project.cancel.cancel();
    let receipt = project.prepare();
    assert_eq!(story(&receipt), "held cancelled: ");
    assert_eq!(told(&receipt), "setup install not_run, tools node not_run, baseline unit not_run");
    assert!(project.noted().is_empty());
}

/// A stop during a check leaves no verdict on what was stopped.
#[test]
fn b28_a_stopped_check_is_not_a_check() {
    let unit = command("unit", "test ! -e \"$OUT/slow\" || { echo >\"$OUT/begun\"; exec sleep 300; }");
    let project = Project::new(recipe(&[], &[], &[command("first", ""), unit]));
    let prepared = project.prepare();
    std::fs::write(project.out("slow"), "").unwrap();
    let check = stopped(&project, || project.check(&prepared));
    assert_eq!(story(&check), "held cancelled: final first passed, final unit stopped");
    assert_eq!(check.state().unwrap().comparisons().len(), 1);
}

/// Nor does a stop during the rerun that was to confirm: it is neither flaky nor repaired.
#[test]
fn b28_a_stop_during_the_rerun_is_not_a_verdict() {
    let script = "test -e \"$OUT/works\" || exit 1; test ! -e \"$OUT/ran\" || { echo >\"$OUT/begun\"; exec sleep 300; }; \
                  echo >\"$OUT/ran\"";
    let project = Project::new(recipe(&[], &[], &[command("unit", script)]));
    let prepared = project.prepare();
    assert_eq!(story(&prepared), "ready: baseline unit failed");
    std::fs::write(project.out("works"), "").unwrap();
    let check = stopped(&project, || project.check(&prepared));
    assert_eq!(story(&check), "held cancelled: final unit passed, final unit stopped again");
    assert!(check.state().unwrap().comparisons().is_empty());
}

/// Two preparations of one project take turns: the second is told that it waits.
#[test]
fn two_preparations_take_turns() {
    let script = "while test ! -e \"$OUT/told\"; do sleep 0.01; done; echo end >>\"$LOG\"";
    let project =
        Project::new(recipe(&[command("install", "echo end >>\"$LOG\"")], &[], &[command("unit", script)]));
    let (first, second, waited) = thread::scope(|scope| {
        let first = scope.spawn(|| {
            let mut waited = 0;
            let mut progress = |it: Progress<'_>| waited += usize::from(matches!(it, Progress::Waiting(_)));
            (project.ask(&mut progress, prepare::prepare).unwrap(), waited)
        });
        wait_for_line(&project.out("log"));
        let second = scope.spawn(|| {
            let mut waited = 0;
            let mut progress = |it: Progress<'_>| {
                if let Progress::Waiting(holder) = it {
                    waited += 1;
                    let (receipt, actor) = holder.unwrap();
                    assert_eq!((receipt.as_str(), actor), ("env-1", "tester"));
                    std::fs::write(project.out("told"), "").unwrap();
                }
            };
            (project.ask(&mut progress, prepare::prepare).unwrap(), waited)
        });
        let ((first, one), (second, other)) = (first.join().unwrap(), second.join().unwrap());
        (first, second, [one, other])
    });
    assert_eq!(waited, [0, 1]);
    assert_eq!(story(&first), "ready: setup install passed, baseline unit passed");
    // The set-up of the first is known when the second has its turn.
    assert_eq!(story(&second), "ready: baseline unit passed");
    assert_eq!(project.noted(), ["install", "end", "unit", "end", "unit", "end"]);
}

/// A stop also ends the wait for another preparation; there is no receipt of it.
#[test]
fn a_stop_ends_the_wait_for_a_turn() {
    let project = Project::new(recipe(&[command("install", "")], &[], &[]));
    let held = std::fs::File::open(project.root()).unwrap();
    held.lock().unwrap();
    let mut progress = |it: Progress<'_>| {
        if it == Progress::Waiting(None) {
            project.cancel.cancel();
        }
    };
    let error = project.ask(&mut progress, prepare::prepare).unwrap_err();
    assert_eq!(error.code(), "stopped");
    assert!(project.noted().is_empty());
}
