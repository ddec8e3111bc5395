//! What tells one failure of a command from another: the tests that fail, or its last words.

use std::collections::BTreeSet;

use memchr::{memchr, memmem, memrchr};
use serde::{Deserialize, Serialize};

use crate::command::Exit;

/// Most tests that are kept of one run: the first by name.
const TESTS_MAX: usize = 500;
/// Most tests that are read of one run.
const READ_MAX: usize = 10_000;
/// Longest line that may name a test, in bytes.
const NAMING_MAX: usize = 4 << 10;
/// Longest name of a test that is kept, in characters.
const TEST_MAX: usize = 300;
/// How many last lines are kept, where no test is named.
const LINES_MAX: usize = 20;
/// Longest line that is kept, in characters.
const LINE_MAX: usize = 300;

/// What tells one failure of a command from another.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// How the program exited, where no test is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit: Option<Exit>,
    /// The tests that failed, where the runner is known: up to 500.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    tests: BTreeSet<String>,
    /// Otherwise the last 20 lines, without what differs from run to run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lines: Vec<String>,
}

impl Signature {
    /// The signature of a run that left these outputs. Of libtest, nextest and `JUnit` the failed tests are read; of anything
    /// else the last lines, standard error first.
    #[must_use]
    pub fn of(exit: Option<Exit>, stdout: &str, stderr: &str) -> Self {
        let mut found = FailedTests::default();
        for text in [stdout, stderr] {
            found.receive(text.as_bytes());
            found.receive(b"\n");
        }
        Self::from_parts(exit, found, stdout, stderr)
    }

    /// The same from what was found while the outputs came, and from what is kept of them.
    pub(crate) fn from_parts(exit: Option<Exit>, found: FailedTests, stdout: &str, stderr: &str) -> Self {
        let tests = found.tests.into_iter().chain(failed_in_junit(stdout).map(|name| cut(&name)));
        let tests: BTreeSet<String> = tests.collect();
        let tests: BTreeSet<String> = tests.into_iter().take(TESTS_MAX).collect();
        if !tests.is_empty() {
            return Self { exit: None, tests, lines: Vec::new() };
        }
        let text = if stderr.trim().is_empty() { stdout } else { stderr };
        let lines = text.lines().rev().map(normalised).filter(|line| !line.is_empty());
        let mut lines: Vec<String> = lines.take(LINES_MAX).collect();
        lines.reverse();
        Self { exit, tests, lines }
    }

    /// The tests that failed.
    #[must_use]
    pub const fn tests(&self) -> &BTreeSet<String> {
        &self.tests
    }

    /// Whether it is made of names of tests.
    #[must_use]
    pub fn names_tests(&self) -> bool {
        !self.tests.is_empty()
    }

    /// Whether a test fails here that does not fail there. Unknown, and so not, unless both name their tests.
    pub(super) fn has_more_than(&self, other: &Self) -> bool {
        self.names_tests() && other.names_tests() && self.tests.difference(&other.tests).next().is_some()
    }
}

/// Finds failed tests in an output as it comes, however long it is.
#[derive(Debug, Default)]
pub(crate) struct FailedTests {
    tests: BTreeSet<String>,
    /// The line that has no end yet, as far as it may name a test.
    held: Vec<u8>,
}

impl FailedTests {
    pub(crate) fn receive(&mut self, chunk: &[u8]) {
        let Some(last) = memrchr(b'\n', chunk) else { return self.hold(chunk) };
        let (mut lines, rest) = chunk.split_at(last + 1);
        if !self.held.is_empty() {
            let first = memchr(b'\n', lines).map_or(lines.len(), |end| end + 1);
            self.hold(&lines[..first]);
            let line = std::mem::take(&mut self.held);
            self.look(&line);
            lines = &lines[first..];
        }
        // Most output names no failed test.
        if memmem::find(lines, b"FAIL").is_some() {
            lines.split(|byte| *byte == b'\n').for_each(|line| self.look(line));
        }
        self.hold(rest);
    }

    /// Takes over what another output named.
    pub(crate) fn extend(&mut self, other: Self) {
        self.tests.extend(other.tests);
    }

    fn hold(&mut self, part: &[u8]) {
        let room = NAMING_MAX - self.held.len();
        self.held.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn look(&mut self, line: &[u8]) {
        if self.tests.len() < READ_MAX
            && let Ok(line) = std::str::from_utf8(line)
        {
            self.tests.extend(failed_test(line).map(cut));
        }
    }
}

fn cut(name: &str) -> String {
    name.chars().take(TEST_MAX).collect()
}

/// The test that libtest (`test a::b ... FAILED`) or nextest (`FAIL [ 0.01s] crate a::b`) says has failed.
fn failed_test(line: &str) -> Option<&str> {
    let line = line.trim();
    let libtest = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"));
    let nextest = || {
        let (_, rest) = line.strip_prefix("FAIL [")?.split_once(']')?;
        let name =
            rest.trim().trim_start_matches(|c: char| c == '(' || c.is_ascii_digit() || c == '/' || c == ')');
        Some(name.trim()).filter(|name| !name.is_empty())
    };
    libtest.or_else(nextest)
}

/// Test cases of `JUnit`'s XML that hold a failure or an error.
fn failed_in_junit(text: &str) -> impl Iterator<Item = String> + '_ {
    let is_junit = text.contains("<testsuite");
    text.split("<testcase").skip(1).filter(move |_| is_junit).filter_map(|case| {
        let (attributes, rest) = case.split_once('>')?;
        if attributes.ends_with('/') {
            return None;
        }
        let body = rest.split("</testcase").next()?;
        let failed = body.contains("<failure") || body.contains("<error");
        let attribute = |name: &str| {
            let (_, value) = attributes.split_once(&format!(" {name}=\""))?;
            value.split('"').next()
        };
        let name = attribute("name")?;
        let full = attribute("classname").map_or_else(|| name.to_owned(), |class| format!("{class}::{name}"));
        failed.then_some(full)
    })
}

/// A line without what differs from run to run: paths, numbers and addresses.
fn normalised(line: &str) -> String {
    let mut words = Vec::new();
    for word in line.split_whitespace() {
        let is_path = word.contains('/') && !word.starts_with("http");
        let core = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_address = core.len() >= 6
            && core.strip_prefix("0x").unwrap_or(core).chars().all(|c| c.is_ascii_hexdigit())
            && core.contains(|c: char| c.is_ascii_digit());
        words.push(if is_path {
            "PATH".to_owned()
        } else if is_address {
            "ADDRESS".to_owned()
        } else {
            without_numbers(word)
        });
    }
    words.join(" ").chars().take(LINE_MAX).collect()
}

fn without_numbers(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('N') {
            out.push('N');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_of_known_runners() {
        let libtest =
            "running 3 tests\ntest a::good ... ok\ntest a::bad ... FAILED\ntest b::worse ... FAILED\n";
        let nextest = "        PASS [   0.004s] harn a::good\n        FAIL [   0.005s] harn a::bad\n     FAIL [   0.005s] (2/9) harn b::worse\n";
        let junit = r#"<testsuites><testsuite><testcase classname="a" name="good"/>
            <testcase name="bad" classname="a"><failure message="x">no</failure></testcase>
            <testcase name="fine"></testcase></testsuite></testsuites>"#;
        let tests =
            |text: &str| Signature::of(Some(Exit::Code(101)), text, "").tests.into_iter().collect::<Vec<_>>();
        assert_eq!(tests(libtest), ["a::bad", "b::worse"]);
        assert_eq!(tests(nextest), ["harn a::bad", "harn b::worse"]);
        assert_eq!(tests(junit), ["a::bad"]);
        assert!(tests("all good").is_empty());
    }

    #[test]
    fn last_words_without_what_differs_from_run_to_run() {
        let one = "compiling\nerror at /tmp/x1/main.c:12:3 after 0.31s, pid 4711\n  at 0x7ffe12ab\nfailed 3 of 14\n";
        let two =
            "compiling\nerror at /var/y/main.c:12:3 after 12.9s, pid 90\n\n  at 0x55aa0001\nfailed 2 of 15\n";
        let other = "compiling\nerror: no such function\n";
        let of = |text: &str| Signature::of(Some(Exit::Code(1)), "", text);
        assert_eq!(of(one), of(two));
        assert_ne!(of(one), of(other));
        assert_ne!(of(one), Signature::of(Some(Exit::Code(2)), "", one));
        assert_eq!(of(&"line\n".repeat(100)).lines.len(), LINES_MAX);
        // Standard output where standard error is silent.
        assert_eq!(Signature::of(None, "x", " \n").lines, ["x"]);
    }

    /// However an output is cut into chunks, and however long it is, its failed tests are found.
    #[test]
    fn failed_tests_are_found_as_the_output_comes() {
        let noise = "x".repeat(NAMING_MAX + 10);
        let text = format!(
            "test a ... FAILED\n{noise}\ntest b ... ok\n     FAIL [ 1s] c d\ntest e ... FAILED\r\nrest"
        );
        for size in [1, 3, 7, 4096, text.len()] {
            let mut found = FailedTests::default();
            text.as_bytes().chunks(size).for_each(|chunk| found.receive(chunk));
            assert_eq!(found.tests.into_iter().collect::<Vec<_>>(), ["a", "c d", "e"], "{size}");
        }
        // Of many the first by name are kept, in whatever order they came.
        let names = |order: &mut dyn Iterator<Item = usize>| {
            let text: Vec<String> = order.map(|number| format!("test t{number:04} ... FAILED\n")).collect();
            Signature::of(None, &text.concat(), "").tests
        };
        assert_eq!(names(&mut (0..900)), names(&mut (0..900).rev()));
        assert_eq!(names(&mut (0..900)).len(), TESTS_MAX);
    }
}
