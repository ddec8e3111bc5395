//! The transition table: what each command does in each situation of an item.
//!
//! A situation is a state, told apart further where a command's fate depends on it. A command is in good order: its
//! findings are disposed of, its proof is there, nothing else is unresolved. The runner who parks or ends an attempt does
//! not see its own lease; everybody else does.

use super::lifecycle::ItemState::{
    self, AwaitingApproval, Blocked, Cancelled, InReview, Ready, Running, Succeeded, Waiting,
};

use Cell::{No, To};

/// Where an item is, as far as it matters for what a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Situation {
    /// `waiting`, nothing open.
    Waiting,
    /// `waiting`, the last attempt is lost and still open.
    WaitingLost,
    /// `ready`.
    Ready,
    /// `running`.
    Running,
    /// `awaiting_approval`, nobody has decided.
    Undecided,
    /// `awaiting_approval`, decided.
    Decided,
    /// `in_review`, charged attempts are left.
    InReview,
    /// `in_review`, none is left.
    InReviewSpent,
    /// `blocked`, the last attempt is lost and still open.
    Lost,
    /// `blocked`, charged attempts are left.
    Blocked,
    /// `blocked`, none is left.
    BlockedSpent,
    /// `succeeded`.
    Succeeded,
    /// `cancelled`, its runner has not ended yet.
    Stopping,
    /// `cancelled`, nothing open.
    Cancelled,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// Begin with trigger `initial`.
    Run,
    /// Begin with trigger `retry`, asked for by a person.
    Retry,
    /// Park.
    Park,
    /// Resume.
    Resume,
    /// End, passed.
    Pass,
    /// End, failed.
    Fail,
    /// Accept.
    Accept,
    /// Cancel.
    Cancel,
    /// Reopen.
    Reopen,
    /// Reopen with a grant.
    ReopenWithGrant,
    /// Note.
    Note,
    /// Grant.
    Grant,
    /// Recharge the latest attempt, as one that does not count.
    Recharge,
    /// Reconcile.
    Reconcile,
}

/// What a command does in a situation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// The item is in this state afterwards.
    To(ItemState),
    /// It is refused with this code.
    No(&'static str),
}

impl Situation {
    /// All situations, in the order of the table's rows.
    pub const ALL: [Self; 14] = [
        Self::Waiting,
        Self::WaitingLost,
        Self::Ready,
        Self::Running,
        Self::Undecided,
        Self::Decided,
        Self::InReview,
        Self::InReviewSpent,
        Self::Lost,
        Self::Blocked,
        Self::BlockedSpent,
        Self::Succeeded,
        Self::Stopping,
        Self::Cancelled,
    ];

    /// The item's state.
    #[must_use]
    pub const fn state(self) -> ItemState {
        match self {
            Self::Waiting | Self::WaitingLost => Waiting,
            Self::Ready => Ready,
            Self::Running => Running,
            Self::Undecided | Self::Decided => AwaitingApproval,
            Self::InReview | Self::InReviewSpent => InReview,
            Self::Lost | Self::Blocked | Self::BlockedSpent => Blocked,
            Self::Succeeded => Succeeded,
            Self::Stopping | Self::Cancelled => Cancelled,
        }
    }

    /// What tells it apart from other situations in the same state.
    #[must_use]
    pub const fn remark(self) -> &'static str {
        match self {
            Self::WaitingLost | Self::Lost => "attempt lost and open",
            Self::Undecided => "undecided",
            Self::Decided => "decided",
            Self::InReviewSpent | Self::BlockedSpent => "no attempt left",
            Self::Stopping => "attempt still open",
            _ => "",
        }
    }
}

impl Move {
    /// All moves, in the order of the table's columns.
    pub const ALL: [Self; 14] = [
        Self::Run,
        Self::Retry,
        Self::Park,
        Self::Resume,
        Self::Pass,
        Self::Fail,
        Self::Accept,
        Self::Cancel,
        Self::Reopen,
        Self::ReopenWithGrant,
        Self::Note,
        Self::Grant,
        Self::Recharge,
        Self::Reconcile,
    ];

    /// How it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Retry => "retry",
            Self::Park => "park",
            Self::Resume => "resume",
            Self::Pass => "end: passed",
            Self::Fail => "end: failed",
            Self::Accept => "accept",
            Self::Cancel => "cancel",
            Self::Reopen => "reopen",
            Self::ReopenWithGrant => "reopen --grant",
            Self::Note => "note",
            Self::Grant => "grant",
            Self::Recharge => "recharge",
            Self::Reconcile => "reconcile",
        }
    }
}

const WAITS: Cell = No("waiting");
const WRONG: Cell = No("wrong_state");
const PARKED: Cell = No("awaiting_approval");
const HELD: Cell = No("running");
const FINISHED: Cell = No("finished");
const SPENT: Cell = No("attempts_exhausted");
const ENDED: Cell = No("already_ended");
const NO_ATTEMPT: Cell = No("no_such_attempt");
const PASSED: Cell = No("passed_counts");
const NONE: Cell = No("no_open_attempt");

/// One row per situation, one column per move.
#[rustfmt::skip]
pub const TABLE: [[Cell; Move::ALL.len()]; Situation::ALL.len()] = [
    // run                retry         park                  resume       pass          fail          accept         cancel         reopen         reopen --grant note                  grant                 recharge     reconcile
    [WAITS,               WAITS,        NONE,                 WAITS,       NONE,         NONE,         WAITS,         To(Cancelled), WAITS,         WAITS,         To(Waiting),          To(Waiting),          NO_ATTEMPT,  To(Waiting)],
    [WAITS,               WAITS,        To(AwaitingApproval), WAITS,       To(InReview), To(Waiting),  WAITS,         To(Cancelled), WAITS,         WAITS,         To(Waiting),          To(Waiting),          To(Waiting), To(Waiting)],
    [To(Running),         WRONG,        NONE,                 WRONG,       NONE,         NONE,         WRONG,         To(Cancelled), WRONG,         WRONG,         To(Ready),            To(Ready),            NO_ATTEMPT,  To(Ready)],
    [HELD,                HELD,         To(AwaitingApproval), HELD,        To(InReview), To(Blocked),  HELD,          To(Cancelled), HELD,          HELD,          To(Running),          To(Running),          HELD,        To(Running)],
    [PARKED,              PARKED,       To(AwaitingApproval), PARKED,      To(InReview), To(Blocked),  PARKED,        To(Cancelled), PARKED,        PARKED,        To(AwaitingApproval), To(AwaitingApproval), PARKED,      To(AwaitingApproval)],
    [PARKED,              PARKED,       To(AwaitingApproval), To(Running), To(InReview), To(Blocked),  PARKED,        To(Cancelled), PARKED,        PARKED,        To(AwaitingApproval), To(AwaitingApproval), PARKED,      To(AwaitingApproval)],
    [WRONG,               WRONG,        ENDED,                WRONG,       To(InReview), ENDED,        To(Succeeded), To(Cancelled), To(Ready),     To(Ready),     To(InReview),         To(InReview),         PASSED,      To(InReview)],
    [WRONG,               WRONG,        ENDED,                WRONG,       To(InReview), ENDED,        To(Succeeded), To(Cancelled), SPENT,         To(Ready),     To(InReview),         To(InReview),         PASSED,      To(InReview)],
    [No("needs_retry"),   To(Running),  To(AwaitingApproval), To(Running), To(InReview), To(Blocked),  WRONG,         To(Cancelled), To(Ready),     To(Ready),     To(Blocked),          To(Blocked),          To(Blocked), To(Blocked)],
    [No("needs_retry"),   To(Running),  ENDED,                NONE,        ENDED,        To(Blocked),  WRONG,         To(Cancelled), To(Ready),     To(Ready),     To(Blocked),          To(Blocked),          To(Blocked), To(Blocked)],
    [No("needs_retry"),   SPENT,        ENDED,                NONE,        ENDED,        To(Blocked),  WRONG,         To(Cancelled), SPENT,         To(Ready),     To(Blocked),          To(Blocked),          To(Blocked), To(Blocked)],
    [FINISHED,            FINISHED,     FINISHED,             FINISHED,    To(Succeeded),ENDED,        FINISHED,      FINISHED,      To(Ready),     To(Ready),     To(Succeeded),        FINISHED,             FINISHED,    To(Succeeded)],
    [HELD,                HELD,         FINISHED,             HELD,        To(Cancelled),To(Cancelled),FINISHED,      FINISHED,      HELD,          HELD,          To(Cancelled),        FINISHED,             FINISHED,    To(Cancelled)],
    [FINISHED,            FINISHED,     FINISHED,             FINISHED,    ENDED,        To(Cancelled),FINISHED,      FINISHED,      To(Ready),     To(Ready),     To(Cancelled),        FINISHED,             FINISHED,    To(Cancelled)],
];

/// The table as Markdown, refusals with their codes.
#[must_use]
pub fn markdown() -> String {
    use std::fmt::Write as _;
    let mut out = String::from("| state |");
    for column in Move::ALL {
        _ = write!(out, " {} |", column.as_str());
    }
    out.push_str("\n| --- |");
    out.push_str(&" --- |".repeat(Move::ALL.len()));
    out.push('\n');
    for (situation, row) in Situation::ALL.into_iter().zip(TABLE) {
        _ = match situation.remark() {
            "" => write!(out, "| {} |", situation.state()),
            remark => write!(out, "| {} ({remark}) |", situation.state()),
        };
        for cell in row {
            _ = match cell {
                To(state) => write!(out, " {state} |"),
                No(code) => write!(out, " *{code}* |"),
            };
        }
        out.push('\n');
    }
    out
}
