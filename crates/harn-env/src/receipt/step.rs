//! What comes next in a receipt.

use std::fmt;

use super::Stage;
use super::event::{End, Hold};
use super::words::fitting;

/// What comes next. The commands are named by their place in the recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Begin the receipt.
    Start,
    /// Run a command.
    Run {
        /// Where it belongs.
        stage: Stage,
        /// Its place in its list, from 0.
        index: u32,
        /// In which round.
        round: u32,
    },
    /// Do the set-up once more, because of a tool.
    Retry {
        /// Which tool, and how it failed.
        reason: String,
    },
    /// Compare the source with what it was.
    CompareSource {
        /// After which stage.
        after: Stage,
    },
    /// Compare a final result with the baseline; a rerun of it may come first.
    CompareResult {
        /// The command's place in the baseline, from 0.
        index: u32,
    },
    /// End the receipt.
    End {
        /// With what.
        end: End,
        /// Why, where it is held.
        reason: Option<String>,
    },
    /// Nothing.
    Nothing,
}

impl Step {
    /// Nothing is left to be done, and the project is prepared.
    pub(super) const READY: Self = Self::End { end: End::Ready, reason: None };

    pub(super) fn held(hold: Hold, reason: &str) -> Self {
        Self::End { end: End::Held(hold), reason: fitting(reason) }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("the start"),
            Self::Run { stage, index, round } => {
                write!(f, "the result of {stage} command {index} in round {round}")
            }
            Self::Retry { .. } => f.write_str("the set-up to be done again"),
            Self::CompareSource { after } => write!(f, "the source to be compared after {after}"),
            Self::CompareResult { index } => write!(f, "result {index} to be compared"),
            Self::End { .. } => f.write_str("the end"),
            Self::Nothing => f.write_str("nothing"),
        }
    }
}
