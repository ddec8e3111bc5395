//! The output of a child: kept whole on disk, a bounded part of it in memory.

use std::io::{self, Write as _};

use harn_env::command::{Captured as Excerpted, Sink};
use harn_ledger::{BlobError, BlobWriter, Blobs};
use harn_workflow::run::{Captured, HEAD_MAX, INLINE_MAX, TAIL_MAX};

/// Takes one output stream: the first bytes stay in memory, and once they are more than an event can hold, all of them
/// go into a blob.
pub(super) struct Output {
    blobs: Blobs,
    memory: usize,
    /// The first bytes, at most `memory`.
    head: Vec<u8>,
    /// The last bytes, at most twice `TAIL_MAX`.
    tail: Vec<u8>,
    total: u64,
    blob: Option<BlobWriter>,
}

impl Output {
    /// Keeps at most `memory` bytes in memory, but never less than an event can hold.
    pub(super) fn new(blobs: Blobs, memory: usize) -> Self {
        let memory = memory.max(INLINE_MAX).max(HEAD_MAX);
        Self { blobs, memory, head: Vec::new(), tail: Vec::new(), total: 0, blob: None }
    }

    /// All bytes of a stream of which `seen` was seen, if they fit into memory.
    pub(super) fn whole(&self, seen: &Excerpted) -> Option<&[u8]> {
        (seen.total_bytes == self.head.len() as u64).then_some(&*self.head)
    }

    /// Puts what came into the form that an event holds, storing it if it must be a blob. Absent when nothing came.
    pub(super) fn capture(mut self, seen: &Excerpted) -> Result<Option<Captured>, BlobError> {
        if seen.total_bytes == 0 {
            return Ok(None);
        }
        let Some(blob) = self.blob.take() else {
            let captured = Captured::of(&self.head);
            if captured.blob().is_some() {
                self.blobs.put(&self.head)?;
            }
            return Ok(Some(captured));
        };
        let content = blob.finish()?;
        let dropped = seen.total_bytes.saturating_sub(content.bytes);
        Ok(Some(Captured::streamed(content, &self.head, &self.tail, dropped)))
    }

    fn spill(&mut self) -> io::Result<&mut BlobWriter> {
        if self.blob.is_none() {
            let mut blob = self.blobs.writer().map_err(io::Error::other)?;
            blob.write_all(&self.head)?;
            self.blob = Some(blob);
        }
        Ok(self.blob.as_mut().expect("it was just made"))
    }
}

impl Sink for Output {
    fn receive(&mut self, chunk: &[u8]) -> io::Result<()> {
        let next = self.total + chunk.len() as u64;
        if self.blob.is_some() || next > INLINE_MAX as u64 {
            self.spill()?.write_all(chunk)?;
        }
        let room = self.memory - self.head.len();
        self.head.extend_from_slice(&chunk[..chunk.len().min(room)]);
        self.tail.extend_from_slice(&chunk[chunk.len().saturating_sub(TAIL_MAX)..]);
        let excess = self.tail.len().saturating_sub(TAIL_MAX);
        self.tail.drain(..excess);
        self.total = next;
        Ok(())
    }
}

/// The text of what was captured whole.
pub(super) fn text(captured: &Captured, blobs: &Blobs) -> Result<String, BlobError> {
    match (captured.text(), captured.blob()) {
        (Some(text), _) => Ok(text.to_owned()),
        (None, Some(blob)) => Ok(String::from_utf8_lossy(&blobs.get(&blob)?).into_owned()),
        (None, None) => Ok(String::new()),
    }
}

/// The two ends of an output, from what was stored of it: the same that [`excerpt_of`] gave when it came.
pub(super) fn excerpt(captured: Option<&Captured>, blobs: &Blobs) -> Result<String, BlobError> {
    let Some(captured) = captured else { return Ok(String::new()) };
    let Some(blob) = captured.blob() else { return text(captured, blobs) };
    let stored = blobs.get(&blob)?;
    Ok(excerpt_of(&Excerpted::of(&stored), Some(captured)))
}

/// The two ends of an output as the script gets them, from what was seen of it and what is recorded of it. Of an output
/// that was not stored to its end, only what is recorded of that end can be had again later, so that is all it gets.
pub(super) fn excerpt_of(seen: &Excerpted, captured: Option<&Captured>) -> String {
    let cut = captured.and_then(Captured::excerpt).and_then(|excerpt| Some((excerpt, excerpt.dropped?)));
    let Some((excerpt, dropped)) = cut else { return seen.excerpt().into_owned() };
    let kept = (seen.head.len() + excerpt.tail.len()) as u64;
    let left_out = excerpt.content.bytes.saturating_add(dropped.get()).saturating_sub(kept);
    format!("{}\n… {left_out} bytes left out …\n{}", seen.head.trim_end_matches('\n'), excerpt.tail)
}

#[cfg(test)]
mod tests {
    use harn_ledger::Ledger;
    use harn_ledger::disk::MemDisk;

    use super::*;

    /// What `run` would say of a stream whose bytes all went to the sink.
    fn captured(chunks: &[&[u8]]) -> (Captured, Blobs, bool) {
        let ledger = Ledger::builder("/state").disk(MemDisk::new()).open().unwrap();
        let mut output = Output::new(ledger.blobs(), 0);
        for chunk in chunks {
            output.receive(chunk).unwrap();
        }
        let spec = harn_env::command::CommandSpec::new("true", "/");
        let mut seen = harn_env::command::run(
            &spec,
            harn_env::command::Streams { stdout: &mut (), stderr: &mut () },
            &harn_env::command::Cancel::new(),
        )
        .stdout;
        seen.total_bytes = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        let whole = output.whole(&seen).is_some();
        let captured = output.capture(&seen).unwrap().unwrap();
        (captured, ledger.blobs(), whole)
    }

    #[test]
    fn short_text_stays_in_the_event_and_the_rest_is_a_blob() {
        let long = vec![b'x'; INLINE_MAX + 1];
        let cases: [(&[&[u8]], bool, bool); 4] = [
            (&[b"hello ", b"world"], true, true),
            (&[&long], false, false),
            (&[&long[1..], b"y"], false, false),
            (&[b"\xff\xfe"], false, true),
        ];
        for (chunks, inline, in_memory) in cases {
            let (captured, blobs, whole) = captured(chunks);
            let bytes = chunks.concat();
            assert_eq!((captured.text().is_some(), whole), (inline, in_memory));
            if let Some(blob) = captured.blob() {
                assert_eq!(blobs.get(&blob).unwrap(), bytes);
            } else {
                assert_eq!(captured.text().unwrap().as_bytes(), bytes);
            }
        }
    }
}
