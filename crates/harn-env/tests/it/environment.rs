//! The variables a command gets.

use harn_env::command::{CommandSpec, Environment};

use crate::subject::run_alone;

/// What `env` prints, sorted.
fn variables(environment: Environment) -> Vec<String> {
    let finished = run_alone(&CommandSpec::new("/usr/bin/env", "/").environment(environment));
    let mut lines: Vec<_> = finished.stdout.excerpt().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn an_exact_environment_holds_nothing_else() {
    let environment =
        Environment::exact([("B", "2"), ("not-a-shell-name", "x y\u{e9}")]).with("A", "1").with("C", "3");
    assert_eq!(variables(environment.without("C")), ["A=1", "B=2", "not-a-shell-name=x y\u{e9}"]);
    assert!(variables(Environment::exact::<&str, &str>([])).is_empty());
}

#[test]
fn an_inherited_environment_is_changed_as_told() {
    let inherited = variables(Environment::inherit());
    assert!(inherited.iter().any(|line| line.starts_with("PATH=")));
    let changed = Environment::inherit().without("PATH").with("HARN_ADDED", "yes");
    let changed = variables(
        changed.with("HARN_UNDONE", "no").without("HARN_UNDONE").without("HARN_BACK").with("HARN_BACK", "1"),
    );
    let mut expected = inherited;
    expected.retain(|line| !line.starts_with("PATH="));
    expected.extend(["HARN_ADDED=yes".to_owned(), "HARN_BACK=1".to_owned()]);
    expected.sort();
    assert_eq!(changed, expected);
}

#[test]
fn programs_are_looked_up_in_the_path_of_the_command() {
    let scratch = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/bin/sh", scratch.path().join("our-shell")).unwrap();
    let spec = CommandSpec::new("our-shell", "/").args(["-c", "exit 0"]);
    assert_eq!(run_alone(&spec).outcome.as_str(), "missing_tool");
    let spec = spec.environment(Environment::inherit().with("PATH", scratch.path()));
    assert_eq!(run_alone(&spec).outcome.as_str(), "passed");
}

#[test]
fn values_and_input_are_not_shown() {
    for environment in [Environment::inherit(), Environment::exact::<&str, &str>([])] {
        let spec =
            CommandSpec::new("x", "/").environment(environment.with("TOKEN", "secret")).stdin("secret");
        let shown = format!("{spec:?}");
        assert!(shown.contains("TOKEN"));
        assert!(!shown.contains("secret"));
    }
}
