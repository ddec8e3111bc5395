#![doc = include_str!("../README.md")]

pub mod args;
mod color;
mod commands;
mod config;
mod disk;
mod exit;
mod failure;
mod ids;
mod io;
mod output;
mod program;
mod project;
mod render;
mod returned;
mod session;
mod signals;
mod text;
mod usage;
mod version;

pub use exit::Exit;
pub use io::{Io, Stream};
pub use program::{main, run};
pub use version::VERSION;
