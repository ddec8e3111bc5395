//! What can be asked of a work item.

use std::fmt;

use harn_ledger::{Digest, StreamId};

use super::attempt::Trigger;
use super::end::{Class, End};
use super::finding::{Disposition, FindingId};
use super::review::ReviewFact;

/// A command. Texts are given as typed; the decision trims and checks them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Start an attempt. The caller holds the item's lease.
    Begin {
        /// The run that will be the attempt; never used before.
        run_id: StreamId,
        /// `initial` from `ready`, `retry` from `blocked`.
        trigger: Trigger,
    },
    /// Record that the run is parked. The caller holds the item's lease.
    Park {
        /// The attempt's run.
        run_id: StreamId,
        /// The approval that it waits for.
        approval_id: StreamId,
    },
    /// Let the open attempt go on: a parked one whose approval is decided, or a lost one whose run left a stream. The
    /// caller holds the item's lease.
    Resume,
    /// Record how the attempt ended. The caller holds the item's lease.
    End {
        /// The attempt's run.
        run_id: StreamId,
        /// How it ended.
        end: End,
    },
    /// Record what the run's stream proves and the log lacks, and where the item stands if that changed.
    Reconcile,
    /// Complete the objective.
    Accept(Accept),
    /// Give the objective up.
    Cancel {
        /// Why; up to 2,000 characters.
        reason: Option<String>,
    },
    /// Open a new window.
    Reopen(Reopen),
    /// Leave a remark.
    Note {
        /// 1 to 2,000 characters.
        text: String,
    },
    /// Allow more attempts.
    Grant {
        /// How many more, 1 to 100.
        attempts: u32,
        /// Why; 1 to 2,000 characters.
        reason: String,
    },
    /// Judge anew whether an attempt that did not pass counts against the budget.
    Recharge {
        /// Its number.
        attempt: u32,
        /// Why it does not count; none when it does.
        class: Option<Class>,
        /// Why; 1 to 2,000 characters.
        reason: String,
    },
}

/// What an acceptance says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Accept {
    /// One for each open finding.
    pub dispositions: Vec<Disposition>,
    /// The digest of the proof that was reviewed; another one is refused.
    pub expect_proof: Option<Digest>,
    /// Codes of unknowns that are taken into account, in any order; up to 50 of 1 to 200 characters.
    pub accepted_unknowns: Vec<String>,
    /// Why; up to 2,000 characters.
    pub reason: Option<String>,
    /// Whether only the actor who raised a finding may dispose of it.
    pub only_raiser: bool,
    /// What a publication gate says of the work's source; none when nobody asked. Only an item that requires a review looks
    /// at it.
    pub review: Option<ReviewFact>,
}

/// What a reopen says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reopen {
    /// Why; up to 2,000 characters. A grant needs one.
    pub reason: Option<String>,
    /// New findings, 1 to 1,000 characters each. With any, the set of open findings is replaced.
    pub findings: Vec<String>,
    /// The open findings that stay in the new set.
    pub carry: Carry,
    /// Ends all open findings on record.
    pub supersede_all: bool,
    /// Attempts to grant with it, 1 to 100.
    pub grant: Option<u32>,
}

/// Which open findings stay in a new set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Carry {
    /// Nothing is said: without new findings all stay, with new ones none.
    #[default]
    Unsaid,
    /// These and no others.
    These(Vec<FindingId>),
    /// All.
    All,
}

/// A command's name, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// Start the first attempt of a window.
    Run,
    /// Start another attempt.
    Retry,
    /// Park an attempt.
    Park,
    /// Let an open attempt go on.
    Resume,
    /// End an attempt.
    End,
    /// Accept.
    Accept,
    /// Cancel.
    Cancel,
    /// Reopen.
    Reopen,
    /// Grant.
    Grant,
    /// Judge anew whether an attempt counts.
    Recharge,
    /// Take in items of another program.
    Import,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Run => "run",
            Self::Retry => "retry",
            Self::Park => "park",
            Self::Resume => "resume",
            Self::End => "end",
            Self::Accept => "accept",
            Self::Cancel => "cancel",
            Self::Reopen => "reopen",
            Self::Grant => "grant",
            Self::Recharge => "recharge",
            Self::Import => "import",
        })
    }
}
