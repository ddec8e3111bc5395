//! What the program tells people to type, and whether it would take it.

use clap::Parser as _;
use clap::error::ErrorKind;
use harn_cli::args::Args;
use serde_json::Value;

use crate::outcome::Outcome;

/// Whether the program would take this command line, its program name included.
#[must_use]
pub fn parses(line: &str) -> bool {
    let Some(words) = shlex::split(line) else { return false };
    match Args::try_parse_from(words) {
        Ok(_) => true,
        Err(error) => matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion),
    }
}

/// The command lines in a hint: the whole of it, or what stands in backticks.
#[must_use]
pub fn commands_in_hint(hint: &str) -> Vec<String> {
    if hint.starts_with("harn ") {
        return vec![hint.to_owned()];
    }
    let quoted = hint.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.starts_with("harn ")).map(str::to_owned).collect()
}

/// The command lines in a help text or a document: lines that begin with `harn` after white space or a prompt, each with
/// the lines that it goes on with.
#[must_use]
pub fn command_lines(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let line = line.trim().trim_start_matches("$ ");
        let (words, more) = line.strip_suffix('\\').map_or((line, false), |words| (words, true));
        match found.last_mut().filter(|_| goes_on) {
            Some(last) => *last = format!("{last} {}", words.trim()),
            None if line.starts_with("harn ") => found.push(words.trim().to_owned()),
            None => continue,
        }
        goes_on = more;
    }
    found
}

/// Panics if the outcome advises a command that does not exist.
pub(crate) fn check_advice(outcome: &Outcome) {
    let both = [&outcome.stdout, &outcome.stderr].into_iter().flat_map(|text| text.lines());
    let mut lines: Vec<String> = Vec::new();
    for line in both {
        match (line.strip_prefix("hint: "), line.strip_prefix("try: ")) {
            (Some(hint), _) => lines.extend(commands_in_hint(hint)),
            (_, Some(command)) => lines.push(command.to_owned()),
            _ => {}
        }
    }
    if let Ok(document) = serde_json::from_str::<Value>(&outcome.stdout) {
        lines.extend(document["error"]["hint"].as_str().into_iter().flat_map(commands_in_hint));
        let tried = document["projection"]["try"].as_array().into_iter().flatten();
        lines.extend(tried.filter_map(Value::as_str).map(str::to_owned));
    }
    for line in &lines {
        assert!(parses(line), "`{}` advises `{line}`, which is not a command", outcome.line);
    }
}
