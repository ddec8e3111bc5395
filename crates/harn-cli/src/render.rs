//! Results as text for people and as documents for programs.

mod evidence;
mod item;
mod log;
mod page;
mod receipt;
mod report;
mod review;
mod run;
mod why;

pub(crate) use item::{item, item_document, listed_rows, past_item, rows};
pub(crate) use log::{event_document, log, progress};
pub(crate) use receipt::{changed_source, key, preparing, receipt, receipt_document, tests_line};
pub(crate) use report::{report, report_document};
pub(crate) use review::{
    check_line, gate_document, review, review_document, review_finding, review_finding_document,
};
pub(crate) use run::{RunRow, ShownRun, proof, run, run_rows};
pub(crate) use why::explanation;
