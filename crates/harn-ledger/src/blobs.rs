//! Evidence named by its digest: `blobs/<first two digits>/<64 digits>`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::append::is_full;
use crate::blob_ref::BlobRef;
use crate::digest::{Digest, Hasher};
use crate::disk::{Disk, FileKind, Open, read_bounded, write_all_at};
use crate::durability::Refusals;
use crate::place::{self, READ_ONLY_HINT, UnsafePlace, is_read_only};
use crate::staging::{self, Staged};
use crate::tail::hash_file;

pub(crate) const BLOBS: &str = "blobs";

/// Longest blob, in bytes: 256 MiB.
pub const BLOB_MAX: u64 = 256 << 20;

/// Why a blob could not be stored or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// There is no such blob.
    #[error("the blob `{blob}` is missing")]
    Missing {
        /// Its digest.
        blob: Digest,
    },
    /// The stored bytes are not those that the citation names.
    #[error("the blob `{blob}` does not hold the bytes that it is named after")]
    Damaged {
        /// The digest cited.
        blob: Digest,
    },
    /// It is longer than blobs may be.
    #[error("a blob of more than {limit} bytes cannot be stored")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// The ledger was opened for reading only.
    #[error("the ledger is open for reading only")]
    ReadOnly,
    /// The file system is mounted for reading only.
    #[error("`{}` is on a read-only file system", path.display())]
    ReadOnlyFileSystem {
        /// The file or directory.
        path: PathBuf,
    },
    /// Others could read or change the blobs.
    #[error(transparent)]
    UnsafePlace(#[from] UnsafePlace),
    /// The machine said no.
    #[error("cannot use the blob `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the machine said.
        source: io::Error,
    },
}

impl BlobError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "blob_missing",
            Self::Damaged { .. } => "blob_damaged",
            Self::TooLarge { .. } => "blob_too_large",
            Self::ReadOnly => "read_only",
            Self::ReadOnlyFileSystem { .. } => "read_only_file_system",
            Self::UnsafePlace(_) => "unsafe_place",
            Self::Io { source, .. } if is_full(source) => "storage_full",
            Self::Io { .. } => "blob_failed",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnsafePlace(place) => place.mend(),
            Self::ReadOnlyFileSystem { .. } => Some(READ_ONLY_HINT.to_owned()),
            Self::Io { source, .. } if is_full(source) => Some("make room, then try again".to_owned()),
            _ => None,
        }
    }

    /// A failure of the machine to write at `path`; a disk that is for reading only is told from the others.
    fn at(path: PathBuf, source: io::Error) -> Self {
        if is_read_only(&source) { Self::ReadOnlyFileSystem { path } } else { Self::Io { path, source } }
    }
}

/// The blobs of a ledger.
#[derive(Debug, Clone)]
pub struct Blobs {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    refusals: Arc<Refusals>,
}

impl Blobs {
    pub(crate) fn new(disk: Arc<dyn Disk>, root: &Path, refusals: Arc<Refusals>) -> Self {
        Self { disk, root: root.to_owned(), refusals }
    }

    /// Stores `bytes`. Storing the same bytes again gives the same citation and writes nothing, unless what is stored was
    /// damaged since, or others can reach it.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobRef, BlobError> {
        if bytes.len() as u64 > BLOB_MAX {
            return Err(BlobError::TooLarge { limit: BLOB_MAX });
        }
        let citation = BlobRef::of(bytes);
        if !self.refusals.read_only() {
            self.check_place()?;
            if self.holds(&citation)? {
                return self.settle(&citation).map(|()| citation);
            }
        }
        let mut writer = self.writer()?;
        writer.write_all(bytes).map_err(|source| writer.failed(source))?;
        writer.finish()
    }

    /// Starts a blob whose bytes come piece by piece. It exists only once it is finished.
    pub fn writer(&self) -> Result<BlobWriter, BlobError> {
        if self.refusals.read_only() {
            return Err(BlobError::ReadOnly);
        }
        self.check_place()?;
        staging::check_place(&*self.disk, &self.root)?;
        let staged = staging::file(&*self.disk, &self.root)
            .map_err(|source| BlobError::at(self.root.clone(), source))?;
        Ok(BlobWriter { blobs: self.clone(), staged, hasher: Hasher::default(), length: 0, finished: false })
    }

    /// The bytes of a blob, checked against the citation.
    pub fn get(&self, citation: &BlobRef) -> Result<Vec<u8>, BlobError> {
        let blob = citation.blob;
        let path = self.path(&blob);
        let file = match self.disk.open(&path, Open::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(BlobError::Missing { blob }),
            Err(source) => return Err(BlobError::Io { path, source }),
        };
        let bytes = read_bounded(&*file, citation.bytes).map_err(|source| BlobError::Io { path, source })?;
        bytes.filter(|bytes| BlobRef::of(bytes) == *citation).ok_or(BlobError::Damaged { blob })
    }

    pub(crate) fn path(&self, blob: &Digest) -> PathBuf {
        let digits = blob.to_string();
        self.root.join(BLOBS).join(&digits[..2]).join(digits)
    }

    fn check_place(&self) -> Result<(), UnsafePlace> {
        self.refusals.ground.check(&*self.disk, &self.root)?;
        place::check(&*self.disk, &self.root, FileKind::Directory)?;
        place::check(&*self.disk, &self.root.join(BLOBS), FileKind::Directory)
    }

    /// Whether the bytes are there, in a place where they can be. A file that holds others, or that others can reach, is
    /// not taken for them, so storing them again mends it.
    fn holds(&self, citation: &BlobRef) -> Result<bool, UnsafePlace> {
        let path = self.path(&citation.blob);
        let parent = path.parent().expect("a blob lies in a directory");
        place::check(&*self.disk, parent, FileKind::Directory)?;
        if place::check(&*self.disk, &path, FileKind::File).is_err() {
            return Ok(false);
        }
        let found = self.disk.open(&path, Open::Read).and_then(|file| hash_file(&*file));
        Ok(found.is_ok_and(|found| found == (citation.bytes, citation.blob)))
    }

    /// Makes sure that the name of a blob survives a power loss; its bytes were synced before it got the name.
    fn settle(&self, citation: &BlobRef) -> Result<(), BlobError> {
        let path = self.path(&citation.blob);
        let parent = path.parent().expect("a blob lies in a directory");
        self.disk.sync_dir(parent).map_err(|source| BlobError::at(parent.to_owned(), source))
    }
}

/// A blob being written. A write beyond [`BLOB_MAX`] fails with a [`BlobError::TooLarge`] inside the `io::Error`.
#[derive(Debug)]
#[must_use = "the blob exists only once `finish` was called"]
pub struct BlobWriter {
    blobs: Blobs,
    staged: Staged,
    hasher: Hasher,
    length: u64,
    finished: bool,
}

impl Write for BlobWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.length + bytes.len() as u64 > BLOB_MAX {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, BlobError::TooLarge { limit: BLOB_MAX }));
        }
        write_all_at(&*self.staged.file, self.length, bytes)?;
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl BlobWriter {
    /// Bytes written so far.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Brings the bytes to stable storage under their name.
    pub fn finish(mut self) -> Result<BlobRef, BlobError> {
        let citation = BlobRef { blob: std::mem::take(&mut self.hasher).finish(), bytes: self.length };
        if !self.blobs.holds(&citation)? {
            self.place(&citation).map_err(|source| self.failed(source))?;
            self.finished = true;
        }
        self.blobs.settle(&citation)?;
        Ok(citation)
    }

    fn place(&self, citation: &BlobRef) -> io::Result<()> {
        let disk = &*self.blobs.disk;
        let path = self.blobs.path(&citation.blob);
        // A write that failed half-way may have left bytes behind the last that counts.
        self.staged.file.truncate(self.length)?;
        self.staged.file.sync()?;
        let ground = &self.blobs.refusals.ground;
        ground.ensure_directory(disk, &self.blobs.root.join(BLOBS))?;
        ground.ensure_directory(disk, path.parent().expect("a blob lies in a directory"))?;
        disk.rename(&self.staged.path, &path)
    }

    fn failed(&self, source: io::Error) -> BlobError {
        BlobError::at(self.staged.path.clone(), source)
    }
}

impl Drop for BlobWriter {
    fn drop(&mut self) {
        if !self.finished {
            // Whoever builds next sweeps what cannot be removed now.
            drop(self.blobs.disk.unlink(&self.staged.path));
        }
    }
}
