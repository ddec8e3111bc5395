//! When a set-up of before still holds, and why it does not.

use harn_env::key::{Key, KeyFile};
use harn_env::recipe::ProjectPath;
use harn_ledger::Digest;
use proptest::prelude::*;

fn path(text: &str) -> ProjectPath {
    ProjectPath::new(text).unwrap()
}

fn file(name: &str, content: &str) -> KeyFile {
    KeyFile { path: path(name), mode: 0o644, sha256: Digest::of(content.as_bytes()) }
}

fn key(files: Vec<KeyFile>, absent: &[&str]) -> Key {
    let absent = absent.iter().map(|it| path(it)).collect();
    Key::new(Some(Digest::of(b"recipe")), "linux 6.1 x86_64 glibc", "/home/agent 1000", files, absent)
        .unwrap()
}

fn misses(now: &Key, before: &Key) -> Vec<String> {
    now.misses(before).iter().map(ToString::to_string).collect()
}

/// B08 to B12: what is the same holds, and whatever differs is named.
#[test]
fn b_08_to_b_12_a_miss_is_explained() {
    let before = key(vec![file("Cargo.lock", "1"), file("Cargo.toml", "2")], &["setup.sh"]);
    assert_eq!(misses(&before, &before), [""; 0]);

    // B09: one byte of a lockfile.
    let changed = key(vec![file("Cargo.lock", "1 "), file("Cargo.toml", "2")], &["setup.sh"]);
    assert_eq!(misses(&changed, &before), ["`Cargo.lock` changed"]);
    // B10: a declared input that was not there.
    let appeared = key(vec![file("Cargo.lock", "1"), file("Cargo.toml", "2"), file("setup.sh", "3")], &[]);
    assert_eq!(misses(&appeared, &before), ["`setup.sh` is there now"]);
    assert_eq!(misses(&before, &appeared), ["`setup.sh` is gone"]);
    let mut mode = file("Cargo.toml", "2");
    mode.mode = 0o755;
    let mode = key(vec![file("Cargo.lock", "1"), mode], &["setup.sh"]);
    assert_eq!(misses(&mode, &before), ["the permissions of `Cargo.toml` changed"]);

    // B11, B12, and another recipe.
    let other = |recipe: &[u8], sandbox: &str, home: &str| {
        let files = vec![file("Cargo.lock", "1"), file("Cargo.toml", "2")];
        Key::new(Some(Digest::of(recipe)), sandbox, home, files, vec![path("setup.sh")]).unwrap()
    };
    let (sandbox, home) = ("linux 6.1 x86_64 glibc", "/home/agent 1000");
    assert_eq!(misses(&other(b"another", sandbox, home), &before), ["the recipe changed"]);
    let newer = other(b"recipe", "linux 6.2 x86_64 glibc", home);
    assert_eq!(
        misses(&newer, &before),
        ["the sandbox version changed from `linux 6.1 x86_64 glibc` to `linux 6.2 x86_64 glibc`"]
    );
    let elsewhere = other(b"recipe", sandbox, "/home/other 1001");
    assert_eq!(
        misses(&elsewhere, &before),
        ["the home directory changed from `/home/agent 1000` to `/home/other 1001`"]
    );
    for differs in [&changed, &appeared, &mode, &newer, &elsewhere] {
        assert_ne!(differs.digest(), before.digest());
    }
}

#[test]
fn what_is_stated_is_one_line() {
    for bad in ["", " ", "a\nb", &"x".repeat(201)] {
        assert!(Key::new(None, bad, "home", Vec::new(), Vec::new()).is_err(), "{bad:?}");
        assert!(Key::new(None, "sandbox", bad, Vec::new(), Vec::new()).is_err(), "{bad:?}");
    }
    let many = (0..10_001).map(|it| file(&format!("f{it}"), "")).collect();
    assert!(Key::new(None, "s", "h", many, Vec::new()).is_err());
}

proptest! {
    /// The order in which files are found makes no difference, and no difference means no miss.
    #[test]
    fn the_order_of_files_does_not_matter(
        names in prop::collection::btree_set("[a-d]{1,3}", 0..8),
        seed in any::<u64>(),
    ) {
        let files: Vec<KeyFile> = names.iter().map(|name| file(name, name)).collect();
        let mut shuffled = files.clone();
        shuffled.sort_by_key(|file| Digest::of(format!("{seed}{}", file.path).as_bytes()).to_string());
        let (one, other) = (key(files.clone(), &["x"]), key(shuffled, &["x"]));
        prop_assert_eq!(one.digest(), other.digest());
        prop_assert!(one.misses(&other).is_empty());
        // And a miss is found exactly where the digests differ.
        if let Some((_, fewer)) = files.split_first() {
            let fewer = key(fewer.to_vec(), &["x"]);
            prop_assert_ne!(fewer.digest(), one.digest());
            prop_assert_eq!(fewer.misses(&one).len(), 1);
        }
    }
}
