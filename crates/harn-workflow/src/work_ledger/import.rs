//! Taking in items that another program made.

use harn_ledger::{Entry, ReadError, Stream, StreamError, StreamId};

use super::{CreateWorkError, WorkItem, WorkLedger};
use crate::harnery::Translated;
use crate::work::{Caller, Event, Refusal, Role, Verb, Work};

/// What became of an item that was to be imported.
#[derive(Debug, Clone)]
pub enum Arrival {
    /// It is here now.
    Created(WorkItem),
    /// It was here, from the same files. Nothing was written.
    Unchanged(WorkItem),
}

/// Why an item was not imported. Nothing of it was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Who asks may not.
    #[error(transparent)]
    Refused(Refusal),
    /// Another item has the id.
    #[error("an item `{id}` exists that was not imported")]
    Taken {
        /// The id.
        id: StreamId,
    },
    /// The item was imported before, from files that said something else.
    #[error("`{id}` was imported before its files changed")]
    Changed {
        /// The id.
        id: StreamId,
    },
    /// A dependency is missing, or the item could not be created.
    #[error(transparent)]
    Create(#[from] CreateWorkError),
    /// The item that has the id cannot be read.
    #[error(transparent)]
    Read(#[from] StreamError),
}

impl ImportError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Taken { .. } => "id_taken",
            Self::Changed { .. } => "import_changed",
            Self::Create(error) => error.code(),
            Self::Read(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::Taken { .. } | Self::Changed { .. } => {
                Some("import into another project (`harn init` makes one) to have both".to_owned())
            }
            Self::Create(CreateWorkError::MissingDependency { .. }) => {
                Some("the dependency was not imported either; mend it and import again".to_owned())
            }
            Self::Create(error) => error.hint(),
            Self::Read(error) => error.hint(),
        }
    }
}

impl WorkLedger {
    /// Takes in an item with its whole history in one step, after the files that it cites. Doing it again changes nothing.
    ///
    /// Its dependencies must be here already.
    pub fn import(&self, caller: &Caller, translated: &Translated) -> Result<Arrival, ImportError> {
        if caller.role == Role::WorkflowChild {
            return Err(ImportError::Refused(Refusal::WorkflowChild { verb: Verb::Import }));
        }
        let Translated { intent, events, blobs, .. } = translated;
        let (id, actor) = (&intent.id, caller.actor.as_str());
        match self.ledger.stream::<Work>(id.as_str()) {
            Ok(stream) => return self.again(stream, translated),
            Err(StreamError::Read(ReadError::NotFound { .. })) => {}
            Err(error) => return Err(error.into()),
        }
        self.check_dependencies(id, &intent.dependencies)?;
        let created = CreateWorkError::from;
        self.ledger.check_new::<Work>(id.as_str(), actor, intent, events).map_err(created)?;
        for bytes in blobs {
            self.blobs().put(bytes).map_err(CreateWorkError::from)?;
        }
        let stream = self.ledger.create::<Work>(id.as_str(), actor, intent, events).map_err(created)?;
        Ok(Arrival::Created(self.item(stream)?))
    }

    /// The item is here. It may have gone on here since it was imported; what it came with must be the same.
    fn again(&self, stream: Stream<Work>, translated: &Translated) -> Result<Arrival, ImportError> {
        let id = || stream.id().clone();
        let before = &stream.intent().imported;
        if before.is_none() {
            return Err(ImportError::Taken { id: id() });
        }
        let history = stream.history().map_err(StreamError::from)?;
        let events = history.iter().filter_map(Entry::domain).map(|recorded| &recorded.event);
        let came = events.filter(|event| matches!(event, Event::Imported { .. }));
        if *before != translated.intent.imported || !came.eq(&translated.events) {
            return Err(ImportError::Changed { id: id() });
        }
        Ok(Arrival::Unchanged(self.item(stream)?))
    }
}
