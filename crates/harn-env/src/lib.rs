#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! - [`command`]: the bounded command runner;
//! - [`compare`]: whether a red check is the work's doing;
//! - [`prepare`]: preparing a project and checking it again;
//! - [`receipt`]: what was done to prepare a project or to check it, as a stream;
//! - [`resolve`]: what becomes of a source that preparation changed;
//! - [`redact`]: masks what looks like a secret;
//! - [`fingerprint`]: what a source tree holds, exactly;
//! - [`recipe`]: how a project is prepared and checked;
//! - [`key`]: whether a set-up that was done before still holds, and if not, why.
//!
//! This is the only crate of the workspace that may start a process. Every other crate goes through
//! [`command::run`], so that the promises above hold for all of them.

#[cfg(not(unix))]
compile_error!("harn-env needs process groups and POSIX signals; it builds on Unix only");

pub mod command;
pub mod compare;
pub mod fingerprint;
pub mod key;
pub mod prepare;
pub mod receipt;
pub mod recipe;
pub mod redact;
pub mod resolve;
