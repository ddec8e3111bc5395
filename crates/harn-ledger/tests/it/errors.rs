//! Every refusal as a person reads it: message, cause, hint. The texts stand in `tests/golden/errors.txt`; how to write
//! that file anew is said in `golden.rs`.

use std::error::Error;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use harn_ledger::text::TextError;
use harn_ledger::{
    Actor, AppendError, BLOB_MAX, BlobError, CHECKPOINT_STREAMS_MAX, Checkpoint, CheckpointError,
    CreateError, Damage, DamageKind, Digest, EventNotCanonical, LeaseError, OpenError, ParseCheckpointError,
    PlaceProblem, ProblemKind, ReadError, RepairError, StreamError, StreamId, StreamName, Timestamp,
    UnfinishedTail, UnsafePlace, WriteCheckpointError,
};

use crate::golden::assert_golden;

fn stream() -> StreamName {
    StreamName::new("account", StreamId::new("alice").unwrap()).unwrap()
}

fn path() -> PathBuf {
    PathBuf::from("/bank/account/alice/events.jsonl")
}

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "permission denied")
}

fn full() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "no space left on device")
}

fn too_open() -> UnsafePlace {
    UnsafePlace { path: path(), problem: PlaceProblem::Mode { mode: 0o644 } }
}

fn on_a_network() -> UnsafePlace {
    UnsafePlace { path: PathBuf::from("/bank"), problem: PlaceProblem::NetworkFileSystem { name: "nfs" } }
}

fn damaged(kind: DamageKind) -> ReadError {
    ReadError::Damaged { stream: stream(), damage: Damage { line: 3, offset: 616, kind, lines_behind: 2 } }
}

/// One error: its code, its message, its causes and what to do about it.
fn render(code: &str, error: &dyn Error, hint: Option<String>) -> String {
    let mut text = format!("{code}: {error}\n");
    let mut cause = error.source();
    while let Some(error) = cause {
        writeln!(text, "  because: {error}").unwrap();
        cause = error.source();
    }
    if let Some(hint) = hint {
        writeln!(text, "  hint: {hint}").unwrap();
    }
    text
}

macro_rules! render_all {
    ($errors:expr) => {
        $errors.into_iter().map(|error| render(error.code(), &error, error.hint())).collect::<Vec<String>>()
    };
}

fn reading() -> Vec<String> {
    let kinds = [
        DamageKind::Hole,
        DamageKind::Hash,
        DamageKind::Shape { part: "seq" },
        DamageKind::Foreign { stream: "account/bob\u{1b}".to_owned() },
        DamageKind::Sequence { expected: 3, found: 5 },
        DamageKind::Chain,
        DamageKind::Intent,
        DamageKind::Empty,
        DamageKind::Time,
        DamageKind::TooLarge { what: "line", limit: 65_536 },
        DamageKind::CutOff { expected: 700 },
    ];
    let mut errors: Vec<ReadError> = kinds.map(damaged).into();
    errors.extend([
        ReadError::NotFound { stream: stream() },
        ReadError::Newer { stream: stream(), seq: 3, what: "`account.frozen`".to_owned() },
        ReadError::DurabilityUnknown { stream: stream(), source: None },
        ReadError::DurabilityUnknown { stream: stream(), source: Some(refused()) },
        ReadError::Busy { stream: stream() },
        ReadError::Io { path: path(), source: refused() },
    ]);
    render_all!(errors)
}

fn appending() -> Vec<String> {
    let not_canonical = [
        EventNotCanonical::NotAStructVariant { json: "\"Opened\"".to_owned() },
        EventNotCanonical::Name { name: "Opened".to_owned() },
        EventNotCanonical::Null { name: "account.opened".to_owned() },
        EventNotCanonical::NotReadable {
            name: "account.opened".to_owned(),
            reason: "missing field".to_owned(),
        },
        EventNotCanonical::FalseCitation { name: "account.opened".to_owned() },
        EventNotCanonical::NotStable { name: "account.opened".to_owned() },
    ];
    let mut errors: Vec<AppendError> = not_canonical.map(Into::into).into();
    errors.extend([
        AppendError::Conflict { stream: stream() },
        AppendError::Busy { stream: stream() },
        AppendError::Actor(Actor::new("").unwrap_err()),
        AppendError::ReservedName { name: "ledger.cut".to_owned() },
        AppendError::LimitReached { stream: stream(), what: "number of events", limit: 9_984 },
        AppendError::StorageFull { path: path(), source: None },
        AppendError::StorageFull { path: path(), source: Some(full()) },
        AppendError::DurabilityUnknown { stream: stream(), source: Some(refused()) },
        AppendError::UnsafePlace(too_open()),
        AppendError::ReadOnly,
        AppendError::ReadOnlyFileSystem { path: path() },
        AppendError::Io { path: path(), source: refused() },
        AppendError::Read(damaged(DamageKind::Hash)),
    ]);
    render_all!(errors)
}

fn creating() -> Vec<String> {
    let bytes = 131_073;
    render_all!([
        CreateError::AlreadyExists { stream: stream() },
        CreateError::Id(StreamId::new("../a").unwrap_err()),
        CreateError::Kind(StreamName::new("Work", StreamId::new("a").unwrap()).unwrap_err()),
        CreateError::NoEvents { stream: stream() },
        CreateError::IntentNotCanonical {
            stream: stream(),
            problem: "is not an object without `null`".to_owned()
        },
        CreateError::IntentTooLarge { stream: stream(), bytes, limit: bytes - 1 },
        CreateError::Append(AppendError::UnsafePlace(too_open())),
        CreateError::Append(AppendError::UnsafePlace(on_a_network())),
    ])
}

fn naming_and_opening() -> Vec<String> {
    let mut texts = render_all!([
        StreamError::Id(StreamId::new("").unwrap_err()),
        StreamError::Kind(StreamName::new("blobs", StreamId::new("a").unwrap()).unwrap_err()),
        StreamError::Read(ReadError::NotFound { stream: stream() }),
    ]);
    texts.extend(render_all!([
        OpenError::NotADirectory { path: path() },
        OpenError::ReadOnlyFileSystem { path: path() },
        OpenError::Io { path: path(), source: refused() },
    ]));
    texts
}

fn leases_and_blobs() -> Vec<String> {
    let blob = Digest::of(b"evidence");
    let mut texts = render_all!([
        LeaseError::Held { stream: stream(), holder: "run r1 by teller".to_owned() },
        LeaseError::ReadOnly,
        LeaseError::ReadOnlyFileSystem { path: path() },
        LeaseError::UnsafePlace(UnsafePlace {
            path: path(),
            problem: PlaceProblem::Owner { expected: 1000, user: 0 }
        }),
        LeaseError::Io { path: path(), source: refused() },
    ]);
    texts.extend(render_all!([
        BlobError::Missing { blob },
        BlobError::Damaged { blob },
        BlobError::TooLarge { limit: BLOB_MAX },
        BlobError::ReadOnly,
        BlobError::ReadOnlyFileSystem { path: path() },
        BlobError::UnsafePlace(UnsafePlace {
            path: path(),
            problem: PlaceProblem::Kind { expected: "directory" }
        }),
        BlobError::Io { path: path(), source: refused() },
        BlobError::Io { path: path(), source: full() },
    ]));
    texts
}

fn texts() -> Vec<String> {
    let errors = [
        TextError::Blank { field: "title", max: 200 },
        TextError::TooLong { field: "title", length: 201, max: 200 },
        harn_ledger::text::check_line("title", "a\u{1b}b", 200).unwrap_err(),
        harn_ledger::text::check_block("reason", "a\u{7}", 200).unwrap_err(),
        TextError::Untrimmed { field: "title" },
    ];
    let mut texts: Vec<String> = errors.iter().map(|error| render(error.code(), error, None)).collect();
    texts.push(render("-", &"abc".parse::<Digest>().unwrap_err(), None));
    texts.push(render("-", &"yesterday".parse::<Timestamp>().unwrap_err(), None));
    texts
}

fn verifying() -> Vec<String> {
    let blob = Digest::of(b"evidence");
    let damage = Damage { line: 3, offset: 616, kind: DamageKind::Hash, lines_behind: 2 };
    let problems = [
        ProblemKind::UnfinishedTail(UnfinishedTail { offset: 616, bytes: 270 }),
        ProblemKind::Damaged(damage),
        ProblemKind::Newer { seq: 3, what: "schema_version 2 of the line format".to_owned() },
        ProblemKind::MissingBlob { blob, seq: 2 },
        ProblemKind::DamagedBlob { blob, seq: 0 },
        ProblemKind::FalseCitation { seq: 2 },
        ProblemKind::Suspect,
        ProblemKind::UnsafePlace(too_open()),
        ProblemKind::UnsafePlace(on_a_network()),
        ProblemKind::ForeignFile,
        ProblemKind::Unreadable { reason: "permission denied".to_owned() },
        ProblemKind::Shorter { seq: 3, known: 5, cut: None },
        ProblemKind::Shorter { seq: 3, known: 5, cut: Some(2) },
        ProblemKind::Rewritten { seq: 5, known: blob, found: Digest::of(b"forged"), cut: None },
        ProblemKind::Rewritten { seq: 5, known: blob, found: Digest::of(b"forged"), cut: Some(4) },
        ProblemKind::Removed { known: 5 },
        ProblemKind::AnotherLedger { streams: 2 },
    ];
    problems.iter().map(|problem| render(problem.code(), problem, None)).collect()
}

fn checkpoints() -> Vec<String> {
    let digest = Digest::of(b"evidence");
    let mut texts = render_all!([
        CheckpointError::Stream(damaged(DamageKind::Hash)),
        CheckpointError::TooManyStreams { limit: CHECKPOINT_STREAMS_MAX },
    ]);
    texts.extend(render_all!([
        ParseCheckpointError::TooLarge,
        ParseCheckpointError::Newer { version: 2 },
        Checkpoint::parse(b"{\n\"schema_version\":1").unwrap_err(),
        ParseCheckpointError::Name { entry: 2, name: "../a".to_owned() },
        ParseCheckpointError::Empty { entry: 2 },
        ParseCheckpointError::Order { entry: 2, stream: stream() },
        ParseCheckpointError::NotCanonical { line: 3 },
        ParseCheckpointError::Changed { stated: digest, found: Digest::of(b"forged") },
    ]));
    texts.extend(render_all!([
        WriteCheckpointError::AlreadyExists { path: path() },
        WriteCheckpointError::StorageFull { path: path(), source: full() },
        WriteCheckpointError::DurabilityUnknown { path: path(), source: refused() },
        WriteCheckpointError::Io { path: path(), source: refused() },
    ]));
    texts
}

fn repairing() -> Vec<String> {
    let damage = Damage { line: 1, offset: 0, kind: DamageKind::Intent, lines_behind: 2 };
    render_all!([
        RepairError::Id(StreamId::new("..").unwrap_err()),
        RepairError::Kind(StreamName::new("Work", StreamId::new("a").unwrap()).unwrap_err()),
        RepairError::NothingWhole { stream: stream(), damage },
        RepairError::NotReadBack { stream: stream() },
        RepairError::Append(AppendError::ReadOnly),
        RepairError::Append(AppendError::Read(damaged(DamageKind::Hash))),
    ])
}

#[test]
fn every_error_with_its_hint() {
    let sections = [
        ("Reading", reading()),
        ("Appending", appending()),
        ("Creating", creating()),
        ("Naming and opening", naming_and_opening()),
        ("Leases and blobs", leases_and_blobs()),
        ("Texts", texts()),
        ("Verifying", verifying()),
        ("Checkpoints", checkpoints()),
        ("Repairing", repairing()),
    ];
    let mut all = String::new();
    for (title, errors) in sections {
        writeln!(all, "# {title}\n").unwrap();
        for error in errors {
            assert_style(&error);
            all.push_str(&error);
        }
        all.push('\n');
    }
    assert_golden("errors.txt", all.trim_end());
}

/// A lower-case fragment without a final stop; no control characters; a code of lower-case words.
fn assert_style(rendered: &str) {
    for (index, line) in rendered.lines().enumerate() {
        let (label, text) = line.trim_start().split_once(": ").unwrap();
        if index == 0 && label != "-" {
            assert!(label.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "code: {line}");
        }
        let first = text.chars().next().unwrap();
        assert!(!first.is_uppercase(), "begins with a capital: {line}");
        assert!(!text.ends_with(['.', '!', ' ']), "ends with a stop: {line}");
        assert!(!text.chars().any(char::is_control), "has a control character: {line:?}");
    }
}
