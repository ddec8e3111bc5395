//! What is asked of the machine before a receipt: the recipe as it was accepted, the sandbox, the home.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use harn_ledger::{Digest, Ledger};

use super::PrepareError;
use crate::command::{self, Cancel, CommandSpec, Outcome, Streams};
use crate::fingerprint::{Fingerprint, at_commit};
use crate::receipt::Snapshot;
use crate::recipe::{Chosen, PROJECT_FILES, RECIPE_MAX, choose};

/// The recipe that governs the project below `root`: that of the plan, else the project's own. In a repository the
/// project's is that of the commit which is checked out, so that nobody edits the file by which the work is judged.
pub fn recipe_of(root: &Path, plan: Option<&[u8]>) -> Result<Chosen, PrepareError> {
    if plan.is_some() {
        return Ok(choose(plan, &[])?);
    }
    let mut files = Vec::new();
    for path in PROJECT_FILES {
        if let Some(bytes) = at_commit(root, path, RECIPE_MAX as u64 + 1)? {
            files.push((path, bytes));
        }
    }
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (*path, &**bytes)).collect();
    Ok(choose(None, &files)?)
}

/// What can be said of this machine where nobody states it: operating system, release, architecture, C library.
#[must_use]
pub fn sandbox_version() -> String {
    let name = rustix::system::uname();
    let part = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let words = [part(name.sysname()), part(name.release()), part(name.machine()), c_library()];
    words.join(" ").trim_end().chars().filter(|c| !c.is_control()).take(200).collect()
}

/// The C library of this machine's programs, as far as it tells: `glibc 2.36`, else nothing.
fn c_library() -> String {
    let spec = CommandSpec::new("getconf", "/").args(["GNU_LIBC_VERSION"]).timeout(Duration::from_secs(5));
    let mut answer = Vec::new();
    let streams = Streams { stdout: &mut answer, stderr: &mut () };
    match command::run(&spec, streams, &Cancel::new()).outcome {
        Outcome::Passed => String::from_utf8_lossy(&answer).trim().to_owned(),
        _ => String::new(),
    }
}

/// What identifies a home directory: where it is, and whose; a digest of it where it is too long to be stated.
#[must_use]
pub fn home(directory: Option<&Path>) -> String {
    let Some(directory) = directory else { return "none".to_owned() };
    let owner = fs::metadata(directory).map_or_else(|_| "absent".to_owned(), |found| found.uid().to_string());
    let text = format!("{} {owner}", directory.display());
    if text.chars().count() <= 200 && !text.chars().any(char::is_control) {
        text
    } else {
        Digest::of(text.as_bytes()).to_string()
    }
}

/// Keeps a fingerprint.
pub(super) fn store(ledger: &Ledger, source: &Fingerprint) -> Result<Snapshot, PrepareError> {
    Ok(Snapshot { digest: source.digest(), content: ledger.blobs().put(&source.to_bytes())? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_told_in_one_line_that_fits_a_key() {
        let said = sandbox_version();
        assert!(said.split(' ').count() >= 3 && said.chars().count() <= 200, "{said}");
        harn_ledger::text::check_line("sandbox", &said, 200).unwrap();
        assert_eq!(said, sandbox_version());
    }
}
