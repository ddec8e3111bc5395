//! The file of a catalog: a line that says what it is, a line for each stream, and the digest of all of them.

use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::stamp::Stamp;
use crate::digest::Digest;
use crate::disk::{Disk, FileKind, Open, read_bounded, write_all_at};
use crate::id::StreamId;
use crate::place;
use crate::staging::{Staged, make_directory};

/// The version of the file.
const VERSION: u32 = 1;

/// Longest file, in bytes: 64 MiB. A longer one is neither read nor written.
const LENGTH_MAX: u64 = 64 << 20;

/// What the file begins with: what it has to say for its entries to be believed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    schema_version: u32,
    kind: String,
    summary_version: u32,
    /// The run of the machine in which it was written. What a loss of power takes from a log that was not synced may leave
    /// its stamp as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    boot: Option<String>,
}

impl Header {
    pub(crate) fn new(kind: &str, summary_version: u32, boot: Option<String>) -> Self {
        Self { schema_version: VERSION, kind: kind.to_owned(), summary_version, boot }
    }
}

/// A stream as it was found.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry<S> {
    pub(crate) id: StreamId,
    pub(crate) stamp: Stamp,
    pub(crate) summary: S,
}

/// The entries of a file, by id; `None` if it is not what was written, or written for something else.
pub(crate) fn parse<S: DeserializeOwned>(bytes: &[u8], expected: &Header) -> Option<Vec<Entry<S>>> {
    let seal = bytes.len().checked_sub(65)?;
    let (lines, digits) = bytes.split_at(seal);
    if digits.strip_suffix(b"\n")? != Digest::of(lines).hex() {
        return None;
    }
    let mut lines = lines.split_inclusive(|&byte| byte == b'\n');
    let header: Header = serde_json::from_slice(lines.next()?).ok()?;
    if header != *expected {
        return None;
    }
    let entries: Vec<Entry<S>> = lines.map(serde_json::from_slice).collect::<Result<_, _>>().ok()?;
    entries.is_sorted_by(|one, next| one.id < next.id).then_some(entries)
}

/// The bytes of a file; `None` if it would be too long, or if a summary cannot be written.
fn encode<'a, S: Serialize + 'a>(
    entries: impl Iterator<Item = (&'a StreamId, Stamp, &'a S)>,
    header: &Header,
) -> Option<Vec<u8>> {
    #[derive(Serialize)]
    struct Line<'a, S> {
        id: &'a StreamId,
        stamp: Stamp,
        summary: &'a S,
    }
    let mut bytes = Vec::new();
    serde_json::to_writer(&mut bytes, header).ok()?;
    bytes.push(b'\n');
    for (id, stamp, summary) in entries {
        serde_json::to_writer(&mut bytes, &Line { id, stamp, summary }).ok()?;
        bytes.push(b'\n');
    }
    let digest = Digest::of(&bytes);
    bytes.extend_from_slice(&digest.hex());
    bytes.push(b'\n');
    (bytes.len() as u64 <= LENGTH_MAX).then_some(bytes)
}

/// Reads a file, if it is one that only its owner could have written.
pub(super) fn read<S: DeserializeOwned>(
    disk: &dyn Disk,
    path: &Path,
    header: &Header,
) -> Option<Vec<Entry<S>>> {
    place::check(disk, path.parent()?, FileKind::Directory).ok()?;
    place::check(disk, path, FileKind::File).ok()?;
    let file = disk.open(path, Open::Read).ok()?;
    parse(&read_bounded(&*file, LENGTH_MAX).ok()??, header)
}

/// Writes a file out of sight and puts it in the place of the one that is there. Nothing is synced: a power loss that
/// takes some of it leaves a file without a digest that matches.
pub(super) fn write<'a, S: Serialize + 'a>(
    disk: &dyn Disk,
    staged: &Staged,
    path: &Path,
    entries: impl Iterator<Item = (&'a StreamId, Stamp, &'a S)>,
    header: &Header,
) -> io::Result<()> {
    let too_long = || io::Error::from(io::ErrorKind::FileTooLarge);
    let bytes = encode(entries, header).ok_or_else(too_long)?;
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    write_all_at(&*staged.file, 0, &bytes)?;
    make_directory(disk, directory)?;
    place::check(disk, directory, FileKind::Directory).map_err(io::Error::other)?;
    disk.rename(&staged.path, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(kind: &str, version: u32, boot: Option<&str>) -> Header {
        Header::new(kind, version, boot.map(str::to_owned))
    }

    fn expected() -> Header {
        header("account", 7, Some("x"))
    }

    fn file() -> Vec<u8> {
        let stamp = |length| {
            let stat = crate::disk::Stat {
                kind: FileKind::File,
                length,
                mode: 0o600,
                user: 0,
                device: 1,
                inode: 2,
                modified: 3,
                changed: 4,
            };
            Stamp::of(&stat, &stat).unwrap()
        };
        let (a, b) = (StreamId::new("a").unwrap(), StreamId::new("b").unwrap());
        let entries = [(&a, stamp(10), &"one"), (&b, stamp(20), &"two \n")];
        encode(entries.into_iter(), &expected()).unwrap()
    }

    #[test]
    fn a_file_reads_back() {
        let entries = parse::<String>(&file(), &expected()).unwrap();
        let found: Vec<_> = entries
            .iter()
            .map(|entry| (entry.id.as_str(), entry.stamp.log_length(), &*entry.summary))
            .collect();
        assert_eq!(found, [("a", 10, "one"), ("b", 20, "two \n")]);
        for boot in [Some("x"), None] {
            let header = header("account", 7, boot);
            let none = encode(std::iter::empty::<(&StreamId, Stamp, &String)>(), &header).unwrap();
            assert!(parse::<String>(&none, &header).unwrap().is_empty());
        }
    }

    #[test]
    fn anything_else_is_none() {
        let good = file();
        let others = [
            ("another version of the summaries", header("account", 8, Some("x"))),
            ("another kind", header("ballot", 7, Some("x"))),
            ("another run of the machine", header("account", 7, Some("y"))),
            ("a machine that does not tell its runs", header("account", 7, None)),
        ];
        for (what, other) in others {
            assert!(parse::<String>(&good, &other).is_none(), "{what}");
        }
        assert!(parse::<u64>(&good, &expected()).is_none(), "other summaries");
        for index in 0..good.len() {
            assert!(parse::<String>(&good[..index], &expected()).is_none(), "cut at {index}");
            let mut changed = good.clone();
            changed[index] ^= 1;
            assert!(parse::<String>(&changed, &expected()).is_none(), "byte {index} changed");
        }
        let sealed = |text: &str| format!("{text}{}\n", Digest::of(text.as_bytes())).into_bytes();
        let header = r#"{"schema_version":1,"kind":"account","summary_version":7,"boot":"x"}"#;
        let line = |id: &str| {
            let file = r#"{"length":1,"modified":1,"changed":1,"inode":1,"device":1}"#;
            format!(r#"{{"id":"{id}","stamp":{{"intent":{file},"log":{file}}},"summary":"x"}}"#)
        };
        let is_read = |text: &str| parse::<String>(&sealed(text), &expected()).is_some();
        assert!(is_read(&format!("{header}\n{}\n", line("a"))));
        assert!(!is_read(&format!("{header}\n{}\n{}\n", line("b"), line("a"))), "out of order");
        assert!(!is_read(&format!("{header}\n{}\n{}\n", line("a"), line("a"))), "twice");
        assert!(!is_read(&format!("{header}\n{}\n", line("../a"))), "no id");
        assert!(!is_read(&format!("{header}\n\n")), "a blank line");
        assert!(!is_read(&header.replace(":1", ":2")), "a newer file");
        assert!(!is_read(""), "nothing at all");
    }
}
