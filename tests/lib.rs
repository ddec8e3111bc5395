//! What the tests that cross crates share: a project in a temporary directory, the program run in it, and what it
//! left behind.

mod advertised;
mod outcome;
mod project;
mod scripts;
mod tree;

pub use advertised::{command_lines, commands_in_hint, parses};
pub use outcome::Outcome;
pub use project::{NOW, Project};
pub use scripts::{AGENT, BLOCKED, CONTEXT, FAIL, PASS, RETRIED};
pub use tree::{Tree, tree};
