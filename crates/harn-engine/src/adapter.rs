//! Adapters: how a request to an agent becomes a process, and how its outcome becomes a reply or a failure.
//!
//! An [`Adapter`] is two pure functions. Starting the process, limits, recording and retries are not its concern.

mod environment;
mod exec;
mod failure;
mod upstream_text;

use std::ffi::OsString;
use std::fmt::Debug;

use harn_env::command::Finished;

pub use environment::{ChildIdentity, agent_environment, check_environment};
pub use exec::{Exec, ExecError};
pub use failure::{AgentClass, AgentFailure};
pub use upstream_text::is_upstream;

/// What an agent is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRequest {
    /// The prompt, byte for byte as the script gave it.
    pub prompt: String,
    /// The vendor's model name.
    pub model: Option<String>,
    /// The vendor's effort level.
    pub effort: Option<String>,
    /// The most turns the agent may take.
    pub max_turns: Option<u32>,
}

/// The process that carries a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// What it reads on standard input.
    pub stdin: Vec<u8>,
    /// Variables that it gets beside those of every agent.
    pub variables: Vec<(OsString, OsString)>,
}

/// Turns requests into processes and their outcomes into replies.
pub trait Adapter: Debug + Send + Sync {
    /// The name that `--adapter` and the transcript use.
    fn name(&self) -> &str;

    /// The process for a request, or why the adapter cannot express it.
    fn invocation(&self, request: &AgentRequest) -> Result<Invocation, AgentFailure>;

    /// The reply in what the process left, or how it failed. `stdout` is its whole standard output.
    fn reply(&self, finished: &Finished, stdout: &[u8]) -> Result<Vec<u8>, AgentFailure>;
}
