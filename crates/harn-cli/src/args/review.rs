//! `harn review …`

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::text::text;

/// Reviews.
#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// Open a review of the present source
    #[command(
        long_about = "Open a review. What is asked for, the plan and the base are frozen in it. Without a plan one task owns \
                      every file, and `--check` names the combined checks."
    )]
    Open(OpenArgs),
    /// List reviews, newest first
    List,
    /// Begin a turn and print what the next reviewer is given
    #[command(
        long_about = "Begin a turn of a reviewer on the present source, and print the prompt: what to do, the request, every \
                      earlier finding, the results of checks, the change, and the JSON Schema of the report. A turn that was \
                      not answered is not waited for any more."
    )]
    Begin(BeginArgs),
    /// Hand in the report of the turn that is waited for
    #[command(
        long_about = "Hand in the report of the turn that is waited for. A report that is refused is kept, and may be corrected \
                      once; one whose source or plan moved is kept and nothing follows from it.\n\nExits 3 if the report is \
                      refused, 4 if it came too late and another turn is needed."
    )]
    Submit(SubmitArgs),
    /// Show a review, or the whole life of a finding
    Show {
        /// The review; a unique prefix will do
        #[arg(value_name = "ID")]
        id: String,
        /// A finding, such as R1
        #[arg(value_name = "FINDING")]
        finding: Option<String>,
    },
    /// Start a repair pass, or record that the task whose turn it is made its repairs
    #[command(
        long_about = "Start a repair pass, if one is offered: for confirmed defects of the present source, one task after the \
                      other, at most two passes in a plan. With `--attempted`, record that the task whose turn it is made its \
                      repairs."
    )]
    Repair(ReviewRepairArgs),
    /// Run checks on the present source and record what comes of them
    #[command(
        name = "record-check",
        long_about = "Run checks on the present source and record what comes of them: every combined check, or those of a \
                      task, or the regression check of a finding. That one shows the finding before a repair, and that it is \
                      gone after one.\n\nExits 1 if a check does not pass."
    )]
    RecordCheck(RecordCheckArgs),
    /// Decide about a finding, as a person
    Decide(DecideArgs),
    /// Let a combined check pass that failed
    Waive {
        /// The review
        #[arg(value_name = "ID")]
        id: String,
        /// The combined check
        #[arg(value_name = "CHECK")]
        check: String,
        /// Why and by whom.
        #[command(flatten)]
        why: WhyArgs,
    },
    /// Accept another plan; repair passes start anew, findings stay
    Plan {
        /// The review
        #[arg(value_name = "ID")]
        id: String,
        /// The plan; `-` reads standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Why and by whom.
        #[command(flatten)]
        why: WhyArgs,
    },
    /// Give a failed combined check back to the task that owns it
    #[command(name = "fix-check")]
    FixCheck(FixCheckArgs),
    /// Say whether the present source may be accepted and published, and if not, why
    #[command(
        long_about = "Say whether the present source may be accepted and published: every combined check passes on it, its \
                      last review found it clean, nothing is open, nothing waits, and the base has not moved.\n\nExits 3 if \
                      the gate is closed."
    )]
    Gate(GateArgs),
    /// Print the JSON Schema of a report
    Schema {
        /// The review whose tasks are the owners; a unique prefix will do
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// Take in the results of a static analyser: SARIF 2.1.0
    Import(SubmitArgs),
    /// Print a review for others
    Export {
        /// The review; a unique prefix will do
        #[arg(value_name = "ID")]
        id: String,
        /// In which form
        #[arg(long, value_enum, default_value_t = ExportFormat::Sarif)]
        format: ExportFormat,
    },
}

/// In which form a review is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// SARIF 2.1.0.
    Sarif,
}

/// `harn review open`
#[derive(Debug, Args)]
pub struct OpenArgs {
    /// What was asked for [default: title and objective of the work item]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    pub request: Option<String>,
    /// The plan, a `plan.v1` file; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub plan: Option<PathBuf>,
    /// A combined check, as for a shell but without one; may be repeated
    #[arg(long, value_name = "NAME=COMMAND")]
    pub check: Vec<String>,
    /// The branch that the work is to be merged into [default: the remote's own, else the one that is checked out]
    #[arg(long, value_name = "BRANCH")]
    pub base: Option<String>,
    /// The remote that has this branch [default: the local one counts]
    #[arg(long, value_name = "REMOTE")]
    pub remote: Option<String>,
    /// The work item that needs it
    #[arg(long, value_name = "WORK-ID")]
    pub work_item: Option<String>,
    /// Every changed file has to be read by the reviewer
    #[arg(long)]
    pub require_coverage: bool,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// `harn review begin`
#[derive(Debug, Args)]
pub struct BeginArgs {
    /// The review
    #[arg(value_name = "ID")]
    pub id: String,
    /// Who reviews, one line
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// `harn review submit` and `harn review import`
#[derive(Debug, Args)]
pub struct SubmitArgs {
    /// The review
    #[arg(value_name = "ID")]
    pub id: String,
    /// The file; `-` reads standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// `harn review repair`
#[derive(Debug, Args)]
pub struct ReviewRepairArgs {
    /// The review
    #[arg(value_name = "ID")]
    pub id: String,
    /// The task whose turn it is made its repairs
    #[arg(long)]
    pub attempted: bool,
    /// What it says of them, 1 to 8,000 characters
    #[arg(long, value_name = "TEXT", requires = "attempted", allow_hyphen_values = true, value_parser = text)]
    pub note: Option<String>,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// `harn review record-check`
#[derive(Debug, Args)]
pub struct RecordCheckArgs {
    /// The review
    #[arg(value_name = "ID")]
    pub id: String,
    /// Run the checks of this task
    #[arg(long, value_name = "TASK", conflicts_with = "finding")]
    pub task: Option<String>,
    /// Run the regression check of this finding
    #[arg(long, value_name = "FINDING", requires = "name")]
    pub finding: Option<String>,
    /// What that check is called
    #[arg(long, value_name = "NAME", requires = "finding")]
    pub name: Option<String>,
    /// Its time limit in seconds [default: 180]
    #[arg(long, value_name = "SECONDS", requires = "finding")]
    pub timeout: Option<u32>,
    /// Its command, unless it was recorded before
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// `harn review decide`
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("decision").required(true),
    override_usage = "harn review decide [OPTIONS] --reason <TEXT> <DECISION> <ID> <FINDING>"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct DecideArgs {
    /// The review
    #[arg(value_name = "ID")]
    pub id: String,
    /// The finding, such as R1
    #[arg(value_name = "FINDING")]
    pub finding: String,
    /// Close it without evidence; whatever is published says so
    #[arg(long, group = "decision")]
    pub close: bool,
    /// A suspicion is a defect
    #[arg(long, group = "decision")]
    pub confirm: bool,
    /// What was closed is open again
    #[arg(long, group = "decision")]
    pub reopen: bool,
    /// Its regression check need not be shown to fail before the repair
    #[arg(long, group = "decision")]
    pub not_reproduced: bool,
    /// How much it matters: P0, P1 or P2
    #[arg(long, group = "decision", value_name = "PRIORITY", value_parser = ["P0", "P1", "P2"])]
    pub priority: Option<String>,
    /// Give it to a task
    #[arg(long, group = "decision", value_name = "TASK")]
    pub owner: Option<String>,
    /// Why and by whom.
    #[command(flatten)]
    pub why: WhyArgs,
}

/// Why, and by whom.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// Why, 1 to 8,000 characters
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    pub reason: String,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// `harn review fix-check`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("step").required(true))]
pub struct FixCheckArgs {
    /// The review
    #[arg(value_name = "ID")]
    pub id: String,
    /// The combined check that failed
    #[arg(value_name = "CHECK", group = "step")]
    pub check: Option<String>,
    /// Its owner says that it is repaired; every combined check has to be run again
    #[arg(long, group = "step")]
    pub repaired: bool,
    /// Its owner could not repair it; nothing is tried again by itself
    #[arg(long, group = "step")]
    pub not_repaired: bool,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// `harn review gate`
#[derive(Debug, Args)]
pub struct GateArgs {
    /// The review; a unique prefix will do
    #[arg(value_name = "ID")]
    pub id: String,
    /// Every changed file has to be read, also where the review does not say so
    #[arg(long)]
    pub require_coverage: bool,
}
