//! A process of a run, from its start on a thread of its own to what it left.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;

use harn_env::command::{self, Cancel, CommandSpec, Finished, Streams};
use harn_ledger::Blobs;
use harn_workflow::run::{AgentId, Captured, CheckId};

use crate::adapter::{Adapter, AgentFailure};
use crate::script::CallId;

use super::output::{self, Output};
use super::recorder::RunError;
use super::replay::CallOf;

/// Longest reply that a script is given, in bytes. A longer one is stored whole and fails the call.
const REPLY_MAX: usize = 8 << 20;

/// A process to be started.
pub(super) struct Job {
    pub(super) call: CallId,
    pub(super) work: Work,
}

/// What a process is for.
pub(super) enum Work {
    /// An agent.
    Agent { id: AgentId, adapter: Arc<dyn Adapter>, spec: Box<CommandSpec> },
    /// An agent that cannot be started; it only has to fail in its turn.
    Unstartable { id: AgentId, failure: AgentFailure },
    /// A check.
    Check { id: CheckId, spec: Box<CommandSpec> },
}

/// What a process left.
pub(super) struct Done {
    pub(super) call: CallId,
    /// The outer error is a panic.
    pub(super) result: thread::Result<Result<Left, RunError>>,
}

/// What a process left, by what it was for.
pub(super) enum Left {
    /// An agent.
    Agent {
        id: AgentId,
        /// The reply as stored and as the script gets it.
        reply: Result<(Captured, String), AgentFailure>,
        /// Standard output of an agent that failed.
        rejected: Option<Captured>,
        stderr: Option<Captured>,
        /// Absent when nothing was started.
        finished: Option<Box<Finished>>,
    },
    /// A check.
    Check {
        id: CheckId,
        finished: Box<Finished>,
        stdout: Option<Captured>,
        stderr: Option<Captured>,
        /// The end of each output, as the script gets it.
        excerpts: [String; 2],
    },
}

impl Job {
    /// Runs the process on a thread of its own, which sends what it left to `queue`.
    pub(super) fn start(self, blobs: &Blobs, cancel: &Cancel, queue: &Sender<Done>) {
        let (blobs, cancel, queue) = (blobs.clone(), cancel.clone(), queue.clone());
        thread::spawn(move || {
            let call = self.call;
            // An adapter may be anybody's code. Without an answer the run would wait for ever.
            let result = catch_unwind(AssertUnwindSafe(|| self.work.run(&blobs, &cancel)));
            // Nobody waits any more if the run could not be recorded.
            let _ = queue.send(Done { call, result });
        });
    }
}

impl Work {
    /// The call that it is for.
    pub(super) const fn call_of(&self) -> CallOf {
        match self {
            Self::Agent { id, .. } | Self::Unstartable { id, .. } => CallOf::Agent(*id),
            Self::Check { id, .. } => CallOf::Check(*id),
        }
    }

    fn run(self, blobs: &Blobs, cancel: &Cancel) -> Result<Left, RunError> {
        match self {
            Self::Unstartable { id, failure } => {
                Ok(Left::Agent { id, reply: Err(failure), rejected: None, stderr: None, finished: None })
            }
            Self::Agent { id, adapter, spec } => {
                let mut stdout = Output::new(blobs.clone(), REPLY_MAX);
                let mut stderr = Output::new(blobs.clone(), 0);
                let finished = run(&spec, &mut stdout, &mut stderr, cancel)?;
                let reply = match stdout.whole(&finished.stdout) {
                    Some(whole) => adapter.reply(&finished, whole),
                    None => Err(too_long(&spec, &finished)),
                };
                let stderr = stderr.capture(&finished.stderr)?;
                let finished = Some(Box::new(finished));
                Ok(match reply {
                    Ok(bytes) => {
                        let captured = Captured::of(&bytes);
                        if captured.blob().is_some() {
                            blobs.put(&bytes)?;
                        }
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        Left::Agent { id, reply: Ok((captured, text)), rejected: None, stderr, finished }
                    }
                    Err(failure) => {
                        let seen = &finished.as_ref().expect("it was just set").stdout;
                        let rejected = stdout.capture(seen)?;
                        Left::Agent { id, reply: Err(failure), rejected, stderr, finished }
                    }
                })
            }
            Self::Check { id, spec } => {
                let mut stdout = Output::new(blobs.clone(), 0);
                let mut stderr = Output::new(blobs.clone(), 0);
                let finished = run(&spec, &mut stdout, &mut stderr, cancel)?;
                let stdout = stdout.capture(&finished.stdout)?;
                let stderr = stderr.capture(&finished.stderr)?;
                let excerpts = [
                    output::excerpt_of(&finished.stdout, stdout.as_ref()),
                    output::excerpt_of(&finished.stderr, stderr.as_ref()),
                ];
                Ok(Left::Check { id, finished: Box::new(finished), stdout, stderr, excerpts })
            }
        }
    }
}

/// Runs the command. What it left is worth nothing unless all of its output was stored.
fn run(
    spec: &CommandSpec,
    stdout: &mut Output,
    stderr: &mut Output,
    cancel: &Cancel,
) -> Result<Finished, RunError> {
    let mut finished = command::run(spec, Streams { stdout, stderr }, cancel);
    let failed = finished.stdout.sink_error.take().or_else(|| finished.stderr.sink_error.take());
    failed.map_or(Ok(finished), |error| Err(RunError::Output(error)))
}

/// The failure of an agent that printed more than a reply may hold. Why its process failed comes first.
fn too_long(spec: &CommandSpec, finished: &Finished) -> AgentFailure {
    AgentFailure::of_process(&spec.program.to_string_lossy(), finished).unwrap_or_else(|| {
        let bytes = finished.stdout.total_bytes;
        AgentFailure::unclassed(format!("the reply has {bytes} bytes, expected at most {REPLY_MAX}"))
    })
}
