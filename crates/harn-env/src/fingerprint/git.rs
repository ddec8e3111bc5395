//! A tree as Git sees it, without leaving a trace in the repository.
//!
//! A private copy of the index takes in the working tree, and private objects take what it has that the repository lacks.
//! The copy keeps the time of the original: by it Git knows which files may have changed in the moment in which the index
//! was written. Marks that hide changes (`assume-unchanged`, `skip-worktree`) are taken off what is really there. What is
//! ours, checkouts of attempts and state, is left out.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Entry, FingerprintError, Mode, STATE, Source, names, quick};
use crate::command::{Cancel, CommandSpec, Environment, Exit, Finished, Limits, Outcome, Streams, run};

/// How long a call may take.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Most bytes that a call may answer: the names of some million files.
const ANSWER_MAX: u64 = 1 << 30;
/// How many of Git's last lines an error repeats.
const WORDS_MAX: usize = 3;

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
    let private = tempfile::tempdir().map_err(|source| read_failed(root, source))?;
    if let Some(found) = quick::look(&git, private.path())? {
        return Ok(Some(found));
    }
    thorough(&git, private.path())
}

/// Looks at everything, whatever Git remembers of it.
pub(super) fn thorough(git: &Git<'_>, private: &Path) -> Result<Option<Found>, FingerprintError> {
    let Some(commit) = git.commit()? else { return Ok(None) };
    let git = git.privately(&private.join("whole"))?;
    git.take_off_marks()?;
    let unborn = git.take_in()?;
    let tree = git.line(&["write-tree"])?;
    let entries = git.entries(&tree, unborn)?;
    let ignored_files = git.ignored_files()?;
    Ok(Some(Found { source: Source::Git { tree, commit }, entries, ignored_files }))
}

/// Puts the tree of everything into the repository's own objects, and returns its name.
pub(super) fn store(root: &Path) -> Result<String, FingerprintError> {
    let private = tempfile::tempdir().map_err(|source| read_failed(root, source))?;
    let git = Git::new(root).privately(&private.path().join("stored"))?.into_repository();
    git.take_off_marks()?;
    git.take_in()?;
    git.line(&["write-tree"])
}

/// A file of the commit that is checked out, if it has it; none where there is no commit.
#[expect(clippy::option_option, reason = "there may be no commit, or a commit without the file")]
pub(super) fn at_commit(
    root: &Path,
    path: &str,
    max: u64,
) -> Result<Option<Option<Vec<u8>>>, FingerprintError> {
    if !root.join(".git").exists() {
        return Ok(None);
    }
    let git = Git::new(root);
    let Some(commit) = git.commit()? else { return Ok(None) };
    let listed = git.answer(&["ls-tree", "-z", "--full-tree", &commit, "--", path], None)?;
    if listed.is_empty() {
        return Ok(Some(None));
    }
    let mut bytes = git.answer(&["cat-file", "blob", &format!("{commit}:{path}")], None)?;
    bytes.truncate(usize::try_from(max).unwrap_or(usize::MAX));
    Ok(Some(Some(bytes)))
}

/// Files and links of a commit, by path.
pub(super) fn committed(root: &Path, commit: &str) -> Result<Vec<Entry>, FingerprintError> {
    Git::new(root).entries(commit, Vec::new())
}

/// The bytes that a file of a commit has in the working tree.
pub(super) fn checked_out(root: &Path, commit: &str, entry: &Entry) -> Result<Vec<u8>, FingerprintError> {
    let git = Git::new(root);
    let path = names::path(Path::new(""), &entry.path);
    let Some(path) = path.to_str() else {
        // Filters go by the path, which cannot be told here: what is stored is what there is.
        return git.answer(&["cat-file", "blob", &entry.id], None);
    };
    git.answer(&["cat-file", "--filters", &format!("{commit}:{path}")], None)
}

fn read_failed(root: &Path, source: io::Error) -> FingerprintError {
    FingerprintError::Read { path: root.display().to_string(), source }
}

/// Calls of Git in one tree.
pub(super) struct Git<'a> {
    pub(super) root: &'a Path,
    variables: Vec<(&'static str, OsString)>,
    /// Checkouts of the same repository below the root, relative to it.
    checkouts: Vec<PathBuf>,
}

impl<'a> Git<'a> {
    pub(super) const fn new(root: &'a Path) -> Self {
        Self { root, variables: Vec::new(), checkouts: Vec::new() }
    }

    /// The commit that is checked out, if there is one. A repository that Git cannot read is an error: it must be taken
    /// neither for one without a commit nor for the one around it.
    fn commit(&self) -> Result<Option<String>, FingerprintError> {
        if self.answer(&["rev-parse", "--show-prefix"], None)? != b"\n" {
            return Err(FingerprintError::BrokenGit { root: self.root.to_owned() });
        }
        let command = ["rev-parse", "--verify", "--quiet", "HEAD"];
        let (finished, answer) = self.call(&command, None)?;
        match finished.exit {
            Some(Exit::Code(0)) => Ok(Some(String::from_utf8_lossy(&answer).trim().to_owned())),
            Some(Exit::Code(1)) if finished.outcome == Outcome::Failed => Ok(None),
            _ => Err(self.failed(&command, &finished)),
        }
    }

    /// The same calls with an index and objects of their own.
    pub(super) fn privately(&self, private: &Path) -> Result<Self, FingerprintError> {
        fs::create_dir(private).map_err(|source| read_failed(self.root, source))?;
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
        let checkouts =
            if objects.with_file_name("worktrees").exists() { self.checkouts()? } else { Vec::new() };
        let variables = vec![
            ("GIT_INDEX_FILE", own_index.into_os_string()),
            ("GIT_OBJECT_DIRECTORY", own_objects.into_os_string()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", names::quoted(objects.as_os_str())),
        ];
        Ok(Self { root: self.root, variables, checkouts })
    }

    /// The same calls with the objects of the repository. The index stays private.
    fn into_repository(mut self) -> Self {
        self.variables.retain(|(name, _)| *name == "GIT_INDEX_FILE");
        self
    }

    fn checkouts(&self) -> Result<Vec<PathBuf>, FingerprintError> {
        let root = self.root.canonicalize().map_err(|source| read_failed(self.root, source))?;
        let answer = self.answer(&["worktree", "list", "--porcelain"], None)?;
        let places = answer.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"worktree "));
        let below = places.filter_map(|place| Path::new(OsStr::from_bytes(place)).strip_prefix(&root).ok());
        // One that was removed by hand is still listed, and something else may be in its place.
        let is_checkout =
            |path: &&Path| !path.as_os_str().is_empty() && root.join(path).join(".git").is_file();
        Ok(below.filter(is_checkout).map(Path::to_owned).collect())
    }

    /// Takes the working tree into the index. Git adds no repository that has no commit: those are returned.
    fn take_in(&self) -> Result<Vec<PathBuf>, FingerprintError> {
        let Err(error) = self.add(&[]) else { return Ok(Vec::new()) };
        let unborn = self.unborn()?;
        if unborn.is_empty() {
            return Err(error);
        }
        self.add(&unborn)?;
        Ok(unborn)
    }

    fn add(&self, without: &[PathBuf]) -> Result<(), FingerprintError> {
        let mut paths = b".\0".to_vec();
        let ours = self.ours_not_ignored()?;
        for path in ours.iter().chain(without) {
            paths.extend_from_slice(b":(exclude,literal)");
            paths.extend_from_slice(path.as_os_str().as_bytes());
            paths.push(0);
        }
        self.answer(&["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"], Some(paths)).map(drop)
    }

    /// What of ours lies in the tree and is not ignored. (Git refuses to leave out what it ignores already.)
    fn ours_not_ignored(&self) -> Result<Vec<PathBuf>, FingerprintError> {
        let ours = self.checkouts.iter().cloned().chain([PathBuf::from(STATE)]);
        let mut ours: Vec<_> = ours.filter(|path| self.root.join(path).exists()).collect();
        let mut asked = Vec::new();
        for path in &ours {
            asked.extend_from_slice(path.as_os_str().as_bytes());
            asked.push(0);
        }
        if asked.is_empty() {
            return Ok(ours);
        }
        let command = ["check-ignore", "-z", "--stdin"];
        let (finished, answer) = self.call(&command, Some(asked))?;
        // It exits with 1 when nothing is ignored.
        if !matches!(finished.exit, Some(Exit::Code(0 | 1))) {
            return Err(self.failed(&command, &finished));
        }
        let ignored: Vec<_> = answer.split(|byte| *byte == 0).collect();
        ours.retain(|path| !ignored.contains(&path.as_os_str().as_bytes()));
        Ok(ours)
    }

    /// Repositories in the tree that have no commit.
    fn unborn(&self) -> Result<Vec<PathBuf>, FingerprintError> {
        let answer = self.answer(&["ls-files", "--others", "--exclude-standard", "-z"], None)?;
        let repositories = answer.split(|byte| *byte == 0).filter_map(|path| path.strip_suffix(b"/"));
        let mut unborn = Vec::new();
        for path in repositories.map(|path| Path::new(OsStr::from_bytes(path))) {
            let place = self.root.join(path);
            if place.join(".git").exists() && Git::new(&place).commit()?.is_none() {
                unborn.push(path.to_owned());
            }
        }
        Ok(unborn)
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

    fn entries(&self, tree: &str, unborn: Vec<PathBuf>) -> Result<Vec<Entry>, FingerprintError> {
        let command = ["ls-tree", "-r", "-z", "--full-tree", tree];
        let answer = self.answer(&command, None)?;
        let read = |entry: &[u8]| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let (head, path) = (std::str::from_utf8(&entry[..tab]).ok()?, &entry[tab + 1..]);
            let mut words = head.split(' ');
            let (mode, _, id) = (words.next()?, words.next()?, words.next()?);
            Some(Entry { path: names::text(path), mode: Mode::of_git(mode)?, id: id.to_owned() })
        };
        let entries = answer.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()).map(read);
        let mut entries = entries
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| FingerprintError::Answer { command: command.join(" ") })?;
        entries.extend(unborn.into_iter().map(|path| Entry {
            path: names::text(path.as_os_str().as_bytes()),
            mode: Mode::Repository,
            id: "0".repeat(tree.len()),
        }));
        entries.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(entries)
    }

    fn ignored_files(&self) -> Result<Vec<String>, FingerprintError> {
        let command = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let answer = self.answer(&command, None)?;
        let paths = answer.split(|byte| *byte == 0).filter(|path| !path.is_empty() && !path.ends_with(b"/"));
        Ok(paths.map(names::text).collect())
    }

    pub(super) fn line(&self, arguments: &[&str]) -> Result<String, FingerprintError> {
        Ok(String::from_utf8_lossy(&self.answer(arguments, None)?).trim().to_owned())
    }

    /// What a call answers that passes.
    pub(super) fn answer(
        &self,
        arguments: &[&str],
        input: Option<Vec<u8>>,
    ) -> Result<Vec<u8>, FingerprintError> {
        let (finished, answer) = self.call(arguments, input)?;
        if finished.outcome == Outcome::Passed && finished.stdout.sink_bytes == finished.stdout.total_bytes {
            return Ok(answer);
        }
        Err(self.failed(arguments, &finished))
    }

    fn failed(&self, arguments: &[&str], finished: &Finished) -> FingerprintError {
        let words = finished.stderr.excerpt();
        let lines =
            words.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("hint:"));
        let mut last: Vec<&str> = lines.rev().take(WORDS_MAX).collect();
        last.reverse();
        let why = if last.is_empty() { finished.outcome.to_string() } else { last.join("; ") };
        FingerprintError::Git { root: self.root.to_owned(), command: arguments.join(" "), why }
    }

    pub(super) fn call(
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
            "core.checkStat=default",
            "core.untrackedCache=false",
            "core.hooksPath=/dev/null",
            "core.splitIndex=false",
            // What lies outside of a sparse checkout counts like the rest, if it is there.
            "core.sparseCheckout=false",
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
