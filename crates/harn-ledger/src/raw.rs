//! Streams without their domain: every line as it was recorded, its data as JSON.

use std::borrow::Cow;
use std::ops::ControlFlow;

use crate::decider::Head;
use crate::digest::Digest;
use crate::line::{self, Line};
use crate::log::{Log, ReadError};
use crate::scan::{Position, UnfinishedTail};
use crate::time::Timestamp;

/// A stream read without knowing its domain. Everything about it is verified but the meaning of its data.
#[derive(Debug)]
pub struct RawStream {
    log: Log,
}

/// A line of a log, as a view of the bytes that were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawEvent<'a> {
    /// Line number, from 1.
    pub seq: u64,
    /// When it was recorded.
    pub ts: Timestamp,
    /// Who caused it.
    pub actor: Cow<'a, str>,
    /// Its name.
    pub event: Cow<'a, str>,
    /// Its data: a JSON object, compact.
    pub data: Cow<'a, str>,
    /// Whether its batch goes on with the next line.
    pub more: bool,
    /// Hash of the line before it, or digest of the intent.
    pub prev: Digest,
    /// Its hash.
    pub hash: Digest,
}

impl RawEvent<'_> {
    /// The same line, with its own copy of the texts.
    #[must_use]
    pub fn into_owned(self) -> RawEvent<'static> {
        RawEvent {
            actor: self.actor.into_owned().into(),
            event: self.event.into_owned().into(),
            data: self.data.into_owned().into(),
            ..self
        }
    }
}

impl RawStream {
    pub(crate) const fn new(log: Log) -> Self {
        Self { log }
    }

    /// The bytes of the intent.
    pub fn intent(&self) -> Result<Vec<u8>, ReadError> {
        self.log.intent().map(|(bytes, _)| bytes)
    }

    /// Where the log ends. Reads no more than the last line, if that is whole and matches its own hash; so this takes the
    /// same time for any length of the log, and says nothing about what stands before. Only if the end is not in order the
    /// whole log is read, to tell what is wrong, or where it ends before an unfinished tail.
    pub fn head(&self) -> Result<Head, ReadError> {
        match self.log.last_line() {
            Ok(Some(head)) => Ok(head),
            _ => self.verify().map(|(head, _)| head),
        }
    }

    /// Verifies the whole log and returns where it ends and what a crash left behind that.
    pub fn verify(&self) -> Result<(Head, Option<UnfinishedTail>), ReadError> {
        self.read(&mut |_| ControlFlow::Continue(()))
    }

    /// Shows every line to `visitor` until it breaks; returns where what was shown ends, and what a crash left behind the
    /// last whole batch.
    pub fn visit(
        &self,
        mut visitor: impl FnMut(RawEvent<'_>) -> ControlFlow<()>,
    ) -> Result<(Head, Option<UnfinishedTail>), ReadError> {
        self.read(&mut |line| {
            visitor(RawEvent {
                seq: line.seq(),
                ts: line.ts(),
                actor: line.actor(),
                event: Cow::Borrowed(line.event()),
                data: Cow::Borrowed(line::checked(line.data())),
                more: line.more(),
                prev: line.prev,
                hash: line.hash(),
            })
        })
    }

    fn read(
        &self,
        visit: &mut dyn FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> Result<(Head, Option<UnfinishedTail>), ReadError> {
        let (_, digest) = self.log.intent()?;
        let mut head = Head { seq: 0, hash: digest };
        let tail = self.log.read(&mut Position::start(digest), &mut |line| {
            head = Head { seq: line.seq(), hash: line.hash() };
            visit(line)
        })?;
        Ok((head, tail))
    }
}
