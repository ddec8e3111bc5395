//! Places that others can reach: writes are refused and say how to mend it; reading and verifying go on.

use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;

use harn_ledger::disk::{Disk, OsDisk};
use harn_ledger::{
    AppendError, BlobError, CreateError, Expect, LeaseError, Ledger, PlaceProblem, ProblemKind, UnsafePlace,
    VerifyOptions,
};

use crate::account::{Account, AccountEvent, Owner, credited, open_account};
use crate::process::Player;
use crate::store::{in_memory, on_disk, open, tree};

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// What an append, a lease, a creation and a blob say about the place.
fn refusals(ledger: &Ledger) -> [Option<UnsafePlace>; 4] {
    let stream = ledger.stream::<Account>("a").unwrap();
    let append = match stream.append(Expect::Any, "teller", vec![credited(1)]) {
        Err(AppendError::UnsafePlace(place)) => Some(place),
        other => other.map(|_| None).unwrap(),
    };
    let lease = match stream.lease("x") {
        Err(LeaseError::UnsafePlace(place)) => Some(place),
        other => other.map(|_| None).unwrap(),
    };
    let owner = Owner { owner: "Bob".to_owned(), contract: None };
    let create = match ledger.create::<Account>("new", "teller", &owner, &[AccountEvent::Opened {}]) {
        Err(CreateError::Append(AppendError::UnsafePlace(place))) => Some(place),
        Err(CreateError::AlreadyExists { .. }) => None,
        other => other.map(|_| None).unwrap(),
    };
    let blob = match ledger.blobs().put(b"evidence") {
        Err(BlobError::UnsafePlace(place)) => Some(place),
        other => other.map(|_| None).unwrap(),
    };
    [append, lease, create, blob]
}

/// Each place too open, in turn, with what refuses to be written then: append, lease, create, blob.
#[test]
fn a_place_that_is_too_open() {
    let cases = [
        ("account/a/events.jsonl", 0o644, [true, true, false, false]),
        ("account/a/events.jsonl", 0o620, [true, true, false, false]),
        ("account/a/intent.json", 0o604, [true, true, false, false]),
        ("account/a", 0o750, [true, true, false, false]),
        ("account", 0o755, [true, true, true, false]),
        ("", 0o777, [true, true, true, true]),
        ("blobs", 0o710, [false, false, false, true]),
    ];
    for (place, mode, refused) in cases {
        let (_directory, root, ledger) = on_disk();
        open_account(&ledger, "a");
        ledger.blobs().put(b"first").unwrap();
        let path = if place.is_empty() { root.clone() } else { root.join(place) };
        let private = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        chmod(&path, mode);
        let before = tree(&OsDisk, &root);

        let ledger = open(OsDisk, &root);
        let found = refusals(&ledger);
        let expected = UnsafePlace { path: path.clone(), problem: PlaceProblem::Mode { mode } };
        assert_eq!(found, refused.map(|refused| refused.then(|| expected.clone())), "{place}");
        assert_eq!(expected.mend(), Some(format!("chmod go= '{}'", path.display())));
        if refused == [true; 4] {
            assert_eq!(tree(&OsDisk, &root), before, "{place}: something was written");
        }
        assert_eq!(ledger.stream::<Account>("a").unwrap().history().unwrap()[0].seq(), 1, "reading goes on");
        let problems = ledger.verify(&VerifyOptions::default()).problems;
        assert_eq!(problems.len(), 1, "{place}: {problems:?}");
        assert_eq!(problems[0].kind, ProblemKind::UnsafePlace(expected));

        chmod(&path, private);
        assert_eq!(refusals(&open(OsDisk, &root))[..2], [None, None], "{place}: mended");
    }
}

/// The same on the disk in memory, whose modes are as real to the ledger.
#[test]
fn a_place_that_is_too_open_in_memory() {
    let (disk, ledger) = in_memory();
    open_account(&ledger, "a");
    disk.set_mode(Path::new("/bank/account/a/events.jsonl"), 0o666).unwrap();
    let [append, ..] = refusals(&open(disk, Path::new("/bank")));
    assert_eq!(append.unwrap().problem, PlaceProblem::Mode { mode: 0o666 });
}

/// Moves what is at `path` to `target` and puts a link in its place.
fn replace_by_link(path: &Path, target: &Path) {
    std::fs::rename(path, target).unwrap();
    symlink(target, path).unwrap();
}

#[test]
fn a_symbolic_link_in_place_of_a_directory() {
    for place in ["account/a", "account", ""] {
        let (directory, root, ledger) = on_disk();
        open_account(&ledger, "a");
        let link = if place.is_empty() { root.clone() } else { root.join(place) };
        let target = directory.path().join("elsewhere");
        replace_by_link(&link, &target);
        let before = tree(&OsDisk, &target);

        let ledger = open(OsDisk, &root);
        let [append, lease, ..] = refusals(&ledger);
        let expected = UnsafePlace { path: link, problem: PlaceProblem::Kind { expected: "directory" } };
        assert_eq!((append.as_ref(), lease.as_ref()), (Some(&expected), Some(&expected)), "{place}");
        assert_eq!(expected.mend(), None);
        assert_eq!(ledger.stream::<Account>("a").unwrap().state().unwrap().folded, [1], "reading goes on");
        let problems = ledger.verify(&VerifyOptions::default()).problems;
        assert_eq!(problems.len(), 1, "{place}: {problems:?}");
        assert_eq!(problems[0].kind, ProblemKind::UnsafePlace(expected));
        assert_eq!(tree(&OsDisk, &target), before, "{place}: something was written behind the link");
    }
}

/// A file behind a link is neither read nor written; the other streams are.
#[test]
fn a_symbolic_link_in_place_of_a_file() {
    for file in ["events.jsonl", "intent.json"] {
        let (directory, root, ledger) = on_disk();
        open_account(&ledger, "a");
        open_account(&ledger, "b");
        let target = directory.path().join("elsewhere");
        replace_by_link(&root.join("account/a").join(file), &target);
        let before = std::fs::read(&target).unwrap();
        let ledger = open(OsDisk, &root);
        assert_eq!(ledger.stream::<Account>("a").unwrap_err().code(), "read_failed", "{file}");
        ledger.stream::<Account>("b").unwrap().append(Expect::Any, "teller", vec![credited(1)]).unwrap();
        let verification = ledger.verify(&VerifyOptions::default());
        assert_eq!((verification.streams, verification.events), (2, 2));
        let codes: Vec<&str> = verification.problems.iter().map(|problem| problem.kind.code()).collect();
        assert_eq!(codes, ["unsafe_place", "unreadable"], "{file}");
        assert_eq!(std::fs::read(&target).unwrap(), before);
    }
    let (_directory, root, ledger) = on_disk();
    let stream = open_account(&ledger, "a");
    std::fs::write(root.join("target"), "precious").unwrap();
    symlink(root.join("target"), root.join("account/a/lease")).unwrap();
    assert_eq!(stream.lease("x").unwrap_err().code(), "unsafe_place");
    assert_eq!(std::fs::read_to_string(root.join("target")).unwrap(), "precious");
}

/// A log that became too open under a handle that knew it as private is refused from the next handle on; a handle
/// checks once.
#[test]
fn a_place_is_checked_once_for_each_handle() {
    let (_directory, root, ledger) = on_disk();
    let stream = open_account(&ledger, "a");
    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    chmod(&root.join("account/a/events.jsonl"), 0o644);
    stream.append(Expect::Any, "teller", vec![credited(1)]).unwrap();
    let late = open(OsDisk, &root).stream::<Account>("a").unwrap();
    assert_eq!(late.append(Expect::Any, "teller", vec![credited(1)]).unwrap_err().code(), "unsafe_place");
}

/// Only who may give files away can test this with files; the rule itself has a test beside it.
#[test]
fn a_file_of_another_user() {
    if OsDisk.user() != 0 {
        return;
    }
    for place in ["account/a/events.jsonl", "account/a", "account", ""] {
        let (_directory, root, ledger) = on_disk();
        open_account(&ledger, "a");
        let path = if place.is_empty() { root.clone() } else { root.join(place) };
        chown(&path, Some(12_345), None).unwrap();
        let ledger = open(OsDisk, &root);
        let [append, lease, ..] = refusals(&ledger);
        let problem = PlaceProblem::Owner { expected: 0, user: 12_345 };
        let expected = UnsafePlace { path: path.clone(), problem };
        assert_eq!((append.as_ref(), lease.as_ref()), (Some(&expected), Some(&expected)), "{place}");
        assert_eq!(expected.mend(), Some(format!("chown 0 '{}'", path.display())));
        assert_eq!(ledger.stream::<Account>("a").unwrap().state().unwrap().folded, [1]);
        chown(&path, Some(0), None).unwrap();
        assert_eq!(refusals(&open(OsDisk, &root)), [None, None, None, None], "{place}: mended");
    }
}

/// The role of a child: opens a ledger by a name without a directory, twice.
pub(crate) fn open_a_relative_root(root: &Path) {
    std::env::set_current_dir(root).unwrap();
    open_account(&Ledger::open("bank").unwrap(), "a");
    Ledger::open("bank").unwrap().stream::<Account>("a").unwrap();
}

#[test]
fn a_relative_root() {
    let directory = tempfile::TempDir::new().unwrap();
    Player::start("open a relative root", directory.path()).finish();
    let ledger = Ledger::open(directory.path().join("bank")).unwrap();
    assert_eq!(ledger.verify(&VerifyOptions::default()).events, 1);
}

#[test]
fn opening_a_ledger() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("file"), "").unwrap();
    for (name, code) in
        [("file", "not_a_directory"), ("nowhere/bank", "open_failed"), ("file/bank", "open_failed")]
    {
        assert_eq!(Ledger::open(path(name)).unwrap_err().code(), code, "{name}");
    }
    let ledger = Ledger::open(path("bank")).unwrap();
    assert_eq!(ledger.root(), path("bank"));
    assert_eq!(std::fs::metadata(path("bank")).unwrap().permissions().mode() & 0o777, 0o700);
    open_account(&ledger, "a");
    Ledger::open(path("bank")).unwrap().stream::<Account>("a").unwrap();
    Ledger::open(path("bank/")).unwrap().stream::<Account>("a").unwrap();
}
