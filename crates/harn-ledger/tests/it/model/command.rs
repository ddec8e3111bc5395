//! What may happen to a ledger, as data, so that a failing sequence shrinks to the few commands that matter.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::account::{AccountCommand, AccountEvent, credited, noted};

/// The processes that use the ledger.
pub(super) const PROCESSES: usize = 2;
/// The streams that they use. Few, so that commands meet.
pub(super) const STREAMS: [&str; 2] = ["a", "B_2.-"];
/// Who appends. The last is no actor.
pub(super) const ACTORS: [&str; 3] = ["teller", "\\Ñandú\u{2028} \"B\"", " "];

/// Something that a process does to a stream.
#[derive(Debug, Clone)]
pub(super) struct Command {
    pub(super) process: usize,
    pub(super) stream: usize,
    pub(super) what: What,
}

#[derive(Debug, Clone)]
pub(super) enum What {
    Create {
        actor: usize,
        owner: String,
        events: Vec<AccountEvent>,
    },
    /// Asks whether that creation would be refused.
    CheckNew {
        actor: usize,
        owner: String,
        events: Vec<AccountEvent>,
    },
    Append {
        expect: Expected,
        actor: usize,
        events: Vec<AccountEvent>,
    },
    Execute(AccountCommand),
    /// Reads all that can be read of a stream, and its entries after a sequence number once more.
    Look {
        after: u64,
    },
    /// Takes the lease. One that is held is only contested if the command says so, because that waits.
    Lease {
        contest: bool,
    },
    GiveLeaseBack,
    AskForLease,
    PutBlob(Vec<u8>),
    /// Gets one of the blobs that were put, or one that never was.
    GetBlob(Index),
    /// A crash leaves something behind the last whole batch.
    Crash(Left),
    /// The process forgets the stream, and reads it anew when it needs it.
    LetGo,
    /// The process ends, and another takes its place.
    Restart,
}

/// Where an append expects the stream to end.
#[derive(Debug, Clone)]
pub(super) enum Expected {
    Anywhere,
    AtTheEnd,
    /// Behind an entry, which may no longer be the last.
    Behind(Index),
    /// Behind a line that the log never had.
    Elsewhere,
}

/// What a crash leaves of an append.
#[derive(Debug, Clone)]
pub(super) enum Left {
    Bytes(Vec<u8>),
    /// The first part of a batch whose last line never was written.
    PartOfBatch {
        events: Vec<AccountEvent>,
        length: Index,
    },
    /// A tail that was moved aside already, by an append that did not live to tell of it.
    MovedAside(Vec<u8>),
}

pub(super) fn command() -> impl Strategy<Value = Command> {
    (0..PROCESSES, 0..STREAMS.len(), what()).prop_map(|(process, stream, what)| Command {
        process,
        stream,
        what,
    })
}

fn what() -> impl Strategy<Value = What> {
    let creation = || (actor(), owner(), events());
    prop_oneof![
        6 => creation().prop_map(|(actor, owner, events)| What::Create { actor, owner, events }),
        2 => creation().prop_map(|(actor, owner, events)| What::CheckNew { actor, owner, events }),
        12 => (expected(), actor(), events())
            .prop_map(|(expect, actor, events)| What::Append { expect, actor, events }),
        6 => decided().prop_map(What::Execute),
        5 => (0..12_u64).prop_map(|after| What::Look { after }),
        4 => prop::bool::weighted(0.02).prop_map(|contest| What::Lease { contest }),
        4 => Just(What::GiveLeaseBack),
        3 => Just(What::AskForLease),
        1 => vec(any::<u8>(), 0..40).prop_map(What::PutBlob),
        1 => any::<Index>().prop_map(What::GetBlob),
        5 => left().prop_map(What::Crash),
        2 => Just(What::LetGo),
        2 => Just(What::Restart),
    ]
}

fn actor() -> impl Strategy<Value = usize> {
    prop_oneof![12 => Just(0), 6 => Just(1), 1 => Just(2)]
}

fn owner() -> impl Strategy<Value = String> {
    prop_oneof![20 => any::<String>(), 1 => Just("o".repeat(128 << 10))]
}

fn events() -> impl Strategy<Value = Vec<AccountEvent>> {
    prop_oneof![1 => Just(Vec::new()), 12 => vec(event(), 1..5)]
}

fn event() -> impl Strategy<Value = AccountEvent> {
    prop_oneof![
        10 => any::<u64>().prop_map(credited),
        10 => (any::<u32>(), any::<String>()).prop_map(|(cents, note)| noted(u64::from(cents), &note)),
        5 => any::<u32>().prop_map(|cents| AccountEvent::Debited { cents: u64::from(cents) }),
        2 => Just(AccountEvent::Closed {}),
        1 => Just(noted(1, &"longer than a line ".repeat(4000))),
    ]
}

fn decided() -> impl Strategy<Value = AccountCommand> {
    prop_oneof![
        4 => any::<u32>().prop_map(|cents| AccountCommand::Credit(u64::from(cents))),
        4 => any::<u32>().prop_map(|cents| AccountCommand::Debit(u64::from(cents))),
        1 => Just(AccountCommand::Close),
    ]
}

fn expected() -> impl Strategy<Value = Expected> {
    prop_oneof![
        4 => Just(Expected::Anywhere),
        3 => Just(Expected::AtTheEnd),
        3 => any::<Index>().prop_map(Expected::Behind),
        1 => Just(Expected::Elsewhere),
    ]
}

fn left() -> impl Strategy<Value = Left> {
    // With a line feed it would be a line, and a damaged one.
    let byte = any::<u8>().prop_filter("not a line feed", |byte| *byte != b'\n');
    prop_oneof![
        4 => vec(byte, 1..80).prop_map(Left::Bytes),
        4 => (vec(event(), 1..4), any::<Index>())
            .prop_map(|(events, length)| Left::PartOfBatch { events, length }),
        2 => vec(any::<u8>(), 1..80).prop_map(Left::MovedAside),
    ]
}
