//! Other processes: the program, started again to play a role.
//!
//! Parent and child talk in lines. A child that is to start together with others says when it is ready, and waits.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child as Process, ChildStdin, ChildStdout, Command, Stdio};

use clap::Subcommand;
use harn_ledger::{Ledger, VerifyOptions};

use crate::baseline::sqlite::EventTable;
use crate::domain::{self, Job};
use crate::history::ID;
use crate::measure::Budget;
use crate::setting::{Result, Setting};

/// What a child does.
#[derive(Debug, Clone, Subcommand)]
pub enum Role {
    /// Appends events to a stream when the parent says so, and tells how many it appended.
    #[command(hide = true)]
    ChildAppend {
        /// The ledger.
        root: PathBuf,
        /// The stream.
        id: String,
        /// How many, and how long.
        #[command(flatten)]
        budget: Budget,
    },
    /// Reads a history and tells the memory that it took, in bytes.
    #[command(hide = true)]
    ChildReplay {
        /// The ledger.
        root: PathBuf,
    },
    /// Verifies a ledger and tells the memory that it took, in bytes.
    #[command(hide = true)]
    ChildVerify {
        /// The ledger.
        root: PathBuf,
    },
    /// Reads a table and tells the memory that it took, in bytes.
    #[command(hide = true)]
    ChildReplayTable {
        /// The table.
        table: PathBuf,
    },
}

impl Role {
    /// Plays it.
    pub fn play(&self) -> Result<()> {
        match self {
            Self::ChildAppend { root, id, budget } => {
                let stream = Ledger::open(root)?.stream::<Job>(id)?;
                say("ready")?;
                io::stdin().lock().lines().next().ok_or("the parent is gone")??;
                let appended = budget.spend(|step| domain::append(&stream, step).map(drop))?;
                say(&appended.to_string())
            }
            Self::ChildReplay { root } => {
                Ledger::open(root)?.stream::<Job>(ID)?.state()?;
                say(&peak_memory()?.to_string())
            }
            Self::ChildVerify { root } => {
                let found = Ledger::open(root)?.verify(&VerifyOptions::default());
                if !found.problems.is_empty() {
                    return Err("the ledger does not verify".into());
                }
                say(&peak_memory()?.to_string())
            }
            Self::ChildReplayTable { table } => {
                EventTable::open(table)?.replay()?;
                say(&peak_memory()?.to_string())
            }
        }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        match self {
            Self::ChildAppend { root, id, budget: Budget { most, patience } } => command
                .args([OsStr::new("child-append"), root.as_os_str(), OsStr::new(id)])
                .args([most.to_string(), patience.as_millis().to_string()]),
            Self::ChildReplay { root } => command.args([OsStr::new("child-replay"), root.as_os_str()]),
            Self::ChildVerify { root } => command.args([OsStr::new("child-verify"), root.as_os_str()]),
            Self::ChildReplayTable { table } => {
                command.args([OsStr::new("child-replay-table"), table.as_os_str()])
            }
        };
        command
    }
}

fn say(line: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

/// The most memory that this process ever held, in bytes. Only Linux tells.
fn peak_memory() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no `VmHWM`")?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB").ok_or("`VmHWM` is not in kB")?.parse()?;
    Ok(kibibytes * 1024)
}

/// A process that plays a role.
#[derive(Debug)]
pub struct Child {
    process: Process,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// Starts it.
    pub fn start(setting: &Setting, role: &Role) -> Result<Self> {
        let mut process =
            role.command(&setting.program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = process.stdin.take().expect("it is a pipe");
        let output = BufReader::new(process.stdout.take().expect("it is a pipe")).lines();
        Ok(Self { process, input, output })
    }

    /// Lets a child that is ready go on.
    pub fn go(&mut self) -> Result<()> {
        Ok(self.input.write_all(b"go\n")?)
    }

    /// The next line that it says.
    pub fn listen(&mut self) -> Result<String> {
        Ok(self.output.next().ok_or("a child ended early; what it said stands above")??)
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Result<()> {
        if self.process.wait()?.success() { Ok(()) } else { Err("a child failed".into()) }
    }
}

/// Starts a child and returns the number that it says.
pub fn ask(setting: &Setting, role: &Role) -> Result<u64> {
    let mut child = Child::start(setting, role)?;
    let number = child.listen()?.parse()?;
    child.finish()?;
    Ok(number)
}
