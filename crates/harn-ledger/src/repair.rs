//! Repairing one stream, on request only: nothing is deleted, everything is reported, and a dry run changes nothing.

mod plan;
mod resync;

use crate::append::{AppendError, Batch, Torn};
use crate::decider::Head;
use crate::digest::Digest;
use crate::disk::Lock;
use crate::entry::{LEDGER_ACTOR, LedgerEvent};
use crate::id::{Actor, InvalidId, InvalidKind, StreamId, StreamName};
use crate::ledger::Ledger;
use crate::lock::{self, LOG_DEADLINE};
use crate::log::{EVENTS_FILE, Log, ReadError};
use crate::scan::Damage;
use crate::tail::Aside;
use crate::time::Timestamp;
use crate::verify::VerifyOptions;

/// What to repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// Move an unfinished tail into a file beside the log, as the next append would. Refuses damage.
    MoveTail,
    /// The same, and move everything from the start of the first damaged batch on into a file beside the log. Of a stream
    /// that is [suspect](crate::ProblemKind::Suspect) too, what is kept is first brought to stable storage.
    CutAtDamage,
    /// Write the end of a suspect log to stable storage again, and allow writes again. Refuses damage.
    Resync,
}

/// Whether to do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairMode {
    /// Only find out what there is to do.
    DryRun,
    /// Do it.
    Apply,
}

/// What a repair did, or what it would do now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The stream.
    pub stream: StreamName,
    /// The damage at which the log is cut.
    pub damage: Option<Damage>,
    /// What is written to stable storage again.
    pub rewritten: Option<LogPart>,
    /// What is moved out of the log.
    pub moved: Option<Moved>,
    /// What the log is told: of the part that is moved, and of files that somebody moved earlier without living to tell.
    pub told: Vec<LedgerEvent>,
    /// The end of the stream afterwards.
    pub head: Head,
}

/// A part of a log, up to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPart {
    /// Where it begins, in bytes from the start of the log.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// How many lines it has, whatever they hold; a last one without its line feed counts.
    pub lines: u64,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
}

/// A part of a log that is moved into a file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Name of the file, in the stream's directory. It holds the time, so that of a dry run holds for that moment.
    pub file: String,
    /// The part.
    pub part: LogPart,
}

/// Why a stream was not repaired. Unless it says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// The id is not one.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// The kind is not one.
    #[error(transparent)]
    Kind(#[from] InvalidKind),
    /// The intent or the first batch is damaged: without these there is no stream.
    #[error("nothing whole would be left of `{stream}`: line {}, byte {}: {}", damage.line, damage.offset, damage.kind)]
    NothingWhole {
        /// The stream.
        stream: StreamName,
        /// Where and how it is damaged.
        damage: Damage,
    },
    /// The end of the log was written again, but reads back as something else. The stream still refuses writes.
    #[error("the end of `{stream}` was written again, but reads back as something else")]
    NotReadBack {
        /// The stream.
        stream: StreamName,
    },
    /// The stream could not be read or written, or this repair is not the one that it needs. A part that was moved before
    /// a later step failed is told of by the next repair or append.
    #[error(transparent)]
    Append(#[from] AppendError),
}

impl From<ReadError> for RepairError {
    fn from(error: ReadError) -> Self {
        Self::Append(error.into())
    }
}

impl RepairError {
    /// A stable name for the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Id(_) => "invalid_id",
            Self::Kind(_) => "invalid_kind",
            Self::NothingWhole { .. } => "nothing_whole",
            Self::NotReadBack { .. } => "not_read_back",
            Self::Append(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Id(_) | Self::Kind(_) => None,
            Self::NothingWhole { .. } => {
                Some("restore the stream's files from a copy; nothing was changed".to_owned())
            }
            Self::NotReadBack { .. } => Some("check the disk, then repair again".to_owned()),
            Self::Append(error) => error.hint(),
        }
    }
}

impl Repaired {
    /// Whether there was nothing to do.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        self.rewritten.is_none() && self.moved.is_none() && self.told.is_empty()
    }
}

impl Ledger {
    /// Repairs the stream `kind/id`, or finds out what that would do. What [`verify`](Self::verify) with the same options
    /// calls damage is what is cut.
    ///
    /// Nobody can write to the stream meanwhile. Who holds its lease does not matter: the lock of the log decides.
    ///
    /// A handle that has read what is cut off says from then on that its stream is
    /// [damaged](crate::DamageKind::CutOff). After a repair, [`stream`](Self::stream) returns a new handle, for which a
    /// lease that was taken through an old one is somebody else's.
    pub fn repair(
        &self,
        kind: &str,
        id: &str,
        repair: Repair,
        mode: RepairMode,
        options: &VerifyOptions,
    ) -> Result<Repaired, RepairError> {
        let name = StreamName::new(kind, StreamId::new(id)?)?;
        let log = self.log(name, options.limits_of(kind));
        let now = self.now();
        match mode {
            RepairMode::DryRun => log.would_repair(repair, now),
            RepairMode::Apply => {
                let repaired = log.repair(repair, now);
                if !repaired.as_ref().is_ok_and(Repaired::is_nothing) {
                    self.forget_handle(&log.name);
                }
                repaired
            }
        }
    }
}

impl Log {
    fn would_repair(&self, repair: Repair, now: Timestamp) -> Result<Repaired, RepairError> {
        self.check_place().map_err(AppendError::from)?;
        let intent = self.intent().map_err(nothing_whole)?.1;
        let file = self.reader().map_err(nothing_whole)?;
        let held = lock::take(file, Lock::Shared, LOG_DEADLINE).map_err(self.io(EVENTS_FILE))?;
        let Some(_held) = held else {
            return Err(ReadError::Busy { stream: self.name.clone() }.into());
        };
        Ok(self.plan(repair, intent, file, now)?.repaired)
    }

    fn repair(&self, repair: Repair, now: Timestamp) -> Result<Repaired, RepairError> {
        if self.refusals.read_only() {
            return Err(AppendError::ReadOnly.into());
        }
        self.check_place().map_err(AppendError::from)?;
        let intent = self.intent().map_err(nothing_whole)?.1;
        self.reader().map_err(nothing_whole)?;
        let appending = self.start_repair()?;
        let file = self.writer()?;
        // Only now does nobody else change the log.
        let plan = self.plan(repair, intent, file, now)?;
        let mut repaired = plan.repaired;
        if let Some(part) = &repaired.rewritten {
            self.resync(file, part)?;
        }
        if repaired.told.is_empty() {
            return Ok(repaired);
        }
        if repaired.damage.is_some() {
            self.move_aside(Aside::Cut, file, plan.at.offset, now)?;
        }
        // What was cut off is now a file that the log does not tell of, as if its writer had died here.
        let told = Torn::Told(&plan.known);
        let written = appending.write(plan.at, plan.tail, told, &nothing(), now)?;
        drop(appending);
        self.make_durable(written.position.offset)?;
        repaired.head = Head { seq: written.position.seq, hash: written.position.hash };
        repaired.told = written.ledger.into_iter().map(|recorded| recorded.event).collect();
        Ok(repaired)
    }
}

/// Damage that is found before the first line is read leaves nothing to keep.
fn nothing_whole(error: ReadError) -> RepairError {
    match error {
        ReadError::Damaged { stream, damage } => RepairError::NothingWhole { stream, damage },
        other => other.into(),
    }
}

/// A batch for the ledger's own lines alone. They may use the reserve.
fn nothing() -> Batch {
    let actor = Actor::new(LEDGER_ACTOR).expect("the ledger's own actor is a legal one");
    Batch { actor, payloads: Vec::new(), closes: true }
}
