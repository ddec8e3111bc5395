//! Arbitrary bytes as a whole log.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| harn_ledger::fuzzing::scan(bytes));
