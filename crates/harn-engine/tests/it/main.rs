//! Integration tests.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod script_bundle;
mod script_ctx;
mod script_date;
mod script_ends;
mod script_fake;
mod script_replay;
mod script_stop;
