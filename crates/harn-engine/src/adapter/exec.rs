//! The adapter `exec`: any command, the prompt on its standard input, the reply on its standard output.

use std::ffi::OsString;

use harn_env::command::Finished;

use super::{Adapter, AgentFailure, AgentRequest, Invocation};

/// Runs a command as the agent. No shell is involved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exec {
    name: String,
    argv: Vec<OsString>,
}

/// The command is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the command of adapter `{name}` is empty, expected a program and its arguments")]
pub struct ExecError {
    /// The adapter's name.
    pub name: String,
}

impl ExecError {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "adapter_command_empty"
    }
}

impl Exec {
    /// An adapter called `name` that runs `argv`.
    pub fn new<A: Into<OsString>>(name: &str, argv: impl IntoIterator<Item = A>) -> Result<Self, ExecError> {
        let argv: Vec<OsString> = argv.into_iter().map(Into::into).collect();
        if argv.first().is_none_or(|program| program.is_empty()) {
            return Err(ExecError { name: name.to_owned() });
        }
        Ok(Self { name: name.to_owned(), argv })
    }
}

impl Adapter for Exec {
    fn name(&self) -> &str {
        &self.name
    }

    fn invocation(&self, request: &AgentRequest) -> Result<Invocation, AgentFailure> {
        let asked = [
            ("model", request.model.is_some()),
            ("effort", request.effort.is_some()),
            ("maxTurns", request.max_turns.is_some()),
        ];
        if let Some((option, _)) = asked.into_iter().find(|&(_, given)| given) {
            return Err(AgentFailure::unclassed(format!(
                "the adapter `{}` runs a command as it is and takes no `{option}`",
                self.name
            )));
        }
        Ok(Invocation {
            program: self.argv[0].clone(),
            args: self.argv[1..].to_vec(),
            stdin: request.prompt.clone().into_bytes(),
            variables: Vec::new(),
        })
    }

    fn reply(&self, finished: &Finished, stdout: &[u8]) -> Result<Vec<u8>, AgentFailure> {
        let program = self.argv[0].to_string_lossy();
        match AgentFailure::of_process(&program, finished) {
            Some(failure) => Err(failure),
            None => Ok(stdout.trim_ascii().to_vec()),
        }
    }
}
