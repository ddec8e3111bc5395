//! The same record in SQLite: a table of events that are chained by their hashes, synced before each is acknowledged.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};
use sha2::{Digest as _, Sha256};

use crate::baseline::hashing::{Document, SEAL, each_line};
use crate::setting::Result;

/// The payload is a line up to its hash, closed: it holds the hash of the event before, as a line does.
const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS event (
    seq INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    payload TEXT NOT NULL
) STRICT";
const INSERT: &str = "INSERT INTO event (seq, hash, payload) VALUES (?1, ?2, ?3)";
const LAST: &str = "SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1";
const ALL: &str = "SELECT seq, hash, payload FROM event ORDER BY seq";

/// The bytes of a payload behind the digits of the hash before.
const CLOSE: &str = "\"}";

type Hash = [u8; 32];

/// A connection to such a table.
#[derive(Debug)]
pub struct EventTable {
    connection: Connection,
}

/// The end of the table.
#[derive(Debug, Clone, Copy, Default)]
pub struct End {
    seq: u64,
    hash: Hash,
}

impl EventTable {
    /// Opens or creates the table; waits for other writers as long as it takes.
    pub fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(60))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute(SCHEMA, ())?;
        Ok(Self { connection })
    }

    /// Appends an event behind `end`, in a transaction of its own. For the only writer.
    pub fn append(&self, end: &mut End, line: &[u8]) -> Result<()> {
        insert(&self.connection, end, line)
    }

    /// Appends an event wherever the table ends, in a transaction of its own.
    pub fn append_among_others(&mut self, line: &[u8]) -> Result<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut end = last(&transaction)?;
        insert(&transaction, &mut end, line)?;
        Ok(transaction.commit()?)
    }

    /// The number of the last event.
    pub fn last_seq(&self) -> Result<u64> {
        Ok(last(&self.connection)?.seq)
    }

    /// Takes over a whole log in one transaction, and leaves nothing of it in the write-ahead log.
    pub fn import(&mut self, log: &Path) -> Result<()> {
        let transaction = self.connection.transaction()?;
        let mut end = End::default();
        each_line(log, |line| insert(&transaction, &mut end, line))?;
        transaction.commit()?;
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?;
        Ok(())
    }

    /// Reads all events in order, checks hashes and chain, and folds them into a count.
    pub fn replay(&self) -> Result<u64> {
        let mut statement = self.connection.prepare(ALL)?;
        let mut rows = statement.query(())?;
        let mut end = End::default();
        while let Some(row) = rows.next()? {
            let payload = row.get_ref(2)?.as_bytes()?;
            let hash = Sha256::digest(&payload[..payload.len() - 1]);
            let document: Document<'_> = serde_json::from_slice(payload)?;
            let follows = document.seq == end.seq + 1 && *document.prev.as_bytes() == digits(&end.hash);
            if row.get::<_, i64>(0)?.cast_unsigned() != document.seq
                || row.get_ref(1)?.as_blob()? != &hash[..]
                || !follows
            {
                return Err(format!("event {} is not what was recorded", document.seq).into());
            }
            end = End { seq: document.seq, hash: hash.into() };
            black_box(document);
        }
        Ok(end.seq)
    }
}

/// Where the table ends.
fn last(connection: &Connection) -> Result<End> {
    let row = connection.prepare_cached(LAST)?.query_row((), |row| Ok((row.get(0)?, row.get(1)?)));
    match row.optional()? {
        Some((seq, hash)) => Ok(End { seq: i64::cast_unsigned(seq), hash }),
        None => Ok(End::default()),
    }
}

/// Inserts the line behind `end`, with its hash, and moves `end`.
fn insert(connection: &Connection, end: &mut End, line: &[u8]) -> Result<()> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    // What stands before the digits of the hash before.
    let opening = std::str::from_utf8(&line[..line.len() - SEAL - 65])?;
    let digits = digits(&end.hash);
    let mut payload = String::with_capacity(line.len());
    write!(payload, "{opening}{}{CLOSE}", std::str::from_utf8(&digits)?)?;
    let hash: Hash = Sha256::digest(&payload.as_bytes()[..payload.len() - 1]).into();
    let seq = end.seq + 1;
    connection.prepare_cached(INSERT)?.execute((seq.cast_signed(), &hash, &payload))?;
    *end = End { seq, hash };
    Ok(())
}

/// The hash as hexadecimal digits.
fn digits(hash: &Hash) -> [u8; 64] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = [0; 64];
    for (pair, byte) in out.as_chunks_mut::<2>().0.iter_mut().zip(hash) {
        *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    }
    out
}
