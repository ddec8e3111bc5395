//! Arbitrary bytes as the file of a catalog.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| harn_ledger::fuzzing::catalog(bytes));
