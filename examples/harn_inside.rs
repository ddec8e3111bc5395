//! The whole command line inside another program: its own streams, environment and directory.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use harn_cli::{Exit, Io, Stream, run};

/// Runs one command in `directory` and returns how it ended and what it printed.
fn harn(directory: &Path, line: &str) -> (Exit, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let io = Io {
        stdin: &mut std::io::empty(),
        stdout: Stream { writer: &mut stdout, terminal: None },
        stderr: Stream { writer: &mut stderr, terminal: None },
        environment: BTreeMap::new(),
        directory: directory.to_owned(),
    };
    let exit = run(line.split(' ').map(Into::into), io);
    (exit, String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

/// Makes a project, looks into it, and proves it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    for (line, expected) in [
        ("harn init", Exit::Done),
        ("harn work list", Exit::Done),
        ("harn work show nothing", Exit::Refused),
        ("harn work frobnicate", Exit::Usage),
        ("harn verify", Exit::Done),
    ] {
        let (exit, text) = harn(directory.path(), line);
        println!("$ {line}\n{text}");
        if exit != expected {
            return Err(format!("`{line}` ended with {}, expected {}", exit.code(), expected.code()).into());
        }
    }
    Ok(())
}
