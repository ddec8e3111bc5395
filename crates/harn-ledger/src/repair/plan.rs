//! What a repair has to do, found out under the lock of the log and without changing anything.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;

use serde::de::IgnoredAny;

use super::{LogPart, Moved, Repair, RepairError, Repaired, nothing, nothing_whole};
use crate::append::AppendError;
use crate::decider::Head;
use crate::digest::Digest;
use crate::disk::DiskFile;
use crate::entry::LEDGER_PREFIX;
use crate::fold::{Actors, moved_file, told_of, typed};
use crate::log::{EVENTS_FILE, Log, ReadError};
use crate::scan::{Damage, Position, UnfinishedTail};
use crate::tail::{Aside, read_from};
use crate::time::Timestamp;

/// What a repair has to do.
pub(super) struct Plan {
    /// The end of the last whole batch, where the log goes on.
    pub(super) at: Position,
    /// What stands behind it, if it is not damage.
    pub(super) tail: Option<UnfinishedTail>,
    /// Files of moved parts that the log up to there tells of.
    pub(super) known: BTreeSet<String>,
    pub(super) repaired: Repaired,
}

/// A log as it was found.
struct Found {
    at: Position,
    tail: Option<UnfinishedTail>,
    damage: Option<Damage>,
    known: BTreeSet<String>,
}

impl Log {
    /// Finds out what `repair` has to do. Called under a lock of the log, which is `file`.
    pub(super) fn plan(
        &self,
        repair: Repair,
        intent: Digest,
        file: &dyn DiskFile,
        now: Timestamp,
    ) -> Result<Plan, RepairError> {
        let suspect = self.suspect_from(file)?;
        let Found { at, tail, damage, known } = self.examine(intent, file)?;
        let head = Head { seq: at.seq, hash: at.hash };
        let stream = self.name.clone();
        let mut repaired =
            Repaired { stream, damage: None, rewritten: None, moved: None, told: Vec::new(), head };
        let damaged = |damage| ReadError::Damaged { stream: self.name.clone(), damage };
        match (repair, damage, suspect) {
            (Repair::Resync, _, None) => return Ok(Plan { at, tail, known, repaired }),
            (Repair::MoveTail | Repair::Resync, Some(damage), _) => return Err(damaged(damage).into()),
            (Repair::Resync, None, Some(from)) => {
                repaired.rewritten = Some(self.part(file, from)?);
                return Ok(Plan { at, tail, known, repaired });
            }
            (Repair::MoveTail | Repair::CutAtDamage, None, Some(_)) => {
                let stream = self.name.clone();
                return Err(AppendError::DurabilityUnknown { stream, source: None }.into());
            }
            (Repair::CutAtDamage, Some(damage), suspect) => {
                repaired.rewritten = suspect.map(|from| self.part(file, from)).transpose()?;
                repaired.damage = Some(damage);
            }
            (Repair::MoveTail | Repair::CutAtDamage, None, None) => {}
        }
        let aside = match (&repaired.damage, tail) {
            (Some(_), _) => Some(Aside::Cut),
            (None, tail) => tail.map(|_| Aside::Torn),
        };
        repaired.moved = aside.map(|aside| self.would_move(aside, file, at.offset, now)).transpose()?;
        self.tell(&mut repaired, aside, &known)?;
        if !repaired.told.is_empty() {
            // Also finds out whether there is room for it, before anything is cut.
            let end = self.lay_out(at, repaired.told.clone(), &nothing(), now)?.written.position;
            repaired.head = Head { seq: end.seq, hash: end.hash };
        }
        Ok(Plan { at, tail, known, repaired })
    }

    /// Verifies the whole log.
    fn examine(&self, intent: Digest, file: &dyn DiskFile) -> Result<Found, RepairError> {
        let mut at = Position::start(intent);
        let mut known = BTreeSet::new();
        let mut unknown = None;
        let end = self.scan(file, &mut at, &mut |line| {
            if line.event().starts_with(LEDGER_PREFIX) {
                match typed::<IgnoredAny>(line, &mut Actors::default()) {
                    Ok(entry) => known.extend(told_of(&entry)),
                    Err(what) => {
                        unknown = Some((line.seq(), what));
                        return ControlFlow::Break(());
                    }
                }
            }
            ControlFlow::Continue(())
        })?;
        if let Some((seq, what)) = unknown {
            return Err(ReadError::Newer { stream: self.name.clone(), seq, what }.into());
        }
        match self.conclude(at, end) {
            Ok(tail) => Ok(Found { at, tail, damage: None, known }),
            Err(ReadError::Damaged { damage, .. }) if at.seq > 0 => {
                Ok(Found { at, tail: None, damage: Some(damage), known })
            }
            Err(error) => Err(nothing_whole(error)),
        }
    }

    /// What moving everything from `offset` on aside would move, and where.
    fn would_move(
        &self,
        aside: Aside,
        file: &dyn DiskFile,
        offset: u64,
        now: Timestamp,
    ) -> Result<Moved, RepairError> {
        let is_free = |name: &String| match self.disk.stat(&self.path(name)) {
            Err(error) => error.kind() == io::ErrorKind::NotFound,
            Ok(_) => false,
        };
        let name = Self::names(aside, now).find(is_free);
        Ok(Moved { file: name.expect("the names do not end"), part: self.part(file, offset)? })
    }

    /// Adds what the log has to be told, in the order in which a writer tells it.
    fn tell(
        &self,
        repaired: &mut Repaired,
        aside: Option<Aside>,
        known: &BTreeSet<String>,
    ) -> Result<(), AppendError> {
        for name in self.untold_files(known)? {
            repaired.told.push(self.describe(name)?);
        }
        if let (Some(aside), Some(Moved { file, part })) = (aside, &repaired.moved) {
            repaired.told.push(aside.event(file.clone(), part.bytes, part.sha256));
            if aside == Aside::Cut {
                // By then it is one of the files that are found.
                repaired.told.sort_by(|one, other| moved_file(one).cmp(moved_file(other)));
            }
        }
        Ok(())
    }

    /// The log from `offset` to its end.
    pub(super) fn part(&self, file: &dyn DiskFile, offset: u64) -> Result<LogPart, ReadError> {
        let (mut feeds, mut last) = (0, b'\n');
        let found = read_from(file, offset, |piece| {
            feeds += memchr::memchr_iter(b'\n', piece).count() as u64;
            last = piece.last().copied().unwrap_or(last);
            Ok(())
        });
        let (bytes, sha256) = found.map_err(self.io(EVENTS_FILE))?;
        Ok(LogPart { offset, bytes, lines: feeds + u64::from(last != b'\n'), sha256 })
    }
}
