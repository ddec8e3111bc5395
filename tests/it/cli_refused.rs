//! How every refusal behaves: nothing on disk changes, the exit code and the code are stable, and a hint is given.

use harn_tests::Project;

/// A refused command line: why it is refused, its words, exit code, and code.
pub(crate) type Case<'a> = (&'a str, Vec<&'a str>, u8, &'a str);

/// Runs each command in words and with `--json`, and checks how it is refused.
pub(crate) fn assert_refused(project: &Project, variables: &[(&str, &str)], cases: &[Case<'_>]) {
    for (why, words, exit, code) in cases {
        let before = project.tree();
        let plain = project.harn_with(variables, words).exits(*exit);
        assert_eq!(plain.stdout, "", "{why}: a refusal is no data");
        assert!(plain.stderr.starts_with("error: "), "{why}: {}", plain.stderr);
        let hints = plain.stderr.lines().filter(|line| line.starts_with("hint: ")).count();
        assert_eq!(hints, 1, "{why}: {}", plain.stderr);

        let mut words = words.clone();
        words.push("--json");
        let document = project.harn_with(variables, &words).exits(*exit);
        assert_eq!(document.stderr.lines().next(), plain.stderr.lines().next(), "{why}");
        let json = document.json();
        assert_eq!(json["schema_version"], 1, "{why}");
        let error = json["error"].as_object().expect("an error is an object");
        let allowed = ["code", "message", "hint", "details"];
        assert!(error.keys().all(|key| allowed.contains(&key.as_str())), "{why}: {json}");
        assert_eq!(error["code"], *code, "{why}: {json}");
        let message = error["message"].as_str().expect("a message is text");
        assert!(!message.is_empty() && !message.ends_with('.'), "{why}: {message}");
        assert!(error["hint"].is_string(), "{why}: {json}");

        assert_eq!(project.tree(), before, "{why}: a refusal changed the ledger");
    }
}
