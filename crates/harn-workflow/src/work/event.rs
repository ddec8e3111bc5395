//! What can happen to a work item. Reading an event checks it with the function that checked it before it was written.

mod check;

use harn_ledger::{BlobRef, StreamId, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::attempt::Trigger;
use super::end::{Class, End, Outcome};
use super::finding::{Disposition, FindingId, OpenFinding};
use super::lifecycle::{ItemState, NextAction};
use super::origin::Origin;
use super::review::AcceptedReview;

pub use check::InvalidEvent;
pub(super) use check::check_grant;

/// An event of a work item's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
#[non_exhaustive]
pub enum Event {
    /// The item exists. First and only once.
    #[serde(rename = "work.created")]
    Created {},
    /// An attempt begins; recorded before the script is loaded.
    #[serde(rename = "attempt.started")]
    AttemptStarted {
        /// The run that is the attempt; no two attempts share one.
        run_id: StreamId,
        /// Its number, counted from 1 over the life of the item.
        attempt: u32,
        /// Why it was started.
        trigger: Trigger,
    },
    /// Policy asked a person; the attempt stops until the answer.
    #[serde(rename = "attempt.parked")]
    AttemptParked {
        /// The attempt's run.
        run_id: StreamId,
        /// Its number.
        attempt: u32,
        /// The approval that was asked for.
        approval_id: StreamId,
    },
    /// The same attempt goes on; it is not counted again.
    #[serde(rename = "attempt.resumed")]
    AttemptResumed {
        /// The attempt's run.
        run_id: StreamId,
        /// Its number.
        attempt: u32,
    },
    /// The attempt ended. The parts fit together as [`End`] says.
    #[serde(rename = "attempt.ended")]
    AttemptEnded {
        /// The attempt's run.
        run_id: StreamId,
        /// Its number.
        attempt: u32,
        /// How it ended.
        outcome: Outcome,
        /// Why it is not charged.
        #[serde(skip_serializing_if = "Option::is_none")]
        class: Option<Class>,
        /// The proof.
        #[serde(skip_serializing_if = "Option::is_none")]
        proof: Option<BlobRef>,
        /// 1 to 2,000 characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The decision that a person must make; one line of 1 to 1,000 characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        decision: Option<String>,
        /// Before then no program starts the next attempt. Only where an outside service refused.
        #[serde(skip_serializing_if = "Option::is_none")]
        next_eligible_at: Option<Timestamp>,
    },
    /// A person judges anew whether an ended attempt counts against the budget.
    #[serde(rename = "attempt.recharged")]
    AttemptRecharged {
        /// The attempt's run.
        run_id: StreamId,
        /// Its number.
        attempt: u32,
        /// Why it does not count; it counts when this is absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        class: Option<Class>,
        /// Why; 1 to 2,000 characters.
        reason: String,
    },
    /// A note of where the item stood; never an input to the state.
    #[serde(rename = "work.reconciled")]
    Reconciled {
        /// The state then.
        state: ItemState,
        /// What came next.
        next_action: NextAction,
        /// Why; 1 to 2,000 characters.
        reason: String,
    },
    /// A new window opens.
    #[serde(rename = "work.reopened")]
    Reopened {
        /// Why; 1 to 2,000 characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The new set of open findings, carried ones first, up to 20; empty when the set stays as it is.
        findings: Vec<OpenFinding>,
        /// The findings that end with this reopen.
        superseded: Vec<FindingId>,
    },
    /// The explicit decision that the objective is complete.
    #[serde(rename = "work.accepted")]
    Accepted {
        /// The accepted attempt's run.
        run_id: StreamId,
        /// Its number.
        attempt: u32,
        /// The proof that was reviewed.
        proof: BlobRef,
        /// Why; 1 to 2,000 characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What became of each open finding.
        dispositions: Vec<Disposition>,
        /// Codes of unknowns in the proof that the acceptance takes into account: up to 50, sorted, each once, one line
        /// of 1 to 200 characters.
        accepted_unknowns: Vec<String>,
        /// The clean review that the item requires. Only where it requires one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        review: Option<AcceptedReview>,
    },
    /// The objective is given up.
    #[serde(rename = "work.cancelled")]
    Cancelled {
        /// Why; 1 to 2,000 characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A remark. It changes no state.
    #[serde(rename = "work.noted")]
    Noted {
        /// 1 to 2,000 characters.
        text: String,
    },
    /// A named person allows more attempts, beside the frozen ceiling.
    #[serde(rename = "work.granted")]
    Granted {
        /// How many more, 1 to 100.
        attempts: u32,
        /// Why; 1 to 2,000 characters.
        reason: String,
    },
    /// Something that another program recorded. It counts as what it was, when it was, by whom it was.
    #[serde(rename = "event.imported")]
    Imported {
        /// Where it comes from.
        origin: Box<Origin>,
        /// What happened; never itself an import.
        event: Box<Event>,
    },
}

impl Event {
    /// The end that an `attempt.ended` records.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        match self {
            Self::AttemptEnded { outcome, class, proof, error, decision, .. } => Some(End {
                outcome: *outcome,
                class: *class,
                proof: *proof,
                error: error.clone(),
                decision: decision.clone(),
            }),
            _ => None,
        }
    }

    pub(crate) fn ended(run_id: StreamId, attempt: u32, end: End) -> Self {
        let End { outcome, class, proof, error, decision } = end;
        let next_eligible_at = None;
        Self::AttemptEnded { run_id, attempt, outcome, class, proof, error, decision, next_eligible_at }
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
