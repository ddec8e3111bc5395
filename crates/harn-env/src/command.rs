//! Runs one command within bounds: time, memory, disk, and no process left behind.
//!
//! - [`CommandSpec`] says what to run, [`Environment`] with which variables, [`Limits`] how much is kept;
//! - [`Sink`] takes the whole output of a stream, [`Streams`] names the two of a command;
//! - [`Cancel`] stops a command from another thread;
//! - [`run`] runs it and gives [`Finished`]: the [`Outcome`], and per stream what was [`Captured`];
//! - [`StartError`] says why a command did not start.

mod spec;

mod environment;

mod sink;

mod cancel;

mod outcome;

mod capture;
mod head_tail;
mod utf8;

mod start;

mod group;
mod keeper;
mod processes;

mod pump;
mod supervisor;
mod wake;

mod run;

pub use cancel::Cancel;
pub use capture::{Captured, Ends};
pub use environment::Environment;
pub use outcome::{Exit, Finished, Outcome};
pub use processes::Process;
pub use run::run;
pub use sink::{Sink, Streams, Writer};
pub use spec::{CommandSpec, Limits};
pub use start::StartError;
