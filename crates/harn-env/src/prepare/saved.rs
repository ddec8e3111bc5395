//! Keeps what only the disk has before preparation may change it.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use super::{PrepareError, Request};
use crate::fingerprint::{Fingerprint, FingerprintError, not_committed, place};
use crate::receipt::{Saved, SavedFile};

/// Most files that are kept.
const FILES_MAX: usize = 1_000;
/// Longest file that is kept, in bytes.
const FILE_MAX: u64 = 4 << 20;
/// Most bytes that are kept in all.
const BYTES_MAX: u64 = 64 << 20;

pub(super) fn keep(request: &Request<'_>, source: &Fingerprint) -> Result<Saved, PrepareError> {
    let mut saved = Saved::default();
    let mut left = BYTES_MAX;
    for path in not_committed(request.root, source)? {
        let on_disk = place(request.root, &path);
        let failed = |source| FingerprintError::Read { path: path.clone(), source };
        let Ok(found) = fs::symlink_metadata(&on_disk) else { continue };
        if found.is_dir() {
            continue;
        }
        if saved.files.len() == FILES_MAX || found.len() > FILE_MAX.min(left) {
            saved.left_out += 1;
            continue;
        }
        let bytes = if found.is_symlink() {
            fs::read_link(&on_disk).map_err(failed)?.as_os_str().as_bytes().to_vec()
        } else {
            fs::read(&on_disk).map_err(failed)?
        };
        if request.redactor.masks(&bytes) {
            saved.left_out += 1;
            continue;
        }
        left = left.saturating_sub(bytes.len() as u64);
        let content = request.ledger.blobs().put(&bytes)?;
        saved.files.push(SavedFile { path, mode: found.permissions().mode() & 0o7777, content });
    }
    Ok(saved)
}
