//! What becomes of a source that preparation changed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use harn_env::receipt::{Receipt, Resolution};
use harn_env::redact::Redactor;
use harn_env::resolve::{Request, ResolveError, Resolved, resolve};
use harn_ledger::Stream;

use super::project::{Project, command, recipe, story};

fn ask(
    project: &Project,
    receipt: &Stream<Receipt>,
    resolution: Resolution,
) -> Result<Resolved, ResolveError> {
    ask_in(&project.root(), project, receipt, resolution)
}

fn ask_in(
    root: &Path,
    project: &Project,
    receipt: &Stream<Receipt>,
    resolution: Resolution,
) -> Result<Resolved, ResolveError> {
    let reason = "the lock is ours";
    let (ledger, receipt) = (&project.ledger, receipt.id());
    resolve(Request { ledger, root, receipt, resolution, reason, actor: "ann" })
}

/// Everything below a directory but Git's own files: kind, permissions and content.
fn tree(root: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if metadata.is_symlink() {
                found.insert(name, (0, fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()));
            } else if metadata.is_file() {
                found.insert(name, (metadata.permissions().mode() & 0o7777, fs::read(&path).unwrap()));
            } else if name != ".git" {
                directories.push(path);
            }
        }
    }
    found
}

/// A project with files of every sort: committed, edited since, untracked, ignored; executable, linked. With Git and without.
fn projects(script: &str) -> Vec<Project> {
    let plan = recipe(&[command("install", script)], &[], &[]);
    let fill = |project: &Project| {
        project.write("run.sh", "#!/bin/sh\n");
        fs::set_permissions(project.root().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        project.write("edited.txt", "committed\n");
        project.write("docs/deep/page.txt", "page\n");
        symlink("run.sh", project.root().join("link")).unwrap();
    };
    let first = Project::new(plan.clone());
    fill(&first);
    let mut all = vec![first];
    if let Some(project) = Project::with_git(plan) {
        fill(&project);
        project.commit();
        all.push(project);
    }
    for project in &all {
        project.write("edited.txt", "edited since\n");
        project.write("new file.txt", "untracked\n");
        project.write("package-lock.json", "ignored\n");
    }
    all
}

#[test]
fn restoring_puts_back_exactly_what_preparation_changed() {
    for script in [
        "echo more >>src/main.rs",
        "echo more >>edited.txt",
        "echo more >>'new file.txt'",
        "echo more >>package-lock.json",
        "rm src/main.rs edited.txt 'new file.txt' package-lock.json link",
        "rm -r docs",
        "rm -r docs; echo file >docs",
        "rm run.sh; mkdir -p run.sh/a/b; echo x >run.sh/a/b/file",
        "chmod -x run.sh; chmod +x src/main.rs 'new file.txt'",
        "rm link; ln -s src/main.rs link",
        "rm link; echo file >link",
        "rm run.sh; ln -s link run.sh",
        "echo x >added.txt; mkdir more; echo y >more/added.txt; ln -s a more/link",
        "echo 'locked 2' >Cargo.lock; echo x >docs/deep/page.txt; rm run.sh; echo y >'docs/another page.txt'",
    ] {
        for project in projects(script) {
            let before = tree(&project.root());
            let receipt = project.prepare();
            assert_eq!(story(&receipt), "held source: setup install passed", "{script}");
            // What nobody prepared is nobody's to touch.
            project.write("written/meanwhile.txt", "by a person\n");
            let done = ask(&project, &receipt, Resolution::Restore).unwrap();
            assert!(!done.restored.is_empty());
            let mut after = tree(&project.root());
            assert_eq!(after.remove("written/meanwhile.txt").unwrap().1, b"by a person\n");
            assert_eq!(after, before, "{script}");
            assert_eq!(receipt.state().unwrap().resolved(), Some(Resolution::Restore));
            let twice = ask(&project, &receipt, Resolution::Restore).unwrap_err();
            assert_eq!(twice.code(), "nothing_to_resolve");
        }
    }
}

#[test]
fn keeping_touches_nothing_and_lets_the_next_preparation_begin() {
    for project in projects("echo more >edited.txt") {
        let receipt = project.prepare();
        let before = tree(&project.root());
        let refused = project.ask(&mut |_| {}, harn_env::prepare::prepare).unwrap_err();
        assert_eq!(refused.code(), "source_unresolved");
        assert!(ask(&project, &receipt, Resolution::Keep).unwrap().restored.is_empty());
        assert_eq!(tree(&project.root()), before);
        assert_eq!(story(&project.prepare()), "ready: setup install passed");
    }
}

/// A file that a person changed since is not overwritten, and then none is.
#[test]
fn what_was_changed_since_is_not_put_back() {
    for project in projects("echo more >>src/main.rs; echo more >>edited.txt") {
        let receipt = project.prepare();
        project.write("src/main.rs", "a person's work\n");
        let before = tree(&project.root());
        let refused = ask(&project, &receipt, Resolution::Restore).unwrap_err();
        assert!(
            matches!(&refused, ResolveError::ChangedSince { path } if path == "src/main.rs"),
            "{refused}"
        );
        assert_eq!(tree(&project.root()), before);
        assert!(receipt.state().unwrap().waits_for_a_person());
        assert!(ask(&project, &receipt, Resolution::Keep).is_ok());
    }
}

/// One that was cut off goes on: what was put back already stays.
#[test]
fn restoring_goes_on_where_it_was_cut_off() {
    for project in projects("echo more >>src/main.rs; echo more >>edited.txt; touch added.txt") {
        let before = tree(&project.root());
        let receipt = project.prepare();
        project.write("edited.txt", "edited since\n");
        fs::remove_file(project.root().join("added.txt")).unwrap();
        assert_eq!(ask(&project, &receipt, Resolution::Restore).unwrap().restored, ["src/main.rs"]);
        assert_eq!(tree(&project.root()), before);
    }
}

#[test]
fn what_is_not_kept_is_refused_by_name() {
    let secret = "token=abcdef0123456789abcdef\n".to_owned();
    for content in [secret, "x".repeat(5 << 20)] {
        for mut project in projects("echo more >>'new file.txt'") {
            project.redactor = Redactor::new();
            project.write("new file.txt", &content);
            let receipt = project.prepare();
            assert_eq!(receipt.intent().saved.left_out, 1);
            let refused = ask(&project, &receipt, Resolution::Restore).unwrap_err();
            assert!(
                matches!(&refused, ResolveError::NotKept { path } if path == "new file.txt"),
                "{refused}"
            );
            assert!(project.read("new file.txt").ends_with("more\n"));
        }
    }
}

#[test]
fn only_a_held_source_of_this_project_is_resolved() {
    for project in projects("true") {
        let ready = project.prepare();
        assert_eq!(ask(&project, &ready, Resolution::Keep).unwrap_err().code(), "nothing_to_resolve");
    }
    for project in projects("echo more >>edited.txt") {
        let held = project.prepare();
        let other = tempfile::tempdir().unwrap();
        let refused = ask_in(other.path(), &project, &held, Resolution::Restore).unwrap_err();
        assert_eq!(refused.code(), "other_project");
    }
}
