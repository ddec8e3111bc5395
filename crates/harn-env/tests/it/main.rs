//! Runs real commands, most of them small shell scripts.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod cancel;
mod compare;
mod environment;
mod fingerprint;
mod guard;
mod input;
mod key;
mod leftovers;
mod odd_trees;
mod outcomes;
mod output;
mod prepare;
mod receipt_machine;
mod recipe;
mod redact;
mod subject;
mod time_limit;
