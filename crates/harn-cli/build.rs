//! Puts the commit into the version, read from Git's files: no Git is started, and a build without them is fine.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let package = env!("CARGO_PKG_VERSION");
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let version = match commit(&root.join(".git")) {
        Some(commit) => format!("{package} ({commit})"),
        None => package.to_owned(),
    };
    println!("cargo::rustc-env=HARN_VERSION={version}");
}

/// The first twelve digits of the commit that is checked out.
fn commit(git: &Path) -> Option<String> {
    println!("cargo::rerun-if-changed={}", git.join("HEAD").display());
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let commit = match head.trim().strip_prefix("ref: ") {
        Some(branch) => {
            println!("cargo::rerun-if-changed={}", git.join(branch).display());
            fs::read_to_string(git.join(branch)).ok()?
        }
        None => head,
    };
    commit.trim().get(..12).map(str::to_owned)
}
