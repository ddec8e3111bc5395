//! Trees in unusual states: each is looked at as it is, or refused by name; none is taken for another.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use harn_env::fingerprint::{Change, Fingerprint, Source, take};

use crate::fingerprint::{Repository, changed, everything, git_in, without_git};

const PLAIN: [&str; 4] = [".gitignore", "Cargo.lock", "src/a.txt", "src/b.txt"];

fn paths(found: &Fingerprint) -> Vec<&str> {
    found.entries().iter().map(|entry| &*entry.path).collect()
}

fn set_modified(path: &Path, time: SystemTime) {
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Goes on once files get another second as the time of their change: Git compares no smaller part of it.
fn next_second(scratch: &Path) {
    let now = || {
        fs::write(scratch, "").unwrap();
        fs::metadata(scratch).unwrap().ctime()
    };
    let start = now();
    while now() == start {
        std::thread::yield_now();
    }
}

#[test]
fn a_broken_repository_is_not_taken_for_a_tree_without_git() {
    type Break<'a> = (&'a str, &'a dyn Fn(&Path), &'a str);
    if without_git() {
        return;
    }
    let breaks: [Break<'_>; 3] = [
        ("HEAD", &|git| fs::write(git.join("HEAD"), "nonsense").unwrap(), "not a git repository"),
        ("config", &|git| fs::write(git.join("config"), "[core\n").unwrap(), "bad config line 1"),
        ("empty", &|git| fs::remove_dir_all(git.join("objects")).unwrap(), "not a git repository"),
    ];
    for (name, damage, expected) in breaks {
        let repository = Repository::new();
        damage(&repository.path().join(".git"));
        let error = take(repository.path(), &[]).unwrap_err();
        assert_eq!(error.code(), "git_failed", "{name}: {error}");
        assert!(error.to_string().contains(expected), "{name}: {error}");
    }
    // Git would go on to the repository around it.
    let outer = Repository::new();
    outer.write("sub/x.txt", "x");
    fs::create_dir(outer.path().join("sub/.git")).unwrap();
    let error = take(&outer.path().join("sub"), &[]).unwrap_err();
    assert_eq!(error.code(), "git_broken", "{error}");
}

#[test]
fn a_repository_without_a_commit_is_looked_at_inside_of_another() {
    if without_git() {
        return;
    }
    let repository = Repository::new();
    let inner = repository.path().join("fresh");
    let make = |it: &Repository| {
        it.write("fresh/x.txt", "x");
        git_in(&inner, &["init", "-q", "-b", "main"]);
    };
    assert_eq!(repository.after(make), changed("fresh", Change::Added));
    let before = everything(repository.path());
    let found = repository.take();
    assert_eq!(before, everything(repository.path()));
    assert_eq!(found.nested()[0].path, "fresh");
    assert_eq!(*found.nested()[0].fingerprint.source(), Source::Walk);
    assert_eq!(repository.after(|it| it.write("fresh/x.txt", "y")), changed("fresh/x.txt", Change::Content));
    assert_eq!(repository.after(|it| it.write("src/a.txt", "y")), changed("src/a.txt", Change::Content));
}

/// State would make each fingerprint differ from the one before, and an own checkout is another attempt's work.
#[test]
fn what_is_ours_is_no_source() {
    if without_git() {
        return;
    }
    let repository = Repository::new();
    let add = |it: &Repository| {
        it.write(".harn/state/work/x.json", "{}");
        it.git(&["worktree", "add", "-q", ".harn/worktrees/one"]);
        it.git(&["worktree", "add", "-q", "--detach", "od*"]);
    };
    assert_eq!(repository.after(add), []);
    let checkout = repository.path().join(".harn/worktrees/one");
    fs::write(checkout.join("new.txt"), "x").unwrap();
    assert_eq!(paths(&repository.take()), PLAIN);
    // It may be ignored as well.
    let ignored = |it: &Repository| it.write(".harn/.gitignore", "/state/\n/worktrees/\n");
    assert_eq!(repository.after(ignored), changed(".harn/.gitignore", Change::Added));
    // What only has the name of something of ours is source.
    assert_eq!(repository.after(|it| it.write("odd name/x", "")), changed("odd name/x", Change::Added));
    assert_eq!(
        repository.after(|it| it.write("docs/.harn/state/x", "")),
        changed("docs/.harn/state/x", Change::Added)
    );
    // A checkout is a tree like any other when it is what is looked at.
    assert_eq!(
        paths(&take(&checkout, &[]).unwrap()),
        [".gitignore", "Cargo.lock", "new.txt", "src/a.txt", "src/b.txt"]
    );
}

#[test]
fn what_lies_outside_of_a_sparse_checkout_is_seen_if_it_is_there() {
    if without_git() {
        return;
    }
    for sparse_index in ["false", "true"] {
        let repository = Repository::new();
        repository.write("lib/c.txt", "c\n");
        repository.commit();
        repository.git(&["sparse-checkout", "set", "--cone", "src"]);
        repository.git(&["config", "index.sparse", sparse_index]);
        repository.git(&["sparse-checkout", "reapply"]);
        assert!(!repository.path().join("lib").exists());
        let of = |change: &dyn Fn(&Repository)| repository.after(|it| change(it));
        assert_eq!(of(&|_| {}), []);
        assert_eq!(of(&|it| it.write("lib/c.txt", "edited\n")), changed("lib/c.txt", Change::Content));
        assert_eq!(of(&|it| it.write("lib/new.txt", "n\n")), changed("lib/new.txt", Change::Added));
    }
}

/// Settings by which Git compares less than it could.
#[test]
fn no_setting_hides_an_edit() {
    if without_git() {
        return;
    }
    let settings = [("core.checkStat", "minimal"), ("core.trustctime", "false"), ("core.ignoreStat", "true")];
    let scratch = tempfile::tempdir().unwrap();
    for (name, value) in settings {
        let repository = Repository::new();
        repository.git(&["config", name, value]);
        let path = repository.path().join("src/a.txt");
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        set_modified(&path, old);
        repository.write("src/b.txt", "so that the index is written\n");
        repository.commit();
        next_second(&scratch.path().join("scratch"));
        let edit = |it: &Repository| {
            it.write("src/a.txt", "z\n");
            set_modified(&path, old);
        };
        assert_eq!(repository.after(edit), changed("src/a.txt", Change::Content), "{name}");
    }
}

/// Objects are found at any path: a colon would end it in a list of paths.
#[test]
fn a_repository_may_have_any_path() {
    if without_git() {
        return;
    }
    for name in ["a:b", "\"quoted\"", "back\\slash", "line\nbreak", "ñ"] {
        let repository = Repository::new();
        // With old times Git trusts the index, and nothing is made anew.
        for file in PLAIN {
            set_modified(
                &repository.path().join(file),
                SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000),
            );
        }
        repository.git(&["add", "-A"]);
        let parent = tempfile::tempdir().unwrap();
        let moved = parent.path().join(name);
        fs::rename(repository.path(), &moved).unwrap();
        fs::write(moved.join("new.txt"), "n").unwrap();
        let found = take(&moved, &[]).map(|found| paths(&found).join(" "));
        assert_eq!(found.unwrap(), ".gitignore Cargo.lock new.txt src/a.txt src/b.txt", "{name:?}");
    }
}

/// The tree is the one that a commit would hold: line ends and filters are taken as they are configured.
#[test]
fn filters_run_as_they_are_configured() {
    if without_git() {
        return;
    }
    let repository = Repository::new();
    repository.git(&["config", "core.autocrlf", "true"]);
    repository.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
    repository.git(&["config", "filter.upper.required", "true"]);
    repository.write(".gitattributes", "*.up filter=upper\n");
    repository.write("x.up", "abc\n");
    repository.commit();
    assert_eq!(repository.after(|it| it.write("src/a.txt", "a\r\n")), []);
    assert_eq!(repository.after(|it| it.write("src/a.txt", "b\r\n")), changed("src/a.txt", Change::Content));
    assert_eq!(repository.after(|it| it.write("x.up", "ABc\n")), []);
    assert_eq!(repository.after(|it| it.write("x.up", "abd\n")), changed("x.up", Change::Content));
    repository.git(&["config", "filter.upper.clean", "false"]);
    repository.write("x.up", "abe\n");
    let error = take(repository.path(), &[]).unwrap_err();
    assert!(error.to_string().contains("clean filter 'upper' failed"), "{error}");
}

/// Indexes that Git writes in other forms, and one that is in the middle of a merge.
#[test]
fn any_form_of_index_is_read() {
    type Form<'a> = (&'a str, &'a dyn Fn(&Repository));
    if without_git() {
        return;
    }
    let forms: [Form<'_>; 4] = [
        ("split", &|it| drop(it.git(&["update-index", "--split-index"]))),
        ("version 4", &|it| drop(it.git(&["update-index", "--index-version", "4"]))),
        ("none", &|it| fs::remove_file(it.path().join(".git/index")).unwrap()),
        ("locked", &|it| fs::write(it.path().join(".git/index.lock"), "").unwrap()),
    ];
    for (name, change) in forms {
        let repository = Repository::new();
        let before = repository.take();
        change(&repository);
        assert_eq!(repository.take(), before, "{name}");
    }
    let repository = Repository::new();
    repository.git(&["checkout", "-q", "-b", "other"]);
    repository.write("src/a.txt", "theirs\n");
    repository.commit();
    repository.git(&["checkout", "-q", "main"]);
    repository.write("src/a.txt", "ours\n");
    repository.commit();
    let blob = |name: &str| repository.git(&["rev-parse", &format!("{name}:src/a.txt")]);
    let (ours, theirs) = (blob("main"), blob("other"));
    let merge = repository.path().join("merge");
    fs::write(
        &merge,
        format!(
            "0 {} 0\tsrc/a.txt\n100644 {ours} 2\tsrc/a.txt\n100644 {theirs} 3\tsrc/a.txt\n",
            "0".repeat(40)
        ),
    )
    .unwrap();
    let status = std::process::Command::new("git")
        .args(["update-index", "--index-info"])
        .current_dir(repository.path())
        .stdin(File::open(&merge).unwrap())
        .status();
    assert!(status.unwrap().success());
    fs::remove_file(&merge).unwrap();
    assert!(!repository.git(&["ls-files", "--unmerged"]).is_empty());
    assert_eq!(paths(&repository.take()), PLAIN);
}

/// What is ignored by Git is; a file with which other tools hide things hides nothing.
#[test]
fn a_walk_ignores_only_what_git_would() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    write(".gitignore", "/target/\npackage-lock.json\n");
    write(".ignore", "*\n");
    write("src/a.rs", "a");
    write("target/Cargo.lock", "built");
    let before = take(directory.path(), &[]).unwrap();
    assert_eq!(paths(&before), [".gitignore", ".ignore", "src/a.rs"]);
    // An ignored lockfile counts (B16).
    write("web/package-lock.json", "{}");
    let now = take(directory.path(), &[]).unwrap();
    assert_eq!(now.difference(&before, 9).paths, changed("web/package-lock.json", Change::Added));
    assert_eq!(paths(&now), paths(&before));
}
