//! Why a context is refused: not in canonical form, or breaking a rule between its members.

use harn_ledger::text::TextError;
use harn_ledger::{InvalidId, StreamId, text};

/// Longest id within a context, of a finding or of a criterion, in characters.
pub const SHORT_ID_MAX: usize = 64;

/// Why a context was refused. `member` is a path such as `prior.unresolved[2].status`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// The bytes are not JSON.
    #[error("the context is not JSON")]
    NotJson {
        /// What the JSON reader says.
        #[source]
        source: serde_json::Error,
    },
    /// The document has another version.
    #[error("`schema_version` is {found}, expected 1")]
    Version {
        /// The version found.
        found: u64,
    },
    /// A member has another JSON type; `null` is one too.
    #[error("`{member}` has the wrong type, expected {expected}")]
    WrongType {
        /// Which member; empty for the whole document.
        member: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A member that the closed set does not have.
    #[error("`{member}` is not a member, expected only {}", quoted(.known))]
    UnknownMember {
        /// Which member.
        member: String,
        /// The closed set, in order.
        known: &'static [&'static str],
    },
    /// A required member is absent.
    #[error("`{member}` is missing")]
    MissingMember {
        /// Which member.
        member: String,
    },
    /// A member stands there twice.
    #[error("`{member}` stands there twice")]
    RepeatedMember {
        /// Which member.
        member: String,
    },
    /// A member stands behind one that it must precede.
    #[error("`{member}` is out of order, expected {}", quoted(.order))]
    MemberOrder {
        /// Which member.
        member: String,
        /// The order of the closed set.
        order: &'static [&'static str],
    },
    /// A text breaks the rule for texts, white space at an end included.
    #[error("`{member}` is not a valid text")]
    Text {
        /// Which member.
        member: String,
        /// What is wrong with it.
        #[source]
        source: TextError,
    },
    /// A member is not an id.
    #[error("`{member}` is not a valid id")]
    Id {
        /// Which member.
        member: String,
        /// What is wrong with it.
        #[source]
        source: InvalidId,
    },
    /// A number is outside its range.
    #[error("`{member}` is {found}, expected {min} to {max}")]
    OutOfRange {
        /// Which member.
        member: String,
        /// The number found.
        found: u64,
        /// The smallest allowed.
        min: u64,
        /// The largest allowed.
        max: u64,
    },
    /// A word outside its vocabulary.
    #[error("`{member}` is `{}`, expected one of {}", .found.escape_debug(), quoted(.expected))]
    UnknownWord {
        /// Which member.
        member: String,
        /// The word found.
        found: String,
        /// The vocabulary.
        expected: &'static [&'static str],
    },
    /// A list is longer than allowed.
    #[error("`{member}` has {found} entries, expected at most {max}")]
    TooMany {
        /// Which member.
        member: &'static str,
        /// The number of entries.
        found: usize,
        /// The most allowed.
        max: usize,
    },
    /// A list that is left out when it has no entries is there and empty.
    #[error("`{member}` is empty, expected to be left out or to have an entry")]
    Empty {
        /// Which member.
        member: &'static str,
    },
    /// Two entries of a list have one id.
    #[error("`{member}` repeats the id `{id}`")]
    RepeatedId {
        /// Which list.
        member: &'static str,
        /// The id.
        id: String,
    },
    /// An initial attempt has no attempt that it could retry.
    #[error("`prior` is there though `trigger` is `initial`")]
    PriorOnInitial,
    /// A retry says what went before.
    #[error("`prior` is missing though `trigger` is `retry`")]
    PriorMissing,
    /// The list of causes is empty.
    #[error("`prior.causes` is empty, expected at least one")]
    NoCause,
    /// A cause stands there twice.
    #[error("`prior.causes` repeats `{cause}`")]
    RepeatedCause {
        /// Which cause.
        cause: &'static str,
    },
    /// The causes are not in their fixed order.
    #[error("`prior.causes` is out of order, expected {}", quoted(.order))]
    CauseOrder {
        /// The order.
        order: &'static [&'static str],
    },
    /// `lost` means that nothing is known, so nothing stands beside it.
    #[error("`{member}` stands beside the cause `lost`, expected nothing beside it")]
    LostNotAlone {
        /// What stands there.
        member: &'static str,
    },
    /// The counts of the summary do not add up.
    #[error("`prior.acceptance.total` is {total}, expected the sum {sum}")]
    SummarySum {
        /// The total found.
        total: u32,
        /// The sum of the three counts.
        sum: u32,
    },
    /// The summary and the unresolved criteria disagree.
    #[error("`prior.acceptance.{status}` is {summary}, but `prior.unresolved` has {listed}")]
    SummaryMismatch {
        /// Which count.
        status: &'static str,
        /// What the summary says.
        summary: u32,
        /// How many entries have that status.
        listed: usize,
    },
    /// A cause and the summary disagree.
    #[error("`prior.acceptance.{status}` is {count}, which disagrees with `prior.causes`")]
    CauseMismatch {
        /// Which count.
        status: &'static str,
        /// What the summary says.
        count: u32,
    },
}

impl ContextError {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotJson { .. } => "context_not_json",
            Self::Version { .. } => "context_version",
            Self::WrongType { .. } => "context_wrong_type",
            Self::UnknownMember { .. } => "context_unknown_member",
            Self::MissingMember { .. } => "context_missing_member",
            Self::RepeatedMember { .. } => "context_repeated_member",
            Self::MemberOrder { .. } => "context_member_order",
            Self::Text { .. } => "context_text",
            Self::Id { .. } => "context_id",
            Self::OutOfRange { .. } => "context_out_of_range",
            Self::UnknownWord { .. } => "context_unknown_word",
            Self::TooMany { .. } => "context_too_many",
            Self::Empty { .. } => "context_empty",
            Self::RepeatedId { .. } => "context_repeated_id",
            Self::PriorOnInitial => "context_prior_on_initial",
            Self::PriorMissing => "context_prior_missing",
            Self::NoCause => "context_no_cause",
            Self::RepeatedCause { .. } => "context_repeated_cause",
            Self::CauseOrder { .. } => "context_cause_order",
            Self::LostNotAlone { .. } => "context_lost_not_alone",
            Self::SummarySum { .. } => "context_summary_sum",
            Self::SummaryMismatch { .. } => "context_summary_mismatch",
            Self::CauseMismatch { .. } => "context_cause_mismatch",
        }
    }

    /// What to do about it, where something can be done.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Version { found } if *found > 1 => {
                Some("the document was written by a newer version of this program".to_owned())
            }
            Self::UnknownMember { .. } => Some(
                "a frozen context is closed; put what else the script needs into the objective".to_owned(),
            ),
            _ => None,
        }
    }

    /// The refusal and its cause in one line, for readers that keep only a message.
    pub(super) fn in_one_line(&self) -> String {
        match std::error::Error::source(self) {
            Some(source) => format!("{self}: {source}"),
            None => self.to_string(),
        }
    }
}

/// Checks one line of text and names the member it stands in.
pub(super) fn check_line(
    member: &str,
    field: &'static str,
    value: &str,
    max: usize,
) -> Result<(), ContextError> {
    text::check_line(field, value, max).map_err(|source| in_member(member, source))
}

/// Checks a text of several lines and names the member it stands in.
pub(super) fn check_block(
    member: &str,
    field: &'static str,
    value: &str,
    max: usize,
) -> Result<(), ContextError> {
    text::check_block(field, value, max).map_err(|source| in_member(member, source))
}

fn in_member(member: &str, source: TextError) -> ContextError {
    ContextError::Text { member: member.to_owned(), source }
}

/// Checks an id within a context: the form of a stream id, at most 64 characters.
pub(super) fn check_short_id(member: &str, id: &str) -> Result<(), ContextError> {
    StreamId::new(id).map_err(|source| ContextError::Id { member: member.to_owned(), source })?;
    check_line(member, "id", id, SHORT_ID_MAX)
}

/// Checks that a list is no longer than `max`.
pub(super) fn check_count(member: &'static str, found: usize, max: usize) -> Result<(), ContextError> {
    if found > max {
        return Err(ContextError::TooMany { member, found, max });
    }
    Ok(())
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
