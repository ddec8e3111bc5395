//! Where the text of a module comes from: the disk, within limits, or bytes stored earlier.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::{LoadError, MAX_FILE_BYTES};

/// Where modules come from.
pub(super) enum Source {
    /// Files on disk.
    Disk,
    /// Stored bytes by absolute path.
    Stored(HashMap<String, Vec<u8>>),
}

impl Source {
    /// The text of the module at `file`; `importer` names the module that asks for it.
    pub(super) fn text(&self, file: &str, importer: Option<&str>) -> Result<String, LoadError> {
        let path = Path::new(file);
        if !path.extension().is_some_and(|extension| extension == "mjs" || extension == "js") {
            return Err(LoadError::Extension { file: file.to_owned() });
        }
        let not_found =
            || LoadError::NotFound { file: file.to_owned(), importer: importer.map(ToOwned::to_owned) };
        let bytes = match self {
            Self::Stored(modules) => modules.get(file).cloned().ok_or_else(not_found)?,
            Self::Disk => match read_bounded(path) {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return Err(LoadError::NotAFile { file: file.to_owned() }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(not_found()),
                Err(source) => return Err(LoadError::Read { file: file.to_owned(), source }),
            },
        };
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(LoadError::TooLarge { file: file.to_owned(), limit: MAX_FILE_BYTES });
        }
        checked_text(bytes).map_err(|line| LoadError::NotText { file: file.to_owned(), line })
    }
}

/// At most one byte more than the limit; `None` for anything but a regular file, which might never end.
fn read_bounded(path: &Path) -> io::Result<Option<Vec<u8>>> {
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The bytes as text, or the line of the first byte that is none.
fn checked_text(bytes: Vec<u8>) -> Result<String, usize> {
    let line_of = |bytes: &[u8], at: usize| bytes[..at].split(|&byte| byte == b'\n').count();
    let text = String::from_utf8(bytes)
        .map_err(|error| line_of(error.as_bytes(), error.utf8_error().valid_up_to()))?;
    match text.find('\0') {
        Some(at) => Err(line_of(text.as_bytes(), at)),
        None => Ok(text),
    }
}
