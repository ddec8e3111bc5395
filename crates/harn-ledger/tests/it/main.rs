//! The ledger as its users see it: on the disk in memory, on the machine's own, and from several processes at once.
#![expect(clippy::unwrap_used, reason = "what a test relies on may panic, in its own functions too")]
#![expect(
    clippy::disallowed_methods,
    reason = "the tests reach behind the ledger to its files and start processes of their own"
)]

mod account;
mod forge;
mod process;
mod scripted_disk;
mod store;

mod against;
mod bad_input;
mod blobs;
mod catalog;
mod checkpoint;
mod clock;
mod conflicts;
mod contention;
mod crash;
mod create;
mod damage;
mod disk;
mod durability;
mod errors;
mod faulty_disk;
mod format_document;
mod framing;
mod fuzz;
mod golden;
mod kill;
mod leases;
mod limits;
mod model;
mod network;
mod newer;
mod place_table;
mod places;
mod properties;
mod read_only;
mod read_only_disk;
mod repair;
mod resync;
mod round_trip;
mod tails;
mod tamper;
mod threads;
mod verify;
mod verify_bounds;
