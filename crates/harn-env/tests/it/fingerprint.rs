//! Trees are looked at as they are, and nothing in them changes.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use harn_env::fingerprint::{Change, Fingerprint, FingerprintError, Source, take};
use harn_env::recipe::ProjectPath;
use proptest::prelude::*;
use tempfile::TempDir;

/// A repository with one commit, made by a Git that knows nothing of whoever runs the test.
pub(crate) struct Repository {
    directory: TempDir,
}

/// Whether there is no Git here. Then a repository cannot be looked at, and says so.
pub(crate) fn without_git() -> bool {
    if Command::new("git").arg("--version").output().is_ok() {
        return false;
    }
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join(".git")).unwrap();
    assert_eq!(take(directory.path(), &[]).unwrap_err().code(), "git_missing");
    true
}

impl Repository {
    pub(crate) fn new() -> Self {
        let repository = Self { directory: tempfile::tempdir().unwrap() };
        repository.git(&["init", "-q", "-b", "main"]);
        repository.write("src/a.txt", "a\n");
        repository.write("src/b.txt", "b\n");
        repository.write("Cargo.lock", "locked\n");
        repository.write(".gitignore", "/target/\n*.log\n/ignored.lock\n/package-lock.json\n");
        repository.commit();
        repository
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git_in(self.path(), arguments)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "a commit"]);
    }

    pub(crate) fn take(&self) -> Fingerprint {
        take(self.path(), &[]).unwrap()
    }

    /// What differs after `change`.
    pub(crate) fn after(&self, change: impl FnOnce(&Self)) -> Vec<(String, Change)> {
        let before = self.take();
        change(self);
        let found = self.take().difference(&before, 100);
        assert_eq!(found.left_out, 0);
        found.paths
    }
}

pub(crate) fn git_in(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@b"), ("GIT_COMMITTER_NAME", "a")])
        .envs([
            ("GIT_COMMITTER_EMAIL", "a@b"),
            ("GIT_AUTHOR_DATE", "@1 +0000"),
            ("GIT_COMMITTER_DATE", "@1 +0000"),
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Every file below a directory with its bytes and the time of its last change. Git renews the times of objects that it
/// would write and finds, so that nobody prunes them; those are left out.
pub(crate) fn everything(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                directories.push(path.clone());
            }
            let bytes = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            let is_object = metadata.is_file() && path.components().any(|part| part.as_os_str() == "objects");
            let time =
                if is_object { std::time::SystemTime::UNIX_EPOCH } else { metadata.modified().unwrap() };
            found.insert(path, (bytes, time));
        }
    }
    found
}

pub(crate) fn changed(path: &str, change: Change) -> Vec<(String, Change)> {
    vec![(path.to_owned(), change)]
}

#[test]
fn looking_leaves_no_trace_and_gives_what_a_commit_would_hold() {
    if without_git() {
        return;
    }
    let repository = Repository::new();
    repository.write("src/a.txt", "edited\n");
    repository.write("new/untracked.txt", "u\n");
    repository.write("noise.log", "ignored\n");
    fs::remove_file(repository.path().join("src/b.txt")).unwrap();
    let before = everything(repository.path());
    let found = repository.take();
    let after = everything(repository.path());
    let touched: Vec<&PathBuf> =
        after.iter().filter(|it| before.get(it.0) != Some(it.1)).map(|it| it.0).collect();
    assert!(touched.is_empty() && after.len() == before.len(), "looking changed {touched:?}");
    let paths: Vec<&str> = found.entries().iter().map(|entry| &*entry.path).collect();
    assert_eq!(paths, [".gitignore", "Cargo.lock", "new/untracked.txt", "src/a.txt"]);

    repository.commit();
    let tree = repository.git(&["rev-parse", "HEAD^{tree}"]);
    let Source::Git { tree: found_tree, .. } = found.source() else { panic!("{:?}", found.source()) };
    assert_eq!(*found_tree, tree);
    // The commit itself makes no difference.
    assert_eq!(repository.take().digest(), found.digest());
    assert_eq!(Fingerprint::from_bytes(&found.to_bytes()).as_ref(), Some(&found));
}

#[test]
fn every_kind_of_change_is_seen_by_path() {
    if without_git() {
        return;
    }
    let repository = Repository::new();
    let of = |change: &dyn Fn(&Repository)| repository.after(|it| change(it));
    assert_eq!(of(&|_| {}), []);
    assert_eq!(of(&|it| it.write("src/a.txt", "another\n")), changed("src/a.txt", Change::Content));
    assert_eq!(of(&|it| it.write("src/c.txt", "")), changed("src/c.txt", Change::Added));
    assert_eq!(
        of(&|it| fs::remove_file(it.path().join("src/c.txt")).unwrap()),
        changed("src/c.txt", Change::Removed)
    );
    let executable = |it: &Repository| {
        fs::set_permissions(it.path().join("src/b.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    assert_eq!(of(&executable), changed("src/b.txt", Change::Mode));
    let link = |it: &Repository| {
        fs::remove_file(it.path().join("src/b.txt")).unwrap();
        symlink("a.txt", it.path().join("src/b.txt")).unwrap();
    };
    assert_eq!(of(&link), changed("src/b.txt", Change::Content));
    // What is ignored makes no difference, unless it is a lockfile (B15, B16).
    assert_eq!(of(&|it| it.write("target/debug/x", "1")), []);
    assert_eq!(of(&|it| it.write("noise.log", "1")), []);
    assert_eq!(of(&|it| it.write("package-lock.json", "{}")), changed("package-lock.json", Change::Added));
    assert_eq!(of(&|it| it.write("package-lock.json", "{ }")), changed("package-lock.json", Change::Content));
    // Names that are no text.
    let odd = OsStr::from_bytes(b"odd\xff\nname");
    assert_eq!(
        of(&|it| fs::write(it.path().join(odd), "x").unwrap()),
        changed("odd\\xff\nname", Change::Added)
    );
}

/// The same size in the same second, and marks that hide a change.
#[test]
fn what_git_would_overlook_is_seen() {
    if without_git() {
        return;
    }
    let repository = Repository::new();
    for round in 0..5 {
        let content = format!("{round}\n");
        repository.write("src/a.txt", &content);
        repository.git(&["add", "-A"]);
        let edited = format!("{}\n", (b'a' + round) as char);
        assert_eq!(
            repository.after(|it| it.write("src/a.txt", &edited)),
            changed("src/a.txt", Change::Content),
            "{round}"
        );
    }
    repository.commit();
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        repository.git(&["update-index", mark, "src/a.txt"]);
        let text = format!("hidden by {mark}\n");
        assert_eq!(
            repository.after(|it| it.write("src/a.txt", &text)),
            changed("src/a.txt", Change::Content),
            "{mark}"
        );
        let shown = repository.git(&["ls-files", "-v", "src/a.txt"]);
        assert!(!shown.starts_with('H'), "the mark is gone: {shown}");
        repository.git(&["update-index", &mark.replace("--", "--no-"), "src/a.txt"]);
        repository.commit();
    }
    // Not there because of a sparse checkout: not gone.
    repository.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/src/b.txt"]);
    assert!(!repository.path().join("src/b.txt").exists());
    let paths: Vec<String> = repository.take().entries().iter().map(|it| it.path.clone()).collect();
    assert!(paths.contains(&"src/b.txt".to_owned()), "{paths:?}");
}

#[test]
fn repositories_inside_are_looked_at_too() {
    if without_git() {
        return;
    }
    let inner = Repository::new();
    let outer = Repository::new();
    outer.git(&["submodule", "--quiet", "add", inner.path().to_str().unwrap(), "modules/inner"]);
    outer.commit();
    let below = |name: &str| format!("modules/inner/{name}");
    assert_eq!(outer.take().nested().len(), 1);
    assert_eq!(
        outer.after(|it| it.write(&below("src/a.txt"), "edited in the submodule\n")),
        changed(&below("src/a.txt"), Change::Content)
    );
    // One that nobody declared.
    git_in(outer.path(), &["clone", "-q", inner.path().to_str().unwrap(), "stray"]);
    assert_eq!(outer.take().nested().len(), 2);
    assert_eq!(outer.after(|it| it.write("stray/new.txt", "x")), changed("stray/new.txt", Change::Added));
    // A worktree of its own is a tree like any other.
    let elsewhere = tempfile::tempdir().unwrap();
    let worktree = elsewhere.path().join("worktree");
    outer.git(&["worktree", "add", "-q", worktree.to_str().unwrap()]);
    let found = take(&worktree, &[]).unwrap();
    assert!(matches!(found.source(), Source::Git { .. }));
    outer.git(&["worktree", "remove", "--force", worktree.to_str().unwrap()]);
}

#[test]
fn inputs_are_looked_at_whether_or_not_they_are_there() {
    if without_git() {
        return;
    }
    let repository = Repository::new();
    let path = |text: &str| ProjectPath::new(text).unwrap();
    let inputs = [path("noise.log"), path("scripts/none.sh")];
    let before = take(repository.path(), &inputs).unwrap();
    assert_eq!(before.key_files().1, inputs);
    repository.write("noise.log", "declared\n");
    let now = take(repository.path(), &inputs).unwrap();
    assert_eq!(now.difference(&before, 9).paths, changed("noise.log", Change::Added));
    assert_eq!(now.key_files().1, [path("scripts/none.sh")]);
    let files: Vec<&str> = now.key_files().0.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["Cargo.lock", "noise.log"]);
    assert_ne!(now.digest(), before.digest());
}

#[test]
fn a_tree_without_a_commit_is_read_whole() {
    if without_git() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    write("a/one.txt", "1");
    write(".hidden", "2");
    write(".gitignore", "*.log\n");
    write("x.log", "ignored");
    write(".harn/config.toml", "");
    write(".harn/state/work/x/intent.json", "ours");
    symlink("a/one.txt", directory.path().join("link")).unwrap();
    let before = take(directory.path(), &[]).unwrap();
    assert_eq!(*before.source(), Source::Walk);
    let paths: Vec<(&str, &str)> = before.entries().iter().map(|it| (&*it.path, it.mode.as_str())).collect();
    assert_eq!(
        paths,
        [
            (".gitignore", "100644"),
            (".harn/config.toml", "100644"),
            (".hidden", "100644"),
            ("a/one.txt", "100644"),
            ("link", "120000")
        ]
    );
    write("a/one.txt", "3");
    let now = take(directory.path(), &[]).unwrap();
    assert_eq!(now.difference(&before, 9).paths, changed("a/one.txt", Change::Content));

    // The same with a repository that has no commit yet.
    git_in(directory.path(), &["init", "-q"]);
    assert_eq!(take(directory.path(), &[]).unwrap().entries(), now.entries());
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = take(directory.path(), &[]).unwrap_err();
    assert!(matches!(&error, FingerprintError::Special { path } if path == "pipe"), "{error}");
}

#[test]
fn a_difference_is_bounded_and_says_so() {
    if without_git() {
        return;
    }
    let repository = Repository::new();
    let before = repository.take();
    for number in 0..10 {
        repository.write(&format!("many/{number}"), "x");
    }
    let found = repository.take().difference(&before, 3);
    assert_eq!((found.paths.len(), found.left_out, &*found.paths[0].0), (3, 7, "many/0"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Two trees with the same files have the same digest, in whatever order and place they were made; other files give
    /// another one, and the difference names exactly what was changed.
    #[test]
    fn a_tree_is_its_files(
        files in prop::collection::btree_map("[a-c]{1,2}/[a-c]{1,2}", "[x-z]{0,3}", 1..8),
        edited in any::<prop::sample::Index>(),
    ) {
        let make = |reversed: bool| {
            let directory = tempfile::tempdir().unwrap();
            let mut files: Vec<_> = files.iter().collect();
            if reversed {
                files.reverse();
            }
            for (name, content) in files {
                let path = directory.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
            directory
        };
        let (one, other) = (make(false), make(true));
        let before = take(one.path(), &[]).unwrap();
        prop_assert_eq!(before.digest(), take(other.path(), &[]).unwrap().digest());
        let name = files.keys().nth(edited.index(files.len())).unwrap();
        fs::write(other.path().join(name), "edited").unwrap();
        let now = take(other.path(), &[]).unwrap();
        prop_assert_ne!(now.digest(), before.digest());
        prop_assert_eq!(now.difference(&before, 9).paths, changed(name, Change::Content));
    }
}
