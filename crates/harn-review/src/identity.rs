//! By what a finding is known again when lines move, files are renamed and words change.

use harn_ledger::Digest;
use serde::{Deserialize, Serialize};

/// The content around a line, without its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// Digest of the line, and of the nearest lines before and after it that are not blank.
    pub context: Digest,
    /// Digest of the line alone.
    pub content: Digest,
    /// How many places of the file before it have the same context.
    pub occurrence: u32,
}

impl Anchor {
    /// The anchor of a line, counted from 1; none past the end.
    #[must_use]
    pub fn of(text: &str, line: u32) -> Option<Self> {
        let lines: Vec<String> = text.lines().map(normal).collect();
        let at = usize::try_from(line).ok()?.checked_sub(1)?;
        lines.get(at)?;
        let context = context(&lines, at);
        let before = (0..at).filter(|&other| self::context(&lines, other) == context).count();
        Some(Self {
            context,
            content: Digest::of(lines[at].as_bytes()),
            occurrence: u32::try_from(before).unwrap_or(u32::MAX),
        })
    }

    /// The line, counted from 1, at which the anchor is in a text: where its context is, else the one line with its content.
    #[must_use]
    pub fn locate(&self, text: &str) -> Option<u32> {
        let lines: Vec<String> = text.lines().map(normal).collect();
        let places: Vec<usize> = (0..lines.len()).filter(|&at| context(&lines, at) == self.context).collect();
        let nth = usize::try_from(self.occurrence).unwrap_or(usize::MAX);
        let at = places.get(nth).or(places.last()).copied().or_else(|| {
            let is_it =
                |at: &usize| !lines[*at].is_empty() && Digest::of(lines[*at].as_bytes()) == self.content;
            let mut alike = (0..lines.len()).filter(is_it);
            alike.next().filter(|_| alike.next().is_none())
        })?;
        u32::try_from(at + 1).ok()
    }

    /// Whether the other anchor is at the same content.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.context == other.context && self.occurrence == other.occurrence
    }
}

fn context(lines: &[String], at: usize) -> Digest {
    let filled = |line: &&String| !line.is_empty();
    let before = lines[..at].iter().rev().find(filled).map_or("", String::as_str);
    let after = lines[at + 1..].iter().find(filled).map_or("", String::as_str);
    Digest::of([before, &lines[at], after].join("\n").as_bytes())
}

/// A text without what says nothing: runs of white space are one space, letters are small.
#[must_use]
pub(crate) fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// A title as titles are compared: letters and digits only, in words.
#[must_use]
pub(crate) fn normal_title(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}
