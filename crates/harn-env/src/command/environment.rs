//! The variables a command gets.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::process::Command;

/// The variables a command gets: this process's with changes, or an exact set.
///
/// `Debug` shows names only, because values may be secrets.
#[derive(Clone, PartialEq, Eq)]
pub enum Environment {
    /// The variables of this process at the start of the command, without `remove`, then with `set`.
    Inherit {
        /// Names that are taken out.
        remove: BTreeSet<OsString>,
        /// Variables that are added or replaced; they win over `remove`.
        set: BTreeMap<OsString, OsString>,
    },
    /// Exactly these variables.
    Exact(BTreeMap<OsString, OsString>),
}

impl Environment {
    /// The variables of this process.
    #[must_use]
    pub fn inherit() -> Self {
        Self::Inherit { remove: BTreeSet::new(), set: BTreeMap::new() }
    }

    /// Exactly the given variables. Without `PATH` among them, programs are looked up in the system's
    /// default path.
    #[must_use]
    pub fn exact<N: Into<OsString>, V: Into<OsString>>(variables: impl IntoIterator<Item = (N, V)>) -> Self {
        Self::Exact(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// Adds or replaces one variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        match &mut self {
            Self::Inherit { set, .. } | Self::Exact(set) => set.insert(name.into(), value.into()),
        };
        self
    }

    /// Takes one variable out, whether it was inherited or added.
    #[must_use]
    pub fn without(mut self, name: impl Into<OsString>) -> Self {
        let name = name.into();
        match &mut self {
            Self::Inherit { remove, set } => {
                set.remove(&name);
                remove.insert(name);
            }
            Self::Exact(set) => {
                set.remove(&name);
            }
        }
        self
    }

    pub(super) fn apply(&self, command: &mut Command) {
        match self {
            Self::Inherit { remove, set } => {
                for name in remove {
                    command.env_remove(name);
                }
                command.envs(set);
            }
            Self::Exact(variables) => {
                command.env_clear().envs(variables);
            }
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inherit { remove, set } => f
                .debug_struct("Inherit")
                .field("remove", remove)
                .field("set", &set.keys().collect::<Vec<_>>())
                .finish(),
            Self::Exact(variables) => {
                f.debug_tuple("Exact").field(&variables.keys().collect::<Vec<_>>()).finish()
            }
        }
    }
}
