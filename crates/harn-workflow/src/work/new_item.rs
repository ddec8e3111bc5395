//! A work item to be: what a person asks for, trimmed and checked into an intent.

use harn_ledger::text;
use harn_ledger::{StreamId, Timestamp};

use super::bounds;
use super::intent::{Intent, InvalidIntent, Source, SourceKind};
use super::script::Workflow;

/// What a new work item shall be. Texts are trimmed when the intent is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewItem {
    /// One line of 1 to 200 characters.
    pub title: String,
    /// 1 to 4,000 characters.
    pub objective: String,
    /// Up to 50 texts of 1 to 500 characters.
    pub acceptance: Vec<String>,
    /// Up to 50 items. That they exist and form no cycle is for the caller to check
    /// ([`find_cycle`](super::dependencies::find_cycle)).
    pub dependencies: Vec<StreamId>,
    /// The script, already stored.
    pub workflow: Workflow,
    /// 1 to 100; 3 at first.
    pub max_attempts: u32,
    /// 1 to 100; 3 at first.
    pub max_uncharged_attempts: u32,
    /// A person, at first.
    pub source: Source,
    /// Whether an acceptance needs a clean review of the work's source; not at first.
    pub require_review: bool,
}

impl NewItem {
    /// An item without acceptance texts or dependencies, for a person, with three attempts.
    pub fn new(title: impl Into<String>, objective: impl Into<String>, workflow: Workflow) -> Self {
        Self {
            title: title.into(),
            objective: objective.into(),
            acceptance: Vec::new(),
            dependencies: Vec::new(),
            workflow,
            max_attempts: bounds::DEFAULT_ATTEMPTS,
            max_uncharged_attempts: bounds::DEFAULT_ATTEMPTS,
            source: Source { kind: SourceKind::Human, reference: None },
            require_review: false,
        }
    }

    /// Trims all texts and checks every bound.
    pub fn into_intent(self, id: StreamId, created_at: Timestamp) -> Result<Intent, InvalidIntent> {
        let acceptance = |text: &String| text::block("acceptance text", text, bounds::ACCEPTANCE);
        let reference = |text: &String| text::line("source reference", text, bounds::SOURCE_REF);
        let intent = Intent {
            schema_version: Intent::SCHEMA_VERSION,
            id,
            title: text::line("title", &self.title, bounds::TITLE)?,
            objective: text::block("objective", &self.objective, bounds::OBJECTIVE)?,
            acceptance: self.acceptance.iter().map(acceptance).collect::<Result<_, _>>()?,
            dependencies: self.dependencies,
            workflow: self.workflow,
            max_attempts: self.max_attempts,
            max_uncharged_attempts: self.max_uncharged_attempts,
            source: Source {
                kind: self.source.kind,
                reference: self.source.reference.as_ref().map(reference).transpose()?,
            },
            created_at,
            require_review: self.require_review,
            imported: None,
        };
        intent.check()?;
        Ok(intent)
    }
}
