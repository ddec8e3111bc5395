//! What `harn work create` refuses.

use harn_ledger::disk::MemDisk;
use harn_ledger::{Clock as _, CountingIds, Ledger, SystemClock};
use harn_tests::{PASS, Project};
use harn_workflow::work::{Caller, Event, NewItem, Role, ScriptFile, Work, Workflow};
use harn_workflow::{CreateWorkError, Draft, ScriptText, WorkLedger};

use crate::cli_refused::{Case, assert_refused};

/// `harn work create` with everything in order, and more words.
fn create<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["work", "create", "Title", "pass.mjs", "--objective", "Objective"], more].concat()
}

/// The same with another script.
fn with_script(script: &str) -> Vec<&str> {
    vec!["work", "create", "Title", script, "--objective", "Objective"]
}

fn project() -> Project {
    let project = Project::new();
    project.write("pass.mjs", PASS);
    project
}

#[test]
fn scripts_that_cannot_run() {
    let project = project();
    project.write("syntax.mjs", "export default async () => {");
    project.write("imports-missing.mjs", "import x from './none.mjs'; export default async () => x;");
    project.write("imports-bare.mjs", "import fs from 'fs'; export default async () => fs;");
    project.write("imports-node.mjs", "import fs from 'node:fs'; export default async () => fs;");
    project.write("imports-name.mjs", "import { y } from './module.mjs'; export default async () => y;");
    project.write("module.mjs", "export const x = 1;");
    project.write("script.py", "print(1)");
    project.write("kind.mjs", "export default ({ evidence }) => {\n  evidence({ kind: 'tests' });\n};");
    let cases: [Case<'_>; 10] = [
        // K-95. Known before the item exists, not only before an agent is started.
        ("names a kind of evidence that does not exist", with_script("kind.mjs"), 3, "script_evidence_kind"),
        ("no such file", with_script("none.mjs"), 3, "script_not_found"),
        ("does not parse", with_script("syntax.mjs"), 3, "script_syntax"),
        ("imports a missing file", with_script("imports-missing.mjs"), 3, "script_not_found"),
        ("imports a package", with_script("imports-bare.mjs"), 3, "script_import_not_relative"),
        ("imports a Node module", with_script("imports-node.mjs"), 3, "script_import_not_relative"),
        ("imports a name that is not there", with_script("imports-name.mjs"), 3, "script_link"),
        ("has no default export", with_script("module.mjs"), 3, "script_no_default_export"),
        ("is no script", with_script("script.py"), 3, "script_extension"),
        ("is a directory", with_script(".harn"), 3, "script_extension"),
    ];
    assert_refused(&project, &[], &cases);
    let words = project.harn(&with_script("kind.mjs")).exits(3).stderr;
    assert!(words.contains("kind.mjs`, line 2: `tests` is not a kind of evidence"), "{words}");
}

#[test]
fn texts_and_lists_out_of_bounds() {
    let project = project();
    let long = |length| "ñ".repeat(length);
    let (title, objective, text, name) = (long(201), long(4001), long(501), long(101));
    let titled = |title| vec!["work", "create", title, "pass.mjs", "--objective", "Objective"];
    let aimed = |objective| vec!["work", "create", "Title", "pass.mjs", "--objective", objective];
    let many: Vec<&str> = ["--accept", "It holds"].into_iter().cycle().take(102).collect();
    let (blank, control) = ("text_blank", "text_control_character");
    let cases: [Case<'_>; 19] = [
        ("empty title", titled(""), 3, blank),
        ("blank title", titled(" \t "), 3, blank),
        ("title of 201 characters", titled(&title), 3, "text_too_long"),
        ("title of two lines", titled("two\nlines"), 3, control),
        ("title that clears a terminal", titled("\u{1b}[2J"), 3, control),
        ("blank objective", aimed(" "), 3, blank),
        ("objective of 4,001 characters", aimed(&objective), 3, "text_too_long"),
        ("objective with a carriage return", aimed("one\r\ntwo"), 3, control),
        ("no objective", vec!["work", "create", "Title", "pass.mjs"], 2, "usage"),
        ("blank acceptance", create(&["--accept", ""]), 3, blank),
        ("acceptance of 501 characters", create(&["--accept", &text]), 3, "text_too_long"),
        ("acceptance with a bell", create(&["--accept", "a\u{7}"]), 3, control),
        ("51 acceptance texts", create(&many), 3, "too_many"),
        ("blank source reference", create(&["--source-ref", " "]), 3, blank),
        ("unknown kind of source", create(&["--source-kind", "robot"]), 2, "usage"),
        ("actor of 101 characters", create(&["--actor", &name]), 3, "text_too_long"),
        ("blank actor", create(&["--actor", ""]), 3, blank),
        ("actor of two lines", create(&["--actor", "a\nb"]), 3, control),
        ("unknown option", create(&["--accpet", "x"]), 2, "usage"),
    ];
    assert_refused(&project, &[], &cases);
}

/// The reference reads numbers leniently: `3x` is 3 there and `1e3` is 1. Here they are refused.
#[test]
fn n_08_numbers_are_strict() {
    let project = project();
    for option in ["--max-attempts", "--max-uncharged-attempts"] {
        for number in ["3x", "0", "-1", "1e3", "+1", "", "1.0", "4294967296"] {
            let case = ("not a number", create(&[option, number]), 2, "usage");
            assert_refused(&project, &[], &[case]);
        }
        assert_refused(&project, &[], &[("101", create(&[option, "101"]), 3, "out_of_range")]);
    }
}

#[test]
fn ids_and_dependencies() {
    let project = project();
    project.item("a", PASS, &[]);
    let long = "a".repeat(101);
    let cases: [Case<'_>; 9] = [
        ("the id is taken", create(&["--id", "a"]), 3, "already_exists"),
        ("the id is a path", create(&["--id", "../b"]), 3, "invalid_id"),
        ("the id is empty", create(&["--id", ""]), 3, "invalid_id"),
        ("the id has 101 bytes", create(&["--id", &long]), 3, "invalid_id"),
        ("K-03: the dependency is missing", create(&["--depends-on", "nope"]), 3, "dependency_missing"),
        ("one of several is missing", create(&["--depends-on", "a,nope"]), 3, "dependency_missing"),
        ("the dependency is no id", create(&["--depends-on", "a,b c"]), 3, "invalid_id"),
        ("the dependency is named twice", create(&["--depends-on", "a, a"]), 3, "duplicate_dependency"),
        ("the item itself", create(&["--id", "b", "--depends-on", "b"]), 3, "self_dependency"),
    ];
    assert_refused(&project, &[], &cases);
}

/// A cycle cannot be made with commands, because a dependency must exist first. It is refused all the same: here the
/// dependency names the new item although that does not exist.
#[test]
fn a_cycle_is_refused_by_the_library() {
    let ledger = Ledger::builder("/state").disk(MemDisk::new()).open().unwrap();
    let works = WorkLedger::new(ledger.clone(), SystemClock, CountingIds::from_seed(1));
    let mut first =
        NewItem::new("A", "Objective", Workflow::of(ScriptFile::of("/a.mjs", b"export default 1")));
    first.dependencies = vec!["b".parse().unwrap()];
    let intent = first.into_intent("a".parse().unwrap(), SystemClock.now()).unwrap();
    ledger.blobs().put(b"export default 1").unwrap();
    ledger.create::<Work>("a", "ann", &intent, &[Event::Created {}]).unwrap();

    let script = ScriptText { path: "/b.mjs".to_owned(), bytes: b"export default 1".to_vec() };
    let mut second = Draft::new("B", "Objective", script);
    second.id = Some("b".to_owned());
    second.dependencies = vec!["a".to_owned()];
    let caller = Caller { actor: "ann".parse().unwrap(), role: Role::Person };
    let error = works.create(&caller, second).unwrap_err();
    assert!(matches!(&error, CreateWorkError::Cycle { path } if path.len() == 3), "{error}");
    assert_eq!(error.to_string(), "the dependencies form a cycle: b -> a -> b");
}
