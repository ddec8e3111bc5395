//! Creating streams: all of it or nothing, private, and never seen half done.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use harn_ledger::disk::{Disk, Lock, MemDisk, Open, OsDisk};
use harn_ledger::{
    AppendError, CreateError, Decider, Entry, Expect, Ledger, ProblemKind, Recorded, StreamError,
    VerifyOptions,
};
use serde::{Deserialize, Serialize};

use crate::account::{
    Account, AccountEvent, AccountRefusal, Ballot, BallotEvent, Owner, Question, credited, open_account,
};
use crate::process::Player;
use crate::scripted_disk::{Act, Call, ScriptedDisk};
use crate::store::{LOG, account, in_memory, on_disk, open, read, tree};

fn owner() -> Owner {
    Owner { owner: "Alice".to_owned(), contract: None }
}

fn create(ledger: &Ledger, id: &str) -> Result<(), CreateError> {
    ledger.create::<Account>(id, "teller", &owner(), &[AccountEvent::Opened {}]).map(drop)
}

#[test]
fn a_new_stream_has_its_intent_and_first_events() {
    let (_directory, root, ledger) = on_disk();
    let events = [AccountEvent::Opened {}, credited(5)];
    let stream = ledger.create::<Account>("a", "teller", &owner(), &events).unwrap();
    assert_eq!(stream.head().unwrap().seq, 2);
    assert_eq!(stream.state().unwrap().cents, 5);
    assert_eq!(read(&OsDisk, &root.join("account/a/intent.json")), b"{\n  \"owner\": \"Alice\"\n}\n");
    assert_eq!(ledger.raw("account", "a").unwrap().intent().unwrap(), b"{\n  \"owner\": \"Alice\"\n}\n");
    let entries = stream.history().unwrap();
    let recorded: Vec<&AccountEvent> = entries.iter().map(|entry| &entry.domain().unwrap().event).collect();
    assert_eq!(recorded, events.iter().collect::<Vec<_>>());
    assert!(matches!(entries[0], Entry::Domain(Recorded { seq: 1, .. })));
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
    assert_eq!(std::fs::read_dir(root.join(".new")).unwrap().count(), 0);
}

/// Everything that is refused is refused before anything is written, and `check_new` says the same. (W-02, W-03, W-09)
#[test]
fn what_is_refused_leaves_no_trace() {
    let (disk, ledger) = in_memory();
    create(&ledger, "taken").unwrap();
    let before = tree(&disk, Path::new("/bank"));
    let opened = [AccountEvent::Opened {}];
    let long = "x".repeat(70_000);
    let cases: [(&str, &str, &[AccountEvent], &str); 9] = [
        ("taken", "teller", &opened, "already_exists"),
        ("", "teller", &opened, "invalid_id"),
        ("../escape", "teller", &opened, "invalid_id"),
        (".hidden", "teller", &opened, "invalid_id"),
        ("a/b", "teller", &opened, "invalid_id"),
        ("a\n", "teller", &opened, "invalid_id"),
        ("new", "", &opened, "text_blank"),
        ("new", "teller", &[], "no_events"),
        ("new", "teller", &[AccountEvent::Credited { cents: 1, note: Some(long) }], "limit_reached"),
    ];
    for (id, actor, events, code) in cases {
        let error = ledger.create::<Account>(id, actor, &owner(), events).unwrap_err();
        assert_eq!(error.code(), code, "{id:?}: {error}");
        let checked = ledger.check_new::<Account>(id, actor, &owner(), events).unwrap_err();
        assert_eq!(checked.code(), code, "{id:?}: {checked}");
    }
    ledger.check_new::<Account>("new", "teller", &owner(), &opened).unwrap();
    let question = Question { question: "?".repeat(200) };
    let error = ledger.create::<Ballot>("b", "clerk", &question, &[BallotEvent::Opened {}]).unwrap_err();
    assert!(matches!(error, CreateError::IntentTooLarge { bytes: 221, limit: 200, .. }), "{error}");
    assert_eq!(tree(&disk, Path::new("/bank")), before);
    let longest = Question { question: "?".repeat(179) };
    ledger.create::<Ballot>("b", "clerk", &longest, &[BallotEvent::Opened {}]).unwrap();
}

/// A domain whose intent is of any JSON.
struct Anything<const KIND: u8>;

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct AnyIntent(serde_json::Value);

/// An intent that is not read as it was written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drifting {
    #[serde(deserialize_with = "one_more")]
    count: u64,
}

fn one_more<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    u64::deserialize(deserializer).map(|count| count + 1)
}

/// An intent that cannot be read at all.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lossy {
    #[serde(skip_deserializing)]
    kept: u64,
}

macro_rules! anything {
    ($number:literal, $kind:literal, $intent:ty) => {
        impl Decider for Anything<$number> {
            const KIND: &'static str = $kind;
            type Intent = $intent;
            type Event = AccountEvent;
            type State = ();
            type Command = ();
            type Facts = ();
            type Refusal = AccountRefusal;

            fn init(_: &$intent) {}

            fn decide((): &(), (): (), (): &()) -> Result<Vec<AccountEvent>, AccountRefusal> {
                Ok(Vec::new())
            }

            fn evolve((): &mut (), _: &Recorded<AccountEvent>) {}
        }
    };
}

anything!(0, "anything", AnyIntent);
anything!(1, "drifting", Drifting);
anything!(2, "lossy", Lossy);
anything!(3, "Not-A-Kind", AnyIntent);
anything!(4, "blobs", AnyIntent);

#[test]
fn an_intent_that_is_not_canonical() {
    let (disk, ledger) = in_memory();
    let opened = [AccountEvent::Opened {}];
    let problem = |error: CreateError| match error {
        CreateError::IntentNotCanonical { problem, .. } => problem,
        other => panic!("{other}"),
    };
    let digest = harn_ledger::Digest::of(b"");
    let cases = [
        ("null", "is not an object without `null`"),
        ("[]", "is not an object without `null`"),
        (r#""text""#, "is not an object without `null`"),
        (r#"{"a":null}"#, "is not an object without `null`"),
        (r#"{"a":{"blob":"x"}}"#, "has a member `blob` that is not a citation"),
        (r#"{"blob":1}"#, "has a member `blob` that is not a citation"),
        (
            &format!(r#"{{"a":[{{"blob":"{digest}","bytes":0,"note":1}}]}}"#),
            "has a member `blob` that is not a citation",
        ),
    ];
    for (intent, expected) in cases {
        let intent = AnyIntent(serde_json::from_str(intent).unwrap());
        let error = ledger.create::<Anything<0>>("a", "x", &intent, &opened).unwrap_err();
        assert_eq!(problem(error), expected);
    }
    let drifting = ledger.create::<Anything<1>>("a", "x", &Drifting { count: 1 }, &opened).unwrap_err();
    assert_eq!(problem(drifting), "is written differently after it was read back");
    let lossy = ledger.create::<Anything<2>>("a", "x", &Lossy { kept: 1 }, &opened).unwrap_err();
    assert!(problem(lossy).starts_with("cannot be read back"));
    for error in [
        ledger.create::<Anything<3>>("a", "x", &AnyIntent(serde_json::json!({})), &opened).unwrap_err(),
        ledger.create::<Anything<4>>("a", "x", &AnyIntent(serde_json::json!({})), &opened).unwrap_err(),
    ] {
        assert_eq!(error.code(), "invalid_kind");
    }
    assert_eq!(tree(&disk, Path::new("/bank")).len(), 1, "nothing was made");
    for intent in ["{}", r#"{"a":"null","b":[true,false,1.5e3,-1],"blobs":{}}"#] {
        let intent = AnyIntent(serde_json::from_str(intent).unwrap());
        ledger
            .create::<Anything<0>>(&format!("ok{}", intent.0.to_string().len()), "x", &intent, &opened)
            .unwrap();
    }
}

/// An id is taken once, however many want it at the same time.
#[test]
fn one_of_many_creators_wins() {
    let (_directory, root, _) = on_disk();
    for round in 0..5 {
        let start = Arc::new(Barrier::new(6));
        let threads: Vec<_> = (0..6)
            .map(|number| {
                let (ledger, start) = (open(OsDisk, &root), Arc::clone(&start));
                std::thread::spawn(move || {
                    start.wait();
                    let owner = Owner { owner: number.to_string(), contract: None };
                    let id = format!("a{round}");
                    match ledger.create::<Account>(&id, "teller", &owner, &[AccountEvent::Opened {}]) {
                        Ok(stream) => Some(stream.intent().owner.clone()),
                        Err(CreateError::AlreadyExists { .. }) => None,
                        Err(other) => panic!("{other}"),
                    }
                })
            })
            .collect();
        let won: Vec<String> = threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect();
        let stream = open(OsDisk, &root).stream::<Account>(&format!("a{round}")).unwrap();
        assert_eq!(won, [stream.intent().owner.clone()]);
    }
    assert_eq!(std::fs::read_dir(root.join(".new")).unwrap().count(), 0);
    assert_eq!(open(OsDisk, &root).verify(&VerifyOptions::default()).problems, []);
}

/// What stands in the way of a new stream, and what does not. (W-03)
#[test]
fn an_empty_directory_does_not_take_an_id() {
    let (disk, ledger) = in_memory();
    create(&ledger, "first").unwrap();
    disk.create_dir(&account("empty")).unwrap();
    disk.create_dir(&account("full")).unwrap();
    crate::store::write(&disk, &account("full").join("notes"), b"");
    crate::store::write(&disk, &account("file"), b"");
    for (id, code) in [("full", "already_exists"), ("file", "already_exists"), ("first", "already_exists")] {
        assert_eq!(create(&ledger, id).unwrap_err().code(), code, "{id}");
    }
    create(&ledger, "empty").unwrap();
    assert_eq!(ledger.stream::<Account>("empty").unwrap().head().unwrap().seq, 1);
}

/// Somebody who reads all the time sees no stream or a whole one.
#[test]
fn a_stream_is_never_seen_half_created() {
    let (_directory, root, ledger) = on_disk();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let ledger = open(OsDisk, &root);
            while !done.load(Ordering::Acquire) {
                for id in ledger.ids("account").unwrap() {
                    let stream = ledger.stream::<Account>(id.as_str()).unwrap();
                    assert_eq!(stream.state().unwrap().folded, [1, 2]);
                }
                match ledger.stream::<Account>("a12") {
                    Ok(stream) => assert_eq!(stream.state().unwrap().cents, 7),
                    Err(StreamError::Read(error)) => assert_eq!(error.code(), "not_found"),
                    Err(other) => panic!("{other}"),
                }
                assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
            }
        });
        for number in 0..25 {
            let events = [AccountEvent::Opened {}, credited(7)];
            ledger.create::<Account>(&format!("a{number}"), "teller", &owner(), &events).unwrap();
        }
        done.store(true, Ordering::Release);
        reader.join().unwrap();
    });
}

/// The role of a child: makes one of everything under a umask that permits all.
pub(crate) fn create_under_a_permissive_umask(root: &Path) {
    rustix::process::umask(rustix::fs::Mode::empty());
    let ledger = Ledger::open(root.join("bank")).unwrap();
    let stream = open_account(&ledger, "a");
    drop(stream.lease("a note").unwrap());
    ledger.blobs().put(b"evidence").unwrap();
    let log = root.join("bank/account/a").join(LOG);
    std::io::Write::write_all(&mut std::fs::File::options().append(true).open(log).unwrap(), b"half")
        .unwrap();
    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    std::fs::write(root.join("open to all"), "").unwrap();
}

#[test]
fn everything_is_private_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::TempDir::new().unwrap();
    Player::start("create privately", directory.path()).finish();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory.path().join("open to all")), 0o666, "the child's umask did not permit all");
    let mut seen = Vec::new();
    for (path, _) in tree(&OsDisk, &directory.path().join("bank")) {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}", path.display());
        seen.push(path);
    }
    let has = |name: &str| seen.iter().any(|path| path.to_string_lossy().contains(name));
    for name in ["bank", "account", "intent.json", "events.jsonl", "lease", "events.torn-", "blobs", ".new"] {
        assert!(has(name), "{name} was not made");
    }
}

/// What a dead builder left is removed by the next one; what a live one builds is not.
#[test]
fn staging_is_swept_of_the_dead_only() {
    let (disk, ledger) = in_memory();
    create(&ledger, "first").unwrap();
    let staging = PathBuf::from("/bank/.new");
    for name in ["1-dead", "2-dead-early", "4-live"] {
        disk.create_dir(&staging.join(name)).unwrap();
    }
    for file in
        ["1-dead/intent.json", "1-dead/events.jsonl", "3-dead-blob", "4-live/events.jsonl", "5-live-blob"]
    {
        crate::store::write(&disk, &staging.join(file), b"bytes");
    }
    let locked: Vec<_> = ["4-live/events.jsonl", "5-live-blob"]
        .map(|name| disk.open(&staging.join(name), Open::Write).unwrap())
        .into_iter()
        .inspect(|file| assert!(file.try_lock(Lock::Exclusive).unwrap()))
        .collect();
    let names = || {
        let mut names = disk.read_dir(&staging).unwrap();
        names.sort();
        names
    };
    create(&ledger, "second").unwrap();
    assert_eq!(names(), ["4-live", "5-live-blob"]);
    ledger.blobs().put(b"another").unwrap();
    assert_eq!(names(), ["4-live", "5-live-blob"]);
    drop(locked);
    create(&ledger, "third").unwrap();
    assert!(names().is_empty());
}

/// A sweep at each moment of a creation, by another process: the creation goes through, or starts over.
#[test]
fn a_sweep_at_any_moment_does_no_harm() {
    let moments = [
        (Call::CreateDir, "account"),
        (Call::Open, LOG),
        (Call::TryLock, LOG),
        (Call::Open, "intent.json"),
        (Call::Write, "intent.json"),
        (Call::Sync, "intent.json"),
        (Call::Write, LOG),
        (Call::Sync, LOG),
        (Call::Rename, "a"),
        (Call::SyncDir, "account"),
    ];
    for (call, name) in moments {
        let memory = MemDisk::new();
        let disk = ScriptedDisk::new(memory.clone());
        let ledger = open(disk.clone(), Path::new("/bank"));
        let other = open(memory.clone(), Path::new("/bank"));
        disk.next(call, name, Act::First(Box::new(move || create(&other, "other").unwrap())));
        create(&ledger, "a").unwrap();
        assert_eq!(disk.left(), 0, "{call:?} {name}");
        for id in ["a", "other"] {
            let stream = open(memory.clone(), Path::new("/bank")).stream::<Account>(id).unwrap();
            stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
        }
        assert_eq!(ledger.verify(&VerifyOptions::default()).problems, [], "{call:?} {name}");
        assert!(memory.read_dir(Path::new("/bank/.new")).unwrap().len() <= 1, "{call:?} {name}");
    }
}

/// The same for a blob.
#[test]
fn a_sweep_at_any_moment_does_no_harm_to_a_blob() {
    for (call, skipped) in
        [(Call::Open, 0), (Call::TryLock, 0), (Call::Write, 0), (Call::Sync, 0), (Call::Rename, 0)]
    {
        let memory = MemDisk::new();
        let disk = ScriptedDisk::new(memory.clone());
        let ledger = open(disk.clone(), Path::new("/bank"));
        let other = open(memory.clone(), Path::new("/bank"));
        open_account(&other, "first");
        disk.after(skipped, call, "*", Act::First(Box::new(move || create(&other, "other").unwrap())));
        let citation = ledger.blobs().put(b"evidence").unwrap();
        assert_eq!(disk.left(), 0, "{call:?}");
        assert_eq!(ledger.blobs().get(&citation).unwrap(), b"evidence");
    }
}

/// Each step of a creation failing once: no stream, nothing left over, and the next try succeeds.
#[test]
fn a_creation_that_fails_leaves_nothing() {
    let staged = format!("{}-*", std::process::id());
    let steps = [
        (Call::CreateDir, "account"),
        (Call::SyncDir, "bank"),
        (Call::CreateDir, ".new"),
        (Call::Open, LOG),
        (Call::Open, "intent.json"),
        (Call::Write, "intent.json"),
        (Call::Sync, "intent.json"),
        (Call::Write, LOG),
        (Call::Sync, LOG),
        (Call::SyncDir, &*staged),
        (Call::Rename, "a"),
    ];
    for (call, name) in steps {
        for (kind, code) in [
            (std::io::ErrorKind::StorageFull, "storage_full"),
            (std::io::ErrorKind::PermissionDenied, "write_failed"),
        ] {
            let memory = MemDisk::new();
            let disk = ScriptedDisk::new(memory.clone());
            let ledger = open(disk.clone(), Path::new("/bank"));
            disk.next(call, name, Act::Fail(kind));
            let error = create(&ledger, "a").unwrap_err();
            assert_eq!((error.code(), disk.left()), (code, 0), "{call:?} {name}");
            let exists = ledger.stream::<Account>("a").map(drop).unwrap_err();
            assert_eq!(exists.code(), "not_found", "{call:?} {name}");
            create(&ledger, "a").unwrap();
            assert_eq!(ledger.verify(&VerifyOptions::default()).problems, [], "{call:?} {name}");
            assert!(memory.read_dir(Path::new("/bank/.new")).unwrap().is_empty(), "{call:?} {name}");
        }
    }
}

/// A short write is no failure here: nobody sees the files yet, so they are written on.
#[test]
fn a_short_write_of_a_new_stream_is_written_on() {
    let memory = MemDisk::new();
    let disk = ScriptedDisk::new(memory.clone());
    let ledger = open(disk.clone(), Path::new("/bank"));
    for (name, length) in [("intent.json", 3), (LOG, 100), (LOG, 50)] {
        disk.next(Call::Write, name, Act::Short(length));
    }
    create(&ledger, "a").unwrap();
    assert_eq!(disk.left(), 0);
    assert_eq!(ledger.verify(&VerifyOptions::default()).problems, []);
    disk.next(Call::Write, LOG, Act::Short(0));
    assert_eq!(create(&ledger, "b").unwrap_err().code(), "write_failed");
}

/// The name of a new stream that may not survive: the stream is there, and is marked.
#[test]
fn a_stream_whose_name_was_not_synced_is_suspect() {
    let memory = MemDisk::new();
    let disk = ScriptedDisk::new(memory.clone());
    let ledger = open(disk.clone(), Path::new("/bank"));
    disk.next(Call::SyncDir, "account", Act::Fail(std::io::ErrorKind::Other));
    let error = create(&ledger, "a").unwrap_err();
    assert!(
        matches!(&error, CreateError::Append(AppendError::DurabilityUnknown { source: Some(_), .. })),
        "{error}"
    );
    assert_eq!(disk.count(Call::TryLock, LOG), 2, "the mark does not wait for the builder's own lock");
    let length = read(&memory, &account("a").join(LOG)).len();
    assert_eq!(read(&memory, &account("a").join("suspect")), format!("{length}\n").as_bytes());
    let problems = ledger.verify(&VerifyOptions::default()).problems;
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].kind, ProblemKind::Suspect);
    let stream = open(memory, Path::new("/bank")).stream::<Account>("a").unwrap();
    assert_eq!(stream.append(Expect::Any, "x", vec![credited(1)]).unwrap_err().code(), "durability_unknown");
}

/// The entry of a directory that somebody else made is synced too: they may not have lived to do it.
#[test]
fn the_entry_of_the_kind_is_synced_by_everybody() {
    let memory = MemDisk::new();
    let disk = ScriptedDisk::new(memory.clone());
    let ledger = open(disk.clone(), Path::new("/bank"));
    memory.create_dir(Path::new("/bank/account")).unwrap();
    let before = disk.count(Call::SyncDir, "bank");
    create(&ledger, "a").unwrap();
    assert_eq!(disk.count(Call::SyncDir, "bank"), before + 1);
}
