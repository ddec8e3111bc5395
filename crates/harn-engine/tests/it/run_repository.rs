//! What Git says about the workspace before and after a run.

use std::path::Path;
use std::process::Command;

use harn_workflow::run::DirtyPath;

use crate::attempt_fixture::{Attempt, Project};

fn git(directory: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn paths(paths: &[DirtyPath]) -> Vec<&str> {
    paths.iter().map(DirtyPath::as_str).collect()
}

#[test]
fn a_proof_says_what_the_run_did_to_the_repository() {
    let project = Project::new();
    let id = project.item(
        "export default ({check}) => check({name: 'edit', argv: ['sh', '-c',
             'echo x >\"new ñ\"; echo y >>inner/file; git checkout -q -b other']});",
    );
    let root = project.cwd().canonicalize().unwrap();
    std::fs::create_dir(root.join("inner")).unwrap();
    project.write("inner/file", "x\n");
    project.write(".gitignore", "workflow.mjs\n");
    git(&root, &["init", "-q"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "first"]);
    project.write("dirty", "before\n");
    let head = git(&root, &["rev-parse", "HEAD"]);

    let mut attempt = Attempt::of(&project, &id);
    attempt.options.cwd.clone_from(&root);
    let report = attempt.run().unwrap();
    let repository = report.proof.repository.clone().unwrap();
    let (before, after) = (repository.before.unwrap(), repository.after.unwrap());
    assert_eq!(before.root.as_ref().map(harn_workflow::run::AbsolutePath::as_str), root.to_str());
    assert_eq!(before.head.as_ref().map(harn_workflow::run::Text::as_str), Some(&*head));
    assert_eq!(before.branch.as_ref().map(harn_workflow::run::Text::as_str), Some("main"));
    assert_eq!(paths(&before.dirty_paths), ["dirty"]);
    assert_eq!(after.branch.as_ref().map(harn_workflow::run::Text::as_str), Some("other"));
    assert_eq!(paths(&after.dirty_paths), ["dirty", "inner/file", "new ñ"]);
    let drift = repository.drift.unwrap();
    assert_eq!((drift.branch_changed, drift.head_changed, drift.incomplete), (true, false, true));
    assert_eq!(paths(&drift.dirty_paths_added), ["inner/file", "new ñ"]);
    assert_eq!(paths(&drift.dirty_paths_retained), ["dirty"]);
    // Asking changed nothing.
    assert_eq!(git(&root, &["rev-parse", "HEAD"]), head);
    assert!(!root.join(".git/index.lock").exists());
}

#[test]
fn outside_of_a_repository_nothing_is_said() {
    let project = Project::new();
    let report = project.run("export default () => 1;", "");
    let before = report.proof.repository.unwrap().before.unwrap();
    assert_eq!(before.cwd.as_str(), project.cwd().to_str().unwrap());
    assert_eq!((before.root, before.head, before.branch, before.dirty_paths), (None, None, None, Vec::new()));

    // Something that only looks like one is no reason to fail either.
    let project = Project::new();
    project.write(".git", "nonsense");
    let report = project.run("export default () => 1;", "");
    assert_eq!(report.proof.repository.unwrap().before.unwrap().root, None);
}
