//! The same commands before the work and after it.

use harn_env::compare::Verdict;
use harn_env::prepare;
use harn_env::receipt::{Intent, Purpose};
use serde_json::{Value, json};

use super::project::{Project, command, events, recipe, story, tool};

const PASS: &str = "true";
const FAIL: &str = "echo 'test a::one ... FAILED'; exit 101";
const FAIL_MORE: &str = "printf 'test a::one ... FAILED\\ntest a::two ... FAILED\\n'; exit 101";

/// The command before, the command after in its first run and in its rerun, what that says, which tests it breaks and
/// mends, and what came of its runs.
#[rustfmt::skip]
const CASES: [Case; 11] = [
    ("b20", Some(PASS), Some([PASS, FAIL]), Verdict::Holds, [None, None], "final unit passed"),
    ("b21", Some(PASS), Some([FAIL, FAIL]), Verdict::Regression, [Some("a::one"), None], "final unit failed, final unit failed again"),
    ("b22", Some(FAIL), Some([FAIL, PASS]), Verdict::PreExisting, [None, None], "final unit failed"),
    ("b23", Some(FAIL), Some([FAIL_MORE, PASS]), Verdict::SuspectedRegression, [Some("a::two"), None], "final unit failed"),
    ("b24", Some(FAIL), Some([PASS, PASS]), Verdict::Repaired, [None, Some("a::one")], "final unit passed, final unit passed again"),
    ("b25", Some(PASS), None, Verdict::EnvironmentLost, [None, None], "final unit missing_tool"),
    ("b26", None, Some([FAIL, PASS]), Verdict::Unknown, [None, None], "final unit failed"),
    ("b27", Some(PASS), Some([FAIL, PASS]), Verdict::Flaky, [Some("a::one"), None], "final unit failed, final unit passed again"),
    ("b27, a repair", Some(FAIL), Some([PASS, FAIL]), Verdict::Flaky, [None, Some("a::one")], "final unit passed, final unit failed again"),
    ("no tool", None, None, Verdict::EnvironmentGap, [None, None], "final unit missing_tool"),
    ("a new tool", None, Some([PASS, FAIL]), Verdict::NewPass, [None, None], "final unit passed"),
];

type Case = (
    &'static str,
    Option<&'static str>,
    Option<[&'static str; 2]>,
    Verdict,
    [Option<&'static str>; 2],
    &'static str,
);

#[test]
fn b20_b21_b22_b23_b24_b25_b26_b27_what_two_results_say_about_the_work() {
    for (name, before, after, verdict, [broken, mended], results) in CASES {
        let mut project = Project::new(Value::Null);
        // Each run takes the next script; what the scripts are does not show in the recipe.
        let script = "n=$(cat \"$OUT/runs\"); echo $((n + 1)) >\"$OUT/runs\"; . \"$OUT/script$n\"";
        project.plan = recipe(&[], &[], &[project.using("unit", script), command("last", "")]);
        let write = |name: &str, text: &str| std::fs::write(project.out(name), text).unwrap();
        let is_there = |is: bool| {
            let _ = std::fs::remove_file(project.out("unit"));
            if is {
                project.install("unit");
            }
        };
        write("runs", "0\n");
        write("script0", before.unwrap_or_default());
        is_there(before.is_some());
        let prepared = project.prepare();
        project.noted();

        for (at, script) in after.into_iter().flatten().enumerate() {
            write(&format!("script{}", at + 1), script);
        }
        write("runs", "1\n");
        is_there(after.is_some());
        let check = project.check(&prepared);
        assert_eq!(story(&check), format!("checked: {results}, final last passed"), "{name}");
        let runs = results.matches("final unit").count() * usize::from(after.is_some());
        assert_eq!(project.noted().iter().filter(|noted| *noted == "unit").count(), runs, "{name}");

        let state = check.state().unwrap();
        let [unit, last] = state.comparisons() else { panic!("{name}: {:?}", state.comparisons()) };
        assert_eq!((unit.verdict, last.verdict), (verdict, Verdict::Holds), "{name}");
        assert!(unit.broken.iter().map(String::as_str).eq(broken), "{name}: {unit:?}");
        assert!(unit.mended.iter().map(String::as_str).eq(mended), "{name}: {unit:?}");
        assert_eq!(state.summary().comparisons, state.comparisons());
    }
}

/// A check runs neither set-up nor tools, and takes the commands of the receipt and not those of today.
#[test]
fn a_check_runs_the_commands_of_the_baseline_and_nothing_else() {
    let setup = [command("install", "")];
    let mut project = Project::new(recipe(
        &setup,
        &[tool(&command("node", ""))],
        &[command("unit", ""), command("lint", "")],
    ));
    let prepared = project.prepare();
    project.noted();
    project.plan = recipe(&[], &[], &[command("other", "")]);
    let check = project.check(&prepared);
    assert_eq!(story(&check), "checked: final unit passed, final lint passed");
    assert_eq!(project.noted(), ["unit", "lint"]);
    let Intent { purpose, recipe, origin, .. } = check.intent();
    assert_eq!(*purpose, Purpose::Check { receipt: prepared.id().clone() });
    assert_eq!((recipe, origin), (&prepared.intent().recipe, &prepared.intent().origin));
    assert_eq!(
        events(&check)[1..],
        ["command.ended", "result.compared", "command.ended", "result.compared", "receipt.ended"]
    );
    // The baseline stays what it was, and a check is none.
    assert_eq!(story(&project.check(&prepared)), story(&check));
    let error = project.ask(&mut |_| {}, |request| prepare::check(request, check.id())).unwrap_err();
    assert_eq!(error.code(), "no_baseline");
    assert!(error.to_string().contains(check.id().as_str()), "{error}");
}

/// Work that goes on looks at its tools again: nothing else runs, and nothing is done about one that is missing.
#[test]
fn b12_the_tools_alone_can_be_checked_again() {
    let mut project = Project::new(Value::Null);
    let node = project.using("node", "");
    project.plan = recipe(&[command("install", "")], &[tool(&node)], &[command("unit", "")]);
    project.install("node");
    let prepared = project.prepare();
    project.noted();
    let ask = || project.ask(&mut |_| {}, |request| prepare::check_tools(request, prepared.id())).unwrap();
    assert_eq!(story(&ask()), "ready: tools node passed");
    assert_eq!(project.noted(), ["node"]);
    project.uninstall("node");
    let held = ask();
    assert_eq!(story(&held), "held tools: tools node missing_tool");
    assert_eq!((project.noted().len(), held.state().unwrap().summary().retry), (0, 0));
    // It says nothing of the set-up.
    project.install("node");
    assert_eq!(story(&project.prepare()), "ready: tools node passed, baseline unit passed");
}

/// A command that takes too long in the check is run again with the same limit.
#[test]
fn b30_a_final_timeout_is_no_stop() {
    let mut unit = command("unit", "test ! -e \"$OUT/slow\" || exec sleep 300");
    unit["timeout_seconds"] = json!(1);
    let project = Project::new(recipe(&[], &[], &[unit]));
    let prepared = project.prepare();
    std::fs::write(project.out("slow"), "").unwrap();
    let check = project.check(&prepared);
    assert_eq!(story(&check), "checked: final unit timeout, final unit timeout again");
    assert_eq!(check.state().unwrap().comparisons()[0].verdict, Verdict::SuspectedRegression);
}
