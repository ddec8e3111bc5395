//! `harn run …`

use clap::Subcommand;

use super::look::LogArgs;

/// Executions of workflow scripts.
#[derive(Debug, Subcommand)]
pub enum RunCommand {
    /// List runs, newest first
    List,
    /// Show one run: what it was, what it did, how it ended
    Show {
        /// The run
        #[arg(value_name = "RUN-ID")]
        id: String,
    },
    /// Print a run's transcript
    Log(LogArgs),
    /// Print a run's proof
    Proof {
        /// The run
        #[arg(value_name = "RUN-ID")]
        id: String,
        /// Compute the proof again from manifest and transcript and compare
        #[arg(long)]
        verify: bool,
    },
}
