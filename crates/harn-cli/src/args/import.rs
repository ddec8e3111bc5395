//! `harn import …`

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Records of other programs.
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// Take in the work items of Harnery, with their whole history
    #[command(
        long_about = "Take in the work items of Harnery, with their whole history. The old files are kept as blobs, \
                      and every event says where it comes from. Doing it again changes nothing.\n\nAn item that is \
                      damaged is left out whole and named; the others arrive. Exits 5 if one was damaged, 7 if one \
                      is in use, 3 if one was refused for another reason."
    )]
    Harnery(HarneryArgs),
}

/// `harn import harnery`
#[derive(Debug, Args)]
pub struct HarneryArgs {
    /// The project with a `.harnery` in it, or that directory itself
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}
