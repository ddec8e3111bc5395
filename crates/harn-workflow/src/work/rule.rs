//! The rules that say where an item stands, in the order in which they are asked.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The rule that decided where an item stands. Of those that hold, the first one decides; the order is [`Rule::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Its last decision is an acceptance.
    Accepted,
    /// Its last decision is to give it up.
    Cancelled,
    /// Its last attempt is open, and somebody holds its lease.
    Running,
    /// Its last attempt waits for an approval.
    Parked,
    /// Its last attempt passed.
    Passed,
    /// A dependency is not accepted.
    Dependency,
    /// Nothing was attempted in this window.
    Untried,
    /// The last attempt lacked something here.
    Environment,
    /// The last attempt waits for a person's decision.
    Decision,
    /// An outside service refused the last attempt.
    Upstream,
    /// The last attempt was cut short before it did anything.
    Interrupted,
    /// The last attempt failed.
    Failed,
    /// The last attempt left no terminal evidence.
    Lost,
}

impl Rule {
    /// All rules, in the order in which they are asked. At most one of those from `environment` on can hold.
    pub const ALL: [Self; 13] = [
        Self::Accepted,
        Self::Cancelled,
        Self::Running,
        Self::Parked,
        Self::Passed,
        Self::Dependency,
        Self::Untried,
        Self::Environment,
        Self::Decision,
        Self::Upstream,
        Self::Interrupted,
        Self::Failed,
        Self::Lost,
    ];

    /// The word in JSON and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Cancelled => "cancelled",
            Self::Running => "running",
            Self::Parked => "parked",
            Self::Passed => "passed",
            Self::Dependency => "dependency",
            Self::Untried => "untried",
            Self::Environment => "environment",
            Self::Decision => "decision",
            Self::Upstream => "upstream",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::Lost => "lost",
        }
    }

    /// The rule in a sentence.
    #[must_use]
    pub const fn statement(self) -> &'static str {
        match self {
            Self::Accepted => "an item whose last decision is an acceptance is `succeeded`",
            Self::Cancelled => "an item whose last decision is to give it up is `cancelled`",
            Self::Running => "an item whose attempt is open and whose lease somebody holds is `running`",
            Self::Parked => "an item whose attempt waits for an approval is `awaiting_approval`",
            Self::Passed => "an item whose last attempt passed is `in_review` until a person judges it",
            Self::Dependency => "an item with a dependency that is not accepted is `waiting`",
            Self::Untried => {
                "an item without an attempt since it was created or reopened is `ready`, or `blocked` when none is left"
            }
            Self::Environment => {
                "an item whose last attempt lacked something here is `blocked`, and no program tries again"
            }
            Self::Decision => {
                "an item whose last attempt waits for a person's decision is `blocked`, and no program tries again"
            }
            Self::Upstream => {
                "an item whose last attempt an outside service refused is `blocked`; programs try again up to a bound"
            }
            Self::Interrupted => {
                "an item whose last attempt was cut short before it did anything is `blocked`; programs try again up to a \
                 bound"
            }
            Self::Failed => "an item whose last attempt failed is `blocked` until somebody asks for another",
            Self::Lost => {
                "an item whose last attempt left no terminal evidence is `blocked` until somebody asks for another"
            }
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The rules as a numbered list in Markdown.
#[must_use]
pub fn markdown() -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for (rule, number) in Rule::ALL.into_iter().zip(1..) {
        _ = writeln!(out, "{number}. `{rule}`: {}", rule.statement());
    }
    out
}
