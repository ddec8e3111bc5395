//! A project in a temporary directory, with a stopped clock, counted ids, and an environment of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use harn_cli::{Io, Stream};
use tempfile::TempDir;

use crate::outcome::Outcome;
use crate::tree::{Tree, tree};

/// What the clock says in every test.
pub const NOW: &str = "2026-07-22T12:00:00Z";

/// A project in a temporary directory.
#[derive(Debug)]
pub struct Project {
    /// Removed when this is dropped.
    _directory: TempDir,
    root: PathBuf,
    environment: BTreeMap<OsString, OsString>,
}

impl Project {
    /// A project without work items.
    #[must_use]
    pub fn new() -> Self {
        let project = Self::uninitialised();
        let _ = project.harn(&["init"]).ok();
        project
    }

    /// A directory that is not a project yet.
    #[must_use]
    pub fn uninitialised() -> Self {
        let directory = tempfile::tempdir().expect("a directory for the test");
        let root = directory.path().canonicalize().expect("it was just made");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let environment = [("PATH", path), ("HARN_TEST_NOW", NOW.into()), ("HARN_TEST_SEED", "1".into())];
        let environment = environment.map(|(name, value)| (name.into(), value)).into();
        Self { _directory: directory, root, environment }
    }

    /// The project's directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of the ledger.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.root.join(".harn/state")
    }

    /// A file of a work item.
    #[must_use]
    pub fn of_item(&self, id: &str, file: &str) -> PathBuf {
        self.state().join("work").join(id).join(file)
    }

    /// Everything in the ledger.
    #[must_use]
    pub fn tree(&self) -> Tree {
        tree(&self.state())
    }

    /// The same without the catalog, which is derived: a list may write it.
    #[must_use]
    pub fn records(&self) -> Tree {
        let mut tree = self.tree();
        tree.retain(|path, _| !path.starts_with("catalog"));
        tree
    }

    /// Sets a variable, or removes it.
    pub fn set(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.environment.insert(name.into(), value.into()),
            None => self.environment.remove(&OsString::from(name)),
        };
    }

    /// Writes a file below the project's directory.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().expect("it has a file name"))
            .expect("a directory of the test's own");
        fs::write(path, text).expect("a directory of the test's own");
    }

    /// Creates an item with `script` as its workflow and whatever else is asked for.
    pub fn item(&self, id: &str, script: &str, more: &[&str]) {
        let file = format!("{id}.mjs");
        self.write(&file, script);
        let line =
            [&["work", "create", "Title", &file, "--objective", "Objective", "--id", id], more].concat();
        let _ = self.harn(&line).ok();
    }

    /// Runs a command in this process. Its streams are pipes.
    #[must_use]
    pub fn harn(&self, arguments: &[&str]) -> Outcome {
        self.in_process(arguments, &self.environment, "", None)
    }

    /// The same, with some variables set.
    #[must_use]
    pub fn harn_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Outcome {
        let mut environment = self.environment.clone();
        environment
            .extend(variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
        self.in_process(arguments, &environment, "", None)
    }

    /// The same, with something on standard input.
    #[must_use]
    pub fn harn_reading(&self, input: &str, arguments: &[&str]) -> Outcome {
        self.in_process(arguments, &self.environment, input, None)
    }

    /// The same on a terminal of that width, with some variables set.
    #[must_use]
    pub fn harn_on_terminal(&self, width: usize, variables: &[(&str, &str)], arguments: &[&str]) -> Outcome {
        let mut environment = self.environment.clone();
        environment
            .extend(variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
        self.in_process(arguments, &environment, "", Some(width))
    }

    fn in_process(
        &self,
        arguments: &[&str],
        environment: &BTreeMap<OsString, OsString>,
        input: &str,
        terminal: Option<usize>,
    ) -> Outcome {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut stdin = input.as_bytes();
        let io = Io {
            stdin: &mut stdin,
            stdout: Stream { writer: &mut stdout, terminal },
            stderr: Stream { writer: &mut stderr, terminal },
            environment: environment.clone(),
            directory: self.root.clone(),
        };
        let line = std::iter::once("harn").chain(arguments.iter().copied());
        let exit = harn_cli::run(line.clone().map(OsString::from), io);
        Outcome::new(line.collect::<Vec<_>>().join(" "), exit.code(), &stdout, &stderr)
    }

    /// The program as a process of its own, not started yet.
    #[must_use]
    pub fn process(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(&self.environment).current_dir(&self.root);
        command
    }
}

impl Default for Project {
    fn default() -> Self {
        Self::new()
    }
}
