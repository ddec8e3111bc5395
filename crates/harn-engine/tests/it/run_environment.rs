//! The variables that the children of a run get.

use std::collections::BTreeMap;
use std::ffi::OsString;

use harn_engine::attempt::AttemptReport;

use crate::attempt_fixture::{Attempt, Project};

/// What the caller has beside `PATH`.
const CALLER: [&str; 12] = [
    "ANTHROPIC_API_KEY",
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "CODEX_SANDBOX",
    "CURSOR_API_KEY",
    "CURSOR_TRACE_ID",
    "HARN_CHILD",
    "OPENAI_API_KEY",
    "SOMETHING",
];

/// The variables that `env` shows to an agent and to a check.
fn seen(subscription_only: bool) -> (AttemptReport, [BTreeMap<String, String>; 2]) {
    let project = Project::new();
    let id = project.item(
        "export default async ({agent, check}) => {
             await agent('p');
             await check({name: 'c', argv: ['sh', '-c', 'env -0 >check']});
         };",
    );
    let mut attempt = Attempt::of(&project, &id).agent("env -0 >agent");
    attempt.options.subscription_only = subscription_only;
    attempt.environment.extend(CALLER.map(|name| (OsString::from(name), OsString::from("of the caller\n2"))));
    let report = attempt.run().unwrap();
    let variables = ["agent", "check"].map(|child| {
        let text = project.read(child);
        let pairs = text.split_terminator('\0').filter_map(|pair| pair.split_once('='));
        // What the shell itself adds.
        let pairs = pairs.filter(|(name, _)| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    });
    (report, variables)
}

fn names(variables: &BTreeMap<String, String>) -> String {
    variables.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
}

#[test]
fn agents_get_no_session_of_the_caller_and_keep_its_logins() {
    let (report, [agent, check]) = seen(false);
    assert_eq!(
        names(&agent),
        "ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CONFIG_DIR CODEX_HOME CURSOR_API_KEY HARN_AGENT_ID \
         HARN_CHILD HARN_RUN_ID OPENAI_API_KEY PATH SOMETHING"
    );
    assert_eq!(agent["SOMETHING"], "of the caller\n2");
    // A check is a command of the project and no agent.
    assert!(check.contains_key("CLAUDECODE") && check.contains_key("ANTHROPIC_API_KEY"));
    for (child, id) in [(&agent, "a1"), (&check, "c1")] {
        assert_eq!((&*child["HARN_CHILD"], &*child["HARN_AGENT_ID"]), ("1", id));
        assert_eq!(child["HARN_RUN_ID"], report.run_id.as_str());
    }
}

#[test]
fn with_subscription_only_agents_get_no_key() {
    let (_, [agent, _]) = seen(true);
    assert_eq!(
        names(&agent),
        "CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CONFIG_DIR CODEX_HOME HARN_AGENT_ID HARN_CHILD HARN_RUN_ID PATH SOMETHING"
    );
}

#[test]
fn children_work_in_the_directory_that_was_asked_for() {
    let project = Project::new();
    let id = project.item(
        "export default async ({agent, check, workspace}) => {
             const here = await check({name: 'here', argv: ['pwd', '-P']});
             const inside = await check({name: 'inside', argv: ['pwd', '-P'], cwd: 'inner'});
             return [workspace, await agent('p'), here.stdout, inside.stdout];
         };",
    );
    let cwd = project.cwd().canonicalize().unwrap().join("ñ dir");
    std::fs::create_dir_all(cwd.join("inner")).unwrap();
    let mut attempt = Attempt::of(&project, &id).agent("pwd -P");
    attempt.options.cwd.clone_from(&cwd);
    let report = attempt.run().unwrap();
    let root = cwd.to_str().unwrap();
    assert_eq!(
        project.result(&report.run_id),
        serde_json::json!([{"root": root, "isolated": false}, root, format!("{root}\n"), format!("{root}/inner\n")])
    );
}
