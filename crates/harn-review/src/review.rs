//! The domain of reviews: what can be asked of one, and what follows.

mod checks;
mod decide;
mod publication;
mod refusal;

use harn_ledger::{BlobRef, Decider, Digest, Limits, Recorded};

use crate::check::CheckResult;
use crate::event::{Decision, Event, Publication, Writer};
use crate::finding::Evidence;
use crate::id::FindingId;
use crate::import::Imported;
use crate::intent::Intent;
use crate::plan::Plan;
use crate::source::Source;
use crate::state::State;

pub use refusal::Refusal;

/// The domain of reviews: streams of kind `review`.
#[derive(Debug, Clone, Copy)]
pub enum Review {}

/// What can be asked of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Opens it. First and only once.
    Open {},
    /// Asks a reviewer. A turn that has not been answered yet is not waited for any more.
    Begin {
        /// The source that the reviewer is given.
        fingerprint: Digest,
        /// Digest of what the reviewer is told to do.
        instructions: Digest,
        /// The fingerprint itself, as the controller keeps it.
        manifest: Option<BlobRef>,
        /// Who reviews, one line of up to 100 characters.
        reviewer: Option<String>,
        /// What waits to be given to the agents; nothing is reviewed before that.
        queued: Vec<String>,
    },
    /// Hands in a report. What is refused or stale is recorded as that; what answers no turn is not recorded at all.
    Submit {
        /// The report as it was handed in.
        bytes: Vec<u8>,
        /// Where it is kept.
        raw: BlobRef,
        /// The present source.
        source: Box<Source>,
    },
    /// Takes in the results of another program.
    Import {
        /// What it found.
        imported: Imported,
        /// Where what it wrote is kept.
        raw: BlobRef,
        /// The present source.
        source: Box<Source>,
    },
    /// Starts a repair pass, if one is offered.
    BeginRepair {
        /// The present source.
        fingerprint: Digest,
    },
    /// Records what the task whose turn it is attempted.
    Attempted {
        /// The source before.
        before: Digest,
        /// The source after.
        after: Digest,
        /// What it says of that, 1 to 8,000 characters.
        note: Option<String>,
    },
    /// Records what a check came to. Only a controller that ran it makes such a result; its attempt is numbered here.
    RecordCheck {
        /// The result.
        result: Box<CheckResult>,
    },
    /// A person decides about a finding.
    Decide {
        /// The finding.
        id: FindingId,
        /// What.
        decision: Decision,
        /// Why, 1 to 8,000 characters.
        reason: String,
        /// What it rests on.
        evidence: Option<Evidence>,
    },
    /// A person lets a combined check pass that failed.
    Waive {
        /// The check.
        name: String,
        /// Why, 1 to 8,000 characters.
        reason: String,
    },
    /// A person accepts another plan.
    AcceptPlan {
        /// The plan.
        plan: Box<Plan>,
        /// Why, 1 to 8,000 characters.
        reason: String,
    },
    /// Gives a failed combined check back to the task that owns it.
    BeginFixCheck {
        /// The check.
        name: String,
        /// The present source.
        fingerprint: Digest,
    },
    /// That task is done with it.
    EndFixCheck {
        /// Whether it says that the check is repaired.
        repaired: bool,
        /// The source after it.
        fingerprint: Digest,
    },
    /// Keeps a title and a summary.
    WriteDraft {
        /// What they were written for.
        key: Digest,
        /// The title.
        title: String,
        /// The summary.
        summary: String,
        /// Who wrote them.
        by: Writer,
        /// Why earlier ones were refused, each in a line.
        refused: Vec<String>,
    },
    /// Begins a publication. The gate is asked once more.
    BeginPublication {
        /// What it publishes.
        publication: Box<Publication>,
        /// The present source.
        source: Box<Source>,
        /// Where the branch is now that the work is to be merged into.
        base: Option<String>,
        /// Every file that changed has to be read.
        require_coverage: bool,
    },
    /// The branch is on the remote.
    Pushed {
        /// Whether it was found there.
        adopted: bool,
    },
    /// The publication is complete.
    Published {
        /// The address of the pull request, if there is one.
        url: Option<String>,
        /// Whether the pull request was found there.
        adopted: bool,
    },
    /// The publication is given up.
    PublicationFailed {
        /// Why, 1 to 4,000 characters.
        reason: String,
    },
}

impl Decider for Review {
    const KIND: &'static str = "review";
    const LIMITS: Limits =
        Limits { intent_bytes: 1 << 20, line_bytes: 8 << 20, events: 100_000, log_bytes: 256 << 20 };

    type Intent = Intent;
    type Event = Event;
    type State = State;
    type Command = Command;
    type Facts = ();
    type Refusal = Refusal;

    fn init(intent: &Intent) -> State {
        State::new(intent)
    }

    fn decide(state: &State, command: Command, (): &()) -> Result<Vec<Event>, Refusal> {
        let events = decide::decide(state, command)?;
        events.iter().try_for_each(Event::check)?;
        Ok(events)
    }

    fn evolve(state: &mut State, recorded: &Recorded<Event>) {
        state.apply(recorded);
    }

    fn closes(event: &Event) -> bool {
        matches!(
            event,
            Event::PublicationPushed { .. } | Event::PublicationDone { .. } | Event::PublicationFailed { .. }
        )
    }
}
