//! A host that plays a prepared list of completions and writes down what the script does.

use std::collections::{BTreeSet, VecDeque};

use harn_engine::script::{
    AgentCall, Blocked, Bundle, CallId, CheckCall, Contexts, EvidenceInput, Host, HostError, Meta, Next,
    Options, ScriptEnd, StopFlag, run,
};
use serde_json::{Value, json};

/// Script time before the first completion: 2026-01-02 03:04:05 UTC.
pub(crate) const START_MS: i64 = 1_767_323_045_000;

/// One prepared answer of [`Host::next`].
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// The call (the first is 1) is done with this value.
    Done(u32, Value),
    /// The call failed with this message.
    Failed(u32, &'static str),
    /// The run is to stop.
    Stop,
}

/// The fake. Without prepared answers left, the oldest outstanding call succeeds with `reply N`.
#[derive(Default)]
pub(crate) struct Fake {
    pub(crate) stop: StopFlag,
    /// One line for everything that the script did.
    pub(crate) seen: Vec<String>,
    pub(crate) answers: VecDeque<Answer>,
    /// Sets the stop flag when this text is logged.
    pub(crate) stop_on_log: Option<&'static str>,
    /// Fails for good when this text is logged.
    pub(crate) fatal_on_log: Option<&'static str>,
    /// Sets the stop flag when an agent with this prompt starts, as a parking run does.
    pub(crate) park_on_prompt: Option<&'static str>,
    pub(crate) calls: u32,
    pub(crate) evidence: u32,
    pub(crate) outstanding: BTreeSet<u32>,
    pub(crate) now_ms: i64,
}

/// The host cannot go on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DiskFull;

impl Fake {
    pub(crate) fn with(answers: &[Answer]) -> Self {
        Self { answers: answers.iter().cloned().collect(), now_ms: START_MS, ..Self::default() }
    }

    fn start(&mut self) -> CallId {
        self.calls += 1;
        self.outstanding.insert(self.calls);
        CallId(self.calls)
    }

    fn complete(&mut self, call: u32, outcome: Result<Value, String>) -> Next {
        self.outstanding.remove(&call);
        self.now_ms += 1_000;
        Next::Completed { call: CallId(call), at_ms: self.now_ms, outcome }
    }
}

impl Host for Fake {
    type Fatal = DiskFull;

    fn stop_flag(&self) -> StopFlag {
        self.stop.clone()
    }

    fn loaded(&mut self, meta: &Meta) -> Result<(), DiskFull> {
        self.seen.push(format!("loaded {}", meta.name));
        Ok(())
    }

    fn stage(&mut self, title: &str) -> Result<(), DiskFull> {
        self.seen.push(format!("stage {title}"));
        Ok(())
    }

    fn log(&mut self, text: &str) -> Result<(), DiskFull> {
        self.seen.push(format!("log {text}"));
        if self.stop_on_log == Some(text) {
            self.stop.set();
        }
        if self.fatal_on_log == Some(text) { Err(DiskFull) } else { Ok(()) }
    }

    fn evidence(&mut self, evidence: EvidenceInput) -> Result<String, HostError<DiskFull>> {
        if let Some(id) =
            evidence.acceptance_ids.iter().find(|id| !matches!(id.as_str(), "a" | "b" | "item.1"))
        {
            return Err(HostError::Refused(format!("there is no acceptance criterion `{id}`")));
        }
        self.evidence += 1;
        let id = format!("e{}", self.evidence);
        self.seen.push(format!(
            "evidence {id} {} {} {} {:?} {:?}",
            evidence.kind.as_str(),
            evidence.status.as_str(),
            evidence.label,
            evidence.acceptance_ids.join(","),
            (evidence.summary, evidence.reference, evidence.note),
        ));
        Ok(id)
    }

    fn agent(&mut self, call: AgentCall) -> Result<CallId, HostError<DiskFull>> {
        if call.adapter.as_deref() == Some("nobody") {
            return Err(HostError::Refused("there is no adapter `nobody`".to_owned()));
        }
        self.seen.push(format!("agent {}", call.prompt));
        let AgentCall { adapter, model, effort, label, max_turns, timeout_ms, .. } = &call;
        if call != AgentCall::new(call.prompt.as_str()) {
            self.seen.push(format!("  {:?}", (adapter, model, effort, label, max_turns, timeout_ms)));
        }
        if self.park_on_prompt == Some(&call.prompt) {
            self.stop.set();
        }
        Ok(self.start())
    }

    fn check(&mut self, call: CheckCall) -> Result<CallId, HostError<DiskFull>> {
        self.seen.push(format!(
            "check {} {:?} {:?}",
            call.name,
            call.argv,
            (&call.cwd, call.timeout_ms, &call.acceptance_ids)
        ));
        Ok(self.start())
    }

    fn blocked(&mut self, blocked: Blocked) -> Result<(), DiskFull> {
        self.seen.push(format!("blocked {:?}", (blocked.reason, blocked.decision)));
        Ok(())
    }

    fn parallel_item_failed(&mut self, index: u32, message: Option<&str>) -> Result<(), DiskFull> {
        self.seen.push(format!("parallel item {index} failed {message:?}"));
        Ok(())
    }

    fn next(&mut self) -> Result<Next, DiskFull> {
        self.seen.push("next".to_owned());
        Ok(match self.answers.pop_front() {
            Some(Answer::Done(call, value)) => self.complete(call, Ok(value)),
            Some(Answer::Failed(call, message)) => self.complete(call, Err(message.to_owned())),
            Some(Answer::Stop) => {
                self.stop.set();
                Next::Stop
            }
            None => match self.outstanding.first().copied() {
                Some(call) => self.complete(call, Ok(json!(format!("reply {call}")))),
                None => Next::Idle,
            },
        })
    }
}

/// The module `/w/flow.mjs` with this source.
pub(crate) fn bundle(source: &str) -> Bundle {
    Bundle::frozen("/w/flow.mjs", vec![("/w/flow.mjs".to_owned(), source.as_bytes().to_vec())]).unwrap()
}

/// No work item, a workspace at `/w`.
pub(crate) fn contexts() -> Contexts {
    Contexts { work: None, attempt: None, workspace: json!({"root": "/w", "isolated": false}) }
}

/// Runs `source` against `fake` with plain options.
pub(crate) fn play(source: &str, fake: &mut Fake) -> ScriptEnd {
    run(&bundle(source), &contexts(), &Options::new(START_MS, 7), fake).unwrap()
}

/// Runs the body of a default export and returns its end and what the host saw of it.
pub(crate) fn play_body(body: &str, answers: &[Answer]) -> (ScriptEnd, Vec<String>) {
    let mut fake = Fake::with(answers);
    let end = play(&format!("export default async (ctx) => {{ {body} }}"), &mut fake);
    let seen = fake.seen.into_iter().filter(|line| line != "next" && line != "loaded flow").collect();
    (end, seen)
}

/// The end of a script that returns this value.
pub(crate) fn returned(value: &Value) -> ScriptEnd {
    ScriptEnd::Returned { result: Some(value.to_string()) }
}

/// What `body` returns, as a value; anything but a return fails the test.
pub(crate) fn value_of(body: &str) -> Value {
    match play_body(body, &[]).0 {
        ScriptEnd::Returned { result: Some(json) } => serde_json::from_str(&json).unwrap(),
        other => panic!("`{body}` ended as {other:?}"),
    }
}

/// The message that `body` throws; anything but a throw fails the test.
pub(crate) fn message_of(body: &str) -> String {
    match play_body(body, &[]).0 {
        ScriptEnd::Threw { message: Some(message), .. } => message,
        other => panic!("`{body}` ended as {other:?}"),
    }
}
