#![doc = include_str!("../README.md")]

pub mod adapter;
pub mod attempt;
mod git;
pub mod review;
pub mod run;
pub mod script;
