//! The adapters that a run may use, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::adapter::Adapter;

/// The adapters that are configured, and which of them is meant when a script names none.
#[derive(Debug, Clone, Default)]
pub struct Adapters {
    known: BTreeMap<String, Arc<dyn Adapter>>,
    default: Option<String>,
}

impl Adapters {
    /// No adapters. Enough for a script that calls no agent.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds an adapter under its own name.
    #[must_use]
    pub fn with(mut self, adapter: impl Adapter + 'static) -> Self {
        self.known.insert(adapter.name().to_owned(), Arc::new(adapter));
        self
    }

    /// Makes `name` the one that is meant when a script names none.
    #[must_use]
    pub fn with_default(mut self, name: &str) -> Self {
        self.default = Some(name.to_owned());
        self
    }

    /// Makes `name` the one that is meant, or none.
    pub(crate) fn with_only_default(mut self, name: Option<&str>) -> Self {
        self.default = name.map(str::to_owned);
        self
    }

    /// The name of the default, if there is one.
    #[must_use]
    pub fn default_name(&self) -> Option<&str> {
        self.default.as_deref()
    }

    /// The adapter called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Adapter>> {
        self.known.get(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }
}
