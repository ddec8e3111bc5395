//! What `harn-ledger` costs, measured beside what a user would pick instead, in the same run.
//!
//! The program `ledger-bench` measures the groups of [`rows::GROUPS`] and prints one table; `README.md` says how to read
//! it.

pub mod baseline;
pub mod child;
pub mod domain;
pub mod history;
pub mod machine;
pub mod measure;
pub mod row;
pub mod rows;
pub mod setting;
pub mod table;
