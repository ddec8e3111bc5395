//! The last line of a log, read from the end: what it takes does not depend on the length of the log.

use std::io;

use crate::decider::Head;
use crate::line;
use crate::log::{EVENTS_FILE, Log, ReadError};

/// How much is read at first: enough for most lines.
const FIRST: u64 = 4 << 10;

impl Log {
    /// The head, if the log ends with a line that closes a batch and matches its own hash. Otherwise only a reading of the
    /// whole log can say what is there.
    pub(crate) fn last_line(&self) -> Result<Option<Head>, ReadError> {
        let file = self.reader()?;
        let failed = self.io(EVENTS_FILE);
        let end = file.stat().map_err(&failed)?.length;
        let mut wanted = FIRST;
        loop {
            let start = end.saturating_sub(wanted);
            let mut text = vec![0; usize::try_from(end - start).map_err(io::Error::other).map_err(&failed)?];
            let mut filled = 0;
            while filled < text.len() {
                match file.read_at(start + filled as u64, &mut text[filled..]).map_err(&failed)? {
                    0 => return Ok(None),
                    read => filled += read,
                }
            }
            let Some(lines) = text.strip_suffix(b"\n") else {
                return Ok(None);
            };
            let line = match memchr::memrchr(b'\n', lines) {
                Some(feed) => &lines[feed + 1..],
                None if start == 0 => lines,
                None if wanted > self.limits.line_bytes => return Ok(None),
                None => {
                    wanted *= 4;
                    continue;
                }
            };
            let parts = line::decode(line, &self.opening).ok().filter(|parts| !parts.more);
            return Ok(parts.map(|parts| Head { seq: parts.seq, hash: parts.hash }));
        }
    }
}
