//! A second writer of the format, written from its document, for lines that the ledger would never write.

use harn_ledger::Digest;

/// A line before it is sealed. The text members stand in the line as they are given.
#[derive(Debug, Clone)]
pub(crate) struct Forged {
    pub(crate) schema_version: u64,
    pub(crate) stream: String,
    pub(crate) seq: u64,
    pub(crate) ts: String,
    pub(crate) actor: String,
    pub(crate) event: String,
    pub(crate) data: String,
    pub(crate) more: bool,
    pub(crate) prev: Digest,
}

impl Forged {
    /// A line that would be in order at its place.
    pub(crate) fn new(stream: &str, seq: u64, prev: Digest, event: &str, data: &str) -> Self {
        Self {
            schema_version: 1,
            stream: stream.to_owned(),
            seq,
            ts: "2026-07-22T12:00:00.000000Z".to_owned(),
            actor: "teller".to_owned(),
            event: event.to_owned(),
            data: data.to_owned(),
            more: false,
            prev,
        }
    }

    /// The line with its line feed, under a hash that matches.
    pub(crate) fn line(&self) -> Vec<u8> {
        let Self { schema_version, stream, seq, ts, actor, event, data, more, prev } = self;
        let more = if *more { r#","more":true"# } else { "" };
        seal(&format!(
            r#"{{"schema_version":{schema_version},"stream":"{stream}","seq":{seq},"ts":"{ts}","actor":"{actor}","event":"{event}","data":{data}{more},"prev":"{prev}""#
        ))
    }
}

/// Closes a line with the hash of what stands before it.
pub(crate) fn seal(body: &str) -> Vec<u8> {
    format!("{body},\"hash\":\"{}\"}}\n", Digest::of(body.as_bytes())).into_bytes()
}

/// The lines of a log, each with its line feed; what stands behind the last line feed is the last item.
pub(crate) fn lines(log: &[u8]) -> Vec<&[u8]> {
    log.split_inclusive(|&byte| byte == b'\n').collect()
}

/// The hash that a line carries.
pub(crate) fn hash_of(line: &[u8]) -> Digest {
    let line = std::str::from_utf8(line).unwrap().trim_end();
    line[line.len() - 66..line.len() - 2].parse().unwrap()
}
