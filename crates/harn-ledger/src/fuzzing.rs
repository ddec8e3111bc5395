//! What no input may break: entry points for fuzzing, each of which holds a reader to a plainer one.
//!
//! Not part of the public interface. Behind the feature `testing`, shared by the fuzz targets and by the tests that play
//! the corpus and mutations of it on every run.

mod plain;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::catalog;
use crate::checkpoint::Checkpoint;
use crate::digest::Digest;
use crate::disk::{Disk as _, DiskFile, MemDisk, Open};
use crate::limits::Limits;
use crate::line::{self, Content, LINE_VERSION, Line, LineFault};
use crate::scan::{self, Position, Reading, ScanFault};

/// Limits that a log of a few lines reaches.
const NARROW: Limits = Limits { intent_bytes: 0, line_bytes: 400, events: 5, log_bytes: 1900 };

/// Reads `bytes` as a line: as they are, and under a hash that matches, or else nothing but the hash would be looked at.
pub fn line(bytes: &[u8]) {
    check_line(bytes);
    check_line(&sealed(unsealed(bytes).unwrap_or(bytes).to_vec()));
}

/// Reads `bytes` as a log: as they are, and with all hashes and links made to match.
pub fn scan(bytes: &[u8]) {
    for log in [bytes, &relinked(bytes)] {
        for limits in [NARROW, Limits::DEFAULT, Limits::WIDEST] {
            check_scan(log, &limits);
        }
    }
}

/// Reads `bytes` as the file of a catalog: as they are, and under a digest that matches.
pub fn catalog(bytes: &[u8]) {
    let lines = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |feed| feed + 1);
    let sealed = [&bytes[..lines], &Digest::of(&bytes[..lines]).hex(), b"\n"].concat();
    let header = catalog::Header::new("account", 1, None);
    for file in [bytes, &sealed] {
        let Some(entries) = catalog::parse::<serde_json::Value>(file, &header) else { continue };
        assert!(
            entries.windows(2).all(|pair| pair[0].id < pair[1].id),
            "each stream stands there once, by id"
        );
        let lines = file.split_inclusive(|&byte| byte == b'\n').count();
        assert_eq!(entries.len() + 2, lines, "a line that is no entry");
    }
}

/// Reads `bytes` as a checkpoint: as they are, and under a digest that matches.
pub fn checkpoint(bytes: &[u8]) {
    let seal = r#","sha256":""}"#.len() + 64 + 1;
    let body = &bytes[..bytes.len().saturating_sub(seal)];
    let sealed = [body, b",\"sha256\":\"", &Digest::of(body).hex(), b"\"}\n"].concat();
    for document in [bytes, &sealed] {
        if let Ok(checkpoint) = Checkpoint::parse(document) {
            assert_eq!(checkpoint.to_bytes(), document, "written again, it is another document");
            assert!(checkpoint.contradictions(&checkpoint).is_empty(), "it contradicts itself");
        }
    }
}

fn check_line(bytes: &[u8]) {
    let stream = plain::stream_of(bytes);
    let opening = line::opening(stream);
    let expected = plain::line(bytes, stream);
    match line::decode(bytes, &opening) {
        Ok(parts) => {
            let prev = line::prev_digits(bytes);
            assert_eq!(line::are_digits(prev), Digest::from_hex(prev).is_some());
            // Whether these are digits is looked at only when the line is put in its place.
            let Some(prev) = Digest::from_hex(prev) else { return };
            let expected = expected.expect("a line that the plain reader does not take");
            let line = Line::new(&parts, bytes, prev);
            assert_eq!((line.seq(), line.ts(), line.more()), (expected.seq, expected.ts, expected.more));
            assert_eq!((line.prev, line.hash()), (expected.prev, expected.hash));
            assert_eq!(line::hash_digits(bytes), line.hash().hex());
            let (ts, more, data) = (line.ts(), line.more(), line.data());
            let content = Content { ts, actor: &line.actor(), event: line.event(), data, more };
            let mut again = Vec::new();
            assert_eq!(line::encode(&mut again, &opening, line.seq(), &prev, &content), line.hash());
            assert_eq!(again.strip_suffix(b"\n"), Some(bytes), "written again, it is another line");
        }
        Err(fault) => {
            assert!(expected.is_none(), "the plain reader takes the line: {fault:?}");
            match fault {
                LineFault::Hole => assert!(bytes.contains(&0)),
                LineFault::Foreign(named) => assert_ne!(named, stream),
                LineFault::Newer(version) => assert!(version > LINE_VERSION),
                LineFault::Hash | LineFault::Shape(_) => {}
            }
        }
    }
}

fn check_scan(log: &[u8], limits: &Limits) {
    let stream = plain::stream_of(log);
    let first = log.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let start = Position::start(plain::line(first, stream).map_or_else(|| Digest::of(b""), |line| line.prev));
    let expected = plain::scan(log, start.hash, stream, limits);

    let file = file(log);
    let reading = Reading {
        file: &*file,
        end: log.len() as u64,
        opening: &line::opening(stream),
        limits,
        threads: None,
    };
    let mut done = start;
    let mut shown = Vec::new();
    let end = scan::scan(&reading, &mut done, &mut |line| {
        assert_eq!(line.prev, shown.last().map_or(start.hash, |(_, hash)| *hash));
        shown.push((line.seq(), line.hash()));
        ControlFlow::Continue(())
    })
    .expect("memory can be read");

    assert_eq!(shown, expected.shown, "what is shown");
    assert_eq!(
        (done.offset, done.seq),
        (expected.whole, shown.len() as u64),
        "the end of the last whole batch"
    );
    assert_eq!(done.hash, shown.last().map_or(start.hash, |(_, hash)| *hash));
    let starts_a_line = |offset: u64| {
        let offset = usize::try_from(offset).expect("the log is in memory");
        offset == 0 || log[offset - 1] == b'\n'
    };
    assert!(starts_a_line(done.offset));
    match &end.fault {
        Some(ScanFault::Damage(damage)) => {
            assert!(starts_a_line(damage.offset) && damage.offset >= done.offset);
            assert!(end.tail.is_none(), "damage and a tail");
        }
        Some(ScanFault::NewerFormat { .. }) => assert!(end.tail.is_none(), "a newer line and a tail"),
        Some(ScanFault::Stopped) => panic!("nobody stopped it"),
        None => {
            let tail = end.tail.map_or(0, |tail| tail.bytes);
            assert_eq!(done.offset + tail, log.len() as u64, "bytes that are neither events nor a tail");
            assert!(end.tail.is_none_or(|tail| tail.offset == done.offset));
        }
    }
    assert_eq!(plain::Verdict::of(&end), expected.verdict);

    // Looking again from where the last whole batch ends finds nothing new.
    let mut again = done;
    let end_again =
        scan::scan(&reading, &mut again, &mut |line| panic!("line {} is shown twice", line.seq()))
            .expect("memory can be read");
    assert_eq!(again, done);
    assert_eq!(plain::Verdict::of(&end_again), expected.verdict);
}

fn file(bytes: &[u8]) -> Arc<dyn DiskFile> {
    let file = MemDisk::new().open(Path::new("/log"), Open::CreateNew).expect("the disk is empty");
    file.write_at(0, bytes).expect("memory can be written");
    file
}

/// A line without its hash, whatever that is, if it is long enough to have one.
fn unsealed(line: &[u8]) -> Option<&[u8]> {
    let seal = r#","hash":""}"#.len() + 64;
    line.len().checked_sub(seal).map(|length| &line[..length])
}

/// `body` as a line, closed with the hash that matches.
fn sealed(mut body: Vec<u8>) -> Vec<u8> {
    let hash = Digest::of(&body);
    body.extend_from_slice(format!(r#","hash":"{hash}"}}"#).as_bytes());
    body
}

/// The log with every hash and every link made to match, so that only what the lines say can be at fault.
fn relinked(log: &[u8]) -> Vec<u8> {
    const LINK: usize = 64 + r#"""#.len();
    let mut prev: Option<Digest> = None;
    let mut out = Vec::new();
    for piece in log.split_inclusive(|&byte| byte == b'\n') {
        let (line, end) = piece.strip_suffix(b"\n").map_or((piece, &b""[..]), |line| (line, b"\n"));
        match unsealed(line) {
            Some(body) => {
                let mut body = body.to_vec();
                if let (Some(prev), Some(link)) = (prev, body.len().checked_sub(LINK)) {
                    body.truncate(link);
                    body.extend_from_slice(format!("{prev}\"").as_bytes());
                }
                prev = Some(Digest::of(&body));
                out.extend(sealed(body));
            }
            None => out.extend_from_slice(line),
        }
        out.extend_from_slice(end);
    }
    out
}
