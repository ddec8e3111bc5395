//! The script host: runs one workflow module in an embedded JavaScript engine.
//!
//! A workflow is a JavaScript module whose default export is called once with `ctx`. It sees no files, no network, no
//! processes and no clock; everything it learns comes through a [`Host`], one completion at a time. Two runs that
//! get the same completions in the same order do the same thing, so a run can be replayed from its record.
//!
//! 1. [`Bundle::read`] reads the module and everything it imports, and compiles it. No line is evaluated.
//! 2. [`run`] evaluates the bundle, checks `meta`, calls the default export and drives it to a [`ScriptEnd`].
//!
//! The engine runs on a thread of its own, so that its stack is as large as [`Options::stack_limit`] says whoever
//! calls [`run`]; the host is called on the caller's thread only.

mod agent_call;
mod bridge;
mod bundle;
mod check_call;
mod describe;
mod ending;
mod engine_thread;
mod evidence;
mod exhaustion;
mod fields;
mod host;
mod input_error;
mod interpreter;
mod meta;
mod natives;
mod options;
mod random;
mod run;
mod text;

pub use agent_call::AgentCall;
pub use bundle::{Bundle, LoadError, MAX_FILE_BYTES, MAX_FILES, Module};
pub use check_call::CheckCall;
pub use ending::{ModuleError, ScriptEnd};
pub use evidence::{EvidenceInput, EvidenceKind, EvidenceStatus};
pub use host::{Blocked, CallId, Host, HostError, Next, StopFlag};
pub use input_error::InputError;
pub use meta::{Criterion, Meta};
pub use options::{Contexts, DEFAULT_MEMORY_LIMIT, DEFAULT_STACK_LIMIT, Options};
pub use run::run;
