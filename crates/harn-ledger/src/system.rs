//! The machine's clock and randomness: with `OsDisk`, the only places where this crate touches the world.
#![expect(
    clippy::disallowed_methods,
    reason = "this module is the shell that the ban on clock and files points to"
)]

use std::fs::File;
use std::io::Read as _;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::clock::{Clock, IdSource};
use crate::time::Timestamp;

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let micros = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros),
        };
        Timestamp::from_microseconds(micros)
    }
}

/// Random bytes from the operating system, mixed with the clock should it have none.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIds;

impl IdSource for SystemIds {
    fn next_bytes(&self) -> [u8; 3] {
        let mut bytes = [0; 3];
        if File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).is_err() {
            let [.., a, b, c] = SystemClock.now().as_microseconds().to_be_bytes();
            bytes = [a, b, c];
        }
        bytes
    }
}
