#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! - [`command`]: the bounded command runner.
//!
//! This is the only crate of the workspace that may start a process. Every other crate goes through
//! [`command::run`], so that the promises above hold for all of them.

#[cfg(not(unix))]
compile_error!("harn-env needs process groups and POSIX signals; it builds on Unix only");

pub mod command;
