//! How a command fails: one shape for all errors, in words and in JSON.

mod damage;
mod exits;

use std::error::Error;
use std::iter::successors;

use serde_json::{Map, Value, json};

use crate::exit::Exit;
use crate::text::{Palette, paint, safe_block};

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    causes: Vec<String>,
    pub(crate) hint: Option<String>,
    pub(crate) details: Map<String, Value>,
}

/// An error and everything that caused it, on one line.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    successors(Some(error), |&error| error.source())
        .map(ToString::to_string)
        .collect::<Vec<String>>()
        .join(": ")
}

impl Failure {
    /// A failure in our own words.
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self { exit, code, message: message.into(), causes: Vec::new(), hint: None, details: Map::new() }
    }

    /// A failure that a library reported, with everything that caused it.
    pub(crate) fn from_error(
        exit: Exit,
        code: &'static str,
        hint: Option<String>,
        error: &dyn Error,
    ) -> Self {
        let causes = successors(error.source(), |&error| error.source()).map(ToString::to_string).collect();
        Self { causes, hint, ..Self::new(exit, code, error.to_string()) }
    }

    /// Adds to the message.
    pub(crate) fn also(mut self, more: &str) -> Self {
        self.message = format!("{}; {more}", self.message);
        self
    }

    /// Says what to type next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says what to type next, unless that is said already.
    pub(crate) fn or_hint(mut self, hint: impl FnOnce() -> String) -> Self {
        self.hint.get_or_insert_with(hint);
        self
    }

    /// Whether a text was refused for its form: what stands in the ledger does not matter then.
    pub(crate) fn is_about_a_text(&self) -> bool {
        self.code.starts_with("text_")
    }

    /// Whether the place of the records was refused, whatever they hold.
    pub(crate) fn is_about_the_place(&self) -> bool {
        self.code == "unsafe_place"
    }

    /// Adds data for programs.
    pub(crate) fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// `error: …`, its causes, and `hint: …`.
    pub(crate) fn text(&self, palette: Palette) -> String {
        let mut lines = vec![format!("{} {}", paint(palette.error, "error:"), safe_block(&self.message))];
        lines.extend(self.causes.iter().map(|cause| format!("  cause: {}", safe_block(cause))));
        lines.extend(
            self.hint.iter().map(|hint| format!("{} {}", paint(palette.hint, "hint:"), safe_block(hint))),
        );
        lines.join("\n") + "\n"
    }

    /// `{"schema_version","error":{"code","message","hint"?,"details"?}}`
    pub(crate) fn json(&self) -> Value {
        let mut error = Map::new();
        error.insert("code".to_owned(), self.code.into());
        let message =
            self.causes.iter().fold(self.message.clone(), |message, cause| format!("{message}: {cause}"));
        error.insert("message".to_owned(), message.into());
        if let Some(hint) = &self.hint {
            error.insert("hint".to_owned(), hint.clone().into());
        }
        if !self.details.is_empty() {
            error.insert("details".to_owned(), Value::Object(self.details.clone()));
        }
        json!({ "schema_version": 1, "error": error })
    }
}

impl Failure {
    /// Its stable name.
    #[cfg(test)]
    pub(crate) const fn code(&self) -> &'static str {
        self.code
    }
}

/// Errors of the libraries, as failures of a command.
pub(crate) trait Fails: Error {
    /// The failure.
    fn failure(&self) -> Failure;
}

/// Errors that have a code fail in one way. If a stream needs a repair, they say which.
macro_rules! fails {
    ($($error:ty => $hint:expr, $trouble:expr;)*) => {
        $(impl Fails for $error {
            fn failure(&self) -> Failure {
                let code = self.code();
                let hint: fn(&Self) -> Option<String> = $hint;
                let failure = Failure::from_error(exits::exit_of(code), code, hint(self), self);
                damage::described(failure, $trouble(self))
            }
        })*
    };
}

fails! {
    harn_engine::attempt::AttemptError => Self::hint, damage::of_attempt;
    harn_engine::attempt::ScriptError => Self::hint, damage::none;
    harn_engine::review::ReviewError => Self::hint, damage::none;
    harn_env::prepare::PrepareError => Self::hint, damage::none;
    harn_env::resolve::ResolveError => Self::hint, damage::none;
    harn_ledger::CheckpointError => Self::hint, damage::of_checkpoint;
    harn_ledger::ParseCheckpointError => Self::hint, damage::none;
    harn_ledger::ReadError => Self::hint, damage::of_read;
    harn_ledger::RepairError => Self::hint, damage::of_repair;
    harn_ledger::StreamError => Self::hint, damage::of_stream;
    harn_ledger::WriteCheckpointError => Self::hint, damage::none;
    harn_review::plan::InvalidPlan => |_| None, damage::none;
    harn_review::InvalidNumber => |_| None, damage::none;
    harn_workflow::CreateWorkError => Self::hint, damage::of_create;
    harn_workflow::ImportError => Self::hint, damage::none;
    harn_workflow::PastError => Self::hint, damage::of_past;
    harn_workflow::WorkError => Self::hint, damage::of_work;
    harn_workflow::ProofError => |_| None, damage::of_proof;
}

impl Fails for crate::project::FindError {
    fn failure(&self) -> Failure {
        use crate::project::FindError;
        let (exit, code) = match self {
            FindError::NotFound { .. } | FindError::NotAProject { .. } => (Exit::Refused, "no_project"),
            FindError::ReadOnlyFileSystem { .. } => (Exit::Environment, "read_only_file_system"),
            FindError::Io { .. } => (Exit::Environment, "project_unreadable"),
        };
        let hint = (exit == Exit::Refused).then(|| "`harn init` makes a directory a project".to_owned());
        Failure::from_error(exit, code, hint, self)
    }
}

impl<E: Fails> From<E> for Failure {
    fn from(error: E) -> Self {
        error.failure()
    }
}
