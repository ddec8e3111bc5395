//! The command line as types: what `clap` parses, and nothing that happens afterwards.

mod checkpoint;
mod disposition;
mod env;
mod import;
mod look;
mod numbers;
mod repair;
mod review;
mod run;
mod text;
mod work;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

pub use checkpoint::{CheckpointArgs, VerifyArgs};
pub use disposition::{DispositionArg, DispositionArgs, OutcomeArg};
pub use env::{CheckArgs, EnvCommand, PrepareArgs, RecipeArgs, ResolveArgs};
pub use import::{HarneryArgs, ImportCommand};
pub use look::{ListArgs, LogArgs, ShowArgs, SortKey, WhyArgs};
pub use repair::RepairArgs;
pub use review::{
    BeginArgs, DecideArgs, ExportFormat, FixCheckArgs, GateArgs, OpenArgs, RecordCheckArgs, ReviewCommand,
    ReviewRepairArgs, SubmitArgs, WhyArgs as ReviewWhyArgs,
};
pub use run::RunCommand;
pub use work::{AcceptArgs, ActArgs, CreateArgs, RechargeArgs, ReopenArgs, ResumeArgs, RunArgs, WorkCommand};

/// Keeps the evidence of work done by coding agents.
#[derive(Debug, Parser)]
#[command(
    name = "harn",
    bin_name = "harn",
    version = crate::VERSION,
    about = "Keeps the evidence of work done by coding agents",
    long_about = "Keeps the evidence of work done by coding agents: what was asked, what was tried, what was checked, \
                  what a person found wrong, and why it was accepted.",
    after_help = EXAMPLES,
    max_term_width = 80,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct Args {
    /// The project: a directory with a `.harn` in it [default: the nearest one upwards]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR", env = "HARN_ROOT", hide_env_values = true)]
    pub root: Option<PathBuf>,

    /// Print exactly one JSON document on standard output
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub json: bool,

    /// When to use colour: auto, always or never
    #[arg(
        long,
        global = true,
        help_heading = GLOBAL,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub color: ColorWhen,

    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless the environment says otherwise.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make this directory a project
    Init,
    /// Durable objectives: create, run, review, correct, accept
    #[command(subcommand, after_help = WORK_EXAMPLES)]
    Work(WorkCommand),
    /// Executions of workflow scripts: transcripts and proofs
    #[command(subcommand)]
    Run(RunCommand),
    /// Prove every record of the project
    #[command(
        long_about = "Prove every record of the project: each line of each stream, and each blob that they \
                            cite.\n\nExits 5 if something is damaged, unfinished, missing or foreign, or if the \
                            project no longer extends the checkpoint.",
        after_help = VERIFY_EXAMPLES
    )]
    Verify(VerifyArgs),
    /// Note where every record of the project ends, to be kept elsewhere
    #[command(
        long_about = "Note where every record of the project ends. A record that was cut off at its end, or is gone, \
                            leaves no trace in the project; a checkpoint that was kept elsewhere shows it.\n\nExits 5 \
                            if a record is damaged; then nothing is written.",
        after_help = CHECKPOINT_EXAMPLES
    )]
    Checkpoint(CheckpointArgs),
    /// Mend a stream: a dry run unless it is told to apply
    #[command(
        long_about = "Mend one stream whose log was left unfinished by a crash, damaged, or not brought to the disk. \
                      Nothing is deleted: what leaves the log is kept in a file beside it, and the log says so. \
                      Without `--apply` nothing is changed.\n\nWithout another option an unfinished tail is moved \
                      aside, as the next change would do anyway.\n\nExits 0 if it is done or there is nothing to do, \
                      3 if it is refused, 5 if the stream is damaged and stays so, 6 if its end may not be on the \
                      disk and stays so.",
        after_help = REPAIR_EXAMPLES
    )]
    Repair(RepairArgs),
    /// The environment of the work: set-up, tools, baseline, and what a red check says
    #[command(subcommand, after_help = ENV_EXAMPLES)]
    Env(EnvCommand),
    /// Findings that stay open until they are dealt with, and the gate before acceptance
    #[command(subcommand, after_help = REVIEW_EXAMPLES)]
    Review(ReviewCommand),
    /// Take in the records of another program
    #[command(subcommand, after_help = IMPORT_EXAMPLES)]
    Import(ImportCommand),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// The heading of the options that every command takes.
const GLOBAL: &str = "Options of every command";

const EXAMPLES: &str = "\
Examples:
  harn init
  harn work create \"Release the package\" workflows/release.mjs \\
      --objective \"Publish a verified package release\"
  harn work run ID --adapter exec --exec ./agent.sh
  harn work reopen ID --finding \"The log is not bounded.\"
  harn work accept ID --dispose f1=fixed

Exit codes:
  0 done · 1 the work failed · 2 usage · 3 refused, nothing changed
  4 waits for a person · 5 damaged records · 6 environment or outside service
  7 in use by somebody else · 130 interrupted";

const VERIFY_EXAMPLES: &str = "\
Examples:
  harn verify
  harn verify --against /mnt/elsewhere/checkpoint.json
  ssh elsewhere cat checkpoint.json | harn verify --against -";

const CHECKPOINT_EXAMPLES: &str = "\
Examples:
  harn checkpoint --out /mnt/elsewhere/checkpoint.json
  ssh elsewhere harn --root project checkpoint > checkpoint.json";

const WORK_EXAMPLES: &str = "\
Examples:
  harn work create \"Release the package\" workflows/release.mjs \\
      --objective \"Publish a verified package release\" \\
      --accept \"The full suite passes\" --max-attempts 3
  harn work show ID
  harn work why ID
  harn work run ID --adapter exec --exec ./agent.sh
  harn work retry ID
  harn work reopen ID --actor reviewer --finding \"It throws on large input.\"
  harn work accept ID --dispose f1=fixed
  harn work accept ID --dispose f1=deferred:tracked separately
  harn work reconcile";

const REPAIR_EXAMPLES: &str = "\
Examples:
  harn repair --stream work/ID
  harn repair --stream work/ID --cut-at-damage
  harn repair --stream work/ID --cut-at-damage --apply
  harn repair --stream run/ID --resync --apply";

const ENV_EXAMPLES: &str = "\
Examples:
  harn env prepare
  harn env check
  harn env key
  harn env resolve ID --restore --reason \"The lockfile is not to be rewritten\"";

const REVIEW_EXAMPLES: &str = "\
Examples:
  harn review open --request \"Bound the log\" --check \"tests=make test\"
  harn review begin ID
  harn review submit ID report.json
  harn review record-check ID
  harn review record-check ID --finding R1 --name bounded -- ./bounded.sh
  harn review repair ID
  harn review decide ID R1 --close --reason \"Not reachable in this release\"
  harn review gate ID";

const IMPORT_EXAMPLES: &str = "\
Examples:
  harn import harnery ../old-project
  harn import harnery ../old-project/.harnery --json";

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn k_30_the_work_commands_stand_in_the_reference_order() {
        let command = Args::command();
        let work = command.find_subcommand("work").unwrap();
        let names: Vec<&str> = work.get_subcommands().map(clap::Command::get_name).collect();
        let mut rest = names.iter();
        for name in ["create", "list", "show", "reconcile", "run", "retry", "accept", "cancel", "reopen"] {
            assert!(rest.any(|found| *found == name), "{name} is missing or out of order in {names:?}");
        }
    }

    #[test]
    fn k_31_run_and_retry_take_an_isolation() {
        let command = Args::command();
        let work = command.find_subcommand("work").unwrap();
        for verb in ["run", "retry"] {
            let verb = work.find_subcommand(verb).unwrap();
            let names: Vec<_> = verb.get_arguments().filter_map(clap::Arg::get_long).collect();
            assert!(names.contains(&"isolation") && names.contains(&"workspace-root"), "{names:?}");
        }
    }

    #[test]
    fn help_fits_80_columns() {
        let mut commands = vec![Args::command()];
        while let Some(mut command) = commands.pop() {
            let help = command.render_long_help().to_string();
            let too_long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(too_long.is_empty(), "{}: {too_long:#?}", command.get_name());
            commands.extend(command.get_subcommands().cloned());
        }
    }
}
