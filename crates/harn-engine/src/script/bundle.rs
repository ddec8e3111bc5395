//! The bundle: a workflow module and every module it imports, as bytes with their digests.

mod compile;
mod literals;
mod load_error;
mod source;
mod specifier;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

pub use load_error::LoadError;
pub(super) use specifier::resolve;

use source::Source;

/// The largest source file, in bytes.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The largest number of files in one bundle, the workflow itself included.
pub const MAX_FILES: usize = 64;

/// A workflow module and all modules it imports statically, directly or not: compiled once, never evaluated.
///
/// Cheap to clone. The entry is the first module; the others follow in the order in which they were first imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    modules: Arc<[Module]>,
}

/// One source file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    path: String,
    source: String,
    sha256: String,
}

impl Bundle {
    /// Reads the workflow at `path` and its imports from disk, and compiles and links all of it.
    ///
    /// `path` may be relative to the working directory. No line of any module is evaluated, so a module that throws
    /// or loops at its top level reads without error.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let entry = specifier::absolute(path)?;
        Self::compiled(entry, Source::Disk)
    }

    /// Builds a bundle from stored `(path, bytes)` pairs, as [`Module::path`] and [`Module::bytes`] gave them.
    ///
    /// The disk is not touched. Everything is compiled and linked again, so a set that lacks an imported module is
    /// refused here; modules that nothing imports are left out.
    pub fn frozen(entry: &str, modules: Vec<(String, Vec<u8>)>) -> Result<Self, LoadError> {
        Self::compiled(entry.to_owned(), Source::Stored(modules.into_iter().collect()))
    }

    fn compiled(entry: String, source: Source) -> Result<Self, LoadError> {
        let modules = compile::compile(entry, source)?;
        Ok(Self { modules: modules.into() })
    }

    /// The workflow module itself.
    #[must_use]
    pub fn entry(&self) -> &Module {
        &self.modules[0]
    }

    /// Every module, the entry first.
    #[must_use]
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The module with exactly this absolute path.
    #[must_use]
    pub fn module(&self, path: &str) -> Option<&Module> {
        self.modules.iter().find(|module| module.path == path)
    }
}

impl Module {
    fn new(path: String, source: String) -> Self {
        let sha256 = Sha256::digest(&source).iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("writing to a string succeeds");
            hex
        });
        Self { path, source, sha256 }
    }

    /// The normalised absolute path. It is also the module's name in error stacks.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The source text; files that are not UTF-8 are refused.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.source.as_bytes()
    }

    /// The SHA-256 of the bytes, 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }
}
