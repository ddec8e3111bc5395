//! Reading files that are looked at by their content.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use harn_ledger::{Digest, Hasher};

use super::{Entry, FingerprintError, names};
use crate::key::{KeyFile, is_manifest};
use crate::recipe::ProjectPath;

/// How often a file is read that changes meanwhile.
const TRIES: usize = 3;

/// SHA-256 of the file at `path`, or of where a link points.
pub(super) fn digest(path: &Path, shown: &str) -> Result<Digest, FingerprintError> {
    let failed = |source| FingerprintError::Read { path: shown.to_owned(), source };
    for _ in 0..TRIES {
        let before = fs::symlink_metadata(path).map_err(failed)?;
        let digest = if before.is_symlink() {
            Digest::of(fs::read_link(path).map_err(failed)?.as_os_str().as_bytes())
        } else {
            content(path).map_err(failed)?
        };
        if stamp(&before) == stamp(&fs::symlink_metadata(path).map_err(failed)?) {
            return Ok(digest);
        }
    }
    Err(FingerprintError::Unstable { path: shown.to_owned() })
}

fn content(path: &Path) -> io::Result<Digest> {
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

/// At most `max` bytes of a file.
pub(super) fn bounded(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn stamp(found: &Metadata) -> (u64, i64, i64, i64, i64) {
    (found.len(), found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec())
}

/// The declared inputs that are there, the known manifests among entries and `others`, and the inputs that are not there.
pub(super) fn extra(
    root: &Path,
    entries: &[Entry],
    others: &[String],
    inputs: &[ProjectPath],
) -> Result<(Vec<KeyFile>, Vec<ProjectPath>), FingerprintError> {
    let is_manifest = |path: &&str| is_manifest(path.rsplit('/').next().unwrap_or(path));
    let known = entries.iter().map(|entry| &*entry.path).chain(others.iter().map(String::as_str));
    // What has no exact form, such as a name with a line break, is in the tree and cannot be declared.
    let mut wanted: BTreeMap<ProjectPath, bool> =
        known.filter(is_manifest).filter_map(|path| Some((ProjectPath::new(path).ok()?, false))).collect();
    wanted.extend(inputs.iter().map(|path| (path.clone(), true)));
    let (mut extra, mut absent) = (Vec::new(), Vec::new());
    for (path, declared) in wanted {
        let place = names::path(root, path.as_str());
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_file() || found.is_symlink() => extra.push(KeyFile {
                mode: found.permissions().mode() & 0o7777,
                sha256: digest(&place, path.as_str())?,
                path,
            }),
            Ok(_) => return Err(FingerprintError::Special { path: path.to_string() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound && declared => absent.push(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(FingerprintError::Read { path: path.to_string(), source }),
        }
    }
    Ok((extra, absent))
}
