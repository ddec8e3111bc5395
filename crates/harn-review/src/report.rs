//! The report of a reviewer, as it is handed in.

mod schema;

use serde::{Deserialize, Serialize};

use crate::finding::{Kind, Priority};

pub use schema::schema;

/// A report, closed: `review-report.v1`. It is read leniently where a rule of its own judges a member, so that a refusal
/// names the rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// `review-report.v1`.
    pub schema: ReportSchema,
    /// The turn that it answers, as the reviewer was given it.
    pub turn: String,
    /// The source that it judges, as the reviewer was given it.
    pub fingerprint: String,
    /// What it comes to.
    pub status: Status,
    /// 1 to 8,000 characters.
    pub summary: String,
    /// One for each finding that is open, and for a closed one that is to be reopened.
    #[serde(default)]
    pub accounts: Vec<Account>,
    /// Up to 8 findings that are not in the ledger yet.
    #[serde(default)]
    pub new: Vec<NewFinding>,
    /// The files that were read, if the reviewer says so: up to 5,000 paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Vec<String>>,
}

/// The version of the report's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportSchema {
    /// The first.
    #[serde(rename = "review-report.v1")]
    V1,
}

/// What a report comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing is open any more.
    Clean,
    /// Something is open.
    Findings,
    /// The inspection was not completed. It never counts as passed.
    Blocked,
}

/// What the reviewer says of a finding of before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// The finding.
    pub id: String,
    /// What becomes of it.
    pub verdict: Verdict,
    /// What was seen in the present source, 1 to 8,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Why, for `dismissed`, `merged` and a lowered priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the evidence rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cites: Vec<Cite>,
    /// The regression checks that show that it is fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// The finding that it is merged into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// A new priority; a lower one needs a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
}

/// What becomes of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is still there, as it was.
    Open,
    /// A failing case is shown: a defect.
    Confirmed,
    /// It is still not certain.
    Uncertain,
    /// It was repaired, and its regression checks show it.
    Fixed,
    /// It is none.
    Dismissed,
    /// It is the same as another one.
    Merged,
    /// It is information only. Never allowed: an open finding does not become a note.
    Note,
}

/// What evidence rests on: a check that was recorded, or a line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cite {
    /// The name of a check that ran on the present source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// A file of the present source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A line of it, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// A finding that is not in the ledger yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewFinding {
    /// What it is.
    pub kind: Kind,
    /// The task that it belongs to; without one nobody can be asked to repair it, and the plan has to be revised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The file, within the owner's files. Only what has no owner may do without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// How much it matters.
    pub priority: Priority,
    /// One line of 1 to 200 characters.
    pub title: String,
    /// What shows it: 1 to 8,000 characters.
    pub evidence: String,
    /// What the evidence rests on beside its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cites: Vec<Cite>,
    /// How it could be repaired, 1 to 8,000 characters: advice, no order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Status {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Findings => "findings",
            Self::Blocked => "blocked",
        }
    }
}

impl Verdict {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Confirmed => "confirmed",
            Self::Uncertain => "uncertain",
            Self::Fixed => "fixed",
            Self::Dismissed => "dismissed",
            Self::Merged => "merged",
            Self::Note => "note",
        }
    }

    /// Whether the finding stays open by it.
    #[must_use]
    pub const fn stays_open(self) -> bool {
        matches!(self, Self::Open | Self::Confirmed | Self::Uncertain)
    }
}

impl Report {
    /// Every path that the report names, whether or not it is one.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let cites = self.accounts.iter().flat_map(|account| &account.cites);
        let cites = cites.chain(self.new.iter().flat_map(|new| &new.cites));
        cites
            .filter_map(|cite| cite.file.as_deref())
            .chain(self.new.iter().filter_map(|new| new.file.as_deref()))
    }
}
