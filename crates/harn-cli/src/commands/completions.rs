//! `harn completions`

use clap::CommandFactory as _;
use serde_json::json;

use crate::args::Args;
use crate::output::Output;

pub(super) fn run(shell: clap_complete::Shell, output: &mut Output) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "harn", &mut script);
    let script = String::from_utf8_lossy(&script);
    output.text(&script);
    output.document(json!({ "schema_version": 1, "shell": shell.to_string(), "script": script }));
}
