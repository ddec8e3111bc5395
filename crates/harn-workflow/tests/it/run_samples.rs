//! Runs made by hand: manifests, events, and a transcript that grows through the domain's own rules.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::NonZeroU32;

use harn_ledger::{Actor, BlobRef, Decider as _, Digest, Recorded, StreamId, Timestamp};
use harn_workflow::context::{AttemptContext, ContextFinding, Trigger, WorkContext};
use harn_workflow::run::{
    AbsolutePath, AcceptanceIds, AgentId, AgentOutcome, Argv, Block, Captured, CheckId, CheckOutcome,
    Command, Criterion, CriterionId, EndedCheck, Ending, Event, EvidenceKind, EvidenceStatus, Execution,
    Failure, FailureClass, Line, Manifest, ManifestParts, Meta, MetaParts, Module, Payload, PayloadKind,
    Proof, Refusal, Run, Script, Source, State, Version,
};

pub(crate) const START: i64 = 1_785_000_000_000_000;

pub(crate) fn id(text: &str) -> StreamId {
    StreamId::new(text).unwrap()
}

pub(crate) fn actor(text: &str) -> Actor {
    Actor::new(text).unwrap()
}

pub(crate) fn path(text: &str) -> AbsolutePath {
    AbsolutePath::new(text).unwrap()
}

pub(crate) fn line<const MAX: usize>(text: &str) -> Line<MAX> {
    Line::new("text", text).unwrap()
}

pub(crate) fn block<const MAX: usize>(text: &str) -> Block<MAX> {
    Block::new("text", text).unwrap()
}

pub(crate) fn nth(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

pub(crate) fn cited(ids: &[&str]) -> AcceptanceIds {
    ids.iter().map(|id| CriterionId::new(id).unwrap()).collect()
}

pub(crate) fn text(text: &str) -> Payload {
    Payload { kind: PayloadKind::Text, content: Captured::of(text.as_bytes()) }
}

pub(crate) fn work() -> WorkContext {
    let acceptance = ["The full suite passes", "The smoke test passes"];
    WorkContext::new(id("alpha"), "Release the package", "Publish a verified release", acceptance).unwrap()
}

pub(crate) fn findings() -> Vec<ContextFinding> {
    vec![
        ContextFinding {
            id: "f1".to_owned(),
            actor: actor("reviewer"),
            statement: "The bounded writer throws on a large result instead of truncating it.".to_owned(),
        },
        ContextFinding { id: "f3".to_owned(), actor: actor("operator"), statement: "No example.".to_owned() },
    ]
}

pub(crate) fn initial(findings: Vec<ContextFinding>) -> AttemptContext {
    AttemptContext::new(1, Trigger::Initial, None, findings).unwrap()
}

/// What a run of the item `alpha` is asked; its first attempt.
pub(crate) fn parts() -> ManifestParts {
    let script = b"export default async () => 'done'\n";
    let module = b"export const x = 1\n";
    ManifestParts {
        schema_version: Version,
        run_id: id("run-1"),
        work_item_id: Some(id("alpha")),
        work_context: Some(work()),
        attempt_context: Some(initial(Vec::new())),
        name: line("release"),
        started_at: Timestamp::from_microseconds(START),
        script: Script {
            path: path("/project/workflows/release.mjs"),
            sha256: Digest::of(script),
            content: BlobRef::of(script),
            modules: vec![Module {
                path: path("/project/workflows/x.mjs"),
                sha256: Digest::of(module),
                content: BlobRef::of(module),
            }],
        },
        repository_before: None,
        execution: Execution { adapter: Some(line("codex")), ..Execution::in_dir(path("/project")) },
    }
}

pub(crate) fn manifest() -> Manifest {
    Manifest::new(parts()).unwrap()
}

/// A script's description of itself with these criteria.
pub(crate) fn meta(ids: &[&str]) -> Meta {
    let acceptance = ids
        .iter()
        .map(|id| Criterion { id: CriterionId::new(id).unwrap(), statement: block(&format!("{id} holds")) });
    Meta::new(MetaParts { acceptance: acceptance.collect(), ..MetaParts::default() }).unwrap()
}

pub(crate) fn loaded(ids: &[&str]) -> Event {
    Event::ScriptLoaded { meta: meta(ids) }
}

pub(crate) fn agent_started(number: u32) -> Event {
    Event::AgentStarted {
        id: AgentId::new(nth(number)),
        label: line("write it"),
        stage: Some(line("do")),
        key: Digest::of(b"key"),
        occurrence: nth(number),
        adapter: Some(line("codex")),
        model: None,
        effort: None,
        prompt: Captured::of(b"Write it."),
    }
}

pub(crate) fn agent_succeeded(number: u32, reply: &str) -> Event {
    Event::AgentEnded {
        id: AgentId::new(nth(number)),
        outcome: AgentOutcome::Succeeded,
        class: None,
        reply: Some(text(reply)),
        error: None,
        tries: 0,
        duration_ms: 12,
    }
}

pub(crate) fn agent_failed(number: u32, class: Option<FailureClass>) -> Event {
    Event::AgentEnded {
        id: AgentId::new(nth(number)),
        outcome: AgentOutcome::Failed,
        class,
        reply: None,
        error: Some(block("it did not work")),
        tries: 0,
        duration_ms: 12,
    }
}

pub(crate) fn check_started(number: u32, acceptance_ids: &[&str]) -> Event {
    Event::CheckStarted {
        id: CheckId::new(nth(number)),
        name: line("suite"),
        stage: None,
        argv: Argv::new(vec!["cargo".to_owned(), "test".to_owned()]).unwrap(),
        cwd: path("/project"),
        timeout_ms: None,
        acceptance_ids: cited(acceptance_ids),
    }
}

pub(crate) fn check_ended(number: u32, outcome: CheckOutcome) -> Command {
    let exit_code = match outcome {
        CheckOutcome::Passed => Some(0),
        CheckOutcome::Failed => Some(101),
        _ => None,
    };
    Command::EndCheck(Box::new(EndedCheck {
        id: CheckId::new(nth(number)),
        outcome,
        exit_code,
        signal: None,
        error: None,
        duration_ms: 70,
        stdout: Some(Captured::of(b"ok\n")),
        stderr: Some(Captured::of(b"")),
    }))
}

/// Evidence that the script declares.
pub(crate) fn evidence(number: u32, status: EvidenceStatus, acceptance_ids: &[&str]) -> Event {
    Event::EvidenceRecorded {
        id: format!("e{number}").parse().unwrap(),
        source: Source::Workflow,
        kind: EvidenceKind::Test,
        status,
        label: line("suite"),
        stage: None,
        check: None,
        summary: None,
        reference: None,
        acceptance_ids: cited(acceptance_ids),
        note: None,
    }
}

pub(crate) fn succeeded() -> Command {
    Command::End(Box::new(Ending { result: Some(text("done")), ..Ending::default() }))
}

pub(crate) fn failed(failure: Failure, error: &str) -> Command {
    Command::End(Box::new(Ending { failure: Some(failure), error: Block::clip(error), ..Ending::default() }))
}

/// A transcript, with the state that it folds to. Each line's hash is made up from its number.
pub(crate) struct Transcript {
    pub(crate) manifest: Manifest,
    pub(crate) state: State,
    pub(crate) lines: Vec<Recorded<Event>>,
}

impl Transcript {
    /// A run that has started and loaded a script with these criteria.
    pub(crate) fn of(manifest: Manifest, criteria: &[&str]) -> Self {
        Self::started(manifest).with(loaded(criteria))
    }

    /// A run that has started.
    pub(crate) fn started(manifest: Manifest) -> Self {
        let state = Run::init(&manifest);
        let new = Self { manifest, state, lines: Vec::new() };
        new.with(Event::RunStarted {})
    }

    pub(crate) fn with(mut self, event: Event) -> Self {
        self.record(event).unwrap();
        self
    }

    pub(crate) fn then(mut self, command: Command) -> Self {
        self.execute(command).unwrap();
        self
    }

    pub(crate) fn record(&mut self, event: Event) -> Result<(), Refusal> {
        self.execute(Command::Record(vec![event]))
    }

    pub(crate) fn execute(&mut self, command: Command) -> Result<(), Refusal> {
        for event in Run::decide(&self.state, command, &())? {
            self.append(event);
        }
        Ok(())
    }

    /// Appends below the rules, as an import could.
    pub(crate) fn append(&mut self, event: Event) {
        let seq = self.lines.len() as u64 + 1;
        let recorded = Recorded {
            seq,
            ts: Timestamp::from_microseconds(START + i64::try_from(seq).unwrap() * 1_000),
            actor: actor("runner"),
            hash: Digest::of(&seq.to_be_bytes()),
            event,
        };
        Run::evolve(&mut self.state, &recorded);
        self.lines.push(recorded);
    }

    pub(crate) fn proof(&self) -> Proof {
        Proof::of(&self.manifest, &self.lines).unwrap()
    }
}
