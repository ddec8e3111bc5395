//! Whether a ledger still extends what a checkpoint saw of it.
//!
//! The hash of a line covers everything before it, down to the intent. So a stream extends the checkpoint if, and only
//! if, its line at the sequence number of the known head has the known hash.

use super::problem::{Problem, ProblemKind};
use crate::checkpoint::Checkpoint;
use crate::decider::Head;
use crate::digest::Digest;
use crate::line::Line;

/// One stream, followed to where the checkpoint saw its end.
pub(super) struct Followed {
    known: Head,
    /// The hash of the line there.
    reached: Option<Digest>,
    last: u64,
    /// The first `ledger.cut` up to there.
    cut: Option<u64>,
}

impl Followed {
    pub(super) const fn new(known: Head) -> Self {
        Self { known, reached: None, last: 0, cut: None }
    }

    pub(super) fn line(&mut self, line: &Line<'_>) {
        let seq = line.seq();
        self.last = seq;
        if seq > self.known.seq {
            return;
        }
        if self.cut.is_none() && line.event() == "ledger.cut" {
            self.cut = Some(seq);
        }
        if seq == self.known.seq {
            self.reached = Some(line.hash());
        }
    }

    /// What is wrong with the stream, once all of it was followed; nothing is known of one that was not read to its end.
    pub(super) fn problem(&self, to_its_end: bool) -> Option<ProblemKind> {
        let Self { known, reached, last, cut } = *self;
        match reached {
            Some(found) => differs(known, found, cut),
            None => to_its_end.then_some(ProblemKind::Shorter { seq: last, known: known.seq, cut }),
        }
    }
}

/// What two heads of a stream show, the earlier one `known`.
pub(crate) fn of_heads(known: Head, later: Option<Head>) -> Option<ProblemKind> {
    match later {
        None => Some(ProblemKind::Removed { known: known.seq }),
        Some(Head { seq, .. }) if seq < known.seq => {
            Some(ProblemKind::Shorter { seq, known: known.seq, cut: None })
        }
        Some(Head { seq, hash }) if seq == known.seq => differs(known, hash, None),
        Some(_) => None,
    }
}

fn differs(known: Head, found: Digest, cut: Option<u64>) -> Option<ProblemKind> {
    let Head { seq, hash: known } = known;
    (found != known).then_some(ProblemKind::Rewritten { seq, known, found, cut })
}

/// Says so first if no stream of the checkpoint is here in any form that it saw.
pub(crate) fn name_another_ledger(problems: &mut Vec<Problem>, checkpoint: &Checkpoint) {
    let gone = |problem: &&Problem| {
        matches!(problem.kind, ProblemKind::Removed { .. } | ProblemKind::Rewritten { .. })
    };
    let streams = checkpoint.heads().len();
    if streams > 0 && problems.iter().filter(gone).count() == streams {
        let kind = ProblemKind::AnotherLedger { streams: streams as u64 };
        problems.insert(0, Problem { place: ".".to_owned(), kind });
    }
}
