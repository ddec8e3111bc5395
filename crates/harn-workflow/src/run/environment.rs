//! The environment of a run: what was prepared before the script, and what the same commands came to after it.
//!
//! The receipts that hold the evidence are streams of their own. A transcript names them, with the hash of their last line
//! and what follows from them for the run.

use harn_ledger::{Digest, StreamId};
use serde::{Deserialize, Serialize};

use super::check::CheckOutcome;
use super::event::Reason;
use super::text::Line;

/// Most commands of a baseline.
pub const COMMANDS_MAX: usize = 32;
/// Most tests that are named for one command.
pub const TESTS_MAX: usize = 3;

/// How the name of a command is written.
pub type CommandName = Line<100>;

/// A receipt, as it was when it was complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptHead {
    /// The receipt; also the id of its stream.
    pub id: StreamId,
    /// The hash of its last line, which covers every line before it and its intent.
    pub hash: Digest,
}

/// Why a run must not begin. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// The set-up failed.
    Setup,
    /// A tool does not work, also after the set-up was done again.
    Tools,
    /// Preparation changed the source. A person must say what becomes of that.
    Source,
    /// It was stopped.
    Cancelled,
}

/// What the preparation came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// The evidence.
    pub receipt: ReceiptHead,
    /// Why the run must not begin, if it must not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// The same in words; there exactly when there is a hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The receipt whose set-up still held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused_from: Option<StreamId>,
    /// Whether the set-up was done twice, because of a tool.
    pub retried: bool,
    /// What the commands of the baseline came to, in their order; up to 32.
    pub baseline: Vec<BaselineResult>,
}

/// What a command came to before the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineResult {
    /// What it is called.
    pub name: CommandName,
    /// How it came out.
    pub outcome: CheckOutcome,
}

/// What the commands of the baseline came to after the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinalCheck {
    /// The evidence.
    pub receipt: ReceiptHead,
    /// What each says, in their order; up to 32. Fewer than there are commands when it was stopped.
    pub comparisons: Vec<Compared>,
}

/// A command of the baseline, before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// What it is called.
    pub name: CommandName,
    /// What the two results say.
    pub verdict: Verdict,
    /// Up to three of the tests that fail now and did not before, where the runner names its tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<Line<200>>,
    /// How many there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub broken_total: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What two results of a command say about the work between them. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

impl Verdict {
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

    /// Whether it says something for certain: that the command passes, that it fails as before, or that the work broke it.
    #[must_use]
    pub const fn is_certain(self) -> bool {
        matches!(self, Self::Holds | Self::Regression | Self::Repaired | Self::PreExisting | Self::NewPass)
    }
}

/// The environment of a run, as its proof tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentRecord {
    /// What the preparation came to; absent when the caller did without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation: Option<Preparation>,
    /// What the same commands came to after the work.
    #[serde(default, rename = "final", skip_serializing_if = "Option::is_none")]
    pub after: Option<FinalCheck>,
}

impl EnvironmentRecord {
    /// Whether a command that passed before the work fails after it, and failed again.
    #[must_use]
    pub fn has_regressed(&self) -> bool {
        self.comparisons().any(|compared| compared.verdict == Verdict::Regression)
    }

    /// What the commands say.
    pub fn comparisons(&self) -> impl Iterator<Item = &Compared> {
        self.after.iter().flat_map(|after| &after.comparisons)
    }
}
