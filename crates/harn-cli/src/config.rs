//! `.harn/config.toml`: read by the commands that use it, and closed: a misspelt key is an error, not a default.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;

use crate::exit::Exit;
use crate::failure::Failure;

/// The project's configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// The adapter that is meant when `--adapter` is not given.
    pub(crate) adapter: Option<String>,
    /// Every acceptance text of an item is a criterion of its runs.
    pub(crate) require_acceptance: bool,
    /// How findings are disposed of.
    pub(crate) findings: Findings,
    /// The environment of the work.
    pub(crate) env: EnvConfig,
    /// Adapters that run a command, by name.
    pub(crate) adapters: BTreeMap<String, AdapterConfig>,
}

/// How findings are disposed of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Findings {
    /// Only who raised a finding may dispose of it.
    pub(crate) only_raiser: bool,
}

/// The environment of the work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct EnvConfig {
    /// What is stated of this machine; part of what a set-up depends on.
    pub(crate) sandbox_version: Option<String>,
}

/// An adapter that runs a command.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdapterConfig {
    /// Program and arguments.
    pub(crate) command: Vec<String>,
}

impl Config {
    /// Reads the configuration of a project; a missing file is an empty one.
    pub(crate) fn read(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join("config.toml");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                let message = format!("cannot read `{}`: {error}", path.display());
                return Err(Failure::new(Exit::Environment, "config_unreadable", message));
            }
        };
        toml::from_str(&text).map_err(|error| {
            let message = format!("`{}` is not a configuration: {}", path.display(), error.to_string().trim_end());
            Failure::new(Exit::Refused, "config_invalid", message)
                .hint("the keys are `adapter`, `require_acceptance`, `findings.only_raiser`, `env.sandbox_version` and `adapters.NAME.command`")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_closed() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(Config::read(directory.path()).unwrap(), Config::default());
        let cases = [
            (
                "adapter = \"a\"\n[adapters.a]\ncommand = [\"sh\", \"-c\", \"cat\"]\n[findings]\nonly_raiser = true\n",
                true,
            ),
            ("[env]\nsandbox_version = \"image 7\"\n", true),
            ("[env]\nsandbox = \"image 7\"\n", false),
            ("adaptor = \"a\"\n", false),
            ("[adapters.a]\n", false),
            ("[findings]\nonly_raisers = true\n", false),
            ("adapter = 3\n", false),
        ];
        for (text, good) in cases {
            fs::write(directory.path().join("config.toml"), text).unwrap();
            assert_eq!(Config::read(directory.path()).is_ok(), good, "{text}");
        }
    }
}
