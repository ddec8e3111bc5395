//! `harn checkpoint` and `harn verify --against`

use std::path::PathBuf;

use clap::Args;

/// What to take a checkpoint to.
#[derive(Debug, Args)]
pub struct CheckpointArgs {
    /// Write it to this new file instead of standard output; what exists is never replaced
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What to verify besides the records themselves.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Prove that every record still extends this checkpoint; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
}
