//! Random commands, from two processes, on every disk and on a plain model: all answers and all bytes agree.
//!
//! `PROPTEST_CASES=5000 cargo test -p harn-ledger --test it model` searches for longer than a usual run does.

mod command;
mod concurrent;
mod machine;
mod plain;

use harn_ledger::disk::{FaultyDisk, MemDisk};
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

use self::command::command;
use self::machine::Machine;
use self::plain::Plain;
use crate::store::config;

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn every_disk_agrees_with_a_plain_model(commands in vec(command(), 1..40)) {
        let directory = TempDir::new().unwrap();
        let mut plain = Plain::default();
        let mut machines = [
            Machine::new("disk in memory", MemDisk::new(), "/bank".as_ref()),
            Machine::new("disk that could fail", FaultyDisk::new(), "/bank".as_ref()),
            Machine::real("machine's disk", &directory.path().join("bank")),
        ];
        for command in &commands {
            let answers = machines.each_mut().map(|machine| machine.obey(command, &plain));
            let expected = plain.obey(command);
            let files = plain.files();
            for (machine, answer) in machines.iter().zip(answers) {
                prop_assert_eq!(&answer, &expected, "the answer of the {} to {:?}", machine.name, command);
                prop_assert_eq!(&machine.files(), &files, "the files of the {} after {:?}", machine.name, command);
            }
        }
        for machine in &mut machines {
            machine.assert_agrees_in_the_end(&plain);
        }
    }
}
