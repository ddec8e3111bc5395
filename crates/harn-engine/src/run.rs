//! Runs a script against real processes and records everything that happens in the run's stream.
//!
//! One thread records: agents and checks run on threads of their own and hand what they found to a single queue, from
//! which the recording thread takes one completion at a time, records it and delivers it to the script.

mod adapters;
mod driver;
mod ending;
mod execute;
mod job;
mod output;
mod recorder;
mod replay;
mod repository;
mod stop;
mod surroundings;

pub use adapters::Adapters;
pub(crate) use driver::convert::check_outcome;
pub use execute::{Request, execute, resume};
pub use recorder::RunError;
pub use repository::snapshot;
pub use stop::{StopReason, Stopper};
pub use surroundings::{Prepared, Surroundings};
