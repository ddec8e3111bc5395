//! A tree as Git sees it, without leaving a trace in the repository.
//!
//! A private copy of the index takes in the working tree, and private objects take what it has that the repository lacks.
//! The copy keeps the time of the original: by it Git knows which files may have changed in the moment in which the index
//! was written. Marks that hide changes (`assume-unchanged`, `skip-worktree`) are taken off what is really there.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Entry, FingerprintError, Source, names};
use crate::command::{Cancel, CommandSpec, Environment, Finished, Limits, Outcome, Streams, run};

/// How long a call may take.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Most bytes that a call may answer: the names of some million files.
const ANSWER_MAX: u64 = 1 << 30;

/// A tree as Git sees it.
pub(super) struct Found {
    pub(super) source: Source,
    pub(super) entries: Vec<Entry>,
    /// Ignored files that do not lie in an ignored directory.
    pub(super) ignored_files: Vec<String>,
}

/// Looks at the tree; none where there is no repository, or no commit yet.
pub(super) fn look(root: &Path) -> Result<Option<Found>, FingerprintError> {
    if !root.join(".git").exists() {
        return Ok(None);
    }
    let git = Git::new(root);
    let Some(commit) = git.commit()? else { return Ok(None) };
    let private = tempfile::tempdir().map_err(|source| read_failed(root, source))?;
    let git = git.privately(private.path())?;
    git.take_off_marks()?;
    git.answer(&["add", "--all", "--", "."], None)?;
    let tree = git.line(&["write-tree"])?;
    let entries = git.entries(&tree)?;
    let ignored_files = git.ignored_files()?;
    Ok(Some(Found { source: Source::Git { tree, commit }, entries, ignored_files }))
}

fn read_failed(root: &Path, source: io::Error) -> FingerprintError {
    FingerprintError::Read { path: root.display().to_string(), source }
}

/// Calls of Git in one tree.
struct Git<'a> {
    root: &'a Path,
    variables: Vec<(&'static str, OsString)>,
}

impl<'a> Git<'a> {
    const fn new(root: &'a Path) -> Self {
        Self { root, variables: Vec::new() }
    }

    /// The commit that is checked out, if there is one.
    fn commit(&self) -> Result<Option<String>, FingerprintError> {
        let (finished, answer) = self.call(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], None)?;
        Ok((finished.outcome == Outcome::Passed).then(|| String::from_utf8_lossy(&answer).trim().to_owned()))
    }

    /// The same calls with an index and objects of their own.
    fn privately(self, private: &Path) -> Result<Self, FingerprintError> {
        let path = |name: &str| -> Result<PathBuf, FingerprintError> {
            let answer = self.answer(&["rev-parse", "--git-path", name], None)?;
            let line = answer.strip_suffix(b"\n").unwrap_or(&answer).to_vec();
            Ok(self.root.join(PathBuf::from(OsString::from_vec(line))))
        };
        let (index, objects) = (path("index")?, path("objects")?);
        let (own_index, own_objects) = (private.join("index"), private.join("objects"));
        fs::create_dir(&own_objects).map_err(|source| read_failed(self.root, source))?;
        copy_with_time(&index, &own_index).map_err(|source| read_failed(&index, source))?;
        let objects = objects.canonicalize().unwrap_or(objects);
        let variables = vec![
            ("GIT_INDEX_FILE", own_index.into_os_string()),
            ("GIT_OBJECT_DIRECTORY", own_objects.into_os_string()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects.into_os_string()),
        ];
        Ok(Self { root: self.root, variables })
    }

    /// Takes the marks that hide changes off every file that is there.
    fn take_off_marks(&self) -> Result<(), FingerprintError> {
        let answer = self.answer(&["ls-files", "-v", "-z"], None)?;
        let mut marked = Vec::new();
        for entry in answer.split(|byte| *byte == 0).filter(|entry| entry.len() > 2) {
            let (tag, path) = (entry[0], &entry[2..]);
            let is_marked = tag.is_ascii_lowercase() || tag == b'S';
            let place = names::path(self.root, &names::text(path));
            if is_marked && fs::symlink_metadata(place).is_ok() {
                marked.extend_from_slice(path);
                marked.push(0);
            }
        }
        if marked.is_empty() {
            return Ok(());
        }
        for mark in ["--no-assume-unchanged", "--no-skip-worktree"] {
            self.answer(&["update-index", mark, "-z", "--stdin"], Some(marked.clone()))?;
        }
        Ok(())
    }

    fn entries(&self, tree: &str) -> Result<Vec<Entry>, FingerprintError> {
        let command = ["ls-tree", "-r", "-z", "--full-tree", tree];
        let answer = self.answer(&command, None)?;
        let read = |entry: &[u8]| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let (head, path) = (std::str::from_utf8(&entry[..tab]).ok()?, &entry[tab + 1..]);
            let mut words = head.split(' ');
            let (mode, _, id) = (words.next()?, words.next()?, words.next()?);
            Some(Entry { path: names::text(path), mode: mode.to_owned(), id: id.to_owned() })
        };
        let entries = answer.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()).map(read);
        let mut entries = entries
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| FingerprintError::Answer { command: command.join(" ") })?;
        entries.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(entries)
    }

    fn ignored_files(&self) -> Result<Vec<String>, FingerprintError> {
        let command = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let answer = self.answer(&command, None)?;
        let paths = answer.split(|byte| *byte == 0).filter(|path| !path.is_empty() && !path.ends_with(b"/"));
        Ok(paths.map(names::text).collect())
    }

    fn line(&self, arguments: &[&str]) -> Result<String, FingerprintError> {
        Ok(String::from_utf8_lossy(&self.answer(arguments, None)?).trim().to_owned())
    }

    /// What a call answers that passes.
    fn answer(&self, arguments: &[&str], input: Option<Vec<u8>>) -> Result<Vec<u8>, FingerprintError> {
        let (finished, answer) = self.call(arguments, input)?;
        if finished.outcome == Outcome::Passed && finished.stdout.sink_bytes == finished.stdout.total_bytes {
            return Ok(answer);
        }
        let words = finished.stderr.excerpt();
        let last = words.trim().lines().last().unwrap_or_default();
        let why = if last.is_empty() { finished.outcome.to_string() } else { last.to_owned() };
        Err(FingerprintError::Git { root: self.root.to_owned(), command: arguments.join(" "), why })
    }

    fn call(
        &self,
        arguments: &[&str],
        input: Option<Vec<u8>>,
    ) -> Result<(Finished, Vec<u8>), FingerprintError> {
        // What the caller's environment says of a repository is about another one; nothing asks, pages or runs hooks.
        let mut environment = Environment::inherit();
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                environment = environment.without(name);
            }
        }
        let fixed = [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0"), ("LC_ALL", "C")];
        for (name, value) in fixed {
            environment = environment.with(name, value);
        }
        for (name, value) in &self.variables {
            environment = environment.with(name, value);
        }
        let settings = [
            "core.fsmonitor=false",
            "core.trustctime=true",
            "core.untrackedCache=false",
            "core.hooksPath=/dev/null",
            "core.splitIndex=false",
            "advice.addEmbeddedRepo=false",
            "core.safecrlf=false",
        ];
        let settings = settings.iter().flat_map(|setting| ["-c", setting]);
        let mut spec = CommandSpec::new("git", self.root)
            .args(settings.chain(arguments.iter().copied()))
            .environment(environment)
            .stdin(input.unwrap_or_default())
            .timeout(TIMEOUT);
        spec.limits = Limits { sink: ANSWER_MAX, ..Limits::default() };
        let mut answer = Vec::new();
        let streams = Streams { stdout: &mut answer, stderr: &mut () };
        let finished = run(&spec, streams, &Cancel::new());
        if finished.outcome == Outcome::MissingTool {
            return Err(FingerprintError::NoGit { root: self.root.to_owned() });
        }
        Ok((finished, answer))
    }
}

/// Copies a file and the time of its last change. A repository may have no index: then there is none to copy.
fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    let modified = match fs::metadata(from) {
        Ok(found) => found.modified()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_modified(modified)
}
