//! Damage in the middle: the exact place, nothing returned as if it were whole, nothing written, nothing touched.

use std::path::Path;

use harn_ledger::disk::{Disk as _, MemDisk};
use harn_ledger::{
    AppendError, Damage, DamageKind, Digest, Expect, Ledger, ProblemKind, ReadError, StreamError,
    UnfinishedTail, VerifyOptions,
};

use crate::account::{Account, credited, open_account};
use crate::forge::{Forged, hash_of, lines, seal};
use crate::store::{INTENT, LOG, account, in_memory, open, read, tree, write};

pub(crate) fn six_events(ledger: &Ledger) {
    let stream = open_account(ledger, "a");
    for cents in 1..=5 {
        stream.append(Expect::Any, "teller", vec![credited(cents)]).unwrap();
    }
}

fn damage_of(error: ReadError) -> Damage {
    match error {
        ReadError::Damaged { damage, .. } => damage,
        other => panic!("not damage: {other}"),
    }
}

/// Everything there is to say about a stream says the same about its damage.
fn assert_damaged(disk: &MemDisk, expected: &Damage, what: &str) {
    let before = tree(disk, Path::new("/bank"));
    let ledger = open(disk.clone(), Path::new("/bank"));
    let found = match ledger.stream::<Account>("a").unwrap_err() {
        StreamError::Read(error) => damage_of(error),
        other => panic!("{what}: {other}"),
    };
    assert_eq!(found, *expected, "{what}");
    assert_eq!(damage_of(ledger.raw("account", "a").unwrap().verify().unwrap_err()), *expected, "{what}");
    let problems = ledger.verify(&VerifyOptions::default()).problems;
    assert_eq!(problems.len(), 1, "{what}");
    assert_eq!(
        (&*problems[0].place, &problems[0].kind),
        ("account/a", &ProblemKind::Damaged(found)),
        "{what}"
    );
    assert_eq!(tree(disk, Path::new("/bank")), before, "{what}: the bytes were touched");
}

/// Line 3 of the account `a`, damaged in each way there is, given its whole lines.
pub(crate) fn damaged_third_lines(whole: &[Vec<u8>]) -> Vec<(&'static str, Vec<u8>, DamageKind)> {
    let prev = hash_of(&whole[1]);
    let forged = |data: &str| Forged::new("account/a", 3, prev, "account.credited", data);
    let sealed = |old: &str, new: &str| {
        let line = String::from_utf8(whole[2].clone()).unwrap();
        let body = line[..line.len() - 76].replace(old, new);
        assert_ne!(body.len(), 0);
        seal(&body)
    };
    let mut zeros = vec![0; whole[2].len() - 1];
    zeros.push(b'\n');
    let cut_short = [&whole[2][..whole[2].len() - 11], b"\n"].concat();
    let mut half_zeros = whole[2].clone();
    half_zeros[100..150].fill(0);
    vec![
        ("cut short, line feed kept", cut_short, DamageKind::Hash),
        ("a hole", zeros, DamageKind::Hole),
        ("a hole in the line", half_zeros, DamageKind::Hole),
        ("an empty line", b"\n".to_vec(), DamageKind::Hash),
        ("another text", b"{\"hello\":\"world\"}\n".to_vec(), DamageKind::Hash),
        ("a space more", sealed(r#""seq":3"#, r#""seq": 3"#), DamageKind::Shape { part: "seq" }),
        (
            "version zero",
            sealed(r#""schema_version":1"#, r#""schema_version":0"#),
            DamageKind::Shape { part: "schema_version" },
        ),
        ("no millisecond", sealed(".000000Z", ".000Z"), DamageKind::Shape { part: "ts" }),
        ("an actor with a line feed", sealed("teller", r"tel\nler"), DamageKind::Shape { part: "actor" }),
        (
            "an actor escaped needlessly",
            sealed("teller", r"\u0074eller"),
            DamageKind::Shape { part: "actor" },
        ),
        ("another case", sealed("account.credited", "Account.credited"), DamageKind::Shape { part: "event" }),
        ("data that is a list", forged("[]").line(), DamageKind::Shape { part: "data" }),
        ("data with null", forged(r#"{"cents":null}"#).line(), DamageKind::Shape { part: "data" }),
        ("data with a space", forged(r#"{"cents": 1}"#).line(), DamageKind::Shape { part: "data" }),
        ("data and more", forged(r#"{"cents":1},"extra":{}"#).line(), DamageKind::Shape { part: "data" }),
        (
            "members swapped",
            sealed(
                r#""actor":"teller","event":"account.credited""#,
                r#""event":"account.credited","actor":"teller""#,
            ),
            DamageKind::Shape { part: "actor" },
        ),
        (
            "another stream",
            Forged::new("account/b", 3, prev, "account.credited", r#"{"cents":2}"#).line(),
            DamageKind::Foreign { stream: "account/b".to_owned() },
        ),
        (
            "the wrong number",
            Forged::new("account/a", 4, prev, "account.credited", r#"{"cents":2}"#).line(),
            DamageKind::Sequence { expected: 3, found: 4 },
        ),
        (
            "another predecessor",
            Forged::new("account/a", 3, Digest::of(b""), "account.credited", r#"{"cents":2}"#).line(),
            DamageKind::Chain,
        ),
        (
            "from the past",
            Forged { ts: "2026-07-22T11:59:59.999999Z".to_owned(), ..forged(r#"{"cents":2}"#) }.line(),
            DamageKind::Time,
        ),
    ]
}

/// R04: line 3 of 6, damaged in each way there is.
#[test]
fn every_kind_of_damage_is_told_with_its_place() {
    let (disk, ledger) = in_memory();
    six_events(&ledger);
    let path = account("a").join(LOG);
    let log = read(&disk, &path);
    let whole: Vec<Vec<u8>> = lines(&log).into_iter().map(<[u8]>::to_vec).collect();
    let offset = whole[..2].concat().len() as u64;
    for (what, line, kind) in damaged_third_lines(&whole) {
        let mut damaged = whole.clone();
        damaged[2] = line;
        write(&disk, &path, &damaged.concat());
        assert_damaged(&disk, &Damage { line: 3, offset, kind, lines_behind: 3 }, what);
    }
}

/// Text that is no UTF-8 is nothing that the ledger writes, even under a hash that matches.
#[test]
fn a_line_that_is_not_text_is_damage() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    let path = account("a").join(LOG);
    let mut log = read(&disk, &path);
    let offset = log.len() as u64;
    let line =
        Forged::new("account/a", 2, hash_of(&log), "account.credited", r#"{"cents":1,"note":"?"}"#).line();
    let mut body = line[..line.len() - 76].to_vec();
    let mark = body.iter().rposition(|&byte| byte == b'?').unwrap();
    body[mark] = 0xff;
    let hash = Digest::of(&body);
    log.extend_from_slice(&body);
    log.extend_from_slice(format!(",\"hash\":\"{hash}\"}}\n").as_bytes());
    write(&disk, &path, &log);
    let kind = DamageKind::Shape { part: "data" };
    assert_damaged(&disk, &Damage { line: 2, offset, kind, lines_behind: 0 }, "not text");
}

/// Damage within a batch is told with its line, and nothing of the batch is shown.
#[test]
fn damage_within_a_batch() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a")
        .append(Expect::Any, "teller", vec![credited(1), credited(2), credited(3)])
        .unwrap();
    let path = account("a").join(LOG);
    let log = read(&disk, &path);
    let offset = lines(&log)[..2].concat().len();
    let mut damaged = log.clone();
    damaged[offset + 10] ^= 1;
    write(&disk, &path, &damaged);
    let expected = Damage { line: 3, offset: offset as u64, kind: DamageKind::Hash, lines_behind: 1 };
    assert_damaged(&disk, &expected, "a batch");
    let mut seen = Vec::new();
    let raw = open(disk, Path::new("/bank")).raw("account", "a").unwrap();
    raw.visit(|event| {
        seen.push(event.seq);
        std::ops::ControlFlow::Continue(())
    })
    .unwrap_err();
    assert_eq!(seen, [1]);
}

/// Bytes without a line feed that no unfinished write of a line can leave. Zeros can be what a power loss left of many
/// lines: it is a tail if no line feed follows, and a hole if one does.
#[test]
fn what_is_longer_than_a_line() {
    let limit = 64 << 10;
    let cases: [(u8, usize, &[u8], Option<DamageKind>); 7] = [
        (b'x', limit - 1, b"", None),
        (b'x', limit, b"", Some(DamageKind::TooLarge { what: "line", limit: 64 << 10 })),
        (b'x', limit, b"\n", Some(DamageKind::TooLarge { what: "line", limit: 64 << 10 })),
        (0, limit - 1, b"", None),
        (0, limit, b"", None),
        (0, 5 * limit, b"}", None),
        (0, 5 * limit, b"}\n", Some(DamageKind::Hole)),
    ];
    for (byte, length, end, kind) in cases {
        let (disk, ledger) = in_memory();
        open_account(&ledger, "a");
        let path = account("a").join(LOG);
        let log = read(&disk, &path);
        let offset = log.len() as u64;
        write(&disk, &path, &[log, vec![byte; length], end.to_vec()].concat());
        let opened = open(disk.clone(), Path::new("/bank")).stream::<Account>("a");
        if let Some(kind) = kind {
            let Err(StreamError::Read(error)) = opened else { panic!("{opened:?}") };
            assert_eq!(damage_of(error), Damage { line: 2, offset, kind, lines_behind: 0 });
        } else {
            let stream = opened.unwrap();
            let tail = UnfinishedTail { offset, bytes: (length + end.len()) as u64 };
            assert_eq!(stream.unfinished_tail().unwrap(), Some(tail));
            stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
            assert_eq!(stream.state().unwrap().folded, [1, 3]);
        }
    }
}

/// R04: a damaged stream takes no writes; other streams go on.
#[test]
fn a_damaged_stream_refuses_writes() {
    let (disk, ledger) = in_memory();
    six_events(&ledger);
    let other = open_account(&ledger, "b");
    let handle = ledger.stream::<Account>("a").unwrap();
    let late = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
    let path = account("a").join(LOG);
    let mut log = read(&disk, &path);
    let end = log.len() as u64;
    // Behind everything that the handles have verified.
    log.extend_from_slice(b"{\"schema_version\":1}\n{\"schema_version\":1}\n");
    write(&disk, &path, &log);
    let before = tree(&disk, Path::new("/bank/account/a"));
    for (what, handle) in [("once", &handle), ("again", &handle), ("another", &late)] {
        let error = handle.append(Expect::Any, "teller", vec![credited(9)]).unwrap_err();
        let AppendError::Read(error) = error else { panic!("{what}: {error}") };
        let expected = Damage { line: 7, offset: end, kind: DamageKind::Hash, lines_behind: 1 };
        assert_eq!(damage_of(error), expected, "{what}");
        assert_eq!(damage_of(handle.state().unwrap_err()), expected, "{what}");
    }
    assert_eq!(tree(&disk, Path::new("/bank/account/a")), before);
    other.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    assert_eq!(ledger.ids("account").unwrap().len(), 2);
}

/// A read that fails and later succeeds has folded every event once.
#[test]
fn nothing_is_folded_twice_after_damage_was_mended() {
    let (disk, ledger) = in_memory();
    let watcher = open_account(&ledger, "a");
    let path = account("a").join(LOG);
    let writer = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap();
    for cents in [1, 2, 3] {
        writer.append(Expect::Any, "teller", vec![credited(cents)]).unwrap();
    }
    let whole = read(&disk, &path);
    let mut damaged = whole.clone();
    let last = damaged.len() - 20;
    damaged[last] ^= 1;
    write(&disk, &path, &damaged);
    assert_eq!(watcher.state().unwrap_err().code(), "damaged");
    write(&disk, &path, &whole);
    assert_eq!(watcher.state().unwrap().folded, [1, 2, 3, 4]);
    assert_eq!(watcher.state().unwrap().cents, 6);
}

/// The intent belongs to the stream as much as its events do.
#[test]
fn a_missing_or_changed_file() {
    let (disk, ledger) = in_memory();
    six_events(&ledger);
    let intent = read(&disk, &account("a").join(INTENT));
    let damage = |line, kind, lines_behind| Damage { line, offset: 0, kind, lines_behind };

    write(&disk, &account("a").join(INTENT), b"{\n  \"owner\": \"Bob\"\n}\n");
    assert_damaged(&disk, &damage(1, DamageKind::Intent, 5), "another intent");
    write(&disk, &account("a").join(INTENT), b"{}");
    assert_damaged(&disk, &damage(1, DamageKind::Intent, 5), "no intent of the domain");
    let mut long = intent.clone();
    long.resize((128 << 10) + 1, b' ');
    write(&disk, &account("a").join(INTENT), &long);
    let error = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap_err();
    let StreamError::Read(error) = error else { panic!("{error}") };
    let kind = DamageKind::TooLarge { what: "intent", limit: 128 << 10 };
    assert_eq!(damage_of(error), damage(0, kind, 0));

    disk.unlink(&account("a").join(INTENT)).unwrap();
    assert_damaged(&disk, &damage(0, DamageKind::Intent, 0), "no intent");
    write(&disk, &account("a").join(INTENT), &intent);
    disk.unlink(&account("a").join(LOG)).unwrap();
    assert_damaged(&disk, &damage(1, DamageKind::Empty, 0), "no log");
    disk.unlink(&account("a").join(INTENT)).unwrap();
    let error = open(disk.clone(), Path::new("/bank")).stream::<Account>("a").unwrap_err();
    assert_eq!(error.code(), "not_found", "an empty directory is no stream");
}
