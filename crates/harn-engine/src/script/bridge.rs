//! The two sides of a running script: the engine's thread asks, the caller's thread answers through the host.

use std::cell::Cell;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};

use super::host::{Blocked, CallId, Host, HostError, Next, StopFlag};
use super::{AgentCall, CheckCall, EvidenceInput, Meta, ScriptEnd};

/// Takes one answer to the asking thread.
type Reply<T> = SyncSender<T>;

/// One call of the host, with the way back.
pub(super) enum Request {
    Loaded(Meta, Reply<()>),
    Stage(String, Reply<()>),
    Log(String, Reply<()>),
    Evidence(EvidenceInput, Reply<Result<String, String>>),
    Agent(AgentCall, Reply<Result<CallId, String>>),
    Check(CheckCall, Reply<Result<CallId, String>>),
    Blocked(Blocked, Reply<()>),
    ParallelItemFailed(u32, Option<String>, Reply<()>),
    Next(Reply<Next>),
}

/// The engine's side.
pub(super) struct Bridge {
    requests: Sender<Request>,
    stop: StopFlag,
    exhausted: Cell<Option<Exhausted>>,
}

/// What the script ran out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exhausted {
    Memory,
    Stack,
}

impl Bridge {
    pub(super) fn new(requests: Sender<Request>, stop: StopFlag) -> Self {
        Self { requests, stop, exhausted: Cell::new(None) }
    }

    /// Asks the host, unless the script has already ended, and waits for the answer.
    ///
    /// `None` also when the stop flag was set meanwhile: the script must not see the answer then.
    pub(super) fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Option<T> {
        if self.end().is_some() {
            return None;
        }
        let (reply, answer) = mpsc::sync_channel(1);
        self.requests.send(request(reply)).ok()?;
        answer.recv().ok().filter(|_| !self.stop.is_set())
    }

    /// How the script has ended, if it has, whatever its code still does. The stop wins.
    pub(super) fn end(&self) -> Option<ScriptEnd> {
        if self.stop.is_set() {
            return Some(ScriptEnd::Stopped);
        }
        self.exhausted.get().map(|exhausted| match exhausted {
            Exhausted::Memory => ScriptEnd::OutOfMemory,
            Exhausted::Stack => ScriptEnd::StackOverflow,
        })
    }

    /// From here on the script counts as stopped.
    pub(super) fn stop(&self) {
        self.stop.set();
    }

    /// From here on the script counts as exhausted; the first exhaustion stays.
    pub(super) fn exhaust(&self, exhausted: Exhausted) {
        if self.exhausted.get().is_none() {
            self.exhausted.set(Some(exhausted));
        }
    }
}

/// Answers requests until the engine's thread is done or the host fails.
pub(super) fn serve<H: Host>(host: &mut H, requests: &Receiver<Request>) -> Result<(), H::Fatal> {
    for request in requests {
        match request {
            Request::Loaded(meta, reply) => send(&reply, host.loaded(&meta)?),
            Request::Stage(title, reply) => send(&reply, host.stage(&title)?),
            Request::Log(text, reply) => send(&reply, host.log(&text)?),
            Request::Evidence(evidence, reply) => send(&reply, answer(host.evidence(evidence))?),
            Request::Agent(call, reply) => send(&reply, answer(host.agent(call))?),
            Request::Check(call, reply) => send(&reply, answer(host.check(call))?),
            Request::Blocked(blocked, reply) => send(&reply, host.blocked(blocked)?),
            Request::ParallelItemFailed(index, message, reply) => {
                send(&reply, host.parallel_item_failed(index, message.as_deref())?);
            }
            Request::Next(reply) => send(&reply, host.next()?),
        }
    }
    Ok(())
}

fn send<T>(reply: &Reply<T>, value: T) {
    // An answer that nobody waits for belongs to a thread that has ended; there is nothing to do about it.
    let _ = reply.send(value);
}

fn answer<T, F>(result: Result<T, HostError<F>>) -> Result<Result<T, String>, F> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(HostError::Refused(message)) => Ok(Err(message)),
        Err(HostError::Fatal(fatal)) => Err(fatal),
    }
}
