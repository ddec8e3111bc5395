//! The digest of a fingerprint: of its written form with nothing in the place of the commits.

use std::io::{self, BufWriter, Write};

use harn_ledger::{Digest, Hasher};
use serde::ser::{Serialize, SerializeSeq as _, SerializeStruct as _, Serializer};

use super::{Fingerprint, Nested, Source};

pub(super) fn of(fingerprint: &Fingerprint) -> Digest {
    let mut writer = BufWriter::with_capacity(64 << 10, Hashes::default());
    serde_json::to_writer(&mut writer, &WithoutCommits(fingerprint)).expect("it has only string keys");
    let hashes = writer.into_inner().expect("what hashes takes everything");
    hashes.0.finish()
}

/// Hashes what is written.
#[derive(Debug, Default)]
struct Hashes(Hasher);

impl Write for Hashes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct WithoutCommits<'a>(&'a Fingerprint);

impl Serialize for WithoutCommits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Fingerprint { schema_version, source, entries, nested, extra, absent } = self.0;
        let source = match source {
            Source::Git { tree, .. } => Source::Git { tree: tree.clone(), commit: String::new() },
            Source::Walk => Source::Walk,
        };
        let members = 5 + usize::from(!nested.is_empty());
        let mut out = serializer.serialize_struct("Fingerprint", members)?;
        out.serialize_field("schema_version", schema_version)?;
        out.serialize_field("source", &source)?;
        out.serialize_field("entries", entries)?;
        if !nested.is_empty() {
            out.serialize_field("nested", &NestedWithout(nested))?;
        }
        out.serialize_field("extra", extra)?;
        out.serialize_field("absent", absent)?;
        out.end()
    }
}

struct NestedWithout<'a>(&'a [Nested]);

impl Serialize for NestedWithout<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_seq(Some(self.0.len()))?;
        for nested in self.0 {
            out.serialize_element(&OneWithout(nested))?;
        }
        out.end()
    }
}

struct OneWithout<'a>(&'a Nested);

impl Serialize for OneWithout<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Nested", 2)?;
        out.serialize_field("path", &self.0.path)?;
        out.serialize_field("fingerprint", &WithoutCommits(&self.0.fingerprint))?;
        out.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Entry, Mode};
    use super::*;

    fn fingerprint(commit: &str, nested: Vec<Nested>) -> Fingerprint {
        Fingerprint {
            schema_version: 1,
            source: Source::Git { tree: "t".to_owned(), commit: commit.to_owned() },
            entries: vec![Entry { path: "a".to_owned(), mode: Mode::File, id: "1".to_owned() }],
            nested,
            extra: Vec::new(),
            absent: Vec::new(),
        }
    }

    #[test]
    fn it_is_that_of_the_written_form_without_commits() {
        let nested =
            |commit: &str| vec![Nested { path: "n".to_owned(), fingerprint: fingerprint(commit, vec![]) }];
        for (with, without) in [
            (fingerprint("c", vec![]), fingerprint("", vec![])),
            (fingerprint("c", nested("d")), fingerprint("", nested(""))),
        ] {
            assert_eq!(of(&with), Digest::of(&without.to_bytes()));
            assert_ne!(with.to_bytes(), without.to_bytes());
        }
    }
}
