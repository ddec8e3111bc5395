//! A ledger in a temporary directory, and attempts in it with `sh` and `cat` as agents.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use harn_engine::adapter::{Adapter, Exec};
use harn_engine::attempt::{
    AttemptError, AttemptOptions, AttemptReport, AttemptRequest, EnvironmentRequest, read_script, run_attempt,
};
use harn_engine::run::{Adapters, Stopper};
use harn_env::prepare::Progress;
use harn_ledger::disk::Disk;
use harn_ledger::{Entry, Ledger, Recorded, Stream, StreamId, SystemClock, SystemIds};
use harn_workflow::run::{AgentOutcome, Captured, Event, Isolation, Payload, Run};
use harn_workflow::work::{Caller, Projection, Role, Trigger};
use harn_workflow::{Draft, WorkLedger};
use serde_json::Value;
use tempfile::TempDir;

/// Nothing that a test waits for takes this long; a test that waits longer has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A project: a directory to work in, with the ledger beside it.
pub(crate) struct Project {
    directory: TempDir,
    pub(crate) works: WorkLedger,
    pub(crate) ann: Caller,
}

impl Project {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let works = open(directory.path());
        Self::with(directory, works)
    }

    /// A project whose ledger lives on another disk.
    pub(crate) fn on(disk: impl Disk + 'static) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::builder(directory.path().join("state")).disk(disk).open().unwrap();
        Self::with(directory, WorkLedger::new(ledger, SystemClock, SystemIds))
    }

    fn with(directory: TempDir, works: WorkLedger) -> Self {
        fs::create_dir(directory.path().join("work")).unwrap();
        Self { directory, works, ann: caller("ann", Role::Person) }
    }

    /// The same ledger as another process would open it.
    pub(crate) fn reopened(&self) -> WorkLedger {
        open(self.directory.path())
    }

    /// Where agents and checks work.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.directory.path().join("state")
    }

    /// Writes a file into the directory where agents and checks work.
    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.cwd().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.cwd().join(name)).unwrap()
    }

    /// An item with three attempts whose script is `script`.
    pub(crate) fn item(&self, script: &str) -> StreamId {
        self.item_with(script, |_| {})
    }

    pub(crate) fn item_with(&self, script: &str, change: impl FnOnce(&mut Draft)) -> StreamId {
        let path = self.write("workflow.mjs", script);
        let mut files = read_script(&path).unwrap();
        let mut draft = Draft::new("Title", "The objective", files.remove(0));
        draft.modules = files;
        change(&mut draft);
        self.works.create(&self.ann, draft).unwrap().projection.id
    }

    pub(crate) fn projection(&self, id: &StreamId) -> Projection {
        self.works.get(id).unwrap().projection
    }

    /// The first attempt at a new item with this script, and `sh -c agent` as its agent.
    pub(crate) fn run(&self, script: &str, agent: &str) -> AttemptReport {
        let id = self.item(script);
        Attempt::of(self, &id).agent(agent).run().unwrap()
    }

    pub(crate) fn run_stream(&self, run_id: &StreamId) -> Stream<Run> {
        self.works.ledger().stream(run_id.as_str()).unwrap()
    }

    pub(crate) fn transcript(&self, run_id: &StreamId) -> Vec<Recorded<Event>> {
        let history = self.run_stream(run_id).history().unwrap();
        history.iter().filter_map(Entry::domain).cloned().collect()
    }

    /// The names of the events of a run.
    pub(crate) fn events(&self, run_id: &StreamId) -> Vec<&'static str> {
        self.transcript(run_id).iter().map(|recorded| recorded.event.name()).collect()
    }

    /// The names of the events of an item.
    pub(crate) fn work_events(&self, id: &StreamId) -> Vec<String> {
        let events =
            fs::read_to_string(self.state().join("work").join(id.as_str()).join("events.jsonl")).unwrap();
        let name =
            |line: &str| serde_json::from_str::<Value>(line).unwrap()["event"].as_str().unwrap().to_owned();
        events.lines().map(name).collect()
    }

    /// The bytes of what was captured, wherever they are.
    pub(crate) fn bytes(&self, captured: &Captured) -> Vec<u8> {
        match captured.blob() {
            Some(blob) => self.works.blobs().get(&blob).unwrap(),
            None => captured.text().unwrap().as_bytes().to_vec(),
        }
    }

    /// What the script returned, as JSON; text counts as a JSON string.
    pub(crate) fn result(&self, run_id: &StreamId) -> Value {
        let transcript = self.transcript(run_id);
        let Some(Event::RunEnded { result, error, .. }) = transcript.last().map(|recorded| &recorded.event)
        else {
            panic!("the run has not ended");
        };
        let Some(Payload { kind, content }) = result else {
            panic!("the run has no result: {error:?}");
        };
        let text = String::from_utf8(self.bytes(content)).unwrap();
        match kind {
            harn_workflow::run::PayloadKind::Text => Value::String(text),
            _ => serde_json::from_str(&text).unwrap(),
        }
    }

    /// How each call of an agent ended: outcome, class and error.
    pub(crate) fn agents(&self, run_id: &StreamId) -> Vec<(AgentOutcome, Option<&'static str>, String)> {
        let ended = |recorded: &Recorded<Event>| match &recorded.event {
            Event::AgentEnded { outcome, class, error, .. } => {
                let class = class.map(|class| match class {
                    harn_workflow::run::FailureClass::Environment => "environment",
                    harn_workflow::run::FailureClass::Upstream => "upstream",
                });
                Some((*outcome, class, error.as_ref().map(ToString::to_string).unwrap_or_default()))
            }
            _ => None,
        };
        self.transcript(run_id).iter().filter_map(ended).collect()
    }
}

fn open(directory: &Path) -> WorkLedger {
    WorkLedger::new(Ledger::open(directory.join("state")).unwrap(), SystemClock, SystemIds)
}

pub(crate) fn caller(name: &str, role: Role) -> Caller {
    Caller { actor: name.parse().unwrap(), role }
}

/// An adapter that runs `sh -c script`.
pub(crate) fn sh(name: &str, script: &str) -> Exec {
    Exec::new(name, ["sh", "-c", script]).unwrap()
}

/// Is told of every event.
type Observer<'a> = Box<dyn FnMut(&Recorded<Event>) + 'a>;

/// An attempt that is about to be made.
pub(crate) struct Attempt<'a> {
    project: &'a Project,
    id: &'a StreamId,
    trigger: Trigger,
    pub(crate) options: AttemptOptions,
    adapters: Adapters,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    stopper: Stopper,
    observer: Observer<'a>,
    prepares: Prepares,
    progress: Box<dyn FnMut(Progress<'_>) + 'a>,
}

/// What an attempt does about the recipe of its project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prepares {
    /// It knows of none.
    Nothing,
    /// It does without.
    Skips,
    /// It does what the recipe says.
    Recipe,
}

impl Prepares {
    pub(crate) fn request<'a>(
        self,
        root: &'a Path,
        progress: &'a mut dyn FnMut(Progress<'_>),
    ) -> Option<EnvironmentRequest<'a>> {
        let skip = match self {
            Self::Nothing => return None,
            Self::Skips => true,
            Self::Recipe => false,
        };
        Some(EnvironmentRequest { root, skip, sandbox: Some("test 1"), progress })
    }
}

impl<'a> Attempt<'a> {
    pub(crate) fn of(project: &'a Project, id: &'a StreamId) -> Self {
        let options = AttemptOptions {
            cwd: project.cwd(),
            max_agents: NonZeroU32::new(50).unwrap(),
            concurrency: NonZeroU32::new(4).unwrap(),
            deadline: None,
            subscription_only: false,
            allow_api_billing: false,
            approval_to: None,
            isolation: Isolation::Shared,
            require_acceptance: false,
        };
        Self {
            project,
            id,
            trigger: Trigger::Initial,
            options,
            adapters: Adapters::none(),
            environment: BTreeMap::from([("PATH".into(), std::env::var_os("PATH").unwrap_or_default())]),
            stopper: Stopper::new(),
            observer: Box::new(|_| {}),
            prepares: Prepares::Nothing,
            progress: Box::new(|_| {}),
        }
    }

    pub(crate) fn retry(mut self) -> Self {
        self.trigger = Trigger::Retry;
        self
    }

    /// The default agent is `sh -c script`.
    pub(crate) fn agent(self, script: &str) -> Self {
        self.default_adapter(sh("exec", script))
    }

    pub(crate) fn default_adapter(mut self, adapter: impl Adapter + 'static) -> Self {
        let name = adapter.name().to_owned();
        self.adapters = self.adapters.with(adapter).with_default(&name);
        self
    }

    pub(crate) fn adapters(mut self, adapters: Adapters) -> Self {
        self.adapters = adapters;
        self
    }

    pub(crate) fn deadline(mut self, milliseconds: u64) -> Self {
        self.options.deadline = Some(Duration::from_millis(milliseconds));
        self
    }

    pub(crate) fn stopper(mut self, stopper: &Stopper) -> Self {
        self.stopper = stopper.clone();
        self
    }

    /// Is called with every event of the run.
    pub(crate) fn observer(mut self, observer: impl FnMut(&Recorded<Event>) + 'a) -> Self {
        self.observer = Box::new(observer);
        self
    }

    pub(crate) fn prepares(mut self, prepares: Prepares) -> Self {
        self.prepares = prepares;
        self
    }

    /// Is called with what happens in a preparation and a check.
    pub(crate) fn progress(mut self, progress: impl FnMut(Progress<'_>) + 'a) -> Self {
        self.progress = Box::new(progress);
        self
    }

    pub(crate) fn run(mut self) -> Result<AttemptReport, AttemptError> {
        let root = self.project.cwd();
        run_attempt(AttemptRequest {
            works: &self.project.works,
            caller: &self.project.ann,
            id: self.id,
            trigger: self.trigger,
            options: &self.options,
            adapters: &self.adapters,
            environment: &self.environment,
            preparation: self.prepares.request(&root, &mut *self.progress),
            lease_note: "a test",
            stopper: &self.stopper,
            observer: &mut *self.observer,
        })
    }
}

/// Waits until `holds`; something else than the thing waited for is wrong if that takes too long.
pub(crate) fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < PATIENCE, "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether the process with the number in this file runs.
pub(crate) fn is_alive(pid_file: &Path) -> bool {
    let text = fs::read_to_string(pid_file).unwrap();
    text.split_whitespace().any(|pid| {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // A zombie waits for its parent and does nothing any more.
        status.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z') && !rest.is_empty())
    })
}
