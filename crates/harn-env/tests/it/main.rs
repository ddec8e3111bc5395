//! Runs real commands, most of them small shell scripts.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod cancel;
mod environment;
mod guard;
mod input;
mod leftovers;
mod outcomes;
mod output;
mod subject;
mod time_limit;
