//! Which commands run, and what a failure of each stage leads to.

use harn_env::prepare::{self, Progress};
use harn_env::recipe::Origin;
use serde_json::{Value, json};

use super::project::{Project, command, events, reason, recipe, result, story, tool};

#[test]
fn b01_the_recipe_of_the_plan_governs() {
    let mut project = Project::new(recipe(&[], &[], &[command("of-plan", "")]));
    project.write(".harn/environment.json", &recipe(&[], &[], &[command("own", "")]).to_string());
    let receipt = project.prepare();
    assert_eq!(receipt.intent().origin, Some(Origin::Plan));
    assert_eq!(
        (story(&receipt), project.noted()),
        ("ready: baseline of-plan passed".into(), vec!["of-plan".into()])
    );

    project.plan = Value::Null;
    let receipt = project.prepare();
    let path = ".harn/environment.json".to_owned();
    assert_eq!(receipt.intent().origin, Some(Origin::Project { path }));
    assert_eq!(project.noted(), ["own"]);
}

#[test]
fn b02_without_a_recipe_nothing_is_said_to_pass() {
    let project = Project::new(Value::Null);
    let receipt = project.prepare();
    assert_eq!((&receipt.intent().recipe, &receipt.intent().origin), (&None, &None));
    assert_eq!(story(&receipt), "ready: ");
    let check = project.check(&receipt);
    assert_eq!(story(&check), "checked: ");
    assert!(check.state().unwrap().comparisons().is_empty());
    assert!(check.intent().recipe.is_none());
}

/// That there is no recipe must show where only the summary is seen.
#[test]
fn b02_a_summary_tells_no_recipe_from_one_without_commands() {
    let summary = |plan: Value| {
        let project = Project::new(plan);
        let receipt = project.prepare();
        let check = project.check(&receipt);
        [receipt, check].map(|receipt| serde_json::to_value(receipt.state().unwrap().summary()).unwrap())
    };
    let ([none, check_of_none], [empty, check_of_empty]) =
        (summary(Value::Null), summary(recipe(&[], &[], &[])));
    assert_ne!(none, empty);
    assert_ne!(check_of_none, check_of_empty);
}

/// B03: what is not a recipe leaves no receipt.
#[test]
fn b03_nothing_runs_for_what_is_not_a_recipe() {
    let mut plan = recipe(&[command("install", "")], &[], &[]);
    plan["setup"][0]["timeout_seconds"] = json!(181);
    let project = Project::new(plan);
    let error = project.ask(&mut |_| {}, prepare::prepare).unwrap_err();
    assert_eq!(error.code(), "recipe_form");
    assert!(project.noted().is_empty() && project.ledger.ids("env").unwrap().is_empty());
}

#[test]
fn b05_after_a_failed_set_up_nothing_else_runs_and_its_output_is_kept() {
    let scripts =
        [("echo out; echo err >&2; exit 1", "failed"), ("echo out; echo err >&2; kill -s KILL $$", "failed")];
    for (script, outcome) in scripts {
        let setup = [command("first", ""), command("install", script), command("third", "")];
        let project = Project::new(recipe(&setup, &[tool(&command("node", ""))], &[command("unit", "")]));
        let receipt = project.prepare();
        assert_eq!(story(&receipt), format!("held setup: setup first passed, setup install {outcome}"));
        assert_eq!(project.noted(), ["first", "install"]);
        assert!(reason(&receipt).contains("`install` failed"), "{}", reason(&receipt));
        let install = result(&receipt, 1);
        assert_eq!(project.kept(install.stdout.as_ref()), b"out\n");
        assert_eq!(project.kept(install.stderr.as_ref()), b"err\n");
        assert_eq!(install.stderr.unwrap().tail, "err\n");
        // It is no baseline for a check.
        let error = project.ask(&mut |_| {}, |request| prepare::check(request, receipt.id())).unwrap_err();
        assert_eq!(error.code(), "no_baseline");
    }
}

#[test]
fn b06_a_missing_tool_has_the_set_up_done_once_more_and_then_holds() {
    let mut project = Project::new(Value::Null);
    let node = project.using("node", "");
    let lint = tool(&command("lint", ""));
    project.plan = recipe(&[command("install", "")], &[lint, tool(&node)], &[command("unit", "")]);
    let mut retries = Vec::new();
    let mut progress = |it: Progress<'_>| {
        if let Progress::Retried(reason) = it {
            retries.push(reason.to_owned());
        }
    };
    let receipt = project.ask(&mut progress, prepare::prepare).unwrap();
    assert_eq!(
        story(&receipt),
        "held tools: setup install passed, tools lint passed, tools node missing_tool, \
         setup install passed again, tools lint passed again, tools node missing_tool again"
    );
    assert_eq!(project.noted(), ["install", "lint", "install", "lint"]);
    assert_eq!(receipt.state().unwrap().summary().retry, 1);
    let name = project.out("node").display().to_string();
    assert!(retries.len() == 1 && retries[0].contains(&name), "{retries:?}");
    assert!(reason(&receipt).contains(&name), "{}", reason(&receipt));
    assert_eq!(result(&receipt, 2).exit, None);
}

/// A set-up that fails when it is done once more holds for that, and the tool is not tried again.
#[test]
fn b06_the_second_set_up_may_fail() {
    let mut project = Project::new(Value::Null);
    let install = command("install", "mkdir \"$OUT/once\"");
    project.plan = recipe(&[install], &[tool(&project.using("node", ""))], &[command("unit", "")]);
    assert_eq!(
        story(&project.prepare()),
        "held setup: setup install passed, tools node missing_tool, setup install failed again"
    );
}

#[test]
fn b07_a_reused_set_up_is_done_again_for_a_tool() {
    let mut project = Project::new(Value::Null);
    let install = command("install", "test -e \"$OUT/node\" || ln -s /bin/sh \"$OUT/node\"");
    project.plan = recipe(&[install], &[tool(&project.using("node", ""))], &[command("unit", "")]);
    let first = project.prepare();
    assert_eq!(story(&first), "ready: setup install passed, tools node passed, baseline unit passed");
    project.noted();
    project.uninstall("node");

    let second = project.prepare();
    assert_eq!(
        story(&second),
        "ready: tools node missing_tool, setup install passed again, tools node passed again, baseline unit passed"
    );
    assert_eq!(project.noted(), ["install", "node", "unit"]);
    let summary = second.state().unwrap().summary();
    assert_eq!((summary.status, summary.retry, summary.reused_from), ("ready", 1, None));
    let words = events(&second);
    let at = |name: &str| words.iter().position(|word| *word == name);
    assert!(at("setup.reused").is_some() && at("setup.reused") < at("setup.retried"), "{words:?}");
}

/// B18: failures of before are saved, all commands run, and nothing is held.
#[test]
fn b18_a_baseline_that_fails_holds_nothing() {
    let scripts = [("a", ""), ("b", "exit 1"), ("c", ""), ("d", "echo no >&2; exit 101"), ("e", "")];
    let project = Project::new(recipe(&[], &[], &scripts.map(|(name, script)| command(name, script))));
    let receipt = project.prepare();
    assert_eq!(
        story(&receipt),
        "ready: baseline a passed, baseline b failed, baseline c passed, baseline d failed, baseline e passed"
    );
    assert_eq!(project.noted(), ["a", "b", "c", "d", "e"]);
    assert_eq!(project.kept(result(&receipt, 3).stderr.as_ref()), b"no\n");
}

/// A baseline of programs that are not there holds nothing either.
#[test]
fn b18_a_baseline_that_cannot_run_holds_nothing() {
    let mut project = Project::new(Value::Null);
    project.plan = recipe(&[], &[], &[project.using("gone", ""), command("unit", "")]);
    assert_eq!(story(&project.prepare()), "ready: baseline gone missing_tool, baseline unit passed");
}

#[test]
fn b30_a_set_up_that_takes_too_long_is_a_timeout_with_its_limit() {
    let mut install = command("install", "echo begun; exec sleep 300");
    install["timeout_seconds"] = json!(1);
    let project = Project::new(recipe(&[install], &[tool(&command("node", ""))], &[]));
    let receipt = project.prepare();
    assert_eq!(story(&receipt), "held setup: setup install timeout");
    let install = result(&receipt, 0);
    assert_eq!(install.limit_seconds, 1);
    assert!(install.duration_ms > 0);
    assert_eq!(project.kept(install.stdout.as_ref()), b"begun\n");
    assert!(reason(&receipt).contains("timeout"), "{}", reason(&receipt));
}

#[test]
fn b36_what_may_not_be_executed_is_a_missing_tool() {
    let project_with = |program: &str| {
        let argv = json!({ "name": "node", "argv": [program] });
        let project = Project::new(recipe(&[], &[tool(&argv)], &[]));
        project.write("tools/node", "#!/bin/sh\n");
        project
    };
    for program in ["./tools/node", "./tools", "./tools/none", "no-such-tool-anywhere"] {
        let receipt = project_with(program).prepare();
        let node = result(&receipt, 0);
        assert_eq!((node.outcome.as_str(), node.exit), ("missing_tool", None), "{program}");
        assert!(node.error.as_ref().is_some_and(|error| error.contains(program)), "{:?}", node.error);
        assert!(reason(&receipt).contains(program), "{}", reason(&receipt));
    }
}

/// A tool must show what is expected of it.
#[test]
fn a_tool_of_another_version_does_not_work() {
    for (script, expect, works) in [
        ("echo v20.1.0", ">=20", true),
        ("echo v20.1.0 >&2", ">=20", true),
        ("echo v18.4.0", ">=20", false),
        ("echo v20.1.0; exit 1", ">=20", false),
        ("echo other", "node", false),
        ("", "node", false),
    ] {
        let mut node = tool(&command("node", script));
        node["expect"] = json!(expect);
        let receipt = Project::new(recipe(&[], &[node], &[])).prepare();
        assert_eq!(story(&receipt).starts_with("ready"), works, "{script}: {}", story(&receipt));
        if !works {
            assert!(story(&receipt).starts_with("held tools"), "{script}: {}", story(&receipt));
        }
    }
}

/// Why a receipt is held is told within bounds, whatever the commands are called and say.
#[test]
fn a_reason_of_any_length_can_be_recorded() {
    let long = format!("./{}", "no-such-tool/".repeat(90));
    for (program, expect) in [(long.as_str(), None), ("bell\u{7}", None), ("sh", Some("\u{1b}[0m ok"))] {
        let mut node = tool(&json!({ "name": "n".repeat(100), "argv": [program, "-c", "true"] }));
        if let Some(expect) = expect {
            node["expect"] = json!(expect);
        }
        let project = Project::new(recipe(&[], &[node], &[]));
        let prepared = project.ask(&mut |_| {}, prepare::prepare);
        let receipt = prepared.unwrap_or_else(|error| panic!("{program:?}: {error}"));
        assert!(story(&receipt).starts_with("held tools"), "{}", story(&receipt));
    }
}
