//! Integration tests.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod attempt_cancel;
mod attempt_classes;
mod attempt_contexts;
mod attempt_disk;
mod attempt_environment;
mod attempt_fixture;
mod attempt_order;
mod attempt_proof;
mod attempt_resume;
mod run_environment;
mod run_limits;
mod run_parallel;
mod run_prompt;
mod run_replies;
mod run_repository;
mod run_stop;
mod script_bundle;
mod script_ctx;
mod script_date;
mod script_ends;
mod script_fake;
mod script_replay;
mod script_stop;
