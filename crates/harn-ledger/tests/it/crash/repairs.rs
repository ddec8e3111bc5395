//! Streams that need a repair: what must not be lost while one is repaired, and repairing it to the end.

use harn_ledger::disk::FaultyDisk;
use harn_ledger::{AppendError, Ledger, Repair, RepairError, RepairMode, VerifyOptions};

use super::book::{Book, stream_directory};
use crate::store::{LOG, moved_files, read};

/// What is on stable storage before a repair.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    /// The bytes of the log.
    pub(crate) log: Vec<u8>,
    /// How many of them, from the start on, stay in the log. The others may be moved into a file, as one.
    pub(crate) kept: usize,
}

pub(crate) fn apply(ledger: &Ledger, id: &str, repair: Repair) -> Result<(), RepairError> {
    ledger.repair("diary", id, repair, RepairMode::Apply, &VerifyOptions::default()).map(drop)
}

/// Repairs a stream as a person would: where the end may not be on stable storage, that comes first.
pub(crate) fn to_the_end(ledger: &Ledger, id: &str, repair: Repair) -> Result<(), RepairError> {
    match apply(ledger, id, repair) {
        Err(RepairError::Append(AppendError::DurabilityUnknown { .. })) => {
            apply(ledger, id, Repair::Resync)?;
            apply(ledger, id, repair)
        }
        other => other,
    }
}

/// Repairs every stream that needs it, as whoever finds it would. Nothing is lost before or by that.
pub(crate) fn repair_to_the_end(disk: &FaultyDisk, ledger: &Ledger, book: &Book) {
    let place = book.place();
    for (id, evidence) in book.evidence() {
        assert_kept(disk, &id, &evidence, &place);
        to_the_end(ledger, &id, Repair::CutAtDamage)
            .unwrap_or_else(|error| panic!("{place}: {id}: {error:?}"));
        assert_kept(disk, &id, &evidence, &place);
        book.is_durable_again(&id);
        for repair in [Repair::MoveTail, Repair::CutAtDamage, Repair::Resync] {
            let options = VerifyOptions::default();
            let again = ledger.repair("diary", &id, repair, RepairMode::DryRun, &options);
            assert!(again.unwrap().is_nothing(), "{place}: {id}: {repair:?} has something left to do");
        }
    }
}

/// Every byte that was in the log is in it still, or in a file beside it.
fn assert_kept(disk: &FaultyDisk, id: &str, evidence: &Evidence, place: &str) {
    let directory = stream_directory(id);
    let log = read(disk, &directory.join(LOG));
    let (kept, moved) = evidence.log.split_at(evidence.kept);
    assert!(log.starts_with(kept), "{place}: {id}: what stood before the damage is lost");
    let mut beside = moved_files(disk, &directory).into_iter();
    assert!(
        log.starts_with(&evidence.log) || beside.any(|name| read(disk, &directory.join(name)) == moved),
        "{place}: {id}: what was to be moved is lost"
    );
}
