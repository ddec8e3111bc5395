//! `harn work …`

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use harn_workflow::work::{Class, SourceKind};

use super::disposition::DispositionArgs;
use super::look::{ListArgs, LogArgs, ShowArgs, WhyArgs};
use super::numbers::{duration, positive};
use super::text::text;

/// Durable objectives.
#[derive(Debug, Subcommand)]
pub enum WorkCommand {
    /// Freeze an objective, and the script that is to reach it
    Create(CreateArgs),
    /// List work items, newest first
    List(ListArgs),
    /// Show one item: what, state, why, findings, attempts
    Show(ShowArgs),
    /// Say which rule decides an item's state, on which events it rests, and what would move it
    Why(WhyArgs),
    /// Print an item's events
    Log(LogArgs),
    /// Add a remark; it changes no state
    Note {
        /// The item
        #[arg(value_name = "WORK-ID")]
        id: String,
        /// The remark, 1 to 2,000 characters; `-` reads standard input
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
        text: String,
        /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
        #[arg(long)]
        actor: Option<String>,
    },
    /// Record what can be proved of unfinished attempts; never acts
    Reconcile {
        /// The item [default: all]
        #[arg(value_name = "WORK-ID")]
        id: Option<String>,
        /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
        #[arg(long)]
        actor: Option<String>,
    },
    /// Start an attempt at an item that is ready
    Run(RunArgs),
    /// Start another attempt at an item that is blocked
    Retry(RunArgs),
    /// Accept the reviewed attempt: the objective is complete
    Accept(AcceptArgs),
    /// Give the objective up
    Cancel(ActArgs),
    /// Send a correction back, and make another attempt possible
    Reopen(ReopenArgs),
    /// Allow attempts beyond the frozen ceiling
    Grant {
        /// The item
        #[arg(value_name = "WORK-ID")]
        id: String,
        /// How many more attempts, 1 to 100
        #[arg(long, value_name = "N", value_parser = positive)]
        attempts: u32,
        /// Why
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
        reason: String,
        /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
        #[arg(long)]
        actor: Option<String>,
    },
    /// Judge anew whether an attempt that did not pass counts against the budget
    Recharge(RechargeArgs),
    /// Go on with an attempt whose process is gone: the same attempt, and no answer is paid twice
    Resume(ResumeArgs),
}

/// `harn work resume`
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The item
    #[arg(value_name = "WORK-ID")]
    pub id: String,
    /// The command of the adapter `exec`, if the attempt uses it: it is not frozen with the attempt
    #[arg(long, value_name = "COMMAND")]
    pub exec: Option<String>,
    /// Do not see whether the tools of the recipe still work
    #[arg(long)]
    pub no_env: bool,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// `harn work recharge`
#[derive(Debug, Args)]
pub struct RechargeArgs {
    /// The item
    #[arg(value_name = "WORK-ID")]
    pub id: String,
    /// The attempt's number
    #[arg(value_parser = positive)]
    pub attempt: u32,
    /// What the attempt counts as: charged, or not for one of the other reasons
    #[arg(long = "as", value_name = "CLASS", value_parser = charge())]
    pub charge: Charge,
    /// Why, 1 to 2,000 characters
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    pub reason: String,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// What an attempt counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge(pub Option<Class>);

/// A word that says what an attempt counts as.
fn charge() -> impl TypedValueParser<Value = Charge> {
    let words = std::iter::once("charged").chain(Class::ALL.map(Class::as_str));
    PossibleValuesParser::new(words)
        .map(|word| Charge(Class::ALL.into_iter().find(|class| class.as_str() == word)))
}

/// `harn work create`
#[derive(Debug, Args)]
pub struct CreateArgs {
    /// What it is called, 1 to 200 characters
    pub title: String,
    /// The workflow script; its bytes are frozen
    pub workflow: PathBuf,
    /// What is to be reached, 1 to 4,000 characters
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    pub objective: String,
    /// A criterion of acceptance, 1 to 500 characters; may be repeated
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    pub accept: Vec<String>,
    /// Items that must be accepted first, separated by commas
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub depends_on: Vec<String>,
    /// Charged attempts allowed, 1 to 100
    #[arg(long, value_name = "N", default_value = "3", value_parser = positive)]
    pub max_attempts: u32,
    /// Uncharged attempts in a row before automation stops, 1 to 100
    #[arg(long, value_name = "N", default_value = "3", value_parser = positive)]
    pub max_uncharged_attempts: u32,
    /// Require a clean review of the source before it is accepted
    #[arg(long)]
    pub require_review: bool,
    /// Where the objective comes from: human, workflow or external
    #[arg(long, value_name = "KIND", default_value = "human", hide_possible_values = true, value_parser = source_kind())]
    pub source_kind: SourceKind,
    /// A reference to where it comes from
    #[arg(long, value_name = "REF")]
    pub source_ref: Option<String>,
    /// The item's id [default: made from date and chance]
    #[arg(long, value_name = "WORK-ID")]
    pub id: Option<String>,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// A word that stands for where an objective comes from.
fn source_kind() -> impl TypedValueParser<Value = SourceKind> {
    PossibleValuesParser::new(["human", "workflow", "external"])
        .map(|word| word.parse().expect("these are the words that stand for one"))
}

/// `harn work run` and `harn work retry`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct RunArgs {
    /// The item
    #[arg(value_name = "WORK-ID")]
    pub id: String,
    /// Who does the work: `exec`, or a name from config.toml
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
    /// The command of the adapter `exec`: prompt on its standard input, reply on its standard output
    #[arg(long, value_name = "COMMAND")]
    pub exec: Option<String>,
    /// Agents allowed in all
    #[arg(long, value_name = "N", default_value = "50", value_parser = positive)]
    pub max_agents: u32,
    /// Processes at a time
    #[arg(long, value_name = "N", default_value = "4", value_parser = positive)]
    pub concurrency: u32,
    /// End the run after this long, for example `90s`, `15m` or `2h`
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub deadline: Option<Duration>,
    /// Where agents and checks work [default: the project]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Remove API keys from the agents' environment
    #[arg(long, conflicts_with = "allow_api_billing")]
    pub subscription_only: bool,
    /// Let agents bill an API key although a login is there
    #[arg(long)]
    pub allow_api_billing: bool,
    /// A host policy (not built yet: refused)
    #[arg(long, value_name = "FILE", hide = true)]
    pub policy: Option<PathBuf>,
    /// Where the attempt works: `shared` (`worktree` is not built yet)
    #[arg(long, value_name = "MODE")]
    pub isolation: Option<String>,
    /// A directory for isolated checkouts; needs `--isolation worktree`
    #[arg(long, value_name = "DIR")]
    pub workspace_root: Option<PathBuf>,
    /// Whom approvals are addressed to, 1 to 200 characters
    #[arg(long, value_name = "ADDRESS")]
    pub approval_to: Option<String>,
    /// Do without the preparation that the project's recipe asks for; the proof says so
    #[arg(long)]
    pub no_env: bool,
    /// No person asked for this: stop at the bound of uncharged attempts, and before the pause after one is over
    #[arg(long)]
    pub unattended: bool,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// What every act of governance takes.
#[derive(Debug, Args)]
pub struct ActArgs {
    /// The item
    #[arg(value_name = "WORK-ID")]
    pub id: String,
    /// Why, 1 to 2,000 characters
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    pub reason: Option<String>,
    /// Who acts [default: `$HARN_ACTOR`, `$USER` or `operator`]
    #[arg(long)]
    pub actor: Option<String>,
}

/// `harn work accept`
#[derive(Debug, Args)]
pub struct AcceptArgs {
    /// What every act takes.
    #[command(flatten)]
    pub act: ActArgs,
    /// What happened to the open findings.
    #[command(flatten)]
    pub dispose: DispositionArgs,
    /// Refuse unless this is the digest of the proof
    #[arg(long, value_name = "SHA256")]
    pub expect_proof: Option<String>,
    /// Accept although the proof names this unknown; may be repeated
    #[arg(long, value_name = "CODE")]
    pub accept_unknown: Vec<String>,
}

/// `harn work reopen`
#[derive(Debug, Args)]
pub struct ReopenArgs {
    /// What every act takes.
    #[command(flatten)]
    pub act: ActArgs,
    /// What is wrong, 1 to 1,000 characters; may be repeated
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    pub finding: Vec<String>,
    /// Keep an open finding beside the new ones, or `all`; may be repeated
    #[arg(long, value_name = "ID")]
    pub carry: Vec<String>,
    /// Replace the open findings by none
    #[arg(long, conflicts_with_all = ["finding", "carry"])]
    pub supersede_all: bool,
    /// Allow attempts beyond the ceiling in the same step
    #[arg(long, value_name = "N", value_parser = positive)]
    pub grant: Option<u32>,
}
