//! The clean review that an item can require before it is accepted.
//!
//! This module knows reviews by name only. Whether a review is clean, and of which source, is for a publication gate to
//! say; its answer comes in with the acceptance.

use harn_ledger::text::{self, TextError, check_line};
use harn_ledger::{Digest, StreamId};
use serde::{Deserialize, Serialize};

use super::{bounds, fit};

/// What a publication gate said of the work's source at this moment. That nobody asked one is `None` where this stands in
/// an [`Accept`](super::Accept). An item that requires no review does not look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewFact {
    /// The gate is open: a review found exactly this source clean.
    Clean {
        /// The review.
        review: StreamId,
        /// Its turn that found the source clean; one line of 1 to 20 characters.
        turn: String,
        /// Fingerprint of the source.
        fingerprint: Digest,
    },
    /// The gate is closed.
    Closed {
        /// The review that was asked, if there is one.
        review: Option<StreamId>,
        /// Every reason. A refusal quotes them as lines of up to 500 characters, without blank ones.
        reasons: Vec<String>,
    },
}

/// The clean review that an acceptance rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedReview {
    /// The review.
    pub review: StreamId,
    /// Its turn that found the source clean; one line of 1 to 20 characters.
    pub turn: String,
    /// Fingerprint of the source that was found clean.
    pub fingerprint: Digest,
}

impl AcceptedReview {
    /// Trims and checks what the gate said.
    pub(super) fn new(review: &StreamId, turn: &str, fingerprint: Digest) -> Result<Self, TextError> {
        let turn = text::line("turn", turn, bounds::REVIEW_TURN)?;
        Ok(Self { review: review.clone(), turn, fingerprint })
    }

    pub(super) fn check(&self) -> Result<(), TextError> {
        check_line("turn", &self.turn, bounds::REVIEW_TURN)
    }

    /// As it is named after `on`.
    pub(super) fn named(&self) -> String {
        format!("review `{}`, turn `{}`", self.review, self.turn)
    }
}

/// Reasons as a refusal quotes them.
pub(super) fn quoted(reasons: &[String]) -> Vec<String> {
    reasons.iter().filter_map(|reason| fit::line(reason, bounds::REVIEW_REASON)).collect()
}
