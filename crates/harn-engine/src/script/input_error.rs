//! What is wrong with something a script handed over.

/// What is wrong with the options of a call, or with `meta`.
///
/// A call with such options throws an error with this message into the script; a bad `meta` ends the run as
/// [`ScriptEnd::Unusable`](super::ScriptEnd::Unusable). `place` names the call or the part of `meta`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Not an object with members.
    #[error("{place} must be an object, found {found}")]
    NotAnObject {
        /// Where.
        place: String,
        /// The kind of value found.
        found: String,
    },
    /// A member that nothing reads.
    #[error("{place} has no `{field}`: expected only {known}")]
    UnknownField {
        /// Where.
        place: String,
        /// The member.
        field: String,
        /// The members that exist.
        known: String,
    },
    /// A member that this build does not support. It is never accepted and ignored.
    #[error("{place}: `{field}` is not supported by this build")]
    Unsupported {
        /// Where.
        place: String,
        /// The member.
        field: String,
    },
    /// A value of the wrong kind, outside its range, blank or absent.
    #[error("{place}: `{field}` must be {expected}, found {found}")]
    Invalid {
        /// Where.
        place: String,
        /// The member, or the argument.
        field: String,
        /// What it must be.
        expected: String,
        /// What was found.
        found: String,
    },
    /// Text that is too long.
    #[error("{place}: `{field}` has {length} characters, at most {limit} are allowed")]
    TooLong {
        /// Where.
        place: String,
        /// The member.
        field: String,
        /// Its length in Unicode scalar values.
        length: usize,
        /// The most it may have.
        limit: usize,
    },
    /// A list with too many entries.
    #[error("{place}: `{field}` has {count} entries, at most {limit} are allowed")]
    TooMany {
        /// Where.
        place: String,
        /// The member.
        field: String,
        /// How many there are.
        count: usize,
        /// The most there may be.
        limit: usize,
    },
    /// A value that must be unique and is not.
    #[error("{place}: `{field}` is `{value}` for the second time")]
    Duplicate {
        /// Where.
        place: String,
        /// The member.
        field: String,
        /// The repeated value.
        value: String,
    },
}

impl InputError {
    /// A stable name for this error, in `snake_case`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAnObject { .. } => "input_not_an_object",
            Self::UnknownField { .. } => "input_unknown_field",
            Self::Unsupported { .. } => "input_unsupported",
            Self::Invalid { .. } => "input_invalid",
            Self::TooLong { .. } => "input_too_long",
            Self::TooMany { .. } => "input_too_many",
            Self::Duplicate { .. } => "input_duplicate",
        }
    }

    /// What to do about it, when the message does not already say it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unsupported { field, .. } => {
                Some(format!("remove `{field}`, or use a build that supports it"))
            }
            _ => None,
        }
    }
}
