//! A small project with a recipe and a ledger, and places outside of it for what its commands leave.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicI64, Ordering};

use harn_env::command::{Cancel, Environment};
use harn_env::prepare::{self, PrepareError, Progress, Request};
use harn_env::receipt::{CommandResult, End, Output, Receipt};
use harn_env::redact::Redactor;
use harn_ledger::{Ledger, Stream, StreamId, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A project, its ledger, and a directory outside of it.
///
/// Commands find the file `$LOG`, the directory `$OUT` and the script `$RUN`.
pub(super) struct Project {
    directory: TempDir,
    pub(super) ledger: Ledger,
    /// The recipe of the plan; null where the project's own governs.
    pub(super) plan: Value,
    pub(super) sandbox: String,
    /// The home directory of the commands, below `$OUT`.
    pub(super) home: String,
    pub(super) variables: Vec<(&'static str, String)>,
    pub(super) redactor: Redactor,
    pub(super) cancel: Cancel,
    receipts: AtomicI64,
}

pub(super) type Prepared = Result<Stream<Receipt>, PrepareError>;

impl Project {
    /// A plain directory with two files and this recipe.
    pub(super) fn new(plan: Value) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["project", "out", "out/home"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let project = Self {
            ledger: Ledger::open(directory.path().join("ledger")).unwrap(),
            directory,
            plan,
            sandbox: "sandbox 1".to_owned(),
            home: "home".to_owned(),
            variables: Vec::new(),
            redactor: Redactor::new(),
            cancel: Cancel::new(),
            receipts: AtomicI64::new(1),
        };
        project.write("Cargo.lock", "locked 1\n");
        project.write("src/main.rs", "fn main() {}\n");
        project.write(".gitignore", "/installed/\n/package-lock.json\n");
        project
    }

    /// The same with Git and one commit; none where there is no Git.
    pub(super) fn with_git(plan: Value) -> Option<Self> {
        crate::subject::has("git").then(|| {
            let project = Self::new(plan);
            project.git(&["init", "-q", "-b", "main"]);
            project.commit();
            project
        })
    }

    pub(super) fn root(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    /// A place outside of the project.
    pub(super) fn out(&self, name: &str) -> PathBuf {
        self.directory.path().join("out").join(name)
    }

    pub(super) fn write(&self, name: &str, content: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).unwrap()
    }

    pub(super) fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "a commit"]);
    }

    fn git(&self, arguments: &[&str]) {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.out("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@b"), ("GIT_COMMITTER_NAME", "a")])
            .envs([("GIT_COMMITTER_EMAIL", "a@b"), ("GIT_AUTHOR_DATE", "@1 +0000")])
            .env("GIT_COMMITTER_DATE", "@1 +0000")
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Puts a tool at `$OUT/NAME`: a shell by another name, so that no test writes a file that another one executes.
    pub(super) fn install(&self, name: &str) {
        symlink("/bin/sh", self.out(name)).unwrap();
    }

    pub(super) fn uninstall(&self, name: &str) {
        fs::remove_file(self.out(name)).unwrap();
    }

    /// A command that runs the tool at `$OUT/NAME`.
    pub(super) fn using(&self, name: &str, script: &str) -> Value {
        let script = format!("echo {name} >>\"$LOG\"; {script}");
        json!({ "name": name, "argv": [self.out(name), "-c", script] })
    }

    /// What the commands noted in `$LOG` since the last call.
    pub(super) fn noted(&self) -> Vec<String> {
        let noted = fs::read_to_string(self.out("log")).unwrap_or_default();
        let _ = fs::remove_file(self.out("log"));
        noted.lines().map(str::to_owned).collect()
    }

    /// Does `work` with the request for a new receipt.
    pub(super) fn ask(
        &self,
        progress: &mut dyn FnMut(Progress<'_>),
        work: impl FnOnce(Request<'_>) -> Prepared,
    ) -> Prepared {
        self.ask_in(&self.root(), progress, work)
    }

    /// The same for a project in another directory.
    pub(super) fn ask_in(
        &self,
        root: &Path,
        progress: &mut dyn FnMut(Progress<'_>),
        work: impl FnOnce(Request<'_>) -> Prepared,
    ) -> Prepared {
        let number = self.receipts.fetch_add(1, Ordering::Relaxed);
        let plan = (!self.plan.is_null()).then(|| self.plan.to_string());
        let recipe = prepare::recipe_of(root, plan.as_deref().map(str::as_bytes))?;
        let home = self.out(&self.home);
        let text = |path: PathBuf| path.into_os_string().into_string().unwrap();
        let mut variables = vec![
            ("PATH", std::env::var("PATH").unwrap()),
            ("HOME", text(home.clone())),
            ("LOG", text(self.out("log"))),
            ("OUT", text(self.out(""))),
        ];
        variables.extend(self.variables.clone());
        work(Request {
            ledger: &self.ledger,
            root,
            recipe: &recipe,
            sandbox: &self.sandbox,
            environment: &Environment::exact(variables),
            home: &prepare::home(Some(&home)),
            redactor: &self.redactor,
            cancel: &self.cancel,
            owner: None,
            actor: "tester",
            id: StreamId::new(&format!("env-{number}")).unwrap(),
            now: &|| Timestamp::from_microseconds(number),
            progress,
        })
    }

    pub(super) fn prepare(&self) -> Stream<Receipt> {
        self.ask(&mut |_| {}, prepare::prepare).unwrap()
    }

    pub(super) fn check(&self, before: &Stream<Receipt>) -> Stream<Receipt> {
        self.ask(&mut |_| {}, |request| prepare::check(request, before.id())).unwrap()
    }

    /// The bytes of an output as they are kept.
    pub(super) fn kept(&self, output: Option<&Output>) -> Vec<u8> {
        self.ledger.blobs().get(&output.unwrap().content).unwrap()
    }
}

/// A command that notes its name and runs a script.
pub(super) fn command(name: &str, script: &str) -> Value {
    json!({ "name": name, "argv": ["sh", "-c", format!("echo {name} >>\"$LOG\"; {script}")] })
}

/// A tool that is shown to work by a command.
pub(super) fn tool(command: &Value) -> Value {
    json!({ "name": command["name"], "command": command })
}

/// A recipe of these commands.
pub(super) fn recipe(setup: &[Value], tools: &[Value], baseline: &[Value]) -> Value {
    json!({ "schema": "environment.v1", "setup": setup, "tools": tools, "baseline": baseline })
}

/// With what a receipt ended, and what came of each command: `held setup: setup install failed`.
pub(super) fn story(receipt: &Stream<Receipt>) -> String {
    let state = receipt.state().unwrap();
    let end = match state.end() {
        None => "open".to_owned(),
        Some((End::Held(hold), _)) => format!("held {}", hold.as_str()),
        Some((End::Ready, None)) => "ready".to_owned(),
        Some((End::Checked, None)) => "checked".to_owned(),
        other => panic!("{other:?}"),
    };
    let done = state.done().iter().map(|done| {
        let again = if done.round > 1 { " again" } else { "" };
        format!("{} {} {}{again}", done.stage, done.result.name, done.result.outcome)
    });
    format!("{end}: {}", done.collect::<Vec<_>>().join(", "))
}

/// What a receipt says in few words of each of its commands, run or not.
pub(super) fn told(receipt: &Stream<Receipt>) -> String {
    let results = receipt.state().unwrap().summary().results;
    let words = results.iter().map(|(stage, name, outcome)| format!("{stage} {name} {outcome}"));
    words.collect::<Vec<_>>().join(", ")
}

/// Why a receipt is held.
pub(super) fn reason(receipt: &Stream<Receipt>) -> String {
    receipt.state().unwrap().summary().reason.unwrap()
}

/// What a command came to, by its place among all that ended.
pub(super) fn result(receipt: &Stream<Receipt>, place: usize) -> CommandResult {
    receipt.state().unwrap().done()[place].result.clone()
}

/// The names of a receipt's events.
pub(super) fn events(receipt: &Stream<Receipt>) -> Vec<&'static str> {
    let history = receipt.history().unwrap();
    history.iter().filter_map(|entry| entry.domain()).map(|it| it.event.name()).collect()
}

/// Everything that is written below a directory.
pub(super) fn bytes_below(directory: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        bytes.extend(if path.is_dir() { bytes_below(&path) } else { fs::read(&path).unwrap() });
    }
    bytes
}
