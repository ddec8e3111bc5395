#![doc = include_str!("../README.md")]

pub mod context;
pub mod harnery;
pub mod run;
pub mod work;
mod work_ledger;

pub use work_ledger::{
    Arrival, BeginError, Begun, Changed, CreateWorkError, Draft, EndError, ForeignRun, ImportError,
    ListedItem, Listing, PastError, PastItem, ProofError, ScriptText, Unproven, UnprovenKind, Unreadable,
    WorkError, WorkItem, WorkLedger,
};
