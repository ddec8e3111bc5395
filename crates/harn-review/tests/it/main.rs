//! The integration tests of harn-review, one file per subject.

mod cases;
mod ledger_properties;
mod ledger_report;
mod ledger_rules;
mod sarif_logs;
