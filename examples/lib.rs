//! One small, complete program per crate; run one with `cargo run -p harn-examples --example NAME`.
//!
//! | Program | Shows |
//! | --- | --- |
//! | `bank_account` | `harn-ledger`: a domain of its own on durable, verifiable streams |
//! | `job_queue` | `harn-ledger`: processes that share work by leases, and one that dies |
//! | `verify_received` | `harn-ledger`: a ledger that someone sent, against a checkpoint that came another way |
//! | `work_item` | `harn-workflow`: an objective, a finding, a decision |
//! | `bounded_command` | `harn-env`: a command that cannot run away |
//! | `review_gate` | `harn-review`: a finding that stays open, and the gate that says so |
//! | `scripted_attempt` | `harn-engine`: a script that sends a process at a work item |
//! | `harn_inside` | `harn-cli`: the whole command line as a library |
//!
//! `first-correction/run.sh` plays the whole loop on the command line, `env-receipt/run.sh` tells three failures apart.
