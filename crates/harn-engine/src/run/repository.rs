//! What Git says about the workspace: one bounded call, and nothing at all where there is no repository.

use std::path::Path;
use std::time::Duration;

use harn_env::command::{self, Cancel, CommandSpec, Environment, Outcome, Streams};
use harn_workflow::run::{AbsolutePath, Line, Snapshot};

/// Git has this long; a snapshot is worth no more.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The repository around `cwd` as it is now. Whatever cannot be told is left out.
#[must_use]
pub fn snapshot(cwd: &AbsolutePath) -> Snapshot {
    let unknown = Snapshot::of(cwd.clone());
    let Some(root) = Path::new(cwd.as_str()).ancestors().find(|directory| directory.join(".git").exists())
    else {
        return unknown;
    };
    let status = [
        "-c",
        "core.fsmonitor=false",
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--untracked-files=normal",
    ];
    // Whoever runs inside a Git hook has variables that point Git at another place.
    let elsewhere = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];
    let inherited = elsewhere.iter().fold(Environment::inherit(), |rest, name| rest.without(*name));
    let environment = inherited.with("GIT_OPTIONAL_LOCKS", "0");
    let spec =
        CommandSpec::new("git", cwd.as_str()).args(status).environment(environment).timeout(GIT_TIMEOUT);
    let mut output = Vec::new();
    let streams = Streams { stdout: &mut output, stderr: &mut () };
    if command::run(&spec, streams, &Cancel::new()).outcome != Outcome::Passed {
        return unknown;
    }
    let snapshot = Snapshot { root: AbsolutePath::new(&root.to_string_lossy()).ok(), ..unknown };
    read_status(snapshot, &String::from_utf8_lossy(&output))
}

/// Reads the entries of `git status --porcelain=v2 --branch -z`.
fn read_status(mut snapshot: Snapshot, status: &str) -> Snapshot {
    let mut entries = status.split('\0');
    let mut dirty = Vec::new();
    while let Some(entry) = entries.next() {
        let fields = |count: usize| entry.splitn(count, ' ').last().unwrap_or_default();
        match entry.split(' ').next() {
            Some("#") => match entry.split_once(' ').and_then(|(_, rest)| rest.split_once(' ')) {
                Some(("branch.oid", head)) if head != "(initial)" => snapshot.head = Line::clip(head),
                Some(("branch.head", branch)) if branch != "(detached)" => {
                    snapshot.branch = Line::clip(branch);
                }
                _ => {}
            },
            Some("1") => dirty.push(fields(9)),
            Some("2") => {
                dirty.push(fields(10));
                dirty.extend(entries.next());
            }
            Some("u") => dirty.push(fields(11)),
            Some("?") => dirty.push(fields(2)),
            _ => {}
        }
    }
    snapshot.with_dirty_paths(dirty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read() {
        let at = || Snapshot::of(AbsolutePath::new("/p").unwrap());
        let status = "# branch.oid 0123abcd\0# branch.head main\0\
                      1 .M N... 100644 100644 100644 aa bb a file.rs\0\
                      2 R. N... 100644 100644 100644 aa bb R100 new name\0old name\0\
                      u UU N... 1 2 3 4 aa bb cc conflict\0? untracked/\0";
        let read = read_status(at(), status);
        assert_eq!(read.head.as_ref().map(Line::as_str), Some("0123abcd"));
        assert_eq!(read.branch.as_ref().map(Line::as_str), Some("main"));
        let dirty: Vec<&str> = read.dirty_paths.iter().map(Line::as_str).collect();
        assert_eq!(dirty, ["a file.rs", "conflict", "new name", "old name", "untracked/"]);
        let fresh = read_status(at(), "# branch.oid (initial)\0# branch.head (detached)\0");
        assert_eq!((fresh.head, fresh.branch), (None, None));
    }
}
