//! How a script ended.

use super::InputError;

/// How a script ended. Messages are never blank: a blank message counts as none.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScriptEnd {
    /// The default export returned.
    Returned {
        /// What it returned, as JSON; absent for `undefined` and other values that JSON has no form for.
        result: Option<String>,
    },
    /// It returned something that cannot be written as JSON, such as a circular object or a bigint.
    UnserialisableResult {
        /// Why not.
        message: Option<String>,
    },
    /// The module or its default export threw.
    Threw {
        /// The message of the error, or the thrown value in words.
        message: Option<String>,
        /// Where it was thrown: one line per call, as `at NAME (FILE:LINE:COLUMN)`, innermost first.
        stack: Option<String>,
    },
    /// The module was evaluated but cannot be run.
    Unusable {
        /// What is wrong with it.
        error: ModuleError,
    },
    /// The stop flag was set, by `ctx.blocked` or from outside. The host knows which.
    Stopped,
    /// The script waits for something that nothing outstanding can settle.
    Stalled,
    /// The script ran into its memory limit, whether or not it caught the error.
    OutOfMemory,
    /// The script ran into its stack limit, whether or not it caught the error.
    StackOverflow,
    /// The engine could not be started.
    EngineFailed {
        /// What went wrong.
        message: String,
    },
}

/// Why an evaluated module cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// `export const meta` is not what it must be.
    #[error(transparent)]
    Meta(#[from] InputError),
    /// The default export is not a function.
    #[error("the default export must be a function, found {found}")]
    DefaultNotAFunction {
        /// The kind of value found.
        found: String,
    },
}

impl ModuleError {
    /// A stable name for this error, in `snake_case`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Meta(_) => "script_meta_invalid",
            Self::DefaultNotAFunction { .. } => "script_default_not_a_function",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Meta(error) => error.hint(),
            Self::DefaultNotAFunction { .. } => Some("write `export default async (ctx) => …`".to_owned()),
        }
    }
}
