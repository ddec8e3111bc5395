//! Every place of a ledger, in turn a symbolic link, somebody else's and too open, and what each use of the ledger says
//! then: writes are refused where others could reach what they write; reads go on; verification names the place.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use harn_ledger::disk::{Disk as _, Open, OsDisk};
use harn_ledger::{
    BlobRef, CreateError, Expect, Ledger, ProblemKind, ReadError, Stream, StreamError, VerifyOptions,
};

use crate::account::{Account, AccountEvent, Owner, credited, open_account};
use crate::scripted_disk::ScriptedDisk;
use crate::store::{on_disk, open, tree};

const OK: &str = "ok";
const UNSAFE: &str = "unsafe_place";
const SUSPECT: &str = "durability_unknown";
const UNREADABLE: &str = "read_failed";

/// What makes a place unsafe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guise {
    Link,
    Foreign,
    Open,
}

/// What is said when a place is unsafe: `OK` or the code of the error.
#[derive(Debug, PartialEq, Eq)]
struct Answers {
    create: &'static str,
    append: &'static str,
    lease: &'static str,
    /// A blob that is new.
    put: &'static str,
    /// The blob that is stored already.
    put_again: &'static str,
    read: &'static str,
    /// The stream in a list.
    list: &'static str,
    get: &'static str,
    /// What verification finds.
    verify: &'static [&'static str],
}

const SAFE: Answers = Answers {
    create: OK,
    append: OK,
    lease: OK,
    put: OK,
    put_again: OK,
    read: OK,
    list: OK,
    get: OK,
    verify: &[UNSAFE],
};

const STREAM_REFUSED: Answers = Answers { append: UNSAFE, lease: UNSAFE, ..SAFE };
const KIND_REFUSED: Answers = Answers { create: UNSAFE, ..STREAM_REFUSED };
const BLOBS_REFUSED: Answers = Answers { put: UNSAFE, put_again: UNSAFE, ..SAFE };

/// A file behind a link is not even read.
const STREAM_UNREADABLE: Answers = Answers {
    append: UNREADABLE,
    lease: UNREADABLE,
    read: UNREADABLE,
    list: UNREADABLE,
    verify: &[UNSAFE, "unreadable"],
    ..SAFE
};

/// Each place with what is said when it is a link, and when others own it or can open it.
const TABLE: [(&str, Answers, Answers); 14] = [
    (
        "",
        Answers { put: UNSAFE, put_again: UNSAFE, ..KIND_REFUSED },
        Answers { put: UNSAFE, put_again: UNSAFE, ..KIND_REFUSED },
    ),
    ("account", KIND_REFUSED, KIND_REFUSED),
    ("account/a", STREAM_REFUSED, STREAM_REFUSED),
    ("account/a/intent.json", STREAM_UNREADABLE, STREAM_REFUSED),
    ("account/a/events.jsonl", STREAM_UNREADABLE, STREAM_REFUSED),
    ("account/a/lease", Answers { lease: UNSAFE, ..SAFE }, Answers { lease: UNSAFE, ..SAFE }),
    // Whoever put it there: the stream is doubted.
    (
        "account/a/suspect",
        Answers { append: SUSPECT, verify: &["suspect", UNSAFE], ..SAFE },
        Answers { append: SUSPECT, verify: &["suspect", UNSAFE], ..SAFE },
    ),
    // A copy of bytes that were never acknowledged; nothing rests on it. A link is not taken for one.
    ("account/a/events.torn-20260101T000000000000Z-1", SAFE, SAFE),
    (
        ".new",
        Answers { create: UNSAFE, put: UNSAFE, ..SAFE },
        Answers { create: UNSAFE, put: UNSAFE, ..SAFE },
    ),
    ("blobs", BLOBS_REFUSED, BLOBS_REFUSED),
    // Other parts take blobs as before.
    ("blobs/PART", Answers { put_again: UNSAFE, ..SAFE }, Answers { put_again: UNSAFE, ..SAFE }),
    // Storing a blob again puts a private file in the place of one that others can reach.
    ("blobs/PART/BLOB", Answers { get: "blob_failed", ..SAFE }, SAFE),
    // Nothing rests on them; a list makes them anew where it may.
    ("catalog", SAFE, SAFE),
    ("catalog/account.jsonl", SAFE, SAFE),
];

/// A ledger in which `place` is there, and the blob in it.
struct Scene {
    directory: tempfile::TempDir,
    root: PathBuf,
    path: PathBuf,
    citation: BlobRef,
}

impl Scene {
    fn new(place: &str) -> Self {
        let (directory, root, ledger) = on_disk();
        drop(open_account(&ledger, "a").lease("x").unwrap());
        let citation = ledger.blobs().put(b"first").unwrap();
        // What is too young for a catalog is older at the next tick of the disk's clock.
        while !root.join("catalog/account.jsonl").exists() {
            list(&ledger);
        }
        let digits = citation.blob.to_string();
        let place = place.replace("PART", &digits[..2]).replace("BLOB", &digits);
        // Joining nothing would add a slash.
        let path = if place.is_empty() { root.clone() } else { root.join(&place) };
        if !path.exists() {
            OsDisk.open(&path, Open::CreateNew).unwrap();
        }
        Self { directory, root, path, citation }
    }

    /// Moves what is at the path away and puts a link in its place; returns where it is now.
    fn link(&self) -> PathBuf {
        let target = self.directory.path().join("elsewhere");
        std::fs::rename(&self.path, &target).unwrap();
        symlink(&target, &self.path).unwrap();
        target
    }

    fn mode(&self) -> u32 {
        std::fs::symlink_metadata(&self.path).unwrap().permissions().mode() & 0o777
    }
}

/// What a list says of the only stream.
fn list(ledger: &Ledger) -> &'static str {
    let listed = ledger.catalog::<Account>(1).refresh(|_, state, _| state.cents).unwrap();
    let [only] = &*listed else { panic!("{listed:?}") };
    code(only.summary.as_ref().map_err(ReadError::code))
}

fn code<T>(result: Result<T, &'static str>) -> &'static str {
    result.map_or_else(|code| code, |_| OK)
}

/// Uses the ledger in every way; what is refused because of the place must name that place.
fn ask(disk: ScriptedDisk, Scene { root, path, citation, .. }: &Scene) -> Answers {
    let ledger = open(disk, root);
    let names_it = |error: &dyn std::error::Error, code| {
        let message = error.to_string();
        assert!(code != UNSAFE || message.starts_with(&format!("`{}` ", path.display())), "{message}");
        code
    };
    let get = code(ledger.blobs().get(citation).map_err(|error| error.code()));
    let verify = ledger.verify(&VerifyOptions::default()).problems;
    for problem in &verify {
        if let ProblemKind::UnsafePlace(found) = &problem.kind {
            assert_eq!(found.path, *path);
        }
    }
    let mut verify: Vec<&'static str> = verify.iter().map(|problem| problem.kind.code()).collect();
    verify.dedup();

    let list = list(&ledger);
    let stream: Result<Stream<Account>, StreamError> = ledger.stream("a");
    let read = code(stream.as_ref().map_err(StreamError::code));
    let (append, lease) = match &stream {
        Ok(stream) => (
            code(
                stream
                    .append(Expect::Any, "teller", vec![credited(1)])
                    .map_err(|error| names_it(&error, error.code())),
            ),
            code(stream.lease("x").map_err(|error| names_it(&error, error.code()))),
        ),
        Err(_) => (read, read),
    };
    let owner = Owner { owner: "Bob".to_owned(), contract: None };
    let create = ledger.create::<Account>("new", "teller", &owner, &[AccountEvent::Opened {}]);
    let create = code(create.map_err(|error: CreateError| names_it(&error, error.code())));
    let put = |bytes| code(ledger.blobs().put(bytes).map_err(|error| names_it(&error, error.code())));
    let (put, put_again) = (put(b"second"), put(b"first"));
    Answers { create, append, lease, put, put_again, read, list, get, verify: Vec::leak(verify) }
}

#[test]
fn every_place_in_every_guise() {
    for (place, as_link, reachable) in TABLE {
        for guise in [Guise::Link, Guise::Foreign, Guise::Open] {
            let scene = Scene::new(place);
            let disk = ScriptedDisk::new(OsDisk);
            match guise {
                Guise::Link => drop(scene.link()),
                Guise::Foreign => disk.give_away(&scene.path, OsDisk.user() + 1),
                Guise::Open => {
                    let mode = std::fs::Permissions::from_mode(scene.mode() | 0o040);
                    std::fs::set_permissions(&scene.path, mode).unwrap();
                }
            }
            let expected = if guise == Guise::Link { &as_link } else { &reachable };
            assert_eq!(ask(disk, &scene), *expected, "`{place}` {guise:?}");
        }
    }
}

/// What others could reach is replaced by a private file, and a link by a file.
#[test]
fn storing_a_blob_again_mends_its_file() {
    for link in [true, false] {
        let scene = Scene::new("blobs/PART/BLOB");
        if link {
            scene.link();
        } else {
            std::fs::set_permissions(&scene.path, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
        let ledger = open(OsDisk, &scene.root);
        ledger.blobs().put(b"first").unwrap();
        assert_eq!(scene.mode(), 0o600);
        assert_eq!(ledger.blobs().get(&scene.citation).unwrap(), b"first");
    }
}

/// Not into a directory of blobs, not where things are built, not into a lease.
#[test]
fn nothing_is_written_behind_a_link() {
    for (place, _, _) in TABLE {
        let scene = Scene::new(place);
        let target = scene.link();
        let before = tree(&OsDisk, &target);
        ask(ScriptedDisk::new(OsDisk), &scene);
        assert!(tree(&OsDisk, &target) == before, "`{place}`: something was written behind the link");
    }
}
