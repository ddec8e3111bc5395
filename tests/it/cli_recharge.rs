//! Judging attempts anew, and what a program may not retry.

use harn_tests::{FAIL, PASS, Project};

#[test]
fn the_budget_follows_and_show_says_why() {
    let project = Project::new();
    project.item("a", FAIL, &["--max-attempts", "1"]);
    let _ = project.harn(&["work", "run", "a"]).exits(1);
    let _ = project.harn(&["work", "retry", "a"]).exits(3);
    let shown = project.harn(&["work", "show", "a"]).ok().stdout;
    assert!(shown.contains("attempts: 1/1\n"), "{shown}");
    assert!(shown.contains("because: nothing shows that it failed before the work was touched"), "{shown}");

    let judge = ["work", "recharge", "a", "1", "--as", "environment", "--reason", "the disk was full"];
    let judged = project.harn(&judge).ok().stdout;
    assert!(judged.contains("attempts: 0/1 (+1 uncharged)\n"), "{judged}");
    assert!(judged.contains("because: operator (test clock) judged so: the disk was full"), "{judged}");
    assert!(judged.contains("recorded as: charged"), "{judged}");
    let before = project.tree();
    let again = project.harn(&judge).ok().stdout;
    assert!(again.starts_with("nothing changed"), "{again}");
    assert_eq!(project.tree(), before);
    let _ = project.harn(&["work", "retry", "a"]).exits(1);
    let log = project.harn(&["work", "log", "a"]).ok().stdout;
    assert!(log.contains("attempt.recharged"), "{log}");
}

#[test]
fn a_class_that_is_none_and_an_attempt_that_is_none_are_refused() {
    let project = Project::new();
    project.item("a", PASS, &[]);
    let recharge = |attempt: &str, class: &str| {
        project.harn(&["work", "recharge", "a", attempt, "--as", class, "--reason", "why", "--json"])
    };
    let _ = recharge("1", "lost").exits(2);
    let _ = recharge("0", "charged").exits(2);
    assert_eq!(recharge("1", "charged").exits(3).json()["error"]["code"], "no_such_attempt");
    let _ = project.harn(&["work", "run", "a"]).ok();
    assert_eq!(recharge("1", "environment").exits(3).json()["error"]["code"], "passed_counts");
}

#[test]
fn w19_a_cancelled_item_goes_on_by_no_path() {
    let project = Project::new();
    project.item("a", FAIL, &[]);
    let _ = project.harn(&["work", "run", "a"]).exits(1);
    let _ = project.harn(&["work", "cancel", "a"]).ok();
    for verb in ["run", "retry", "resume", "accept"] {
        let refused = project.harn(&["work", verb, "a", "--json"]).exits(3).json();
        assert_eq!(refused["error"]["code"], "finished", "{verb}");
    }
}
