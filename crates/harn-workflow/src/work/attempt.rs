//! One attempt: how it was started and how it stands.

use std::fmt;

use harn_ledger::{Actor, StreamId, Timestamp};
use serde::{Deserialize, Serialize};

use super::end::{Class, End, Outcome};

/// Why an attempt was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The first of its window.
    Initial,
    /// A person or a mission asked for another one after a failure.
    Retry,
}

/// How an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    /// Somebody runs it.
    Running,
    /// It is parked until a person decides on an approval.
    Parked,
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// Nobody runs it and there is no terminal evidence.
    Lost,
}

/// One attempt, as far as the item's log goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// Counted from 1 over the life of the item, without gaps.
    pub number: u32,
    /// The run that is this attempt.
    pub run_id: StreamId,
    /// Why it was started.
    pub trigger: Trigger,
    /// When it was recorded, before the script was loaded.
    pub started_at: Timestamp,
    /// The approval that it is parked for.
    pub parked_for: Option<StreamId>,
    /// How it ended; none while it is open.
    pub end: Option<End>,
    /// When its end was recorded.
    pub ended_at: Option<Timestamp>,
    /// Before then no program starts the next attempt; only where an outside service refused.
    pub next_eligible_at: Option<Timestamp>,
    /// What a person said last about whether it counts, after it ended.
    pub judgement: Option<Judgement>,
    /// Whether another program made it. Its run has no stream here, and its proof is in that program's words.
    pub imported: bool,
}

/// A person's word on whether an attempt counts against the budget. It stands above what was recorded with the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// Why it does not count; none when it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Why the person judges so.
    pub reason: String,
    /// Who judged.
    pub actor: Actor,
    /// When.
    pub judged_at: Timestamp,
}

impl Attempt {
    /// Whether no end is recorded.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.end.is_none()
    }

    /// Why it does not count against the budget: what a person judged, else what was recorded with its end.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        match &self.judgement {
            Some(judgement) => judgement.class,
            None => self.end.as_ref().and_then(End::class),
        }
    }

    /// Whether it counts against the budget. An open attempt does.
    #[must_use]
    pub fn is_charged(&self) -> bool {
        self.is_open() || self.class().is_none()
    }

    /// Before then no program starts the next attempt, because an outside service refused this one.
    pub(super) fn not_before(&self) -> Option<Timestamp> {
        self.next_eligible_at.filter(|_| self.class() == Some(Class::Upstream))
    }

    /// Why it counts or does not, in words.
    #[must_use]
    pub fn charge_reason(&self) -> String {
        if let Some(Judgement { reason, actor, .. }) = &self.judgement {
            return format!("{actor} judged so: {reason}");
        }
        let text = match (self.class(), self.outcome()) {
            (_, None) => "an attempt counts until it ends otherwise",
            (_, Some(Outcome::Passed)) => "it passed",
            (Some(Class::Environment), _) => "something was missing here before the work was touched",
            (Some(Class::Upstream), _) => "an outside service refused before the work was touched",
            (Some(Class::Decision), _) => "the script said that a person must rule",
            (Some(Class::Interrupted), _) => "it ended before an agent or a check was started",
            (None, Some(Outcome::Failed)) => "nothing shows that it failed before the work was touched",
            (None, Some(Outcome::Lost)) => "nothing shows that it ended before the work was touched",
        };
        text.to_owned()
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        self.end.as_ref().map(End::outcome)
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Initial => "initial",
            Self::Retry => "retry",
        })
    }
}

impl fmt::Display for AttemptStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Running => "running",
            Self::Parked => "parked",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Lost => "lost",
        })
    }
}
