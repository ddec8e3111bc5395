//! A command under `harn-env`: it may take half a second, and nothing of it is left afterwards.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::time::Duration;

use harn_env::command::{Cancel, CommandSpec, Outcome, Streams, run};

/// Runs one command that ends and one that does not.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut output = Vec::new();
    let spec = CommandSpec::new("sh", "/").args(["-c", "tr a-z A-Z; echo done >&2"]).stdin("hello\n");
    let finished = run(&spec, Streams { stdout: &mut output, stderr: &mut () }, &Cancel::new());
    println!("{}: {}", finished.outcome, String::from_utf8_lossy(&output).trim_end());

    let mut endless = CommandSpec::new("sh", "/").args(["-c", "sleep 1000 & sleep 1000"]);
    endless.timeout = Some(Duration::from_millis(500));
    endless.grace = Duration::from_millis(100);
    let stopped = run(&endless, Streams { stdout: &mut (), stderr: &mut () }, &Cancel::new());
    println!("{}, left running: {}", stopped.outcome, stopped.survivors.len());

    let right = (finished.outcome, stopped.outcome, stopped.survivors.len())
        == (Outcome::Passed, Outcome::Timeout, 0);
    if right { Ok(()) } else { Err("a command ended in another way".into()) }
}
