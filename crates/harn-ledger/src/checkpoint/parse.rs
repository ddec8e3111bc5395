//! Reading a checkpoint back: only the very bytes that were written are one.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{CHECKPOINT_STREAMS_MAX, Checkpoint, VERSION, seal};
use crate::decider::Head;
use crate::digest::Digest;
use crate::id::{StreamId, StreamName};
use crate::time::Timestamp;

/// Longest checkpoint document, in bytes: 256 MiB.
pub const CHECKPOINT_MAX: u64 = 256 << 20;

/// Why bytes are not a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseCheckpointError {
    /// It is longer than checkpoints may be.
    #[error(
        "a checkpoint of more than {CHECKPOINT_MAX} bytes or {CHECKPOINT_STREAMS_MAX} streams is not read"
    )]
    TooLarge,
    /// A newer build wrote it.
    #[error("the checkpoint has `schema_version` {version}, expected {VERSION}: a newer build wrote it")]
    Newer {
        /// Its version.
        version: u64,
    },
    /// It is not such a document.
    #[error("not a checkpoint: {what}")]
    Form {
        /// What is wrong, and at which line and column.
        what: String,
    },
    /// What should name a stream does not.
    #[error("entry {entry} of the checkpoint names the stream `{}`, expected `<kind>/<id>`", name.escape_debug())]
    Name {
        /// The entry, counted from 1.
        entry: usize,
        /// What stands there.
        name: String,
    },
    /// A stream ends before its first event.
    #[error("entry {entry} of the checkpoint has `seq` 0, expected at least 1")]
    Empty {
        /// The entry, counted from 1.
        entry: usize,
    },
    /// The streams are not in order, or one stands there twice.
    #[error("entry {entry} of the checkpoint, `{stream}`, does not come after the one before it")]
    Order {
        /// The entry, counted from 1.
        entry: usize,
        /// The stream.
        stream: StreamName,
    },
    /// It says the same in other bytes than a checkpoint has.
    #[error("line {line} of the checkpoint is not in the form that the ledger writes")]
    NotCanonical {
        /// The first line that differs, counted from 1.
        line: usize,
    },
    /// It was changed after it was written.
    #[error("the checkpoint was changed: its digest is {found}, and it says {stated}")]
    Changed {
        /// The digest that it states.
        stated: Digest,
        /// The digest that it has.
        found: Digest,
    },
}

impl ParseCheckpointError {
    /// A stable name for the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge => "checkpoint_too_large",
            Self::Newer { .. } => "checkpoint_newer",
            Self::Changed { .. } => "checkpoint_changed",
            _ => "checkpoint_form",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::TooLarge => None,
            Self::Newer { .. } => Some("use the build that wrote it, or a later one".to_owned()),
            _ => Some(
                "get the very file that was written: a checkpoint that was changed proves nothing".to_owned(),
            ),
        }
    }
}

#[derive(Deserialize)]
struct Version {
    schema_version: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "schema_version")]
    _version: u64,
    ts: Timestamp,
    streams: Vec<Entry>,
    sha256: Digest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    stream: String,
    seq: u64,
    hash: Digest,
}

impl Checkpoint {
    /// Reads a document that [`to_bytes`](Checkpoint::to_bytes) wrote, and refuses any other bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseCheckpointError> {
        if bytes.len() as u64 > CHECKPOINT_MAX {
            return Err(ParseCheckpointError::TooLarge);
        }
        let form = |error: serde_json::Error| ParseCheckpointError::Form { what: error.to_string() };
        match serde_json::from_slice(bytes).map_err(form)? {
            Version { schema_version: VERSION } => {}
            Version { schema_version: version } if version > VERSION => {
                return Err(ParseCheckpointError::Newer { version });
            }
            Version { schema_version: version } => {
                return Err(ParseCheckpointError::Form {
                    what: format!("there is no `schema_version` {version}"),
                });
            }
        }
        let Document { _version, ts, streams, sha256: stated } =
            serde_json::from_slice(bytes).map_err(form)?;
        let checkpoint = Self { ts, heads: heads(streams)? };
        let body = checkpoint.body();
        let found = Digest::of(body.as_bytes());
        let written = seal(body, &stated);
        if written != bytes {
            let alike = written.iter().zip(bytes).take_while(|(one, other)| one == other).count();
            let line = 1 + memchr::memchr_iter(b'\n', &bytes[..alike]).count();
            return Err(ParseCheckpointError::NotCanonical { line });
        }
        if stated != found {
            return Err(ParseCheckpointError::Changed { stated, found });
        }
        Ok(checkpoint)
    }
}

fn heads(entries: Vec<Entry>) -> Result<BTreeMap<StreamName, Head>, ParseCheckpointError> {
    if entries.len() > CHECKPOINT_STREAMS_MAX {
        return Err(ParseCheckpointError::TooLarge);
    }
    let mut heads = BTreeMap::new();
    for (index, Entry { stream, seq, hash }) in entries.into_iter().enumerate() {
        let entry = index + 1;
        let Some(name) = name(&stream) else {
            return Err(ParseCheckpointError::Name { entry, name: stream });
        };
        if seq == 0 {
            return Err(ParseCheckpointError::Empty { entry });
        }
        if heads.last_key_value().is_some_and(|(last, _)| *last >= name) {
            return Err(ParseCheckpointError::Order { entry, stream: name });
        }
        heads.insert(name, Head { seq, hash });
    }
    Ok(heads)
}

fn name(text: &str) -> Option<StreamName> {
    let (kind, id) = text.split_once('/')?;
    StreamName::new(kind, StreamId::new(id).ok()?).ok()
}
