//! A project on a network file system, as a test seam makes it look: writes are refused until somebody accepts it.

use harn_tests::{PASS, Project};

fn project() -> Project {
    let mut project = Project::new();
    project.item("a", PASS, &[]);
    project.write("b.mjs", PASS);
    project.set("HARN_TEST_FSTYPE", Some("nfs"));
    project
}

#[test]
fn writes_are_refused_with_the_way_out() {
    let project = project();
    let before = project.tree();
    for line in ["work note a --text x", "work create Title b.mjs --objective Objective --id b", "work run a"]
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        let outcome = project.harn(&words).exits(3);
        let place = format!("`{}` is on a network file system (`nfs`)", project.state().display());
        assert!(outcome.stderr.contains(&place), "{line}: {}", outcome.stderr);
        let hint = "hint: keep the project on a local disk, or set `HARN_ALLOW_NETWORK_FS=1`\n";
        assert!(outcome.stderr.ends_with(hint), "{line}: {}", outcome.stderr);
        assert_eq!(project.harn(&[&words[..], &["--json"]].concat()).exits(3).code(), "unsafe_place");
    }
    assert!(project.tree() == before);
}

#[test]
fn reads_go_on_and_verify_reports_it() {
    let project = project();
    for words in [&["work", "list"][..], &["work", "show", "a"], &["work", "log", "a"]] {
        assert_eq!(project.harn(words).ok().stderr, "");
    }
    let found = project.harn(&["verify", "--json"]).exits(5).json();
    assert_eq!(found["problems"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&found["problems"][0]["place"], &found["problems"][0]["code"]),
        (&".".into(), &"unsafe_place".into())
    );
}

#[test]
fn an_accepted_network_is_as_good_as_any_disk() {
    let mut project = project();
    project.set("HARN_ALLOW_NETWORK_FS", Some("1"));
    let _ = project.harn(&["work", "run", "a"]).ok();
    let _ = project.harn(&["verify"]).ok();
    // Another reason to refuse the place is still one, and is mended in another way.
    let state = project.state();
    std::fs::set_permissions(&state, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let outcome = project.harn(&["work", "note", "a", "--text", "x"]).exits(3);
    assert!(outcome.stderr.contains(&format!("hint: chmod go= '{}'", state.display())), "{}", outcome.stderr);
}

#[test]
fn the_variables_are_closed() {
    let project = project();
    let cases = [
        ("HARN_ALLOW_NETWORK_FS", "yes", "allow_network_fs_invalid"),
        ("HARN_ALLOW_NETWORK_FS", "0", "allow_network_fs_invalid"),
        ("HARN_TEST_FSTYPE", "ext4", "test_fstype_invalid"),
    ];
    for (name, value, code) in cases {
        let outcome = project.harn_with(&[(name, value)], &["work", "list", "--json"]).exits(2);
        assert_eq!(outcome.code(), code);
        assert!(outcome.stderr.contains(&format!("`{name}` is `{value}`, expected ")), "{}", outcome.stderr);
    }
    let _ = project.harn_with(&[("HARN_ALLOW_NETWORK_FS", "")], &["work", "list"]).ok();
}
