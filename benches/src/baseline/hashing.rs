//! What it costs to read a log without a ledger: hashing its lines, and parsing them.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::setting::Result;

/// What a line ends with that its hash does not cover: `,"hash":"`, 64 digits and `"}`.
pub const SEAL: usize = 75;

/// A line as JSON, with its own copy of what a domain would keep. Only the step is looked at.
#[derive(Debug, Deserialize)]
pub struct Document<'a> {
    /// Its number.
    pub seq: u64,
    /// When it was recorded.
    pub ts: &'a str,
    /// Who caused it.
    pub actor: String,
    /// What happened.
    pub event: Name,
    /// How.
    pub data: Step,
    /// Hash of the line before.
    pub prev: &'a str,
}

/// The only event.
#[derive(Debug, Clone, Copy, Deserialize)]
pub enum Name {
    /// A step was done.
    #[serde(rename = "step.done")]
    Done,
}

/// Its data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its number.
    pub step: u64,
    /// What there is to say about it.
    pub note: String,
}

/// Shows every line of a file, without its line feed.
pub fn each_line(path: &Path, mut show: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut file = BufReader::with_capacity(1 << 18, File::open(path)?);
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line)? > 0 {
        show(&line[..line.len() - 1])?;
        line.clear();
    }
    Ok(())
}

/// Hashes every line and checks that it names the one before. The hashes are not even compared.
pub fn hash(path: &Path) -> Result<()> {
    chain(path, |_| Ok(()))
}

/// The same, and parses the data of every line.
pub fn hash_and_decode(path: &Path) -> Result<()> {
    const BEFORE: &[u8] = br#""data":"#;
    chain(path, |body| {
        let start = memchr::memmem::find(body, BEFORE).ok_or("a line without data")? + BEFORE.len();
        let end = start + memchr::memchr(b'}', &body[start..]).ok_or("data without end")?;
        black_box(serde_json::from_slice::<Step>(&body[start..=end])?);
        Ok(())
    })
}

/// Parses every line, and checks nothing.
pub fn parse(path: &Path) -> Result<()> {
    each_line(path, |line| {
        black_box(serde_json::from_slice::<Document<'_>>(line)?);
        Ok(())
    })
}

fn chain(path: &Path, mut show: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut last: Option<[u8; 64]> = None;
    each_line(path, |line| {
        let (body, seal) = line.split_at(line.len() - SEAL);
        black_box(Sha256::digest(body));
        let prev = &body[body.len() - 65..body.len() - 1];
        if last.is_some_and(|last| last != prev) {
            return Err("a line does not name the one before".into());
        }
        last = Some(seal[9..73].try_into()?);
        show(body)
    })
}
