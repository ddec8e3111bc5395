//! The quick way to a fingerprint, for a tree that differs little from its commit: `git status` says in what, and only that
//! is read. Whatever is out of the ordinary is left to the thorough way.

use std::fs;
use std::path::Path;
use std::thread;

use super::git::{Found, Git};
use super::{Entry, FingerprintError, Mode, STATE, Source, names};
use crate::command::{Exit, Outcome};

/// Most changed paths that are taken in one by one.
const CHANGED_MAX: usize = 10_000;

/// What a status tells.
struct Told {
    /// The paths that differ from the index, each ended by a NUL.
    changed: Vec<u8>,
    /// Whether the index differs from the commit.
    staged: bool,
    /// Ignored files that do not lie in an ignored directory.
    ignored_files: Vec<String>,
}

/// Looks at a tree; none where the quick way does not do.
pub(super) fn look(git: &Git<'_>, private: &Path) -> Result<Option<Found>, FingerprintError> {
    let (finished, answer) = git.call(&["rev-parse", "--show-prefix", "HEAD", "HEAD^{tree}"], None)?;
    let answer = String::from_utf8_lossy(&answer);
    let lines: Vec<&str> = answer.lines().collect();
    // A repository without a commit, a broken one, or one around this tree: all of that is told apart elsewhere.
    let (Some(Exit::Code(0)), ["", commit, tree]) = (finished.exit, &lines[..]) else { return Ok(None) };
    let (status, index) = both(|| git.call(&STATUS, None), || git.answer(&INDEX, None));
    let ((finished, status), index) = (status?, index?);
    let whole = finished.stdout.sink_bytes == finished.stdout.total_bytes;
    let told = if finished.outcome == Outcome::Passed && whole { told(&status) } else { None };
    let (Some(told), Some(entries)) = (told, entries(git, &index)) else { return Ok(None) };
    let (tree, entries) = if told.changed.is_empty() && !told.staged {
        ((*tree).to_owned(), entries)
    } else {
        let git = git.privately(&private.join("changed"))?;
        if !told.changed.is_empty() {
            git.answer(
                &["update-index", "--add", "--remove", "--replace", "-z", "--stdin"],
                Some(told.changed),
            )?;
        }
        let (tree, index) = both(|| git.line(&["write-tree"]), || git.answer(&INDEX, None));
        let Some(entries) = self::entries(&git, &index?) else { return Ok(None) };
        (tree?, entries)
    };
    let source = Source::Git { tree, commit: (*commit).to_owned() };
    Ok(Some(Found { source, entries, ignored_files: told.ignored_files }))
}

/// Does two things at once.
fn both<A, B: Send>(here: impl FnOnce() -> A, there: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let there = scope.spawn(there);
        let here = here();
        (here, there.join().expect("a call of Git does not panic"))
    })
}

const INDEX: [&str; 4] = ["ls-files", "-v", "-s", "-z"];

const STATUS: [&str; 7] = [
    "status",
    "--porcelain=v2",
    "-z",
    "--untracked-files=all",
    "--ignored=matching",
    "--ignore-submodules=dirty",
    "--no-renames",
];

/// Reads a status; none where it tells of anything but plain changes: conflicts, changed submodules, repositories inside, and
/// what is ours and not ignored.
fn told(status: &[u8]) -> Option<Told> {
    let mut told = Told { changed: Vec::new(), staged: false, ignored_files: Vec::new() };
    let mut changed = 0;
    for line in status.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let (kind, rest) = line.split_at_checked(2)?;
        let path = match kind {
            b"! " => {
                if !rest.ends_with(b"/") {
                    told.ignored_files.push(names::text(rest));
                }
                continue;
            }
            b"? " => rest,
            b"1 " => {
                // Status, submodule, three modes, two ids, and the path, which may hold blanks.
                let mut words = rest.splitn(8, |byte| *byte == b' ');
                let (state, submodule, path) = (words.next()?, words.next()?, words.nth(5)?);
                let [in_index, in_tree] = state else { return None };
                if submodule != b"N..." {
                    return None;
                }
                told.staged |= *in_index != b'.';
                if *in_tree == b'.' {
                    continue;
                }
                path
            }
            _ => return None,
        };
        changed += 1;
        if path.ends_with(b"/") || is_ours(path) || changed > CHANGED_MAX {
            return None;
        }
        told.changed.extend_from_slice(path);
        told.changed.push(0);
    }
    Some(told)
}

fn is_ours(path: &[u8]) -> bool {
    path.strip_prefix(STATE.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// What the index holds, by path. None where a mark may hide a change of what is there, or where it is not what Git writes.
fn entries(git: &Git<'_>, index: &[u8]) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    for line in index.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let (head, path) = (std::str::from_utf8(&line[..tab]).ok()?, names::text(&line[tab + 1..]));
        let mut words = head.split(' ');
        let (tag, mode, id, stage) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let is_marked = tag != "H" && fs::symlink_metadata(names::path(git.root, &path)).is_ok();
        if is_marked || stage != "0" {
            return None;
        }
        entries.push(Entry { path, mode: Mode::of_git(mode)?, id: id.to_owned() });
    }
    entries.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_changes_are_told() {
        let id = "0".repeat(40);
        let line = |state: &str, submodule: &str, path: &str| {
            format!("1 {state} {submodule} 100644 100644 100644 {id} {id} {path}")
        };
        let cases: [(Vec<String>, _); 9] = [
            (vec![], Some(("", false))),
            (vec![line(".M", "N...", "a b")], Some(("a b\0", false))),
            (vec![line("M.", "N...", "a")], Some(("", true))),
            (vec![line("MM", "N...", "a"), "? b".to_owned(), "! c".to_owned()], Some(("a\0b\0", true))),
            (vec![line(".D", "N...", ".harn/states")], Some((".harn/states\0", false))),
            (vec![line(".M", "SC..", "sub")], None),
            (vec!["? repository/".to_owned()], None),
            (vec!["? .harn/state/x".to_owned()], None),
            (vec![format!("u UU N... 100644 100644 100644 100644 {id} {id} {id} a")], None),
        ];
        for (lines, expected) in cases {
            let status = lines.iter().flat_map(|line| [line, "\0"]).collect::<String>();
            let found = told(status.as_bytes());
            let found = found.as_ref().map(|it| (std::str::from_utf8(&it.changed).unwrap(), it.staged));
            assert_eq!(found, expected, "{lines:?}");
        }
    }

    fn git(root: &Path, arguments: &[&str]) {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(root)
            .env("HOME", root)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Both ways tell the same, wherever the quick one tells anything.
    #[test]
    fn the_thorough_way_tells_the_same() {
        let plain = ["a", "b c", "dir/d", "dir/e", "gone", "link", "x.sh"];
        let changes: [(&str, bool); 16] = [
            ("true", true),
            ("echo more >>a", true),
            ("echo new >'new file'", true),
            ("echo new >\"$(printf 'new\\nline')\"", true),
            ("echo new >\"$(printf 'byte\\377')\"", true),
            ("rm gone", true),
            ("chmod +x a", true),
            ("chmod -x x.sh", true),
            ("rm link && ln -s 'b c' link", true),
            ("rm 'b c' && ln -s a 'b c'", true),
            ("git mv a moved", true),
            ("echo staged >a && git add a && echo more >>a", true),
            ("rm -r dir && echo file >dir", true),
            ("rm gone && mkdir gone && echo x >gone/x", true),
            ("git add -N new 2>/dev/null; echo n >n && git add -N n", true),
            ("git update-index --assume-unchanged a && echo hidden >>a", false),
        ];
        for (script, is_quick) in changes {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path();
            fs::create_dir(root.join("dir")).unwrap();
            for name in plain {
                fs::write(root.join(name), name).unwrap();
            }
            git(root, &["init", "-q"]);
            git(root, &["add", "-A"]);
            git(root, &["update-index", "--chmod=+x", "x.sh"]);
            git(root, &["commit", "-q", "-m", "first"]);
            git(root, &["checkout", "-q", "--", "."]);
            let done =
                std::process::Command::new("sh").args(["-c", script]).current_dir(root).status().unwrap();
            assert!(done.success(), "{script}");

            let ours = tempfile::tempdir().unwrap();
            let git = Git::new(root);
            let quick = look(&git, ours.path()).unwrap();
            let thorough = super::super::git::thorough(&git, ours.path()).unwrap().unwrap();
            assert_eq!(quick.is_some(), is_quick, "{script}");
            if let Some(quick) = quick {
                assert_eq!((quick.entries, quick.source), (thorough.entries, thorough.source), "{script}");
            }
        }
    }
}
