//! Bringing the end of a suspect log to stable storage after all.

use std::io;

use super::{LogPart, RepairError};
use crate::append::AppendError;
use crate::disk::{DiskFile, Open, read_bounded, write_all_at};
use crate::log::{EVENTS_FILE, Log, ReadError, SUSPECT_FILE};
use crate::staging::sync_parent;
use crate::tail::read_from;

/// Longest mark that is read: a number of 20 digits and a line feed fit well.
const MARK_MAX: u64 = 64;

impl Log {
    /// From where on stable storage may not hold what the log shows, if the stream is suspect.
    pub(super) fn suspect_from(&self, file: &dyn DiskFile) -> Result<Option<u64>, ReadError> {
        if !self.is_suspect().map_err(self.io(SUSPECT_FILE))? {
            return Ok(None);
        }
        let length = file.stat().map_err(self.io(EVENTS_FILE))?.length;
        // Whoever left no mark, or half of one, knew of nothing that is safe.
        let marked = self.marked_offset().filter(|&offset| offset <= length);
        Ok(Some(marked.unwrap_or(0)))
    }

    fn marked_offset(&self) -> Option<u64> {
        let mark = self.disk.open(&self.path(SUSPECT_FILE), Open::Read).ok()?;
        let text = String::from_utf8(read_bounded(&*mark, MARK_MAX).ok()??).ok()?;
        let digits = text.strip_suffix('\n')?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    }

    /// Writes `part` again, brings it to stable storage, and removes the mark. Called under the exclusive lock.
    ///
    /// After a failed sync the machine takes the pages for clean, so that another sync alone would succeed without
    /// writing anything. The same bytes at the same place make them dirty again, and do no harm wherever this stops.
    pub(super) fn resync(&self, file: &dyn DiskFile, part: &LogPart) -> Result<(), RepairError> {
        let mut at = part.offset;
        let rewritten = file
            // The length may be what was lost.
            .truncate(part.offset + part.bytes)
            .and_then(|()| {
                read_from(file, part.offset, |piece| {
                    write_all_at(file, at, piece)?;
                    at += piece.len() as u64;
                    Ok(())
                })
            });
        rewritten.map_err(|source| self.write_failed(source))?;
        // And a name may be: that of the stream, or of a file in it.
        file.sync()
            .and_then(|()| self.disk.sync_dir(&self.directory))
            .and_then(|()| sync_parent(&*self.disk, &self.directory))
            .map_err(|source| {
                self.refusals.add(&self.name);
                AppendError::DurabilityUnknown { stream: self.name.clone(), source: Some(source) }
            })?;
        let again = self.disk.open(&self.path(EVENTS_FILE), Open::Read).map_err(self.io(EVENTS_FILE))?;
        if self.part(&*again, part.offset)? != *part {
            return Err(RepairError::NotReadBack { stream: self.name.clone() });
        }
        self.remove_mark().map_err(|source| AppendError::at(self.path(SUSPECT_FILE), source).into())
    }

    fn remove_mark(&self) -> io::Result<()> {
        match self.disk.unlink(&self.path(SUSPECT_FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => self.refusals.remove(&self.name),
        }
        // Should this fail, the mark may come back, and costs another repair.
        self.disk.sync_dir(&self.directory)
    }
}
