//! The citation of a blob, as it stands in intents and events.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;

/// Cites a blob by digest and length: `{"blob":"<64 hex>","bytes":N}`.
///
/// In an intent or in an event's data, every object with a member `blob` is a citation and nothing else may have that
/// member; so verification finds all citations without knowing the domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobRef {
    /// SHA-256 of the blob's bytes; also its file name.
    pub blob: Digest,
    /// Length in bytes.
    pub bytes: u64,
}

impl BlobRef {
    /// The citation that storing `bytes` would give.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self { blob: Digest::of(bytes), bytes: bytes.len() as u64 }
    }
}

/// All citations in JSON; `None` if something has a member `blob` and is no citation.
///
/// Most events have none, which a search for the member's name shows.
pub(crate) fn citations(json: &[u8]) -> Option<Vec<BlobRef>> {
    let mut found = Vec::new();
    if memchr::memmem::find(json, b"\"blob\"").is_some() {
        collect(&serde_json::from_slice(json).ok()?, &mut found)?;
    }
    Some(found)
}

fn collect(value: &Value, found: &mut Vec<BlobRef>) -> Option<()> {
    match value {
        Value::Object(members) if members.contains_key("blob") => {
            found.push(BlobRef::deserialize(value).ok()?);
            Some(())
        }
        Value::Object(members) => members.values().try_for_each(|value| collect(value, found)),
        Value::Array(items) => items.iter().try_for_each(|value| collect(value, found)),
        _ => Some(()),
    }
}
