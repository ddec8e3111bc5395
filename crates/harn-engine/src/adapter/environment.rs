//! The variables that children of a run get.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use harn_env::command::Environment;

/// Who a child is: written into its environment, so that it can be told apart from a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildIdentity<'a> {
    /// The run that started it.
    pub run_id: &'a str,
    /// Its id within the run.
    pub child_id: &'a str,
}

/// Prefixes of variables that tie a vendor's tool to the session that started it.
const SESSION_PREFIXES: [&str; 3] = ["CLAUDE", "CODEX", "CURSOR"];

/// Variables that look like a session's but are a login, or say where one is kept.
const LOGINS: [&str; 4] = ["CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "CURSOR_CONFIG_DIR"];

/// The environment of an agent: the caller's without what ties it to a session; without API keys too if only
/// subscriptions may be billed.
#[must_use]
pub fn agent_environment(
    caller: &BTreeMap<OsString, OsString>,
    subscription_only: bool,
    identity: &ChildIdentity<'_>,
) -> Environment {
    let kept = caller.iter().filter(|(name, _)| {
        let name = name.to_string_lossy();
        !is_session(&name) && (!subscription_only || !is_api_key(&name))
    });
    marked(kept, identity)
}

/// The environment of a check: the caller's, marked.
#[must_use]
pub fn check_environment(caller: &BTreeMap<OsString, OsString>, identity: &ChildIdentity<'_>) -> Environment {
    marked(caller.iter(), identity)
}

fn marked<'a>(
    variables: impl Iterator<Item = (&'a OsString, &'a OsString)>,
    identity: &ChildIdentity<'_>,
) -> Environment {
    Environment::exact(variables)
        .with("HARN_CHILD", "1")
        .with("HARN_RUN_ID", identity.run_id)
        .with("HARN_AGENT_ID", OsStr::new(identity.child_id))
}

fn is_session(name: &str) -> bool {
    SESSION_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        && !LOGINS.contains(&name)
        && !is_api_key(name)
}

fn is_api_key(name: &str) -> bool {
    name.ends_with("_API_KEY") || name.ends_with("_AUTH_TOKEN")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_go_logins_stay_and_keys_go_on_request() {
        let caller: BTreeMap<OsString, OsString> = [
            "PATH",
            "CLAUDECODE",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "CODEX_SANDBOX",
            "CURSOR_TRACE_ID",
            "CURSOR_API_KEY",
            "OPENAI_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
        ]
        .map(|name| (name.into(), "x".into()))
        .into();
        let names = |subscription_only| {
            let identity = ChildIdentity { run_id: "r", child_id: "a1" };
            let Environment::Exact(variables) = agent_environment(&caller, subscription_only, &identity)
            else {
                panic!("the environment of a child is exact");
            };
            variables.keys().map(|name| name.to_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            names(false),
            "ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CONFIG_DIR CODEX_HOME CURSOR_API_KEY HARN_AGENT_ID \
             HARN_CHILD HARN_RUN_ID OPENAI_API_KEY PATH"
        );
        assert_eq!(
            names(true),
            "CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CONFIG_DIR CODEX_HOME HARN_AGENT_ID HARN_CHILD HARN_RUN_ID PATH"
        );
    }
}
