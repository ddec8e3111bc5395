//! A process of a run, from its start on a thread of its own to what it left.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;

use harn_env::command::{self, Cancel, CommandSpec, Finished, Streams};
use harn_ledger::{BlobError, Blobs};
use harn_workflow::run::{AgentId, Captured, CheckId};

use crate::adapter::{Adapter, AgentFailure};
use crate::script::CallId;

use super::output::Output;

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
    Agent {
        id: AgentId,
        adapter: Arc<dyn Adapter>,
        spec: Box<CommandSpec>,
    },
    /// An agent that cannot be started; it only has to fail in its turn.
    Unstartable {
        id: AgentId,
        failure: AgentFailure,
    },
    /// A check.
    Check {
        id: CheckId,
        spec: Box<CommandSpec>,
    },
}

/// What a process left.
pub(super) struct Done {
    pub(super) call: CallId,
    pub(super) result: Result<Left, BlobError>,
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
            let result = self.work.run(&blobs, &cancel);
            // Nobody waits any more if the run could not be recorded.
            let _ = queue.send(Done { call, result });
        });
    }
}

impl Work {
    fn run(self, blobs: &Blobs, cancel: &Cancel) -> Result<Left, BlobError> {
        match self {
            Self::Unstartable { id, failure } => {
                Ok(Left::Agent { id, reply: Err(failure), rejected: None, stderr: None, finished: None })
            }
            Self::Agent { id, adapter, spec } => {
                let mut stdout = Output::new(blobs.clone(), REPLY_MAX);
                let mut stderr = Output::new(blobs.clone(), 0);
                let finished = run(&spec, &mut stdout, &mut stderr, cancel);
                let reply = match stdout.whole() {
                    Some(whole) => adapter.reply(&finished, whole),
                    None => Err(AgentFailure::unclassed(format!(
                        "the reply has {} bytes, expected at most {REPLY_MAX}",
                        finished.stdout.total_bytes
                    ))),
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
                let finished = run(&spec, &mut stdout, &mut stderr, cancel);
                let stdout = stdout.capture(&finished.stdout)?;
                let stderr = stderr.capture(&finished.stderr)?;
                let excerpts = [&finished.stdout, &finished.stderr].map(|seen| seen.excerpt().into_owned());
                Ok(Left::Check { id, finished: Box::new(finished), stdout, stderr, excerpts })
            }
        }
    }
}

fn run(spec: &CommandSpec, stdout: &mut Output, stderr: &mut Output, cancel: &Cancel) -> Finished {
    command::run(spec, Streams { stdout, stderr }, cancel)
}
