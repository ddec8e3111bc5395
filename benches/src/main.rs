//! `ledger-bench`: measures the ledger beside its baselines and prints one table.
#![expect(clippy::print_stderr, reason = "a program tells people how far it is and what went wrong")]

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use harn_benches::child::Role;
use harn_benches::machine;
use harn_benches::rows::GROUPS;
use harn_benches::setting::{Result, Setting, Sizes};
use harn_benches::table::Table;

/// Measures harn-ledger beside its baselines and prints one table.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    /// The groups of rows to measure; all unless said otherwise
    #[arg(value_parser = PossibleValuesParser::new(GROUPS.iter().map(|group| group.name)))]
    rows: Vec<String>,
    /// How often each contestant is measured
    #[arg(long, default_value = "5", value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// Small sizes: shows that everything runs, and nothing else
    #[arg(long)]
    quick: bool,
    /// The directory for the files, which are removed at the end
    #[arg(long, default_value = "target")]
    dir: PathBuf,
    #[command(subcommand)]
    role: Option<Role>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.role {
        Some(role) => role.play(),
        None => measure(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ledger-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Result<()> {
    let (sizes, repeats) = if arguments.quick { (Sizes::QUICK, 0) } else { (Sizes::FULL, 3) };
    let program = std::env::current_exe()?;
    let setting = Setting::new(&arguments.dir, program, arguments.runs.into(), repeats, sizes)?;
    let mut out = io::stdout();
    writeln!(out, "```text\n{}{} runs\n```\n", machine::describe(setting.directory())?, setting.runs)?;
    let mut rows = Vec::new();
    for group in GROUPS {
        if arguments.rows.is_empty() || arguments.rows.iter().any(|name| name == group.name) {
            let start = Instant::now();
            rows.extend(group.measure(&setting)?);
            eprintln!("{} took {:.1} s", group.name, start.elapsed().as_secs_f64());
        }
    }
    Ok(write!(out, "{}", Table(&rows))?)
}
