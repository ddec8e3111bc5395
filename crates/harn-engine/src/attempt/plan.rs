//! Where an attempt runs and within which limits: checked before anything is recorded.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::time::Duration;

use harn_ledger::text::TextError;
use harn_ledger::{BlobRef, Digest, StreamId, Timestamp};
use harn_workflow::Begun;
use harn_workflow::run::{
    AbsolutePath, Execution, InvalidPath, Isolation, Label, Line, Manifest, ManifestError, ManifestParts,
    Module, Script, Snapshot, Version,
};
use harn_workflow::work::Intent;

use crate::run::{Adapters, snapshot};
use crate::script::Bundle;

/// The options of an attempt, as they were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptOptions {
    /// Where agents and checks work: an absolute path of a directory that exists.
    pub cwd: PathBuf,
    /// Agents allowed in all.
    pub max_agents: NonZeroU32,
    /// Processes at a time.
    pub concurrency: NonZeroU32,
    /// How long the run may take.
    pub deadline: Option<Duration>,
    /// Keep API keys from agents.
    pub subscription_only: bool,
    /// Let agents bill an API key although a login is there.
    pub allow_api_billing: bool,
    /// Whom approvals are addressed to: one line of 1 to 200 characters.
    pub approval_to: Option<String>,
    /// The isolation that is asked for. Without a root for workspaces the run is shared, and says so.
    pub isolation: Isolation,
    /// Every acceptance text of the item is a criterion of the run.
    pub require_acceptance: bool,
}

/// Why an option is not acceptable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The directory does not exist.
    #[error("the working directory `{}` does not exist or is not a directory", path.display())]
    NoDirectory {
        /// The path.
        path: PathBuf,
    },
    /// The path cannot be recorded.
    #[error("the working directory is not usable")]
    Path(#[from] InvalidPath),
    /// There is no such adapter.
    #[error("there is no adapter `{name}`, expected {}", expected(known))]
    UnknownAdapter {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A text is not acceptable.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl OptionsError {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoDirectory { .. } => "cwd_missing",
            Self::Path(_) => "cwd_invalid",
            Self::UnknownAdapter { .. } => "adapter_unknown",
            Self::Text(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownAdapter { .. } => Some(
                "use `--adapter exec --exec COMMAND`, or describe the adapter in `.harn/config.toml`"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// Everything about a run that is known before its attempt is recorded.
pub(super) struct Plan {
    execution: Execution,
    script: Script,
    name: Label,
    work_item_id: StreamId,
}

impl Plan {
    pub(super) fn new(
        options: &AttemptOptions,
        adapters: &Adapters,
        intent: &Intent,
        bundle: &Bundle,
    ) -> Result<Self, OptionsError> {
        if !options.cwd.is_dir() {
            return Err(OptionsError::NoDirectory { path: options.cwd.clone() });
        }
        let adapter = adapters.default_name();
        if let Some(name) = adapter
            && adapters.get(name).is_none()
        {
            let known = adapters.names().map(str::to_owned).collect();
            return Err(OptionsError::UnknownAdapter { name: name.to_owned(), known });
        }
        // A path that is not text cannot be recorded as it is, and must not be recorded as another one.
        let cwd =
            options.cwd.to_str().ok_or_else(|| InvalidPath(options.cwd.to_string_lossy().into_owned()))?;
        let mut execution = Execution::in_dir(AbsolutePath::new(cwd)?);
        execution.adapter = adapter.map(|name| Line::new("adapter", name)).transpose()?;
        execution.max_agents = options.max_agents;
        execution.concurrency = options.concurrency;
        execution.deadline_ms = options.deadline.map(milliseconds);
        execution.subscription_only = options.subscription_only;
        execution.allow_api_billing = options.allow_api_billing;
        if let Some(address) = &options.approval_to {
            execution.approval_addressee = Line::new("approval address", address)?;
        }
        execution.requested_isolation = options.isolation;
        execution.require_acceptance = options.require_acceptance;
        let name =
            Path::new(&intent.workflow.path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        Ok(Self {
            execution,
            script: script(intent, bundle)?,
            name: name
                .as_deref()
                .and_then(Label::clip)
                .unwrap_or_else(|| Label::clip("workflow").expect("a word")),
            work_item_id: intent.id.clone(),
        })
    }

    /// Whether a manifest can be made of this. Only what is known after the attempt was recorded is missing from it.
    pub(super) fn check(&self) -> Result<(), ManifestError> {
        let probe = self.parts(self.work_item_id.clone(), Timestamp::UNIX_EPOCH, None);
        Manifest::new(probe).map(drop)
    }

    /// The manifest of the attempt that was just recorded.
    pub(super) fn manifest(&self, begun: &Begun) -> Result<Manifest, ManifestError> {
        let repository = snapshot(&self.execution.cwd);
        let mut parts = self.parts(begun.run_id.clone(), begun.started_at, Some(repository));
        parts.work_context = Some(begun.work_context.clone());
        parts.attempt_context = Some(begun.attempt_context.clone());
        parts.execution.random_seed = seed(&begun.run_id);
        Manifest::new(parts)
    }

    fn parts(&self, run_id: StreamId, started_at: Timestamp, repository: Option<Snapshot>) -> ManifestParts {
        ManifestParts {
            schema_version: Version,
            run_id,
            work_item_id: Some(self.work_item_id.clone()),
            work_context: None,
            attempt_context: None,
            name: self.name.clone(),
            started_at,
            script: self.script.clone(),
            repository_before: repository,
            execution: self.execution.clone(),
        }
    }
}

/// The adapters that there are, in words.
fn expected(known: &[String]) -> String {
    match known {
        [] => "none, because none is configured".to_owned(),
        [only] => format!("`{only}`"),
        several => format!("one of `{}`", several.join("`, `")),
    }
}

/// A deadline in whole milliseconds, and never none at all.
fn milliseconds(deadline: Duration) -> NonZeroU64 {
    let milliseconds = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
    NonZeroU64::new(milliseconds).unwrap_or(NonZeroU64::MIN)
}

fn script(intent: &Intent, bundle: &Bundle) -> Result<Script, InvalidPath> {
    let workflow = &intent.workflow;
    let module = |file: &harn_workflow::work::ScriptFile| -> Result<Module, InvalidPath> {
        Ok(Module { path: AbsolutePath::new(&file.path)?, sha256: file.sha256, content: file.content })
    };
    Ok(Script {
        path: AbsolutePath::new(&workflow.path)?,
        sha256: workflow.sha256,
        // The bytes that run, also where an imported item came without them.
        content: BlobRef::of(bundle.entry().bytes()),
        modules: workflow.modules.iter().map(module).collect::<Result<_, _>>()?,
    })
}

/// A seed that is different for every run and the same for every replay of it; at most 2^53 - 1.
fn seed(run_id: &StreamId) -> u64 {
    let hex = Digest::of(run_id.as_str().as_bytes()).to_string();
    u64::from_str_radix(&hex[..13], 16).expect("13 hexadecimal digits fit")
}
