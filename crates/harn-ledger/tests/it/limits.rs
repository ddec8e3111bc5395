//! Limits: checked before anything is written, and again on reading; a full stream can still be ended.

use std::path::Path;

use harn_ledger::{
    AppendError, DamageKind, Expect, Limits, ProblemKind, ReadError, StreamError, VerifyOptions,
};

use crate::account::{Account, Ballot, BallotEvent, credited, open_account, open_ballot, voted};
use crate::forge::{Forged, hash_of, lines};
use crate::store::{LOG, in_memory, open, read, write};

const COUNTED: BallotEvent = BallotEvent::Counted { votes: 3 };

fn ballot_log() -> &'static Path {
    Path::new("/bank/ballot/b/events.jsonl")
}

/// What was refused: what would be exceeded, and the limit.
fn refused<T: std::fmt::Debug>(result: Result<T, AppendError>) -> (&'static str, u64) {
    match result.unwrap_err() {
        AppendError::LimitReached { what, limit, .. } => (what, limit),
        other => panic!("{other}"),
    }
}

/// N-07: when the events are used up, a closing event still fits. (W-05)
#[test]
fn a_full_stream_can_be_ended() {
    let (disk, ledger) = in_memory();
    let ballot = open_ballot(&ledger, "b");
    for voter in ["a", "b", "c"] {
        ballot.append(Expect::Any, "clerk", vec![voted(voter)]).unwrap();
    }
    let before = read(&disk, ballot_log());
    assert_eq!(refused(ballot.append(Expect::Any, "clerk", vec![voted("d")])), ("number of events", 4));
    let batch = vec![voted("d"), voted("e")];
    assert_eq!(refused(ballot.append(Expect::Any, "clerk", batch)), ("number of events", 4));
    assert_eq!(read(&disk, ballot_log()), before, "a refusal writes nothing");

    for seq in 5..=20 {
        let committed = ballot.append(Expect::Any, "clerk", vec![COUNTED]).unwrap();
        assert_eq!(committed.head.seq, seq);
    }
    assert_eq!(refused(ballot.append(Expect::Any, "clerk", vec![COUNTED])), ("number of events", 20));
    let reopened = open(disk, Path::new("/bank")).stream::<Ballot>("b").unwrap();
    assert_eq!((reopened.state().unwrap(), reopened.head().unwrap().seq), (3, 20));
}

/// A batch with a closing event in it may use the reserve as a whole.
#[test]
fn a_batch_that_closes_may_use_the_reserve() {
    let (_, ledger) = in_memory();
    let ballot = open_ballot(&ledger, "b");
    let mut batch: Vec<BallotEvent> = (0..10).map(|number| voted(&number.to_string())).collect();
    assert_eq!(refused(ballot.append(Expect::Any, "clerk", batch.clone())), ("number of events", 4));
    batch.push(COUNTED);
    ballot.append(Expect::Any, "clerk", batch).unwrap();
}

/// The same for bytes.
#[test]
fn a_log_that_is_too_long() {
    let (disk, ledger) = in_memory();
    let ballot = open_ballot(&ledger, "b");
    // A line of exactly 600 bytes, line feed included, and one of 601.
    let length = |voter: &str| {
        let mut line = Forged::new("ballot/b", 2, hash_of(&read(&disk, ballot_log())), "voted", "");
        line.actor = "clerk".to_owned();
        line.data = serde_json::json!({ "voter": voter }).to_string();
        line.line().len()
    };
    let longest = "v".repeat(600 - length(""));
    assert_eq!(
        refused(ballot.append(Expect::Any, "clerk", vec![voted(&format!("{longest}v"))])),
        ("line", 600)
    );
    ballot.append(Expect::Any, "clerk", vec![voted(&longest)]).unwrap();
    assert_eq!(lines(&read(&disk, ballot_log()))[1].len(), 600);
    ballot.append(Expect::Any, "clerk", vec![voted(&longest)]).unwrap();
    let used = read(&disk, ballot_log()).len();
    assert!(2000 - used < 600);
    assert_eq!(refused(ballot.append(Expect::Any, "clerk", vec![voted(&longest)])), ("log", 2000));
    assert_eq!(read(&disk, ballot_log()).len(), used);
    // Twelve bytes less, because a line of a batch says that there is more to come.
    let closing = vec![voted(&longest[12..]), COUNTED];
    ballot.append(Expect::Any, "clerk", closing).unwrap();
    assert!(read(&disk, ballot_log()).len() > 2000);
    assert_eq!(open(disk, Path::new("/bank")).stream::<Ballot>("b").unwrap().state().unwrap(), 3);
}

/// Characters that JSON writes as six bytes count as six.
#[test]
fn a_limit_counts_bytes_as_written() {
    let (_, ledger) = in_memory();
    let ballot = open_ballot(&ledger, "b");
    assert_eq!(refused(ballot.append(Expect::Any, "clerk", vec![voted(&"\u{1}".repeat(60))])), ("line", 600));
    ballot.append(Expect::Any, "clerk", vec![voted(&"x".repeat(60))]).unwrap();
}

/// What a domain would not have written is not read either, though each line verifies. (W-08)
#[test]
fn limits_hold_on_reading() {
    let (disk, ledger) = in_memory();
    open_ballot(&ledger, "b");
    let first = read(&disk, ballot_log());
    let line = |seq, before: &[u8], length: usize| {
        let mut line = Forged::new("ballot/b", seq, hash_of(before), "voted", r#"{"voter":""}"#);
        let missing = length - line.line().len();
        line.data = format!(r#"{{"voter":"{}"}}"#, "v".repeat(missing));
        line.line()
    };
    let log_of = |count: u64, length| {
        let mut log = vec![first.clone()];
        for seq in 2..=count {
            let next = line(seq, log.last().unwrap(), length);
            log.push(next);
        }
        log.concat()
    };
    let first_length = first.len() as u64;
    // Events and length of each, and where it is too much.
    let cases = [
        (2, 600, None),
        (2, 601, Some((2, first_length, "line", 600))),
        (20, 400, None),
        (21, 400, Some((21, first_length + 19 * 400, "number of events", 20))),
        (20, 599, Some((20, first_length + 18 * 599, "log", 11_600))),
    ];
    for (count, length, expected) in cases {
        write(&disk, ballot_log(), &log_of(count, length));
        let ledger = open(disk.clone(), Path::new("/bank"));
        let found = match ledger.stream::<Ballot>("b") {
            Ok(_) => None,
            Err(StreamError::Read(ReadError::Damaged { damage, .. })) => match damage.kind {
                DamageKind::TooLarge { what, limit } => Some((damage.line, damage.offset, what, limit)),
                other => panic!("{other}"),
            },
            Err(other) => panic!("{other}"),
        };
        assert_eq!(found, expected, "{count} events of {length} bytes");

        // Whoever verifies without the domain holds a kind to limits only if they are given.
        assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
        let mut options = VerifyOptions::default();
        options.limits.insert("ballot".to_owned(), <Ballot as harn_ledger::Decider>::LIMITS);
        let problems = ledger.verify(&options).problems;
        assert_eq!(problems.len(), usize::from(expected.is_some()));
        assert!(problems.iter().all(|problem| matches!(problem.kind, ProblemKind::Damaged(_))));
    }
}

#[test]
fn the_default_limits_are_those_of_the_document() {
    let expected =
        Limits { intent_bytes: 131_072, line_bytes: 65_536, events: 10_000, log_bytes: 16_777_216 };
    assert_eq!((Limits::default(), Limits::DEFAULT), (expected, expected));
}

/// The reserve of a stream that writes long lines is as long as they can be.
#[test]
fn a_line_of_the_default_limit_fits() {
    let (_, ledger) = in_memory();
    let alice = open_account(&ledger, "a");
    let note = |length| vec![crate::account::noted(1, &"n".repeat(length))];
    assert_eq!(refused(alice.append(Expect::Any, "teller", note(65_536))), ("line", 65_536));
    alice.append(Expect::Any, "teller", note(65_000)).unwrap();
    alice.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    assert_eq!(ledger.stream::<Account>("a").unwrap().state().unwrap().cents, 2);
    assert!(ledger.raw("ballot", LOG).is_ok(), "a name is checked when it is named, not the stream");
}
