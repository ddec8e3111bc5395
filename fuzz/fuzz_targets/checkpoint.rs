//! Arbitrary bytes as a checkpoint.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| harn_ledger::fuzzing::checkpoint(bytes));
