//! A review finding and its whole life.

use std::collections::BTreeMap;

use harn_ledger::{Digest, Timestamp};
use serde::{Deserialize, Serialize};

use crate::id::{FindingId, TurnId};
use crate::identity::Anchor;
use crate::path::SourcePath;
use crate::report::Cite;

/// What a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A failing case is shown. It may be repaired.
    Defect,
    /// A suspicion without proof. It is investigated before anything is repaired.
    Uncertain,
    /// Information only. It is never open.
    Note,
}

/// Where a finding stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Nobody has dealt with it.
    Open,
    /// It was repaired, and its regression checks show it.
    Fixed,
    /// It is none, for a reason and with evidence against it; or a person closed it.
    Dismissed,
    /// It is the same as another one.
    Merged,
    /// It was never open.
    Noted,
}

/// How much a finding matters: `P0` most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Priority {
    /// Most.
    P0,
    /// Much.
    P1,
    /// Less.
    P2,
}

/// Who raised something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Raised {
    /// A reviewer, in a turn.
    Turn(TurnId),
    /// Another program, by its name.
    Import(String),
    /// A person.
    Person {},
}

/// A place in the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The file.
    pub file: SourcePath,
    /// The line, from 1.
    pub line: u32,
    /// What stands there.
    pub anchor: Anchor,
}

/// What was seen of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// In words.
    pub text: String,
    /// What it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cites: Vec<Cite>,
}

/// A finding as it is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// What it is.
    pub kind: Kind,
    /// The task that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// How much it matters.
    pub priority: Priority,
    /// What it says.
    pub title: String,
    /// What shows it.
    pub evidence: Evidence,
    /// How it could be repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The rule of the analyser that raised it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// By what the analyser knows it again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub partial_fingerprints: BTreeMap<String, String>,
}

/// Something that happened to a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment<T> {
    /// What.
    pub what: T,
    /// By whom or in which turn.
    pub by: Raised,
    /// On which source, if on one.
    pub fingerprint: Option<Digest>,
    /// Who recorded it.
    pub actor: String,
    /// When.
    pub at: Timestamp,
}

/// A repair that was attempted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// In which pass; 0 where a failed check was repaired.
    pub pass: u32,
    /// By whom.
    pub task: String,
    /// The source before it.
    pub before: Digest,
    /// The source after it.
    pub after: Digest,
    /// How many results of checks the review had before it.
    pub results: usize,
}

/// What was decided of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decided {
    /// It is a defect.
    Confirmed,
    /// It was opened again.
    Reopened,
    /// It is fixed: these regression checks show it.
    Fixed {
        /// The checks.
        checks: Vec<String>,
    },
    /// It is none.
    Dismissed {
        /// Why.
        reason: String,
        /// What speaks against it.
        evidence: Evidence,
    },
    /// A person closed it.
    Closed {
        /// Why.
        reason: String,
    },
    /// It is the same as another one.
    Merged {
        /// The other one.
        into: FindingId,
        /// Why.
        reason: String,
    },
    /// It matters more or less than was said.
    Priority {
        /// How much.
        to: Priority,
        /// Why.
        reason: Option<String>,
    },
    /// Its regression check need not be shown to fail on the source of before.
    NotReproduced {
        /// Why.
        reason: String,
    },
    /// A person gave it to a task, or to none.
    Owner {
        /// The task.
        to: Option<String>,
        /// Why.
        reason: String,
    },
}

/// A finding and its whole life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its number.
    pub id: FindingId,
    /// What it is now.
    pub kind: Kind,
    /// Where it stands now.
    pub standing: Standing,
    /// How much it matters.
    pub priority: Priority,
    /// The task that it belongs to.
    pub owner: Option<String>,
    /// Where it was seen last.
    pub place: Option<Place>,
    /// What it says.
    pub title: String,
    /// How it could be repaired.
    pub fix: Option<String>,
    /// The rule of the analyser that raised it.
    pub rule: Option<String>,
    /// By what the analyser knows it again.
    pub partial_fingerprints: BTreeMap<String, String>,
    /// What was seen of it, in order; the first entry opened it.
    pub evidence: Vec<Moment<Evidence>>,
    /// The repairs that were attempted, in order.
    pub attempts: Vec<Moment<Attempt>>,
    /// How many of the attempts came before it was opened last.
    pub attempts_before: usize,
    /// What was decided, in order.
    pub decisions: Vec<Moment<Decided>>,
    /// How often it was raised again with nothing new after it was closed.
    pub seen_again: u32,
    /// The last turn that accounted for it.
    pub last_seen: Option<TurnId>,
    /// The one that it was merged into.
    pub merged_into: Option<FindingId>,
    /// Why its regression check need not have failed before.
    pub not_reproduced: Option<String>,
}

impl Finding {
    /// Whether nobody has dealt with it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.standing == Standing::Open
    }

    /// Whether a repair was attempted since it was opened last.
    #[must_use]
    pub fn was_attempted(&self) -> bool {
        self.attempts.len() > self.attempts_before
    }

    /// Whether a person closed it, rather than evidence.
    #[must_use]
    pub fn closed_by_person(&self) -> bool {
        let last = self.decisions.iter().rev().find(|it| {
            matches!(it.what, Decided::Closed { .. } | Decided::Reopened | Decided::Dismissed { .. })
        });
        self.standing == Standing::Dismissed
            && last.is_some_and(|it| matches!(it.what, Decided::Closed { .. }))
    }

    /// Everything that was cited for or against it.
    pub fn cited(&self) -> impl Iterator<Item = &Cite> {
        let against = self.decisions.iter().filter_map(|it| match &it.what {
            Decided::Dismissed { evidence, .. } => Some(&evidence.cites),
            _ => None,
        });
        self.evidence.iter().map(|it| &it.what.cites).chain(against).flatten()
    }
}

impl Kind {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Defect => "defect",
            Self::Uncertain => "uncertain",
            Self::Note => "note",
        }
    }
}

impl Standing {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Fixed => "fixed",
            Self::Dismissed => "dismissed",
            Self::Merged => "merged",
            Self::Noted => "noted",
        }
    }
}

impl Priority {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::P0 => "P0",
            Self::P1 => "P1",
            Self::P2 => "P2",
        }
    }
}
