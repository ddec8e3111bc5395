//! What stands behind a script: starts what it asks for within the run's limits, records it, and delivers results.

mod catch_up;
pub(crate) mod convert;
mod record;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroU64};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use harn_env::command::CommandSpec;
use harn_ledger::Digest;
use harn_workflow::run::{
    AbsolutePath, AcceptanceIds, AgentId, Argv, Block, CriterionId, Event, Label, Line, Manifest, Reason,
    Refusal, Source,
};
use serde_json::json;

use crate::adapter::{
    AgentClass, AgentFailure, AgentRequest, ChildIdentity, agent_environment, check_environment,
};
use crate::script::{
    AgentCall, Blocked, CallId, CheckCall, EvidenceInput, Host, HostError, Meta, Next, StopFlag,
};

use super::adapters::Adapters;
use super::job::{Done, Job, Left, Work};
use super::recorder::{Recorder, RunError};
use super::stop::{StopReason, Stopper};
use record::record;

/// How long an agent may take when the script does not say: an hour.
const AGENT_TIMEOUT: Duration = Duration::from_secs(3600);

/// How long a check may take when the script does not say: ten minutes.
const CHECK_TIMEOUT: Duration = Duration::from_secs(600);

/// The host of one run's script.
pub(super) struct Driver<'a> {
    recorder: Recorder<'a>,
    manifest: &'a Manifest,
    adapters: &'a Adapters,
    environment: &'a BTreeMap<OsString, OsString>,
    stopper: Stopper,
    stage: Option<Label>,
    /// How many calls of agents had each key.
    calls: HashMap<Digest, u32>,
    agents: u32,
    next_call: u32,
    waiting: VecDeque<Job>,
    running: u32,
    queue: (Sender<Done>, Receiver<Done>),
}

type Refusable<T> = Result<T, HostError<RunError>>;

fn refused(message: &dyn ToString) -> HostError<RunError> {
    HostError::Refused(message.to_string())
}

/// What is to be shown to people must not be blank.
fn named(label: Option<Label>, what: &str) -> Refusable<Label> {
    label.ok_or_else(|| HostError::Refused(format!("the {what} is blank")))
}

/// A refusal of the transcript is an error that the script gets; anything else ends the run.
fn refusable(error: RunError) -> HostError<RunError> {
    match error {
        RunError::Refused(refusal @ (Refusal::UnknownCriterion { .. } | Refusal::TooMuchEvidence { .. })) => {
            HostError::Refused(refusal.to_string())
        }
        error => HostError::Fatal(error),
    }
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        recorder: Recorder<'a>,
        manifest: &'a Manifest,
        adapters: &'a Adapters,
        environment: &'a BTreeMap<OsString, OsString>,
        stopper: Stopper,
    ) -> Self {
        Self {
            recorder,
            manifest,
            adapters,
            environment,
            stopper,
            stage: None,
            calls: HashMap::new(),
            agents: 0,
            next_call: 0,
            waiting: VecDeque::new(),
            running: 0,
            queue: channel(),
        }
    }

    /// Ends everything that still runs or waits, and records that.
    pub(super) fn settle(&mut self) -> Result<(), RunError> {
        self.stopper.children().cancel();
        if self.stopper.reason().is_some_and(|reason| reason != StopReason::Blocked) {
            self.leave_replay()?;
        }
        while self.running > 0 || !self.waiting.is_empty() {
            if self.replayed()?.is_some() {
                continue;
            }
            self.start_waiting();
            let (_, left) = self.receive();
            // Nobody waits for what the script would have got.
            drop(record(&mut self.recorder, left?)?);
        }
        Ok(())
    }

    /// Ends everything that still runs without recording it: for a transcript that takes no more.
    pub(super) fn abandon(&mut self) {
        self.stopper.children().cancel();
        self.waiting.clear();
        while self.running > 0 {
            drop(self.receive());
        }
    }

    pub(super) fn into_recorder(self) -> Recorder<'a> {
        self.recorder
    }

    /// Starts waiting jobs while there are free slots. Nothing starts until the script has caught up with the transcript:
    /// whatever it waits for may have ended already.
    fn start_waiting(&mut self) {
        if self.recorder.is_replaying() {
            return;
        }
        while self.running < self.manifest.parts().execution.concurrency.get() {
            let Some(job) = self.waiting.pop_front() else {
                return;
            };
            self.running += 1;
            job.start(self.recorder.blobs(), self.stopper.children(), &self.queue.0);
        }
    }

    /// Waits for the next process to be over.
    ///
    /// # Panics
    ///
    /// If the thread of that process did. The other children are ended then.
    fn receive(&mut self) -> (CallId, Result<Left, RunError>) {
        let done = self.queue.1.recv().expect("the run keeps a sender of its own");
        self.running -= 1;
        let result = done.result.unwrap_or_else(|panic| {
            self.stopper.children().cancel();
            resume_unwind(panic)
        });
        (done.call, result)
    }

    fn enqueue(&mut self, work: Work) -> CallId {
        let call = CallId(self.next_call);
        self.next_call += 1;
        self.waiting.push_back(Job { call, work });
        self.start_waiting();
        call
    }

    /// The process of an agent, or why there is none.
    fn agent_work(&self, id: AgentId, call: &AgentCall) -> Work {
        let Some(name) = call.adapter.as_deref().or(self.adapters.default_name()) else {
            return Work::Unstartable { id, failure: no_adapter() };
        };
        let adapter = self.adapters.get(name).expect("the name was checked when the call came in").clone();
        let request = AgentRequest {
            prompt: call.prompt.clone(),
            model: call.model.clone(),
            effort: call.effort.clone(),
            max_turns: call.max_turns,
        };
        let invocation = match adapter.invocation(&request) {
            Ok(invocation) => invocation,
            Err(failure) => return Work::Unstartable { id, failure },
        };
        let execution = &self.manifest.parts().execution;
        let child_id = id.to_string();
        let identity = ChildIdentity { run_id: self.run_id(), child_id: &child_id };
        let mut environment = agent_environment(self.environment, execution.subscription_only, &identity);
        for (variable, value) in invocation.variables {
            environment = environment.with(variable, value);
        }
        let timeout = call.timeout_ms.map_or(AGENT_TIMEOUT, |ms| Duration::from_millis(ms.into()));
        let spec = CommandSpec::new(invocation.program, execution.cwd.as_str())
            .args(invocation.args)
            .environment(environment)
            .stdin(invocation.stdin)
            .timeout(timeout);
        Work::Agent { id, adapter, spec: Box::new(spec) }
    }

    fn run_id(&self) -> &'a str {
        self.manifest.parts().run_id.as_str()
    }

    fn criteria(ids: &[String]) -> Refusable<AcceptanceIds> {
        let criteria = ids.iter().map(|id| CriterionId::new(id));
        criteria.collect::<Result<_, _>>().map_err(|error| refused(&error))
    }

    /// Digest of everything that makes one call of an agent like another.
    fn key(&self, call: &AgentCall, adapter: Option<&str>) -> Digest {
        let stage = self.stage.as_ref().map(Label::as_str);
        let parts = json!([stage, adapter, call.model, call.effort, call.max_turns, null, null, call.prompt]);
        Digest::of(parts.to_string().as_bytes())
    }
}

impl Host for Driver<'_> {
    type Fatal = RunError;

    fn stop_flag(&self) -> StopFlag {
        self.stopper.script()
    }

    fn loaded(&mut self, meta: &Meta) -> Result<(), RunError> {
        self.recorder.event(Event::ScriptLoaded { meta: convert::meta(meta) })
    }

    fn stage(&mut self, title: &str) -> Result<(), RunError> {
        let Some(title) = Label::clip(title) else {
            return Ok(());
        };
        self.stage = Some(title.clone());
        self.recorder.event(Event::Stage { title })
    }

    fn log(&mut self, text: &str) -> Result<(), RunError> {
        let message = self.recorder.capture(text.as_bytes())?;
        self.recorder.event(Event::Log { message })
    }

    fn evidence(&mut self, evidence: EvidenceInput) -> Refusable<String> {
        let id = self.recorder.state().map_err(HostError::Fatal)?.next_evidence();
        let event = Event::EvidenceRecorded {
            id,
            source: Source::Workflow,
            kind: convert::evidence_kind(evidence.kind),
            status: convert::evidence_status(evidence.status),
            label: named(Label::clip(&evidence.label), "label")?,
            stage: self.stage.clone(),
            check: None,
            summary: evidence.summary.as_deref().and_then(Block::clip),
            reference: evidence.reference.as_deref().and_then(Block::clip),
            acceptance_ids: Self::criteria(&evidence.acceptance_ids)?,
            note: evidence.note.as_deref().and_then(Block::clip),
        };
        self.recorder.event(event).map_err(refusable)?;
        Ok(id.to_string())
    }

    fn agent(&mut self, call: AgentCall) -> Refusable<CallId> {
        let limit = self.manifest.parts().execution.max_agents.get();
        if self.agents >= limit {
            return Err(refused(&format!(
                "the run may start {limit} agents and has started them all (`--max-agents`)"
            )));
        }
        let adapter = call.adapter.as_deref().or(self.adapters.default_name());
        if let Some(name) = adapter
            && self.adapters.get(name).is_none()
        {
            let known: Vec<&str> = self.adapters.names().collect();
            return Err(refused(&format!(
                "there is no adapter `{name}`, expected one of: {}",
                known.join(", ")
            )));
        }
        let key = self.key(&call, adapter);
        let occurrence = self.calls.entry(key).or_default();
        *occurrence += 1;
        let occurrence = NonZeroU32::new(*occurrence).unwrap_or(NonZeroU32::MAX);
        let id = self.recorder.state().map_err(HostError::Fatal)?.next_agent();
        let prompt = self.recorder.capture(call.prompt.as_bytes()).map_err(HostError::Fatal)?;
        let started = Event::AgentStarted {
            id,
            label: named(convert::label(call.label.as_deref(), &call.prompt), "prompt")?,
            stage: self.stage.clone(),
            key,
            occurrence,
            adapter: adapter.and_then(Line::clip),
            model: call.model.as_deref().and_then(Label::clip),
            effort: call.effort.as_deref().and_then(Label::clip),
            prompt,
        };
        self.recorder.event(started).map_err(refusable)?;
        self.agents += 1;
        let work = self.agent_work(id, &call);
        Ok(self.enqueue(work))
    }

    fn check(&mut self, call: CheckCall) -> Refusable<CallId> {
        let id = self.recorder.state().map_err(HostError::Fatal)?.next_check();
        let execution = &self.manifest.parts().execution;
        let cwd = call.cwd.as_deref().map_or_else(
            || Path::new(execution.cwd.as_str()).to_owned(),
            |cwd| Path::new(execution.cwd.as_str()).join(cwd),
        );
        let cwd = AbsolutePath::new(&cwd.to_string_lossy()).map_err(|error| refused(&error))?;
        let command = Argv::new(call.argv).map_err(|error| refused(&error))?;
        let timeout = call.timeout_ms.map_or(CHECK_TIMEOUT, |ms| Duration::from_millis(ms.into()));
        let started = Event::CheckStarted {
            id,
            name: named(Label::clip(&call.name), "name")?,
            stage: self.stage.clone(),
            argv: command.clone(),
            cwd: cwd.clone(),
            timeout_ms: NonZeroU64::new(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
            acceptance_ids: Self::criteria(&call.acceptance_ids)?,
        };
        self.recorder.event(started).map_err(refusable)?;
        let child_id = id.to_string();
        let identity = ChildIdentity { run_id: self.run_id(), child_id: &child_id };
        let [program, args @ ..] = command.as_slice() else {
            return Err(refused(&"the command is empty"));
        };
        let spec = CommandSpec::new(program, cwd.as_str())
            .args(args)
            .environment(check_environment(self.environment, &identity))
            .timeout(timeout);
        Ok(self.enqueue(Work::Check { id, spec: Box::new(spec) }))
    }

    fn blocked(&mut self, blocked: Blocked) -> Result<(), RunError> {
        self.stopper.stop(StopReason::Blocked);
        self.settle()?;
        if self.stopper.reason() != Some(StopReason::Blocked) {
            // Something else ended the run at this very moment, and its end says so.
            return Ok(());
        }
        let reason =
            Reason::clip(&blocked.reason).unwrap_or_else(|| Reason::clip("no reason given").expect("a text"));
        let decision = blocked.decision.as_deref().and_then(Line::clip);
        self.recorder.event(Event::RunBlocked { reason, decision })
    }

    fn parallel_item_failed(&mut self, index: u32, message: Option<&str>) -> Result<(), RunError> {
        self.recorder.event(Event::ParallelItemFailed { index, error: message.and_then(Reason::clip) })
    }

    fn next(&mut self) -> Result<Next, RunError> {
        if self.stopper.reason().is_some() {
            return Ok(Next::Stop);
        }
        if let Some(next) = self.replayed()? {
            return Ok(next);
        }
        self.start_waiting();
        if self.running == 0 {
            return Ok(Next::Idle);
        }
        // When the run is stopped all children end, so this wait ends too.
        let (call, left) = self.receive();
        let outcome = record(&mut self.recorder, left?)?;
        self.start_waiting();
        Ok(Next::Completed { call, at_ms: self.recorder.last_ms(), outcome })
    }
}

fn no_adapter() -> AgentFailure {
    AgentFailure {
        class: Some(AgentClass::Environment),
        message: "no adapter is set: name one with `--adapter`, or set `adapter` in `.harn/config.toml`"
            .to_owned(),
    }
}

#[cfg(test)]
pub(super) use tests::manifest_for_tests;

#[cfg(test)]
mod tests;
