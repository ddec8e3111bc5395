//! Creating a work item: everything is checked, then the script is stored, then the item exists.

use harn_ledger::{BlobError, CreateError, InvalidId, ReadError, StreamError, StreamId};

use super::{WorkItem, WorkLedger};
use crate::work::dependencies::find_cycle;
use crate::work::{
    Caller, Event, InvalidIntent, NewItem, ScriptFile, Source, SourceKind, Work, Workflow, bounds,
};

/// A file of a workflow: where it was read, and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptText {
    /// Absolute path.
    pub path: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// What a new work item shall be. Texts are trimmed and checked when it is created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Its id; one is made if there is none.
    pub id: Option<String>,
    /// One line of 1 to 200 characters.
    pub title: String,
    /// 1 to 4,000 characters.
    pub objective: String,
    /// Up to 50 texts of 1 to 500 characters.
    pub acceptance: Vec<String>,
    /// Up to 50 items that exist.
    pub dependencies: Vec<String>,
    /// The script.
    pub script: ScriptText,
    /// What the script imports, up to 64 files.
    pub modules: Vec<ScriptText>,
    /// 1 to 100.
    pub max_attempts: u32,
    /// 1 to 100.
    pub max_uncharged_attempts: u32,
    /// Who asked for it.
    pub source_kind: SourceKind,
    /// A reference to where it comes from.
    pub source_ref: Option<String>,
    /// Whether an acceptance needs a clean review of the work's source.
    pub require_review: bool,
}

/// Why a work item was not created. Nothing of it is on disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateWorkError {
    /// An id is not one.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// What was asked for exceeds a bound.
    #[error(transparent)]
    Invalid(#[from] InvalidIntent),
    /// A dependency does not exist.
    #[error("the dependency `{id}` does not exist")]
    MissingDependency {
        /// The dependency.
        id: StreamId,
    },
    /// A dependency cannot be read.
    #[error("the dependency `{id}` cannot be read")]
    UnreadableDependency {
        /// The dependency.
        id: StreamId,
        /// Why.
        source: StreamError,
    },
    /// The dependencies lead back to an item.
    #[error("the dependencies form a cycle: {}", path.iter().map(StreamId::as_str).collect::<Vec<_>>().join(" -> "))]
    Cycle {
        /// From an item back to itself.
        path: Vec<StreamId>,
    },
    /// The script could not be stored.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The item could not be created.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The item was created and cannot be read.
    #[error(transparent)]
    Read(#[from] StreamError),
}

impl CreateWorkError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Id(_) => "invalid_id",
            Self::Invalid(error) => error.code(),
            Self::MissingDependency { .. } => "dependency_missing",
            Self::UnreadableDependency { .. } => "dependency_unreadable",
            Self::Cycle { .. } => "dependency_cycle",
            Self::Blob(error) => error.code(),
            Self::Create(error) => error.code(),
            Self::Read(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Invalid(error) => error.hint(),
            Self::MissingDependency { .. } => Some("`harn work list` shows the items that exist".to_owned()),
            Self::UnreadableDependency { source, .. } => source.hint(),
            Self::Create(error) => error.hint(),
            Self::Read(error) => error.hint(),
            Self::Blob(error) => error.hint(),
            Self::Id(_) | Self::Cycle { .. } => None,
        }
    }
}

impl Draft {
    /// An item without acceptance texts or dependencies, for a person, with three attempts.
    #[must_use]
    pub fn new(title: impl Into<String>, objective: impl Into<String>, script: ScriptText) -> Self {
        Self {
            id: None,
            title: title.into(),
            objective: objective.into(),
            acceptance: Vec::new(),
            dependencies: Vec::new(),
            script,
            modules: Vec::new(),
            max_attempts: bounds::DEFAULT_ATTEMPTS,
            max_uncharged_attempts: bounds::DEFAULT_ATTEMPTS,
            source_kind: SourceKind::Human,
            source_ref: None,
            require_review: false,
        }
    }

    /// The item, and the files that its intent will cite.
    fn into_item(self) -> Result<(NewItem, Vec<ScriptText>), CreateWorkError> {
        let describe = |file: &ScriptText| ScriptFile::of(file.path.clone(), &file.bytes);
        let mut workflow = Workflow::of(describe(&self.script));
        workflow.modules = self.modules.iter().map(describe).collect();
        let mut item = NewItem::new(self.title, self.objective, workflow);
        item.acceptance = self.acceptance;
        item.dependencies = self.dependencies.iter().map(|id| StreamId::new(id)).collect::<Result<_, _>>()?;
        item.max_attempts = self.max_attempts;
        item.max_uncharged_attempts = self.max_uncharged_attempts;
        item.source = Source { kind: self.source_kind, reference: self.source_ref };
        item.require_review = self.require_review;
        let mut files = self.modules;
        files.insert(0, self.script);
        Ok((item, files))
    }
}

impl WorkLedger {
    /// Creates a work item. Everything that can be refused is refused before the first byte is written.
    pub fn create(&self, caller: &Caller, draft: Draft) -> Result<WorkItem, CreateWorkError> {
        let now = self.now();
        let id = match &draft.id {
            Some(id) => StreamId::new(id)?,
            None => self.new_id_at("work", now),
        };
        let (item, files) = draft.into_item()?;
        let intent = item.into_intent(id.clone(), now)?;
        self.check_dependencies(&id, &intent.dependencies)?;
        self.ledger.check_new::<Work>(id.as_str(), caller.actor.as_str(), &intent, &[Event::Created {}])?;
        for file in &files {
            self.blobs().put(&file.bytes)?;
        }
        let stream =
            self.ledger.create::<Work>(id.as_str(), caller.actor.as_str(), &intent, &[Event::Created {}])?;
        Ok(self.item(stream)?)
    }

    /// Every dependency exists, and they lead nowhere in a circle.
    pub(super) fn check_dependencies(
        &self,
        id: &StreamId,
        dependencies: &[StreamId],
    ) -> Result<(), CreateWorkError> {
        for dependency in dependencies {
            match self.ledger.stream::<Work>(dependency.as_str()) {
                Ok(_) => {}
                Err(StreamError::Read(ReadError::NotFound { .. })) => {
                    return Err(CreateWorkError::MissingDependency { id: dependency.clone() });
                }
                Err(source) => {
                    return Err(CreateWorkError::UnreadableDependency { id: dependency.clone(), source });
                }
            }
        }
        let dependencies_of = |id: &StreamId| {
            let stream = self.ledger.stream::<Work>(id.as_str()).ok()?;
            Some(stream.intent().dependencies.clone())
        };
        match find_cycle(id, dependencies, dependencies_of) {
            Some(path) => Err(CreateWorkError::Cycle { path }),
            None => Ok(()),
        }
    }
}
