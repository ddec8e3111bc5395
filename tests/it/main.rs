//! Tests that cross crates, driven through the command line.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod cli_advice;
mod cli_cases;
mod cli_cases_runs;
mod cli_checkpoint;
mod cli_damage;
mod cli_env;
mod cli_exits;
mod cli_import;
mod cli_list;
mod cli_network;
mod cli_parallel;
mod cli_recharge;
mod cli_refusals_create;
mod cli_refusals_govern;
mod cli_refusals_run;
mod cli_refused;
mod cli_reopen;
mod cli_repair;
mod cli_review;
mod cli_seed;
mod cli_shapes;
mod cli_snapshot;
mod cli_streams;
mod cli_why;
mod process_bounds;
mod process_children;
mod process_full_disk;
mod process_kill;
mod process_parallel;
mod process_read_only;
mod process_resume;
mod process_stop;
mod project;

/// The program, for tests that need it as a process of its own.
const PROGRAM: &str = env!("CARGO_BIN_EXE_harn-under-test");
