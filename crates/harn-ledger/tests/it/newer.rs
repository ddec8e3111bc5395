//! What a newer build wrote, under hashes that match: it is named, never taken for damage, never written behind, and
//! nothing of it is lost.

use std::ops::ControlFlow;
use std::path::Path;

use harn_ledger::disk::MemDisk;
use harn_ledger::{
    AppendError, Digest, Expect, LeaseStatus, Ledger, ProblemKind, ReadError, StreamError, VerifyOptions,
};

use crate::account::{Account, AccountCommand, credited, open_account};
use crate::forge::{Forged, hash_of, lines, seal};
use crate::store::{INTENT, LOG, account, in_memory, open, read, tree, write};

struct Case {
    what: &'static str,
    /// What stands behind the two lines that this build wrote, the last of which has this hash.
    behind: fn(Digest) -> Vec<u8>,
    /// The event that is not known, and how what is said of it begins.
    seq: u64,
    says: &'static str,
    /// What verification counts, and what it reports: it knows every version of the domain, but one of the format.
    events: u64,
    problem: bool,
}

fn third(prev: Digest, event: &str, data: &str) -> Forged {
    Forged::new("account/a", 3, prev, event, data)
}

fn cases() -> [Case; 8] {
    let unknown = Case { what: "", behind: |_| Vec::new(), seq: 3, says: "", events: 3, problem: false };
    let format = Case { says: "schema_version 2 of the line format", events: 2, problem: true, ..unknown };
    [
        Case {
            what: "a newer line",
            behind: |prev| Forged { schema_version: 2, ..third(prev, "account.closed", "{}") }.line(),
            ..format
        },
        Case {
            what: "a newer line of another shape",
            behind: |_| seal(r#"{"schema_version":2,"signature":null,"was": [3]"#),
            ..format
        },
        Case {
            what: "a newer line that ends a batch",
            behind: |prev| {
                let first = Forged { more: true, ..third(prev, "account.closed", "{}") }.line();
                let second = Forged::new("account/a", 4, hash_of(&first), "account.closed", "{}");
                [first, Forged { schema_version: 2, ..second }.line()].concat()
            },
            seq: 4,
            ..format
        },
        Case {
            what: "a newer line with a known one behind it",
            behind: |prev| {
                let newer = Forged { schema_version: 2, ..third(prev, "account.closed", "{}") }.line();
                let known = Forged::new("account/a", 4, hash_of(&newer), "account.closed", "{}").line();
                [newer, known].concat()
            },
            ..format
        },
        Case {
            what: "an unknown event",
            behind: |prev| third(prev, "account.frozen", r#"{"by":"court"}"#).line(),
            says: "`account.frozen`: unknown variant",
            ..unknown
        },
        Case {
            what: "an unknown member",
            behind: |prev| third(prev, "account.debited", r#"{"cents":1,"fee":1}"#).line(),
            says: "`account.debited`: unknown field `fee`",
            ..unknown
        },
        Case {
            what: "an unknown event of the ledger",
            behind: |prev| third(prev, "ledger.compacted", r#"{"events":7}"#).line(),
            says: "`ledger.compacted`: unknown variant",
            ..unknown
        },
        Case {
            what: "an unknown member in an event of the ledger",
            behind: |prev| {
                let data = format!(r#"{{"file":"events.cut-1","bytes":1,"sha256":"{prev}","by":"x"}}"#);
                third(prev, "ledger.cut", &data).line()
            },
            says: "`ledger.cut`: unknown field `by`",
            ..unknown
        },
    ]
}

/// Checks that the error names the event, and says what to do.
fn assert_newer(error: &ReadError, seq: u64, says: &str, what: &str) {
    let ReadError::Newer { seq: found, what: said, .. } = error else { panic!("{what}: {error}") };
    assert_eq!(*found, seq, "{what}");
    assert!(said.starts_with(says), "{what}: {said}");
    assert!(error.to_string().contains(&format!("event {seq}")), "{what}: {error}");
    assert_eq!(error.hint().unwrap(), "use the build that wrote it, or a later one", "{what}");
}

fn read_error(error: StreamError) -> ReadError {
    match error {
        StreamError::Read(error) => error,
        other => panic!("{other}"),
    }
}

/// What the untyped verification of the whole ledger says.
fn assert_verified(ledger: &Ledger, case: &Case) {
    let found = ledger.verify(&VerifyOptions::default());
    // The other stream has one event.
    assert_eq!(found.events, case.events + 1, "{}", case.what);
    let expected = case.problem.then(|| ProblemKind::Newer { seq: case.seq, what: case.says.to_owned() });
    let problems: Vec<ProblemKind> = found.problems.into_iter().map(|problem| problem.kind).collect();
    assert_eq!(problems, Vec::from_iter(expected), "{}", case.what);
}

#[test]
fn what_is_not_known_is_named_and_nothing_is_lost() {
    for case in cases() {
        let Case { what, behind, seq, says, .. } = case;
        let (disk, ledger) = in_memory();
        let early = open_account(&ledger, "a");
        early.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
        let head = early.head().unwrap();
        let other = open_account(&ledger, "b");
        let path = account("a").join(LOG);
        let log = read(&disk, &path);
        write(&disk, &path, &[log.clone(), behind(hash_of(lines(&log)[1]))].concat());
        let before = tree(&disk, Path::new("/bank"));

        let late = open(disk.clone(), Path::new("/bank"));
        let opened = read_error(late.stream::<Account>("a").map(drop).unwrap_err());
        assert_newer(&opened, seq, says, what);

        // A handle that is older than the line reads no further than it, and writes nothing behind it, whatever it expects.
        for error in [early.state().map(drop), early.settled_state().map(drop), early.history().map(drop)] {
            assert_newer(&error.unwrap_err(), seq, says, what);
        }
        for expect in [Expect::Any, Expect::Head(head)] {
            match early.append(expect, "teller", vec![credited(1)]).unwrap_err() {
                AppendError::Read(error) => assert_newer(&error, seq, says, what),
                error => panic!("{what}: {error}"),
            }
        }
        assert_eq!(
            early.execute("teller", AccountCommand::Credit(1)).unwrap_err().to_string(),
            opened.to_string()
        );
        assert_eq!(early.lease_status().unwrap(), LeaseStatus::Free);
        assert_eq!(late.ids("account").unwrap().len(), 2);
        assert_verified(&late, &case);

        // Without the domain it can be shown up to a newer line.
        let mut shown = 0;
        let raw = late.raw("account", "a").unwrap().visit(|event| {
            shown = event.seq;
            ControlFlow::Continue(())
        });
        assert_eq!((shown, raw.is_ok()), (case.events, !case.problem), "{what}");

        assert_eq!(tree(&disk, Path::new("/bank")), before, "{what}: something was written");
        other.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    }
}

/// A line that came between the last look of a writer and its lock is noticed under the lock.
#[test]
fn a_newer_line_in_the_last_moment() {
    use crate::scripted_disk::{Act, Call, ScriptedDisk};
    for case in cases() {
        let memory = MemDisk::new();
        let disk = ScriptedDisk::new(memory.clone());
        let stream = open_account(&open(disk.clone(), Path::new("/bank")), "a");
        stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
        let path = account("a").join(LOG);
        let log = read(&memory, &path);
        let grown = [log.clone(), (case.behind)(hash_of(lines(&log)[1]))].concat();
        let (there, bytes) = (memory.clone(), grown.clone());
        disk.next(Call::TryLock, LOG, Act::First(Box::new(move || write(&there, &path, &bytes))));
        match stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap_err() {
            AppendError::Read(error) => assert_newer(&error, case.seq, case.says, case.what),
            error => panic!("{}: {error}", case.what),
        }
        assert_eq!(disk.left(), 0);
        assert!(read(&memory, &account("a").join(LOG)) == grown, "{}: the log was changed", case.what);
    }
}

/// An intent with a member that this build does not know, from which its log follows.
#[test]
fn an_intent_of_a_newer_build() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    let intent = b"{\n  \"owner\": \"Alice\",\n  \"currency\": \"EUR\"\n}\n";
    let line = Forged::new("account/a", 1, Digest::of(intent), "account.opened", "{}").line();
    write(&disk, &account("a").join(INTENT), intent);
    write(&disk, &account("a").join(LOG), &line);
    let before = tree(&disk, Path::new("/bank"));

    let ledger = open(disk.clone(), Path::new("/bank"));
    let error = read_error(ledger.stream::<Account>("a").map(drop).unwrap_err());
    assert_newer(&error, 0, "unknown field `currency`", "an intent");
    let found = ledger.verify(&VerifyOptions::default());
    assert_eq!((found.events, found.problems), (1, Vec::new()));
    assert_eq!(ledger.raw("account", "a").unwrap().intent().unwrap(), intent);
    assert_eq!(tree(&disk, Path::new("/bank")), before);
}
