//! Arbitrary bytes as a line of a log.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| harn_ledger::fuzzing::line(bytes));
