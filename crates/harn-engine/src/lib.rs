#![doc = include_str!("../README.md")]

pub mod adapter;
pub mod attempt;
pub mod run;
pub mod script;
