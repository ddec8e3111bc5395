//! `ctx.evidence({kind, status, label, …})`: what the script declares to have seen.

use rquickjs::Value;

use super::fields::{Fields, Read, kind};
use super::text;

/// The most characters of a label; longer labels are cut.
const LABEL_LIMIT: usize = 200;
/// The most characters of a summary.
const SUMMARY_LIMIT: usize = 2_000;
/// The most characters of a reference.
const REF_LIMIT: usize = 1_000;

const MEMBERS: [&str; 6] = ["kind", "status", "label", "summary", "ref", "acceptanceIds"];

/// One declared evidence record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceInput {
    /// What sort of evidence it is.
    pub kind: EvidenceKind,
    /// What it says.
    pub status: EvidenceStatus,
    /// A name for people, 1 to 200 characters; longer labels are cut and end in a marker.
    pub label: String,
    /// More about it, 1 to 2,000 characters.
    pub summary: Option<String>,
    /// Where to find it, 1 to 1,000 characters.
    pub reference: Option<String>,
    /// The acceptance criteria it is evidence for, without duplicates. The host knows which exist.
    pub acceptance_ids: Vec<String>,
    /// Set when the script gave a kind that does not exist. The record then counts as an observation with status
    /// unknown: a misspelt kind must not end a run that has finished its work.
    pub note: Option<String>,
}

/// The kinds of evidence; a closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvidenceKind {
    /// A test run.
    Test,
    /// Another command.
    Command,
    /// A file that was made.
    Artifact,
    /// A change to the repository.
    Change,
    /// A review.
    Review,
    /// Anything else that was seen.
    Observation,
}

/// What a record says about its criteria; a closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvidenceStatus {
    /// They are met.
    Passed,
    /// They are not met.
    Failed,
    /// Seen, without a judgement.
    Observed,
    /// Nothing can be said.
    Unknown,
}

impl EvidenceKind {
    const ALL: [Self; 6] =
        [Self::Test, Self::Command, Self::Artifact, Self::Change, Self::Review, Self::Observation];

    /// The names of all kinds.
    pub(crate) const WORDS: [&'static str; 6] =
        ["test", "command", "artifact", "change", "review", "observation"];

    /// The name that scripts use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Command => "command",
            Self::Artifact => "artifact",
            Self::Change => "change",
            Self::Review => "review",
            Self::Observation => "observation",
        }
    }
}

impl EvidenceStatus {
    const ALL: [Self; 4] = [Self::Passed, Self::Failed, Self::Observed, Self::Unknown];

    /// The name that scripts use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Observed => "observed",
            Self::Unknown => "unknown",
        }
    }
}

impl EvidenceInput {
    pub(super) fn read(input: &Value<'_>) -> Read<Self> {
        let fields = Fields::of("evidence()", input, &MEMBERS)?;
        let status = read_status(&fields)?;
        let (kind, status, note) = match read_kind(&fields)? {
            Ok(kind) => (kind, status, None),
            Err(note) => (EvidenceKind::Observation, EvidenceStatus::Unknown, Some(note)),
        };
        Ok(Self {
            kind,
            status,
            label: fields.label("label", LABEL_LIMIT)?.ok_or_else(|| fields.missing("label", "text"))?,
            summary: fields.text("summary", SUMMARY_LIMIT)?,
            reference: fields.text("ref", REF_LIMIT)?,
            acceptance_ids: fields.ids("acceptanceIds")?,
            note,
        })
    }
}

fn read_status(fields: &Fields<'_>) -> Read<EvidenceStatus> {
    const EXPECTED: &str = "`passed`, `failed`, `observed` or `unknown`";
    let Some(text) = fields.exact("status")? else { return Err(fields.missing("status", EXPECTED)) };
    let status = EvidenceStatus::ALL.into_iter().find(|status| status.as_str() == text);
    status.ok_or_else(|| fields.invalid("status", EXPECTED, format!("`{}`", text::cut(&text, LABEL_LIMIT))))
}

/// The kind, or the note that says what stood there instead.
fn read_kind(fields: &Fields<'_>) -> Read<Result<EvidenceKind, String>> {
    let value = fields.value("kind")?;
    let text = value.as_ref().and_then(|value| value.as_string()).map(text::from_js).transpose()?;
    let known = EvidenceKind::ALL.into_iter().find(|kind| Some(kind.as_str()) == text.as_deref());
    Ok(known.ok_or_else(|| {
        let found = match (text, value) {
            (Some(text), _) => format!("`{}`", text::cut(&text, LABEL_LIMIT)),
            (None, Some(value)) => kind(&value).to_owned(),
            (None, None) => "nothing".to_owned(),
        };
        format!("unknown evidence kind {found}: kept as an observation with status unknown")
    }))
}
