//! Why a command is not allowed, and what to do instead. A refusal changes nothing.

mod hint;

use harn_ledger::text::TextError;
use harn_ledger::{Actor, BlobRef, Digest, StreamId, Timestamp};

use super::bounds;
use super::command::Verb;
use super::dependencies::Dependency;
use super::end::Outcome;
use super::finding::FindingId;
use super::lifecycle::ItemState;
use super::reason;

pub(super) use hint::{accept_line, open_review_line};

/// Why a command is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The caller was started by a workflow.
    #[error("a process started by a workflow may not {verb} a work item, expected a person outside of it")]
    WorkflowChild {
        /// What it asked for.
        verb: Verb,
    },
    /// The caller is not a person.
    #[error("a program may not {verb} attempts, expected a person")]
    NotAPerson {
        /// What it asked for.
        verb: Verb,
    },
    /// The item is accepted or cancelled.
    #[error("cannot {verb} `{id}`: it is {state}")]
    Finished {
        /// The item.
        id: StreamId,
        /// What was asked for.
        verb: Verb,
        /// `succeeded` or `cancelled`.
        state: ItemState,
    },
    /// A dependency is not accepted.
    #[error("cannot {verb} `{id}`: it {}", reason::waits_for(unresolved))]
    Waiting {
        /// The item.
        id: StreamId,
        /// What was asked for.
        verb: Verb,
        /// The dependencies that are not accepted.
        unresolved: Vec<Dependency>,
    },
    /// Somebody else holds the item's lease.
    #[error("cannot {verb} `{id}`: somebody else runs it")]
    Running {
        /// The item.
        id: StreamId,
        /// What was asked for.
        verb: Verb,
    },
    /// The open attempt is parked.
    #[error("cannot {verb} `{id}`: attempt {attempt} is parked for approval `{approval_id}`")]
    AwaitingApproval {
        /// The item.
        id: StreamId,
        /// What was asked for.
        verb: Verb,
        /// The attempt.
        attempt: u32,
        /// The approval.
        approval_id: StreamId,
        /// Whether the approval is decided, so that the attempt can go on.
        decided: bool,
    },
    /// The item is blocked, and a new attempt must be asked for by that name.
    #[error("cannot run `{id}`: it is blocked, expected an explicit retry ({reason})")]
    NeedsRetry {
        /// The item.
        id: StreamId,
        /// Why it is blocked.
        reason: String,
    },
    /// The item is in another state than the command needs.
    #[error("cannot {verb} `{id}`: it is {state}, expected {expected}")]
    WrongState {
        /// The item.
        id: StreamId,
        /// What was asked for.
        verb: Verb,
        /// Its state.
        state: ItemState,
        /// The states that would do.
        expected: &'static str,
    },
    /// No charged attempt is left.
    #[error("cannot {verb} `{id}`: no charged attempt is left ({charged}/{ceiling})")]
    Exhausted {
        /// The item.
        id: StreamId,
        /// What was asked for.
        verb: Verb,
        /// Charged attempts.
        charged: u32,
        /// Charged attempts allowed.
        ceiling: u32,
    },
    /// There is no attempt with that number.
    #[error("`{id}` has no attempt {attempt}, expected {}", expected_attempt(*used))]
    NoSuchAttempt {
        /// The item.
        id: StreamId,
        /// The number.
        attempt: u32,
        /// How many attempts there are.
        used: u32,
    },
    /// What passed counts, whatever somebody thinks of it.
    #[error("attempt {attempt} of `{id}` passed and counts, expected one that failed or is lost")]
    PassedCounts {
        /// The item.
        id: StreamId,
        /// The attempt.
        attempt: u32,
    },
    /// The attempt cannot count, because nothing is left to count it against.
    #[error(
        "attempt {attempt} of `{id}` cannot be counted: no charged attempt is left ({charged}/{ceiling})"
    )]
    Overdrawn {
        /// The item.
        id: StreamId,
        /// The attempt.
        attempt: u32,
        /// Charged attempts.
        charged: u32,
        /// Charged attempts allowed.
        ceiling: u32,
    },
    /// A program asked for a retry that only a person may ask for.
    #[error("`{id}` needs a person: {reason}")]
    NeedsPerson {
        /// The item.
        id: StreamId,
        /// Why it is blocked.
        reason: String,
    },
    /// A program asked for a retry too early.
    #[error("`{id}` is not to be retried by a program before {at}")]
    TooEarly {
        /// The item.
        id: StreamId,
        /// When it may be.
        at: Timestamp,
    },
    /// Another attempt has that run.
    #[error("the run `{run_id}` is attempt {attempt} already, expected a new run")]
    RunIdUsed {
        /// The run.
        run_id: StreamId,
        /// Its attempt.
        attempt: u32,
    },
    /// The run is not the open attempt of the item.
    #[error("cannot {verb} `{id}`: it has no such open attempt")]
    NoOpenAttempt {
        /// The item.
        id: StreamId,
        /// What was asked for.
        verb: Verb,
    },
    /// The attempt ended already, in another way.
    #[error("the run `{run_id}` is recorded as {outcome} already")]
    AlreadyEnded {
        /// The run.
        run_id: StreamId,
        /// How it ended.
        outcome: Outcome,
    },
    /// The run's own stream shows something else.
    #[error("the stream of run `{run_id}` shows something else than is to be recorded")]
    ContradictsRun {
        /// The run.
        run_id: StreamId,
    },
    /// The open attempt left nothing to go on from.
    #[error("attempt {attempt} of `{id}` cannot go on: its run left no stream that can be read")]
    NothingToResume {
        /// The item.
        id: StreamId,
        /// The attempt.
        attempt: u32,
    },
    /// The proof is not stored.
    #[error("the proof of attempt {attempt} of `{id}` is not stored")]
    ProofMissing {
        /// The item.
        id: StreamId,
        /// The attempt.
        attempt: u32,
    },
    /// The stored proof is not the recorded one.
    #[error("the stored proof has the digest {}, but {} was recorded", found.blob, recorded.blob)]
    ProofChanged {
        /// What the attempt's end cites.
        recorded: BlobRef,
        /// What the stored bytes give.
        found: BlobRef,
    },
    /// The run does not give the proof that was recorded.
    #[error("the proof of attempt {attempt} of `{id}` does not follow from its run: {why}")]
    Unproven {
        /// The item.
        id: StreamId,
        /// The attempt.
        attempt: u32,
        /// What is wrong with the run.
        why: String,
    },
    /// The proof is not the one that was reviewed.
    #[error("the proof has the digest {recorded}, expected {expected}")]
    OtherProof {
        /// The digest asked for.
        expected: Digest,
        /// The digest recorded.
        recorded: Digest,
    },
    /// The item requires a review, and nobody asked for one.
    #[error("cannot accept `{id}`: it requires a clean review, and none was looked up")]
    ReviewMissing {
        /// The item.
        id: StreamId,
    },
    /// The item requires a review, and the gate is closed.
    #[error("cannot accept `{id}`: {}", not_clean(review.as_ref(), reasons))]
    ReviewNotClean {
        /// The item.
        id: StreamId,
        /// The review that was asked, if there is one.
        review: Option<StreamId>,
        /// Every reason, each a line of up to 500 characters.
        reasons: Vec<String>,
    },
    /// Open findings have no disposition.
    #[error("cannot accept `{id}` while findings are open: {}", list(findings))]
    FindingsOpen {
        /// The item.
        id: StreamId,
        /// Those without a disposition.
        findings: Vec<FindingId>,
    },
    /// A finding is named that is not open.
    #[error("the finding `{finding}` is not open, expected {}", expected(open))]
    UnknownFinding {
        /// The finding.
        finding: FindingId,
        /// Those that are open.
        open: Vec<FindingId>,
    },
    /// A finding is named twice.
    #[error("the finding `{finding}` is named twice, expected one word on each")]
    FindingTwice {
        /// The finding.
        finding: FindingId,
    },
    /// A deferral has no reason.
    #[error("the finding `{finding}` is deferred without a reason")]
    DeferredWithoutReason {
        /// The finding.
        finding: FindingId,
    },
    /// Only the raiser may dispose, and somebody else asked.
    #[error("the finding `{finding}` was raised by `{raised_by}`, who alone may dispose of it")]
    NotRaiser {
        /// The finding.
        finding: FindingId,
        /// Who raised it.
        raised_by: Actor,
    },
    /// There would be too many open findings.
    #[error("there would be {count} open findings, expected at most {max}", max = bounds::FINDINGS)]
    TooManyFindings {
        /// How many.
        count: usize,
    },
    /// Findings are both carried and superseded.
    #[error("findings are to be carried and all to be superseded, expected one of the two")]
    CarryAndSupersede,
    /// Too many unknowns are named.
    #[error("{count} unknowns are accepted, expected at most {max}", max = bounds::UNKNOWNS)]
    TooManyUnknowns {
        /// How many.
        count: usize,
    },
    /// A grant is not of 1 to 100 attempts.
    #[error("{attempts} attempts are to be granted, expected 1 to {max}", max = bounds::ATTEMPTS)]
    GrantOutOfRange {
        /// The number.
        attempts: u32,
    },
    /// A reopen grants attempts without saying why.
    #[error("attempts are to be granted without a reason")]
    GrantWithoutReason,
    /// A text is blank, too long or holds control characters.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl Refusal {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::WorkflowChild { .. } => "workflow_child",
            Self::NotAPerson { .. } => "not_a_person",
            Self::Finished { .. } => "finished",
            Self::Waiting { .. } => "waiting",
            Self::Running { .. } => "running",
            Self::AwaitingApproval { .. } => "awaiting_approval",
            Self::NeedsRetry { .. } => "needs_retry",
            Self::WrongState { .. } => "wrong_state",
            Self::Exhausted { .. } => "attempts_exhausted",
            Self::NoSuchAttempt { .. } => "no_such_attempt",
            Self::PassedCounts { .. } => "passed_counts",
            Self::Overdrawn { .. } => "overdrawn",
            Self::NeedsPerson { .. } => "needs_person",
            Self::TooEarly { .. } => "too_early",
            Self::RunIdUsed { .. } => "run_id_used",
            Self::NoOpenAttempt { .. } => "no_open_attempt",
            Self::AlreadyEnded { .. } => "already_ended",
            Self::ContradictsRun { .. } => "contradicts_run",
            Self::NothingToResume { .. } => "nothing_to_resume",
            Self::ProofMissing { .. } => "proof_missing",
            Self::ProofChanged { .. } => "proof_changed",
            Self::Unproven { .. } => "unproven",
            Self::OtherProof { .. } => "other_proof",
            Self::ReviewMissing { .. } => "review_missing",
            Self::ReviewNotClean { .. } => "review_not_clean",
            Self::FindingsOpen { .. } => "findings_open",
            Self::UnknownFinding { .. } => "unknown_finding",
            Self::FindingTwice { .. } => "finding_twice",
            Self::DeferredWithoutReason { .. } => "deferred_without_reason",
            Self::NotRaiser { .. } => "not_raiser",
            Self::TooManyFindings { .. } => "too_many_findings",
            Self::CarryAndSupersede => "carry_and_supersede",
            Self::TooManyUnknowns { .. } => "too_many_unknowns",
            Self::GrantOutOfRange { .. } => "grant_out_of_range",
            Self::GrantWithoutReason => "grant_without_reason",
            Self::Text(error) => error.code(),
        }
    }
}

fn expected_attempt(used: u32) -> String {
    match used {
        0 => "none, because none was started".to_owned(),
        1 => "1".to_owned(),
        last => format!("1 to {last}"),
    }
}

fn list(findings: &[FindingId]) -> String {
    let quoted: Vec<_> = findings.iter().map(|id| format!("`{id}`")).collect();
    quoted.join(", ")
}

fn expected(open: &[FindingId]) -> String {
    if open.is_empty() { "no finding, none is open".to_owned() } else { list(open) }
}

fn not_clean(review: Option<&StreamId>, reasons: &[String]) -> String {
    let which = review
        .map_or_else(|| "no review of it is clean".to_owned(), |id| format!("review `{id}` is not clean"));
    let why = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
    which + &why
}
