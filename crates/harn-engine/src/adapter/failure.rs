//! How an agent fails, and whether that says anything about the work.

use std::fmt;

use harn_env::command::{Exit, Finished, Outcome, StartError};

use super::upstream_text::{READ_MAX, is_upstream};

/// Why a failed agent says nothing about the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AgentClass {
    /// Something is missing on this machine.
    Environment,
    /// The vendor was reached and refused.
    Upstream,
}

/// Why an agent gave no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFailure {
    /// The class, if it is certain. Without one the attempt is charged.
    pub class: Option<AgentClass>,
    /// What happened, in words.
    pub message: String,
}

impl fmt::Display for AgentFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AgentFailure {}

/// Most characters of standard error that a failure quotes: what its class is told from can be read in it.
const QUOTED_MAX: usize = READ_MAX;

impl AgentFailure {
    /// A failure that says nothing about where the fault is, so it is charged.
    #[must_use]
    pub const fn unclassed(message: String) -> Self {
        Self { class: None, message }
    }

    /// The failure in a process that did not pass, most certain cause first: our own time limit, then what the
    /// operating system says of the program, then its exit. An exit code is never taken for a missing program; that an
    /// outside service refused is told from standard error, by a [narrow rule](super::is_upstream).
    #[must_use]
    pub fn of_process(program: &str, finished: &Finished) -> Option<Self> {
        let start_error = finished.start_error.as_ref().map(StartError::to_string).unwrap_or_default();
        let ended = |how: String| {
            let stderr = finished.stderr.excerpt();
            let quoted = tail(stderr.trim(), QUOTED_MAX);
            Self::unclassed(if quoted.is_empty() { how } else { format!("{how}: {quoted}") })
        };
        Some(match finished.outcome {
            Outcome::Passed => return None,
            Outcome::Timeout => ended(format!("`{program}` ran out of time and was ended")),
            Outcome::MissingTool => Self { class: Some(AgentClass::Environment), message: start_error },
            Outcome::CouldNotStart => Self::unclassed(start_error),
            Outcome::NotRun | Outcome::Stopped => {
                Self::unclassed(format!("`{program}` was stopped with its run"))
            }
            Outcome::Failed => {
                let how = match finished.exit {
                    Some(Exit::Code(code)) => format!("`{program}` exited with code {code}"),
                    Some(Exit::Signal(signal)) => format!("`{program}` was ended by signal {signal}"),
                    None => format!("`{program}` did not exit"),
                };
                let refused = is_upstream(&finished.stderr.excerpt());
                Self { class: refused.then_some(AgentClass::Upstream), ..ended(how) }
            }
        })
    }
}

/// The last `max` characters, with a mark where it was cut.
fn tail(text: &str, max: usize) -> String {
    match text.char_indices().rev().nth(max - 1) {
        Some((start, _)) if start > 0 => format!("…{}", &text[start..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_75_the_end_of_a_long_text_is_quoted() {
        assert_eq!(tail("", 5), "");
        assert_eq!(tail("abcde", 5), "abcde");
        assert_eq!(tail("abcdef", 5), "…bcdef");
        assert_eq!(tail("ñññ", 2), "…ññ");
    }
}
