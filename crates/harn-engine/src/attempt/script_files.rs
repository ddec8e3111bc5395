//! The files of a workflow: read when an item is created, compared and taken from the ledger when it runs.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use harn_ledger::{BlobError, Digest, Hasher};
use harn_workflow::work::Intent;
use harn_workflow::{ScriptText, WorkLedger};

use crate::script::{Bundle, LoadError};

/// Why the script of an item cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// It cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file is not there any more.
    #[error("the script `{}` is missing", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read the script `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the machine said.
        source: io::Error,
    },
    /// A file was changed after the item was created.
    #[error("the script `{}` changed since the item was created: it has the digest {found}, expected {expected}", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// The digest that was frozen.
        expected: Digest,
        /// The digest that it has now.
        found: Digest,
    },
    /// The frozen bytes are not in the ledger.
    #[error("the frozen script cannot be read from the ledger")]
    Frozen(#[from] BlobError),
}

impl ScriptError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Load(error) => error.code(),
            Self::Missing { .. } => "script_missing",
            Self::Unreadable { .. } => "script_unreadable",
            Self::Changed { .. } => "script_changed",
            Self::Frozen(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Load(error) => error.hint(),
            Self::Changed { .. } | Self::Missing { .. } => {
                Some("restore it, or create a new work item for another script".to_owned())
            }
            Self::Unreadable { .. } | Self::Frozen(_) => None,
        }
    }
}

/// Reads a script and everything that it imports, and compiles it; no line is evaluated. The script comes first.
pub fn read_script(path: &Path) -> Result<Vec<ScriptText>, ScriptError> {
    let bundle = Bundle::read(path)?;
    let text = |module: &crate::script::Module| ScriptText {
        path: module.path().to_owned(),
        bytes: module.bytes().to_vec(),
    };
    Ok(bundle.modules().iter().map(text).collect())
}

/// The script as it was frozen, if the files on disk are still the same.
pub(super) fn frozen(works: &WorkLedger, intent: &Intent) -> Result<Bundle, ScriptError> {
    let workflow = &intent.workflow;
    let mut files = vec![(workflow.path.clone(), entry(works, intent)?)];
    for file in &workflow.modules {
        check_unchanged(Path::new(&file.path), file.sha256)?;
        files.push((file.path.clone(), works.blobs().get(&file.content)?));
    }
    Ok(Bundle::frozen(&workflow.path, files)?)
}

/// The bytes of the script itself. An imported item may stem from another place, where its script was, and if the script
/// was not found when it was imported, the one that is there now must have the frozen digest.
fn entry(works: &WorkLedger, intent: &Intent) -> Result<Vec<u8>, ScriptError> {
    let (path, sha256) = (Path::new(&intent.workflow.path), intent.workflow.sha256);
    let unchanged = check_unchanged(path, sha256);
    match (intent.workflow.content, unchanged) {
        (Some(content), Ok(())) => Ok(works.blobs().get(&content)?),
        (Some(content), Err(ScriptError::Missing { .. })) if intent.imported.is_some() => {
            Ok(works.blobs().get(&content)?)
        }
        (_, Err(error)) => Err(error),
        (None, Ok(())) => {
            let bytes =
                fs::read(path).map_err(|source| ScriptError::Unreadable { path: path.to_owned(), source })?;
            let found = works.blobs().put(&bytes)?.blob;
            if found != sha256 {
                return Err(ScriptError::Changed { path: path.to_owned(), expected: sha256, found });
            }
            Ok(bytes)
        }
    }
}

fn check_unchanged(path: &Path, frozen: Digest) -> Result<(), ScriptError> {
    let found = digest(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ScriptError::Missing { path: path.to_owned() },
        _ => ScriptError::Unreadable { path: path.to_owned(), source },
    })?;
    if found == frozen {
        Ok(())
    } else {
        Err(ScriptError::Changed { path: path.to_owned(), expected: frozen, found })
    }
}

/// The digest of a file of any size. A pipe or a device in its place might never end, and is not read.
fn digest(path: &Path) -> io::Result<Digest> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut file = File::open(path)?;
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finish()),
            read => hasher.update(&buffer[..read]),
        }
    }
}
