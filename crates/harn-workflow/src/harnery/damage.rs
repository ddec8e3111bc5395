//! Why an item cannot be imported.

use super::tree::Unreadable;

/// What is wrong with an item's files, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`{}: {kind}", line.map(|line| format!(", line {line}")).unwrap_or_default())]
pub struct Damage {
    /// The file, by its path in the tree.
    pub path: String,
    /// The line, counted from 1, where it is about one.
    pub line: Option<u64>,
    /// What is wrong.
    #[source]
    pub kind: DamageKind,
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DamageKind {
    /// It is not there.
    #[error("it is missing")]
    Missing,
    /// It holds nothing.
    #[error("it is empty")]
    Empty,
    /// It could not be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// It is not the JSON that it should be.
    #[error("it does not have the expected form: {why}")]
    Form {
        /// What the parser said.
        why: String,
    },
    /// Its last line has no end.
    #[error("its last line is cut off")]
    Truncated,
    /// There is more than Harnery itself would read.
    #[error("it has {count} {what}, expected at most {max}")]
    TooMuch {
        /// What of.
        what: &'static str,
        /// How many.
        count: usize,
        /// The most allowed.
        max: usize,
    },
    /// The version is not the one that is read.
    #[error("it has schema version {found}, expected {expected}")]
    SchemaVersion {
        /// The version found.
        found: u64,
        /// The version that is read.
        expected: u64,
    },
    /// It is about something else.
    #[error("its `{member}` is `{}`, expected `{}`", found.escape_debug(), expected.escape_debug())]
    Foreign {
        /// The member.
        member: &'static str,
        /// What it says.
        found: String,
        /// What it should say.
        expected: String,
    },
    /// A member is outside of its bounds.
    #[error("its `{member}` is not acceptable, expected {expected}")]
    Member {
        /// The member.
        member: &'static str,
        /// What was expected.
        expected: String,
    },
    /// An event is not legal at this place.
    #[error("`{event}` cannot stand here, expected {expected}")]
    History {
        /// The event.
        event: String,
        /// What was expected.
        expected: &'static str,
    },
    /// Two files say different things of one run.
    #[error("its `{member}` differs from what {other} says")]
    Contradiction {
        /// The member.
        member: &'static str,
        /// The other record.
        other: &'static str,
    },
    /// The proof is not the one that was accepted.
    #[error("its digest is {found}, but {accepted} was accepted")]
    ProofChanged {
        /// The digest that it has.
        found: String,
        /// The digest that the acceptance names.
        accepted: String,
    },
    /// Somebody may be at work on the item.
    #[error("somebody holds the item, or died holding it")]
    Leased,
    /// The item cannot be told in ours.
    #[error("it cannot be told as an item of harn: {why}")]
    Untold {
        /// Why.
        why: String,
    },
}

impl Damage {
    pub(super) fn of(path: &str, kind: DamageKind) -> Self {
        Self { path: path.to_owned(), line: None, kind }
    }

    pub(super) fn at(path: &str, line: u64, kind: DamageKind) -> Self {
        Self { path: path.to_owned(), line: Some(line), kind }
    }

    /// A stable name.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match &self.kind {
            DamageKind::Missing => "file_missing",
            DamageKind::Empty => "file_empty",
            DamageKind::Unreadable(Unreadable::TooLong { .. }) | DamageKind::TooMuch { .. } => "too_much",
            DamageKind::Unreadable(_) => "file_unreadable",
            DamageKind::Form { .. } => "form",
            DamageKind::Truncated => "truncated",
            DamageKind::SchemaVersion { .. } => "schema_version",
            DamageKind::Foreign { .. } => "foreign",
            DamageKind::Member { .. } => "member",
            DamageKind::History { .. } => "history",
            DamageKind::Contradiction { .. } => "contradiction",
            DamageKind::ProofChanged { .. } => "proof_changed",
            DamageKind::Leased => "leased",
            DamageKind::Untold { .. } => "untold",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match &self.kind {
            DamageKind::Leased => {
                Some("let the run end, or remove the file if its process is gone; then import again")
            }
            DamageKind::SchemaVersion { .. } => {
                Some("intents of schema version 2 and events of schema version 1 are read")
            }
            _ => None,
        }
    }
}
