//! What can happen in a receipt.

use harn_ledger::StreamId;
use harn_ledger::text::{TextError, check_block, check_line};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Stage;
use super::intent::Snapshot;
use super::result::{CommandResult, EXCERPT_MAX};
use super::words::REASON_MAX;
use crate::compare::Comparison;
use crate::fingerprint::Difference;
use crate::recipe::NAME_MAX;

/// Most paths of a difference that stand in an event.
pub(crate) const PATHS_MAX: usize = 200;

/// An event of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
#[non_exhaustive]
pub enum Event {
    /// The receipt was begun. First and only once.
    #[serde(rename = "receipt.started")]
    Started {},
    /// A set-up of before still holds, so it is not done again.
    #[serde(rename = "setup.reused")]
    SetupReused {
        /// The receipt of that set-up.
        receipt: StreamId,
    },
    /// A command ended.
    #[serde(rename = "command.ended")]
    CommandEnded {
        /// Where it belongs.
        stage: Stage,
        /// Its place in its list, from 0.
        index: u32,
        /// In which round: the set-up may be done twice, a final result may be confirmed by a rerun.
        round: u32,
        /// What it came to.
        result: Box<CommandResult>,
    },
    /// A tool does not work, so the set-up is done once more. At most once.
    #[serde(rename = "setup.retried")]
    SetupRetried {
        /// Which tool, and how it failed.
        reason: String,
    },
    /// The source was compared with what it was before.
    #[serde(rename = "source.compared")]
    SourceCompared {
        /// After which stage.
        after: Stage,
        /// The source as it is.
        source: Snapshot,
        /// The paths that changed; up to 200 are named.
        changed: Difference,
    },
    /// A final result was compared with the baseline.
    #[serde(rename = "result.compared")]
    ResultCompared {
        /// The command's place in the baseline, from 0.
        index: u32,
        /// What that says.
        comparison: Comparison,
    },
    /// The receipt is complete. Nothing follows.
    #[serde(rename = "receipt.ended")]
    Ended {
        /// With what.
        end: End,
        /// Why, where it is held.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person said what becomes of the source that preparation changed. Only behind an end that is held for it.
    #[serde(rename = "source.resolved")]
    SourceResolved {
        /// What becomes of it.
        resolution: Resolution,
        /// Why.
        reason: String,
    },
}

/// What becomes of a source that preparation changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// The edits stay, and the next preparation begins with them.
    Keep,
    /// Exactly the files that preparation changed were put back.
    Restore,
}

/// With what a receipt ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The project is prepared.
    Ready,
    /// Every command was run and compared.
    Checked,
    /// The work must not begin, or not go on.
    Held(Hold),
}

/// Why the work must not begin or go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// The set-up failed.
    Setup,
    /// A tool does not work, also after the set-up was done again.
    Tools,
    /// Preparation changed the source. The edits are kept.
    Source,
    /// Somebody stopped it.
    Cancelled,
}

/// Why an event breaks its own bounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidEvent {
    /// A text is blank, too long, untrimmed or holds control characters.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A list or an excerpt is too long.
    #[error("{what} has {count} entries or bytes, expected at most {max}")]
    TooMuch {
        /// What.
        what: &'static str,
        /// How much there is.
        count: usize,
        /// The most allowed.
        max: usize,
    },
    /// A reason stands with an end that is not a hold, or is missing.
    #[error("an end has a reason exactly when it is a hold")]
    Reason,
}

impl InvalidEvent {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Text(error) => error.code(),
            Self::TooMuch { .. } => "too_much",
            Self::Reason => "reason_without_hold",
        }
    }
}

impl Event {
    /// Its name in the log.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "receipt.started",
            Self::SetupReused { .. } => "setup.reused",
            Self::CommandEnded { .. } => "command.ended",
            Self::SetupRetried { .. } => "setup.retried",
            Self::SourceCompared { .. } => "source.compared",
            Self::ResultCompared { .. } => "result.compared",
            Self::Ended { .. } => "receipt.ended",
            Self::SourceResolved { .. } => "source.resolved",
        }
    }

    /// Checks the event's own bounds. Writer and reader both use it.
    pub fn check(&self) -> Result<(), InvalidEvent> {
        match self {
            Self::Started {} | Self::SetupReused { .. } | Self::ResultCompared { .. } => Ok(()),
            Self::CommandEnded { result, .. } => {
                check_line("name", &result.name, NAME_MAX)?;
                for (what, text) in [("error", &result.error), ("note", &result.note)] {
                    if let Some(text) = text {
                        check_block(what, text, REASON_MAX)?;
                    }
                }
                for output in result.stdout.iter().chain(&result.stderr) {
                    at_most("an excerpt", output.tail.len(), EXCERPT_MAX)?;
                }
                Ok(())
            }
            Self::SetupRetried { reason } | Self::SourceResolved { reason, .. } => {
                Ok(check_block("reason", reason, REASON_MAX)?)
            }
            Self::SourceCompared { changed, .. } => at_most("a difference", changed.paths.len(), PATHS_MAX),
            Self::Ended { end, reason } => match (end, reason) {
                (End::Held(_), Some(reason)) => Ok(check_block("reason", reason, REASON_MAX)?),
                (End::Ready | End::Checked, None) => Ok(()),
                _ => Err(InvalidEvent::Reason),
            },
        }
    }
}

fn at_most(what: &'static str, count: usize, max: usize) -> Result<(), InvalidEvent> {
    if count <= max { Ok(()) } else { Err(InvalidEvent::TooMuch { what, count, max }) }
}

impl Hold {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Tools => "tools",
            Self::Source => "source",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let event = Self::deserialize(deserializer)?;
        event.check().map_err(de::Error::custom)?;
        Ok(event)
    }
}
