//! What one command did: how it ended and what it printed.

use serde_json::Value;

use crate::advertised::check_advice;

/// What one command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The command line, for messages.
    pub line: String,
    /// The exit code.
    pub exit: u8,
    /// What went to standard output.
    pub stdout: String,
    /// What went to standard error.
    pub stderr: String,
}

impl Outcome {
    /// Takes what a command printed. Every command line that it advises must be one.
    #[must_use]
    pub fn new(line: String, exit: u8, stdout: &[u8], stderr: &[u8]) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
        let outcome = Self { line, exit, stdout: text(stdout), stderr: text(stderr) };
        check_advice(&outcome);
        outcome
    }

    /// Checks the exit code.
    #[must_use]
    pub fn exits(self, expected: u8) -> Self {
        assert_eq!(
            self.exit, expected,
            "{}\n--- stdout\n{}--- stderr\n{}",
            self.line, self.stdout, self.stderr
        );
        self
    }

    /// Checks that it did what it was asked.
    #[must_use]
    pub fn ok(self) -> Self {
        self.exits(0)
    }

    /// Standard output as the one JSON document that it must be.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut documents = serde_json::Deserializer::from_str(&self.stdout).into_iter::<Value>();
        match (documents.next(), documents.next()) {
            (Some(Ok(document)), None) => document,
            _ => panic!("{}: expected one JSON document, found\n{}", self.line, self.stdout),
        }
    }

    /// The code of the error that it reports as JSON.
    #[must_use]
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// What stands after `label` in the first line of standard output that begins with it.
    #[must_use]
    pub fn after(&self, label: &str) -> &str {
        let found = self.stdout.lines().find_map(|line| line.strip_prefix(label));
        found.unwrap_or_else(|| panic!("{}: no line begins with {label:?}:\n{}", self.line, self.stdout))
    }
}
