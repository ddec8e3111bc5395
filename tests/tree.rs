//! A directory as it stands: every path below it, with its mode and its bytes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Every path below a directory, with its mode and its bytes; none for a directory.
pub type Tree = BTreeMap<String, (u32, Option<Vec<u8>>)>;

/// Reads everything below `root`.
#[must_use]
pub fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("a directory of the test's own") {
            let path = entry.expect("a directory of the test's own").path();
            let metadata = fs::symlink_metadata(&path).expect("it was just listed");
            let name = path.strip_prefix(root).expect("it is below the root").to_string_lossy().into_owned();
            let bytes = metadata.is_file().then(|| fs::read(&path).expect("a file of the test's own"));
            found.insert(name, (metadata.permissions().mode() & 0o7777, bytes));
            if metadata.is_dir() {
                directories.push(path);
            }
        }
    }
    found
}
