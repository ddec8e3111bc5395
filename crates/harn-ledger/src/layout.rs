//! The bytes of an append: what the ledger has to tell and the batch, as one run of lines within the limits.

use crate::append::{AppendError, Batch, Written};
use crate::decider::Head;
use crate::entry::{LEDGER_ACTOR, LedgerEvent, Recorded};
use crate::id::Actor;
use crate::limits::BATCH_MAX;
use crate::line::{self, Content};
use crate::log::Log;
use crate::payload::{self, Payload};
use crate::scan::Position;
use crate::time::Timestamp;

/// Encoded lines and where they end.
pub(crate) struct Lines {
    pub(crate) bytes: Vec<u8>,
    pub(crate) written: Written,
}

impl Log {
    /// Encodes the ledger's own events and the batch behind `at`, and checks the limits.
    ///
    /// All of it is one batch of the format, because it is one write: a reader must not see the first line of a write
    /// that falls short and is taken back.
    pub(crate) fn lay_out(
        &self,
        at: Position,
        ledger_events: Vec<LedgerEvent>,
        batch: &Batch,
        now: Timestamp,
    ) -> Result<Lines, AppendError> {
        let lines_left = ledger_events.len() + batch.payloads.len();
        let mut layout =
            Layout { log: self, position: at, ts: now.max(at.ts), bytes: Vec::new(), lines_left };
        let ledger_actor = Actor::new(LEDGER_ACTOR).expect("the ledger's own actor is a legal one");
        let mut ledger = Vec::with_capacity(ledger_events.len());
        for event in ledger_events {
            let Head { seq, hash } = layout.line(&ledger_actor, &payload::encode(&event)?)?;
            ledger.push(Recorded { seq, ts: layout.ts, actor: ledger_actor.clone(), hash, event });
        }
        let heads = batch
            .payloads
            .iter()
            .map(|payload| layout.line(&batch.actor, payload))
            .collect::<Result<Vec<Head>, AppendError>>()?;
        layout.check_total(batch.closes)?;
        let Layout { position, ts, bytes, .. } = layout;
        Ok(Lines { bytes, written: Written { ledger, heads, ts, position } })
    }
}

/// Lines while they are put one behind the other.
struct Layout<'a> {
    log: &'a Log,
    position: Position,
    ts: Timestamp,
    bytes: Vec<u8>,
    lines_left: usize,
}

impl Layout<'_> {
    fn line(&mut self, actor: &Actor, payload: &Payload) -> Result<Head, AppendError> {
        self.lines_left -= 1;
        let more = self.lines_left > 0;
        let content =
            Content { ts: self.ts, actor: actor.as_str(), event: &payload.name, data: &payload.data, more };
        let start = self.bytes.len();
        let seq = self.position.seq + 1;
        let hash = line::encode(&mut self.bytes, &self.log.opening, seq, &self.position.hash, &content);
        let length = (self.bytes.len() - start) as u64;
        let limit = self.log.limits.line_bytes;
        if length > limit {
            return Err(self.full("line", limit));
        }
        let offset = self.position.offset + length;
        self.position = Position { offset, seq, hash, ts: self.ts };
        Ok(Head { seq, hash })
    }

    fn check_total(&self, closes: bool) -> Result<(), AppendError> {
        let limits = if closes { self.log.limits } else { self.log.limits.without_reserve() };
        if self.bytes.len() as u64 > BATCH_MAX {
            Err(self.full("batch", BATCH_MAX))
        } else if self.position.seq > limits.events {
            Err(self.full("number of events", limits.events))
        } else if self.position.offset > limits.log_bytes {
            Err(self.full("log", limits.log_bytes))
        } else {
            Ok(())
        }
    }

    fn full(&self, what: &'static str, limit: u64) -> AppendError {
        AppendError::LimitReached { stream: self.log.name.clone(), what, limit }
    }
}
