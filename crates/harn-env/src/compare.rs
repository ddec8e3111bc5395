//! Baseline against final: whether a red check is the work's doing.
//!
//! The same command was run before the work and after it. Both results, and at most one rerun, give exactly one
//! [`Verdict`]. The function is total: there is no pair of results for which nothing is said.

mod signature;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::command::{Exit, Outcome};

pub(crate) use signature::FailedTests;
pub use signature::Signature;

/// What a run of a command came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// How it ended.
    pub outcome: Outcome,
    /// How the program exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// What tells one failure of it from another.
    pub signature: Signature,
}

/// What two runs of a command say about the work between them. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It passed before and passes now.
    Holds,
    /// It passed before, and fails now and again.
    Regression,
    /// It does worse than before, and that is not confirmed.
    SuspectedRegression,
    /// It failed before and passes now.
    Repaired,
    /// It fails as it did before.
    PreExisting,
    /// It fails, and otherwise than before.
    Changed,
    /// It could be run before and cannot be now: something here is missing.
    EnvironmentLost,
    /// It could be run neither before nor now.
    EnvironmentGap,
    /// There is no result of before, and it passes.
    NewPass,
    /// There is no result of before, and it fails.
    NewFail,
    /// What it came to before says nothing.
    Inconclusive,
    /// What it came to says nothing.
    Unknown,
    /// Two runs of the same source disagree.
    Flaky,
}

/// A verdict, and the tests that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The verdict.
    pub verdict: Verdict,
    /// Tests that fail now and did not before, where the runner names its tests.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub broken: BTreeSet<String>,
    /// Tests that failed before and do not now.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub mended: BTreeSet<String>,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 13] = [
        Self::Holds,
        Self::Regression,
        Self::SuspectedRegression,
        Self::Repaired,
        Self::PreExisting,
        Self::Changed,
        Self::EnvironmentLost,
        Self::EnvironmentGap,
        Self::NewPass,
        Self::NewFail,
        Self::Inconclusive,
        Self::Unknown,
        Self::Flaky,
    ];

    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Regression => "regression",
            Self::SuspectedRegression => "suspected_regression",
            Self::Repaired => "repaired",
            Self::PreExisting => "pre_existing",
            Self::Changed => "changed",
            Self::EnvironmentLost => "environment_lost",
            Self::EnvironmentGap => "environment_gap",
            Self::NewPass => "new_pass",
            Self::NewFail => "new_fail",
            Self::Inconclusive => "inconclusive",
            Self::Unknown => "unknown",
            Self::Flaky => "flaky",
        }
    }

    /// Whether the command passes by it. What is flaky, unknown or failed before does not.
    #[must_use]
    pub const fn passes(self) -> bool {
        matches!(self, Self::Holds | Self::Repaired | Self::NewPass)
    }

    /// Whether it says by itself that the work broke something. Nothing else does.
    #[must_use]
    pub const fn blames_the_work(self) -> bool {
        matches!(self, Self::Regression)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whether one rerun is needed before `last` is judged: a regression and a repair must show twice.
#[must_use]
pub fn needs_rerun(baseline: Option<&Seen>, last: &Seen) -> bool {
    use Outcome::{Failed, Passed, Timeout};
    matches!(
        (baseline.map(|seen| seen.outcome), last.outcome),
        (Some(Passed), Failed | Timeout) | (Some(Failed), Passed)
    )
}

/// Judges `last` against `baseline`, with the `rerun` of `last` if there was one.
#[must_use]
pub fn compare(baseline: Option<&Seen>, last: &Seen, rerun: Option<&Seen>) -> Comparison {
    let verdict = match baseline {
        None => without_baseline(last.outcome),
        Some(baseline) => against(baseline, last, rerun),
    };
    let tests = |seen: Option<&Seen>| seen.map(|seen| seen.signature.tests().clone()).unwrap_or_default();
    let (before, now) = (tests(baseline), tests(Some(last)));
    // Where one of the two names no tests, nothing follows from the other's.
    let comparable = baseline.is_some_and(|baseline| {
        last.signature.names_tests()
            && (baseline.signature.names_tests() || baseline.outcome == Outcome::Passed)
            || (last.outcome == Outcome::Passed && baseline.signature.names_tests())
    });
    let difference = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        if comparable { one.difference(other).cloned().collect() } else { BTreeSet::new() }
    };
    Comparison { verdict, broken: difference(&now, &before), mended: difference(&before, &now) }
}

const fn without_baseline(last: Outcome) -> Verdict {
    match last {
        Outcome::Passed => Verdict::NewPass,
        Outcome::Failed | Outcome::Timeout => Verdict::NewFail,
        Outcome::MissingTool | Outcome::CouldNotStart | Outcome::Stopped | Outcome::NotRun => {
            Verdict::Unknown
        }
    }
}

fn against(baseline: &Seen, last: &Seen, rerun: Option<&Seen>) -> Verdict {
    use Outcome::{CouldNotStart, Failed, MissingTool, NotRun, Passed, Stopped, Timeout};
    let again = rerun.map(|seen| seen.outcome);
    match (baseline.outcome, last.outcome) {
        (Timeout | Stopped | NotRun, _) => Verdict::Inconclusive,
        (Passed | Failed, Stopped | NotRun)
        | (MissingTool | CouldNotStart, Failed | Timeout | Stopped | NotRun) => Verdict::Unknown,
        (MissingTool | CouldNotStart, MissingTool | CouldNotStart) => Verdict::EnvironmentGap,
        (MissingTool | CouldNotStart, Passed) => Verdict::NewPass,
        (Passed | Failed, MissingTool | CouldNotStart) => Verdict::EnvironmentLost,
        (Passed, Passed) => Verdict::Holds,
        (Passed, Failed | Timeout) => match again {
            Some(Passed) => Verdict::Flaky,
            Some(Failed) => Verdict::Regression,
            _ => Verdict::SuspectedRegression,
        },
        (Failed, Passed) => match again {
            None | Some(Passed) => Verdict::Repaired,
            Some(_) => Verdict::Flaky,
        },
        (Failed, Failed) if baseline.signature == last.signature => Verdict::PreExisting,
        (Failed, Failed) if last.signature.has_more_than(&baseline.signature) => Verdict::SuspectedRegression,
        (Failed, Failed | Timeout) => Verdict::Changed,
    }
}
