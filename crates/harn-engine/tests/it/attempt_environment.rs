//! An attempt in a project with a recipe: what is prepared before the script, and what the baseline says after it.

use std::fs;

use harn_engine::attempt::{AttemptError, AttemptReport};
use harn_engine::run::{Adapters, StopReason, Stopper};
use harn_env::prepare::Progress;
use harn_env::receipt::{Owner, Purpose, Receipt, Resolution, Stage};
use harn_env::resolve::{self, resolve};
use harn_ledger::{Stream, StreamId};
use harn_workflow::run::Verdict;
use harn_workflow::run::proof::UnknownCode;
use harn_workflow::work::{Class, ItemState, NextAction};
use serde_json::{Value, json};

use crate::attempt_fixture::{Attempt, Prepares, Project, sh};
use crate::attempt_resume::Interrupted;

/// Asks one agent, and says that the one criterion holds.
const SCRIPT: &str = r#"
export const meta = { name: "ask", acceptance: [{ id: "works", statement: "It works" }] };
export default async (ctx) => {
  await ctx.agent("do it");
  ctx.evidence({ kind: "test", status: "passed", label: "seen", acceptanceIds: ["works"] });
};
"#;

fn command(name: &str, script: &str) -> Value {
    json!({ "name": name, "argv": ["sh", "-c", script] })
}

/// A recipe whose commands are counted in the file `ran`, beside the project.
fn recipe(project: &Project, setup: &str, tool: &str, baseline: &[(&str, &str)]) {
    let counted = |name: &str, script: &str| command(name, &format!("echo {name} >> ../ran; {script}"));
    let recipe = json!({
        "schema": "environment.v1",
        "setup": [counted("setup", setup)],
        "tools": [{ "name": "tool", "command": counted("tool", tool) }],
        "baseline": baseline.iter().map(|(name, script)| counted(name, script)).collect::<Vec<_>>(),
    });
    fs::create_dir_all(project.cwd().join(".harn")).unwrap();
    project.write(".harn/environment.json", &recipe.to_string());
}

/// What the commands of the recipe were, in the order in which they ran, since this was asked last.
fn ran(project: &Project) -> String {
    let path = project.cwd().join("../ran");
    let text = fs::read_to_string(&path).unwrap_or_default().replace('\n', " ");
    let _ = fs::remove_file(path);
    text.trim_end().to_owned()
}

fn attempt<'a>(project: &'a Project, id: &'a StreamId, agent: &str) -> Attempt<'a> {
    Attempt::of(project, id).agent(agent).prepares(Prepares::Recipe)
}

fn receipt(project: &Project, id: &StreamId) -> Stream<Receipt> {
    project.works.ledger().stream(id.as_str()).unwrap()
}

fn verdicts(report: &AttemptReport) -> Vec<(&str, Verdict)> {
    let environment = report.proof.environment.as_ref().unwrap();
    environment.comparisons().map(|compared| (compared.name.as_str(), compared.verdict)).collect()
}

fn bare(report: &AttemptReport) -> Vec<Verdict> {
    verdicts(report).into_iter().map(|(_, verdict)| verdict).collect()
}

#[test]
fn it_is_prepared_before_the_script_and_compared_after_it() {
    let project = Project::new();
    recipe(&project, "mkdir -p ../deps", "true", &[("old", "exit 3"), ("new", "test ! -e broken")]);
    let id = project.item(SCRIPT);
    let report = attempt(&project, &id, "echo agent >> ../ran; echo ok").run().unwrap();

    assert_eq!(ran(&project), "setup tool old new agent old new");
    assert_eq!(
        project.events(&report.run_id),
        [
            "run.started",
            "environment.prepared",
            "script.loaded",
            "agent.started",
            "agent.try",
            "agent.ended",
            "evidence.recorded",
            "environment.checked",
            "run.ended"
        ]
    );
    // B22: what failed before, and as it did, is not held against the work.
    assert_eq!(verdicts(&report), [("old", Verdict::PreExisting), ("new", Verdict::Holds)]);
    assert!(report.proof.passes() && report.proof.unknowns.is_empty(), "{:?}", report.proof.unknowns);
    assert_eq!(report.item.projection.state, ItemState::InReview);

    // The receipts are of this attempt, and the transcript holds their heads.
    let environment = report.proof.environment.unwrap();
    let (before, after) = (environment.preparation.unwrap(), environment.after.unwrap());
    for head in [&before.receipt, &after.receipt] {
        let stream = receipt(&project, &head.id);
        assert_eq!(stream.head().unwrap().hash, head.hash);
        assert_eq!(stream.intent().owner, Some(Owner { work_item: id.clone(), attempt: Some(1) }));
    }
    assert_eq!(
        receipt(&project, &after.receipt.id).intent().purpose,
        Purpose::Check { receipt: before.receipt.id }
    );
}

/// B19, B21, B24, B27
#[test]
fn what_the_baseline_says_about_the_work() {
    let cases = [
        ("touch broken", [Verdict::Regression, Verdict::PreExisting], false),
        ("touch mended", [Verdict::Holds, Verdict::Repaired], true),
        // The check itself takes the file away, so its rerun passes.
        ("touch broken once", [Verdict::Flaky, Verdict::PreExisting], true),
    ];
    for (agent, expected, passes) in cases {
        let project = Project::new();
        let baseline =
            [("a", "if test -e broken; then test -e once && rm broken; exit 1; fi"), ("b", "test -e mended")];
        recipe(&project, "true", "true", &baseline);
        let id = project.item(SCRIPT);
        let report = attempt(&project, &id, &format!("{agent}; echo ok")).run().unwrap();
        assert_eq!(bare(&report), expected, "{agent}");
        assert_eq!(report.proof.passes(), passes, "{agent}");
        assert_eq!(report.item.projection.charged_attempts, 1, "{agent}");
        let said = report.proof.unknowns.iter().any(|it| it.code == UnknownCode::EnvironmentUncertain);
        assert_eq!(said, expected.contains(&Verdict::Flaky), "{agent}");
        if !passes {
            // A retry runs the baseline anew, and does without the set-up.
            ran(&project);
            let again = attempt(&project, &id, "rm broken; echo ok").retry().run().unwrap();
            assert_eq!(ran(&project), "tool a b a a b");
            let preparation = again.proof.environment.as_ref().unwrap().preparation.as_ref().unwrap();
            assert!(preparation.reused_from.is_some());
            assert_eq!(bare(&again), [Verdict::Repaired, Verdict::PreExisting]);
        }
    }
}

/// B05, B06: nothing was tried, so nothing is charged.
#[test]
fn a_set_up_that_fails_and_a_tool_that_is_missing_are_the_environments() {
    for (setup, tool, commands, words) in [
        ("echo no disk >&2; exit 1", "true", "setup", "the set-up failed"),
        ("true", "exit 9", "setup tool setup tool", "a tool does not work"),
    ] {
        let project = Project::new();
        recipe(&project, setup, tool, &[("a", "true")]);
        let id = project.item(SCRIPT);
        let report = attempt(&project, &id, "echo agent >> ../ran").run().unwrap();
        assert_eq!(ran(&project), commands);
        assert_eq!(project.events(&report.run_id), ["run.started", "environment.prepared", "run.ended"]);
        let shown = &report.item.projection;
        assert_eq!((shown.state, shown.next_action), (ItemState::Blocked, NextAction::None));
        assert_eq!((shown.charged_attempts, shown.attempts[0].class), (0, Some(Class::Environment)));
        assert!(shown.reason.contains(words), "{}", shown.reason);
    }
}

/// B14: a person says what becomes of it before anything goes on.
#[test]
fn a_source_that_preparation_changed_waits_for_a_person() {
    let project = Project::new();
    recipe(&project, "echo more >> workflow.lock", "true", &[("a", "true")]);
    project.write("workflow.lock", "one\n");
    let id = project.item(SCRIPT);
    let report = attempt(&project, &id, "true").run().unwrap();
    assert_eq!(
        project.events(&report.run_id),
        ["run.started", "environment.prepared", "run.blocked", "run.ended"]
    );
    let shown = &report.item.projection;
    assert_eq!((shown.state, shown.next_action), (ItemState::Blocked, NextAction::None));
    assert_eq!((shown.charged_attempts, shown.attempts[0].class), (0, Some(Class::Decision)));
    assert!(shown.reason.contains("workflow.lock"), "{}", shown.reason);
    assert_eq!(project.read("workflow.lock"), "one\nmore\n");

    let before = project.work_events(&id);
    let refused = attempt(&project, &id, "true").retry().run().unwrap_err();
    assert!(matches!(refused, AttemptError::Environment(_)) && refused.code() == "source_unresolved");
    assert_eq!(project.work_events(&id), before);

    let receipt = report.proof.environment.unwrap().preparation.unwrap().receipt.id;
    let done = resolve(resolve::Request {
        ledger: project.works.ledger(),
        root: &project.cwd(),
        receipt: &receipt,
        resolution: Resolution::Restore,
        reason: "the lock is ours",
        actor: "ann",
    })
    .unwrap();
    assert_eq!(
        (done.restored, project.read("workflow.lock")),
        (vec!["workflow.lock".to_owned()], "one\n".into())
    );
    recipe(&project, "true", "true", &[("a", "true")]);
    assert!(attempt(&project, &id, "echo ok").retry().run().unwrap().proof.passes());
}

#[test]
fn a_recipe_that_is_none_is_refused_before_anything_is_recorded() {
    let project = Project::new();
    fs::create_dir(project.cwd().join(".harn")).unwrap();
    project.write(".harn/environment.json", r#"{"schema":"environment.v1","setups":[]}"#);
    let id = project.item(SCRIPT);
    let refused = attempt(&project, &id, "true").run().unwrap_err();
    assert_eq!(refused.code(), "recipe_form");
    assert_eq!(project.work_events(&id), ["work.created"]);
    assert!(project.works.ledger().ids("env").unwrap().is_empty());
}

#[test]
fn without_a_recipe_nothing_is_said_and_doing_without_is() {
    let project = Project::new();
    let id = project.item(SCRIPT);
    let plain = attempt(&project, &id, "echo ok").run().unwrap();
    assert!(plain.proof.environment.is_none() && plain.proof.passes());

    recipe(&project, "true", "true", &[("a", "true")]);
    let id = project.item(SCRIPT);
    let skipped = Attempt::of(&project, &id).agent("echo ok").prepares(Prepares::Skips).run().unwrap();
    assert!(!project.cwd().join("../ran").exists());
    assert_eq!(project.events(&skipped.run_id)[1], "environment.skipped");
    let codes: Vec<_> = skipped.proof.unknowns.iter().map(|unknown| unknown.code).collect();
    assert_eq!((codes, skipped.proof.passes()), (vec![UnknownCode::EnvironmentSkipped], true));
}

/// B28, B29: a stop is no failure of the command that it ended, and nothing is charged before the script.
#[test]
fn a_stop_while_it_is_prepared_is_an_interruption() {
    for stop_at in [Stage::Setup, Stage::Baseline] {
        let project = Project::new();
        recipe(&project, "true", "true", &[("a", "true"), ("b", "true")]);
        let id = project.item(SCRIPT);
        let stopper = Stopper::new();
        let stop = |it: Progress<'_>| {
            if matches!(it, Progress::Begins(stage, _) if stage == stop_at) {
                stopper.stop(StopReason::Signal);
            }
        };
        let report = attempt(&project, &id, "true").stopper(&stopper).progress(stop).run().unwrap();
        let shown = &report.item.projection;
        assert_eq!((shown.charged_attempts, shown.attempts[0].class), (0, Some(Class::Interrupted)));
        assert!(!project.events(&report.run_id).contains(&"script.loaded"));
        let receipts = project.works.ledger().ids("env").unwrap();
        let state = receipt(&project, &receipts[0]).state().unwrap();
        assert_eq!(state.summary().hold, Some("cancelled"), "{stop_at}");
        assert_eq!(state.done().iter().filter(|done| done.round > 1).count(), 0);
    }
}

#[test]
fn a_stop_while_the_baseline_is_run_again_ends_the_run() {
    let project = Project::new();
    recipe(&project, "true", "true", &[("a", "true"), ("b", "true")]);
    let id = project.item(SCRIPT);
    let stopper = Stopper::new();
    let stop = |it: Progress<'_>| {
        if matches!(it, Progress::Ended(Stage::Final, _)) {
            stopper.stop(StopReason::Signal);
        }
    };
    let report = attempt(&project, &id, "echo ok").stopper(&stopper).progress(stop).run().unwrap();
    assert!(!report.proof.passes());
    assert!(report.proof.environment.unwrap().comparisons().count() < 2);
    assert_eq!(report.item.projection.state, ItemState::Blocked);
}

/// A resumed attempt keeps its receipt and its baseline, and has its tools checked again.
#[test]
fn an_attempt_that_goes_on_has_its_tools_checked_again() {
    let project = Project::new();
    recipe(&project, "true", "test ! -e ../gone", &[("a", "true")]);
    let id = project.item(SCRIPT);
    let first = attempt(&project, &id, "echo ok").run().unwrap();
    let names = project.events(&first.run_id);
    ran(&project);
    let interrupted = Interrupted::after(&project, id.clone(), &first);
    let adapters = Adapters::none().with(sh("exec", "echo ok")).with_default("exec");
    let resume = || interrupted.resume_in(Prepares::Recipe, &adapters, &Stopper::new());

    for lines in 1..names.len() {
        interrupted.cut(lines);
        let report = resume().unwrap_or_else(|error| panic!("after {lines}: {error}"));
        assert!(report.proof.passes(), "after {lines}: {:?}", report.proof.unknowns);
        let again = match lines {
            // Nothing was prepared yet; the set-up of the other receipt still holds.
            1 => "tool a a",
            // It was compared already, and only the end is missing.
            _ if names[..lines].contains(&"environment.checked") => "",
            _ => "tool a",
        };
        assert_eq!(ran(&project), again, "after {lines}");
    }

    // A tool that does not work any more leaves the attempt as it was.
    interrupted.cut(4);
    project.write("../gone", "");
    let refused = resume().unwrap_err();
    assert_eq!(refused.code(), "environment_held");
    assert_eq!(interrupted.events().len(), 4);
    assert_eq!(project.work_events(&id).last().unwrap(), "attempt.started");
    fs::remove_file(project.cwd().join("../gone")).unwrap();
    assert!(resume().unwrap().proof.passes());
}
