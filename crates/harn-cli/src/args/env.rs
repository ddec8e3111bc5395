//! `harn env …`

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use super::text::text;

/// The environment of the work.
#[derive(Debug, Subcommand)]
pub enum EnvCommand {
    /// Set the project up, check its tools, and run its baseline
    #[command(
        long_about = "Set the project up, check its tools, and run its baseline, as the recipe says: that of `--plan`, else \
                      `.harn/environment.json` as it is in the commit that is checked out. A set-up that still holds is \
                      not done again. A failing baseline is recorded and holds nothing.\n\nExits 6 if the work must not \
                      begin: the set-up failed, a tool does not work, or preparation changed the source."
    )]
    Prepare(PrepareArgs),
    /// Run the commands of a baseline again, and say what that says about the work
    #[command(
        long_about = "Run the commands of a baseline again, and say for each what that says about the work. A regression \
                      and a repair are confirmed by one rerun.\n\nExits 1 if something does not pass, 6 if nothing but \
                      the environment is in the way."
    )]
    Check(CheckArgs),
    /// Show a receipt
    Show {
        /// The receipt [default: the last one]; a unique prefix will do
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// List receipts, newest first
    List,
    /// Compare the baselines and the sources of two receipts
    Compare {
        /// The one before
        #[arg(value_name = "BEFORE")]
        before: String,
        /// The one after
        #[arg(value_name = "AFTER")]
        after: String,
    },
    /// Say what becomes of a source that preparation changed
    #[command(
        long_about = "Say what becomes of a source that preparation changed. Until then nothing is prepared in the project, \
                      and no attempt begins."
    )]
    Resolve(ResolveArgs),
    /// Print a failing command of a baseline as a finding for a work item
    Adopt {
        /// The receipt with the baseline; a unique prefix will do
        #[arg(value_name = "ID")]
        id: String,
        /// The command, by its name in the recipe
        #[arg(value_name = "COMMAND")]
        command: String,
    },
    /// Print what a set-up depends on, and why the last one does not hold
    Key(RecipeArgs),
    /// Print what the source tree holds
    Fingerprint,
}

/// What governs a preparation.
#[derive(Debug, Args)]
pub struct RecipeArgs {
    /// A recipe that replaces the project's as a whole; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// What is stated of this machine, one line [default: `env.sandbox_version` of config.toml, else its system, release,
    /// architecture and C library]
    #[arg(long, value_name = "TEXT")]
    pub sandbox_version: Option<String>,
}

/// `harn env prepare`
#[derive(Debug, Args)]
pub struct PrepareArgs {
    /// What governs it.
    #[command(flatten)]
    pub recipe: RecipeArgs,
    /// The work item that it is for
    #[arg(long, value_name = "WORK-ID")]
    pub work: Option<String>,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// `harn env check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The receipt with the baseline [default: the last one that is ready]; a unique prefix will do
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// What is stated of this machine, one line [default: `env.sandbox_version` of config.toml, else its system, release,
    /// architecture and C library]
    #[arg(long, value_name = "TEXT")]
    pub sandbox_version: Option<String>,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// `harn env resolve`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("resolution").required(true))]
pub struct ResolveArgs {
    /// The receipt of the preparation; a unique prefix will do
    #[arg(value_name = "ID")]
    pub id: String,
    /// The edits stay; the next preparation begins with them
    #[arg(long, group = "resolution")]
    pub keep: bool,
    /// Exactly the files that preparation changed are put back
    #[arg(long, group = "resolution")]
    pub restore: bool,
    /// Why, 1 to 1,000 characters
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    pub reason: String,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}
