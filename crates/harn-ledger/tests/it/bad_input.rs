//! Input that no ledger wrote: each gets a typed answer, nothing waits, and the streams beside it go on.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use harn_ledger::disk::{Disk as _, MemDisk, OsDisk};
use harn_ledger::{
    Decider as _, Digest, Expect, Ledger, OpenError, ProblemKind, ReadError, StreamError, VerifyOptions,
};
use tempfile::TempDir;

use crate::account::{Account, AccountEvent, Owner, credited, open_account};
use crate::forge::{Forged, lines};
use crate::scripted_disk::ScriptedDisk;
use crate::store::{INTENT, LOG, account, in_memory, noon, on_disk, open, read, tree, write};

fn owner() -> Owner {
    Owner { owner: "Alice".to_owned(), contract: None }
}

/// What verification finds, as places and codes.
fn problems(ledger: &Ledger) -> Vec<(String, &'static str)> {
    let problems = ledger.verify(&VerifyOptions::default()).problems;
    problems.into_iter().map(|problem| (problem.place, problem.kind.code())).collect()
}

/// Whole files that are not logs, with what is wrong and in which line.
#[test]
fn a_log_that_is_something_else() {
    let (disk, ledger) = in_memory();
    let stream = open_account(&ledger, "a");
    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    let path = account("a").join(LOG);
    let log = read(&disk, &path);
    let [first, second] = lines(&log)[..] else { panic!("two lines") };
    let zeros = |length| vec![0; length];
    let utf16: Vec<u8> = log.iter().flat_map(|byte| [*byte, 0]).collect();
    let cases: Vec<(&str, Vec<u8>, u64, &str)> = vec![
        ("nothing", Vec::new(), 1, "Empty"),
        ("one blank line", b"\n".to_vec(), 1, "Hash"),
        ("a million blank lines", vec![b'\n'; 1_000_000], 1, "Hash"),
        ("blanks", b"   \n".to_vec(), 1, "Hash"),
        ("a byte order mark", [b"\xef\xbb\xbf", &log[..]].concat(), 1, "Hash"),
        ("UTF-16", utf16, 1, "Hole"),
        ("no UTF-8", b"\xff\xfe\x80\xc0\n".to_vec(), 1, "Hash"),
        ("carriage returns", [&first[..first.len() - 1], b"\r\n", second].concat(), 1, "Hash"),
        ("only zeros", zeros(5000), 1, "Empty"),
        ("only zeros, more than a line", zeros(100_000), 1, "Empty"),
        ("a hole at the start", [&zeros(first.len() - 1), &b"\n"[..], second].concat(), 1, "Hole"),
        ("a hole of the start and more", [&zeros(first.len() + 10), &second[10..]].concat(), 1, "Hole"),
        ("a hole in the middle", [first, &zeros(40), second].concat(), 2, "Hole"),
        ("the same line again", [first, first].concat(), 2, "Sequence"),
        ("a list", b"[]\n".to_vec(), 1, "Hash"),
        ("deep nesting", [&b"[".repeat(60_000)[..], b"\n"].concat(), 1, "Hash"),
        ("a long line", [first, &b"x".repeat(70_000), b"\n"].concat(), 2, "TooLarge"),
    ];
    for (what, bytes, line, kind) in cases {
        write(&disk, &path, &bytes);
        let ledger = open(disk.clone(), Path::new("/bank"));
        match ledger.stream::<Account>("a") {
            Err(StreamError::Read(ReadError::Damaged { damage, .. })) => {
                assert_eq!(damage.line, line, "{what}");
                assert!(format!("{:?}", damage.kind).starts_with(kind), "{what}: {:?}", damage.kind);
            }
            other => panic!("{what}: {other:?}"),
        }
        // Whoever does not know the domain has wider limits.
        let raw = ledger.raw("account", "a").unwrap().verify();
        assert_eq!(raw.map_err(|error| error.code()), Err("damaged"), "{what}");
        assert_eq!(problems(&ledger), [("account/a".to_owned(), "damaged")], "{what}");
        assert!(read(&disk, &path) == bytes, "{what}: it was touched");
    }
    // Zeros behind whole lines are what a power loss leaves of an append.
    write(&disk, &path, &[&log[..], &zeros(5000)].concat());
    let stream = open(disk, Path::new("/bank")).stream::<Account>("a").unwrap();
    assert_eq!(stream.unfinished_tail().unwrap().map(|tail| tail.bytes), Some(5000));
}

/// A file that says to be 4 GiB long, and takes no room.
fn make_vast(path: &Path) {
    let file = std::fs::File::options().write(true).create(true).truncate(false).open(path).unwrap();
    file.set_len(4 << 30).unwrap();
}

/// Files beside the log that are longer than anything that belongs there: not even looked into.
#[test]
fn a_vast_file_beside_the_log_is_not_read() {
    for file in [INTENT, "lease", "suspect"] {
        let (_directory, root, ledger) = on_disk();
        drop(open_account(&ledger, "a").lease("x").unwrap());
        open_account(&ledger, "b");
        make_vast(&root.join("account/a").join(file));
        let disk = ScriptedDisk::new(OsDisk);
        let ledger = open(disk.clone(), &root);
        let stream = ledger.stream::<Account>("a");
        let appended = stream.as_ref().map(|stream| {
            let appended = stream.append(Expect::Any, "teller", vec![credited(1)]);
            (appended.map(drop).map_err(|error| error.code()), stream.lease_status().is_ok())
        });
        let expected = match file {
            INTENT => Err("damaged"),
            "suspect" => Ok((Err("durability_unknown"), true)),
            _ => Ok((Ok(()), true)),
        };
        assert_eq!(appended.map_err(StreamError::code), expected, "{file}");
        let raw = ledger.raw("account", "a").unwrap().verify();
        assert_eq!(raw.is_err(), file == INTENT);
        assert_eq!(problems(&ledger).is_empty(), file == "lease", "{file}");
        let (bytes, _) = disk.reads();
        assert!(bytes < 100_000, "{file}: {bytes} bytes were read");
    }
}

/// A log that is longer than any log of its kind is read no further than such a log could go: once without the lock, and
/// once under it. Whoever knows no limits reads all of it, but never keeps more than one batch.
#[test]
fn a_vast_log_is_read_within_limits() {
    const MIB: u64 = 1 << 20;
    let (_directory, root, ledger) = on_disk();
    open_account(&ledger, "a").append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    let path = root.join("account/a").join(LOG);
    let whole = std::fs::read(&path).unwrap();
    let endless = [&whole[..], &b"x".repeat(100_000)].concat();
    // What stands at the start, how long the file is, and what is said.
    let cases = [
        ("a hole", &b""[..], 4096 * MIB, 1, "Hole"),
        ("a hole behind whole lines", &whole, 4096 * MIB, 3, "Hole"),
        ("a line without an end", &endless, 4096 * MIB, 3, "TooLarge"),
        ("a hole of no more than a batch", &whole, 16 * MIB, 0, ""),
    ];
    for (what, start, length, line, kind) in cases {
        std::fs::write(&path, start).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
        let disk = ScriptedDisk::new(OsDisk);
        let ledger = open(disk.clone(), &root);
        match ledger.stream::<Account>("a") {
            Ok(stream) => assert_eq!((stream.head().unwrap().seq, line), (2, 0), "{what}"),
            Err(StreamError::Read(ReadError::Damaged { damage, .. })) => {
                assert_eq!(damage.line, line, "{what}");
                assert!(format!("{:?}", damage.kind).starts_with(kind), "{what}: {:?}", damage.kind);
            }
            Err(other) => panic!("{what}: {other}"),
        }
        let (bytes, at_once) = disk.reads();
        assert!(bytes <= 5 * 16 * MIB && at_once <= 128 << 10, "{what}: {bytes} bytes were read");
    }
    // A checkpoint that knows the limits reads no further either.
    std::fs::write(&path, &whole).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(4096 * MIB).unwrap();
    let disk = ScriptedDisk::new(OsDisk);
    let mut options = VerifyOptions::default();
    options.limits.insert(Account::KIND.to_owned(), Account::LIMITS);
    assert_eq!(open(disk.clone(), &root).checkpoint_with(&options).unwrap_err().code(), "damaged");
    assert!(disk.reads().0 <= 5 * 16 * MIB);
    // The same without limits on the log, on a file that takes less time.
    std::fs::File::options().write(true).open(&path).unwrap().set_len(64 * MIB).unwrap();
    let disk = ScriptedDisk::new(OsDisk);
    let ledger = open(disk.clone(), &root);
    assert_eq!(ledger.raw("account", "a").unwrap().verify().map_err(|error| error.code()), Err("damaged"));
    let (bytes, at_once) = disk.reads();
    assert!(
        bytes <= 3 * 64 * MIB && at_once as u64 <= 16 * MIB,
        "{bytes} bytes were read, {at_once} at once"
    );
}

/// A blob that is longer than its citation says is damaged, whatever it holds.
#[test]
fn a_vast_blob_is_not_read() {
    let (_directory, root, ledger) = on_disk();
    let citation = ledger.blobs().put(b"evidence").unwrap();
    let digits = citation.blob.to_string();
    make_vast(&root.join("blobs").join(&digits[..2]).join(&digits));
    let disk = ScriptedDisk::new(OsDisk);
    let ledger = open(disk.clone(), &root);
    assert_eq!(ledger.blobs().get(&citation).unwrap_err().code(), "blob_damaged");
    assert_eq!(disk.reads(), (0, 0));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thing {
    Pipe,
    Socket,
    Device,
    Directory,
    File,
}

impl Thing {
    /// Puts it at `path`, in place of what is there; false if the machine does not let us.
    fn put(self, path: &Path) -> bool {
        let _ = std::fs::remove_file(path);
        let _ = std::fs::remove_dir_all(path);
        let made = |command: &mut Command| command.status().is_ok_and(|status| status.success());
        match self {
            Self::Pipe => assert!(made(Command::new("mkfifo").arg(path))),
            Self::Socket => drop(UnixListener::bind(path).unwrap()),
            // Reading `/dev/zero` would go on for ever. Only some may make a device.
            Self::Device => {
                return OsDisk.user() == 0 && made(Command::new("mknod").arg(path).args(["c", "1", "5"]));
            }
            Self::Directory => std::fs::create_dir(path).unwrap(),
            Self::File => std::fs::write(path, "x").unwrap(),
        }
        true
    }
}

/// What is said when something else stands at a place. The codes are those of reading the stream, of appending with a
/// handle that was there before, of its lease, of creating another stream and of storing a blob; `ok` if it is done.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    read: &'static str,
    append: &'static str,
    lease: &'static str,
    create: &'static str,
    put: &'static str,
}

const FINE: Said = Said { read: "ok", append: "ok", lease: "ok", create: "ok", put: "ok" };

/// Pipes, sockets, devices, and files and directories in each other's place. Links are in `place_table`.
#[test]
fn something_else_in_the_place_of_a_file_or_directory() {
    let unsafe_stream = Said { append: "unsafe_place", lease: "unsafe_place", ..FINE };
    let special = [Thing::Pipe, Thing::Socket, Thing::Device];
    let for_file = [&special[..], &[Thing::Directory]].concat();
    let for_directory = [&special[..], &[Thing::File]].concat();
    let cases = [
        ("account/a/events.jsonl", &for_file, Said { read: "read_failed", ..unsafe_stream }),
        ("account/a/intent.json", &for_file, Said { read: "read_failed", ..unsafe_stream }),
        ("account/a/lease", &for_file, Said { lease: "unsafe_place", ..FINE }),
        ("account/a/suspect", &for_file, Said { append: "durability_unknown", ..FINE }),
        ("account/a/events.torn-x", &for_file, FINE),
        ("account/a", &for_directory, Said { read: "not_found", ..unsafe_stream }),
        ("account", &for_directory, Said { read: "not_found", create: "unsafe_place", ..unsafe_stream }),
        (".new", &for_directory, Said { create: "unsafe_place", put: "unsafe_place", ..FINE }),
        (".new/x", &for_file, FINE),
        ("blobs", &for_directory, Said { put: "unsafe_place", ..FINE }),
    ];
    for (place, things, expected) in &cases {
        for thing in *things {
            let (_directory, root, ledger) = on_disk();
            let handle = open_account(&ledger, "a");
            open_account(&ledger, "b");
            if !thing.put(&root.join(place)) {
                continue;
            }
            let before = std::fs::symlink_metadata(root.join(place)).unwrap().file_type();
            let fresh = open(OsDisk, &root);
            let found = problems(&fresh);
            let code = |result: Result<(), &'static str>| result.err().unwrap_or("ok");
            let append = handle.append(Expect::Any, "teller", vec![credited(1)]);
            let new = fresh.create::<Account>("new", "teller", &owner(), &[AccountEvent::Opened {}]);
            let said = Said {
                append: code(append.map(drop).map_err(|error| error.code())),
                lease: code(handle.lease("x").map(drop).map_err(|error| error.code())),
                read: code(fresh.stream::<Account>("a").map(drop).map_err(|error| error.code())),
                create: code(new.map(drop).map_err(|error| error.code())),
                put: code(fresh.blobs().put(b"evidence").map(drop).map_err(|error| error.code())),
            };
            assert_eq!(said, *expected, "{thing:?} at {place}");
            let own = Path::new(place).components().next().unwrap().as_os_str().to_str().unwrap();
            assert!(
                found.iter().all(|(at, _)| at.starts_with(own) && at != "account/b"),
                "{thing:?} at {place}: {found:?}"
            );
            assert_eq!(found.is_empty(), *place == ".new/x", "{thing:?} at {place}: {found:?}");
            if *place != "account" {
                let other = fresh.stream::<Account>("b").unwrap();
                other.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
            }
            if *place != ".new/x" {
                let after = std::fs::symlink_metadata(root.join(place)).unwrap().file_type();
                assert_eq!(after, before, "{thing:?} at {place} was replaced");
            }
        }
    }
}

/// A root that cannot be one is told when it is opened, for writing and for reading.
#[test]
fn something_else_in_the_place_of_the_root() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("bank");
    let opens = || {
        [false, true].map(|read_only| match Ledger::builder(&path).read_only(read_only).open() {
            Ok(_) => "ok",
            Err(OpenError::NotADirectory { path: named }) => {
                assert_eq!(named, path);
                "not_a_directory"
            }
            Err(error) => error.code(),
        })
    };
    for thing in [Thing::File, Thing::Pipe, Thing::Socket, Thing::Device] {
        if thing.put(&path) {
            assert_eq!(opens(), ["not_a_directory"; 2], "{thing:?}");
        }
    }
    std::fs::remove_file(&path).unwrap();
    let target = directory.path().join("target");
    std::os::unix::fs::symlink(&target, &path).unwrap();
    assert_eq!(opens(), ["open_failed"; 2], "a link to nothing");
    std::fs::write(&target, "x").unwrap();
    assert_eq!(opens(), ["not_a_directory"; 2], "a link to a file");
    std::fs::remove_file(&target).unwrap();
    std::fs::create_dir(&target).unwrap();
    assert_eq!(opens(), ["ok"; 2], "a link to a directory");
}

/// Whatever is asked of them, names that lead elsewhere lead nowhere.
#[test]
fn names_that_are_none() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    let before = tree(&disk, Path::new("/"));
    let long = "x".repeat(101);
    let names = [
        "", ".", "..", "/", "a/b", "../a", "a/../a", "/etc", "a\0", "\0", "-a", "_a", ".a", " a", "a ",
        "a\n", "é", "a\\b", "~", "*", &long,
    ];
    for name in names {
        let opened = [AccountEvent::Opened {}];
        let codes = [
            ledger.create::<Account>(name, "x", &owner(), &opened).map(drop).unwrap_err().code(),
            ledger.check_new::<Account>(name, "x", &owner(), &opened).unwrap_err().code(),
            ledger.stream::<Account>(name).map(drop).unwrap_err().code(),
            ledger.raw("account", name).map(drop).unwrap_err().code(),
        ];
        assert_eq!(codes, ["invalid_id"; 4], "{name:?}");
        let codes = [
            ledger.raw(name, "a").map(drop).err().map(|error| error.code()),
            ledger.ids(name).map(drop).err().map(|error| error.code()),
        ];
        assert_eq!(codes, [Some("invalid_kind"); 2], "{name:?}");
    }
    for reserved in ["blobs", "catalog"] {
        assert_eq!(ledger.raw(reserved, "a").map(drop).unwrap_err().code(), "invalid_kind");
    }
    assert_eq!(tree(&disk, Path::new("/")), before);
}

/// Names on the disk that are no text, among the streams and in one.
#[test]
fn files_whose_names_are_no_text() {
    let (_directory, root, ledger) = on_disk();
    let stream = open_account(&ledger, "a");
    let odd = OsStr::from_bytes(b"\xff\xfe");
    for place in ["", "account", "account/a"] {
        std::fs::create_dir(root.join(place).join(odd)).unwrap();
    }
    std::fs::write(root.join("account/a").join(OsStr::from_bytes(b"events.torn-\xff")), "x").unwrap();
    let ids: Vec<String> = ledger.ids("account").unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(ids, ["a"]);
    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    assert_eq!(open(OsDisk, &root).stream::<Account>("a").unwrap().state().unwrap().folded, [1, 2]);
    let found = problems(&ledger);
    let foreign = found.iter().filter(|(_, code)| *code == "foreign_file");
    let mut foreign: Vec<&str> = foreign.map(|(place, _)| &**place).collect();
    foreign.sort_unstable();
    let lossy = "\u{fffd}\u{fffd}";
    assert_eq!(foreign, [&format!("account/a/{lossy}"), &format!("account/{lossy}"), lossy]);
}

/// One damaged stream among many keeps nobody from the others, and verification names it alone.
#[test]
fn one_damaged_stream_among_many() {
    const STREAMS: usize = 2000;
    let (disk, ledger) = in_memory();
    open_account(&ledger, "model");
    let intent = read(&disk, &account("model").join(INTENT));
    let mut line = Forged::new("", 1, Digest::of(&intent), "account.opened", "{}");
    line.ts = noon().to_string();
    let id = |number: usize| format!("a{number}");
    for number in 1..STREAMS {
        let directory = account(&id(number));
        disk.create_dir(&directory).unwrap();
        write(&disk, &directory.join(INTENT), &intent);
        line.stream = format!("account/{}", id(number));
        write(&disk, &directory.join(LOG), &line.line());
    }
    let damaged = STREAMS / 2;
    let path = account(&id(damaged)).join(LOG);
    let mut log = read(&disk, &path);
    log[100] ^= 1;
    write(&disk, &path, &log);

    let ledger = open(disk, Path::new("/bank"));
    let found = ledger.verify(&VerifyOptions::default());
    assert_eq!((found.streams, found.events), (STREAMS as u64, STREAMS as u64 - 1));
    assert_eq!(found.problems.len(), 1);
    assert_eq!(found.problems[0].place, format!("account/{}", id(damaged)));
    assert!(matches!(found.problems[0].kind, ProblemKind::Damaged(_)));
    let ids = ledger.ids("account").unwrap();
    assert_eq!(ids.len(), STREAMS);
    for number in [1, damaged - 1, damaged + 1, STREAMS - 1] {
        let stream = ledger.stream::<Account>(&id(number)).unwrap();
        stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    }
    assert_eq!(ledger.stream::<Account>(&id(damaged)).unwrap_err().code(), "damaged");
    open_account(&ledger, "new");
}

/// R19: what a directory is called is nobody's business.
#[test]
fn roots_with_odd_names() {
    let directory = TempDir::new().unwrap();
    let long = "x".repeat(255);
    let names: Vec<&OsStr> = vec![
        "проект".as_ref(),
        // One letter in two spellings: two directories, except where the system takes them for one.
        "caf\u{e9}".as_ref(),
        "cafe\u{301}".as_ref(),
        "-dash".as_ref(),
        "sp ace".as_ref(),
        " ".as_ref(),
        "new\nline".as_ref(),
        "quo'te\"s".as_ref(),
        "$HOME".as_ref(),
        "*".as_ref(),
        "\u{1b}[2J".as_ref(),
        "🦀".as_ref(),
        "blobs".as_ref(),
        ".hidden".as_ref(),
        long.as_ref(),
        OsStr::from_bytes(b"no text \xff\xfe"),
    ];
    let mut roots: Vec<PathBuf> = Vec::new();
    for name in names {
        let root = directory.path().join(name);
        let Ok(ledger) = Ledger::open(&root) else {
            // Some systems only take text.
            assert!(name.to_str().is_none(), "{name:?}");
            continue;
        };
        let id = format!("a{}", roots.len());
        let stream = open_account(&ledger, &id);
        stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
        drop(stream.lease("x").unwrap());
        let citation = ledger.blobs().put(b"evidence").unwrap();

        let again = Ledger::open(&root).unwrap();
        assert_eq!(again.root(), root);
        assert_eq!(again.stream::<Account>(&id).unwrap().state().unwrap().folded, [1, 2]);
        assert_eq!(again.blobs().get(&citation).unwrap(), b"evidence");
        assert_eq!(problems(&again), []);
        // What is said about it can be said.
        std::fs::remove_file(root.join("account").join(&id).join(LOG)).unwrap();
        let error = Ledger::open(&root).unwrap().stream::<Account>(&id).unwrap_err();
        assert_eq!(error.code(), "damaged");
        roots.push(root);
    }
    assert!(roots.len() >= 14);
}

/// The same on the disk in memory, which takes paths as they are.
#[test]
fn roots_with_odd_names_in_memory() {
    let disk = MemDisk::new();
    for (number, name) in ["/caf\u{e9}", "/cafe\u{301}", "/sp ace", "/-dash"].into_iter().enumerate() {
        let ledger = open(disk.clone(), Path::new(name));
        open_account(&ledger, &format!("a{number}"));
        assert_eq!(ledger.ids("account").unwrap().len(), 1, "{name}");
    }
}
