//! An item with everything, as `harn work show` prints it.
//!
//! The expected text is `tests/golden/work_show.txt`. With `HARN_BLESS=1` in the environment of the test it is
//! written anew; look at the difference before it is kept.

use std::fs;
use std::path::Path;

use harn_ledger::{Actor, CountingIds, FixedClock, Ledger, StreamId, Timestamp};
use harn_tests::{NOW, Project};
use harn_workflow::WorkLedger;
use harn_workflow::work::{Caller, Class, Command, End, Facts, Observed, Outcome, Role, Trigger, Work};

/// Does something else in each attempt, told by its number.
const SCRIPT: &str = r#"
export const meta = {
  acceptance: [
    { id: "suite", statement: "The test suite passes" },
    { id: "manual", statement: "The manual names every option" },
  ],
};
export default async ({ attempt, agent, blocked, check, evidence }) => {
  if (attempt.number === 1) await agent("hello", { label: "writer" });
  if (attempt.number === 2) blocked({ reason: "Which region comes first?", decision: "region-order" });
  if (attempt.number === 3) throw new Error("the first line\nthe second line");
  await check({ name: "suite", argv: ["true"], acceptanceIds: ["suite", "item.1"] });
  evidence({ kind: "review", status: "passed", label: "manual", acceptanceIds: ["manual"] });
};
"#;

/// An attempt that no command brings about: begun by a process that is no more, or refused by an outside service.
///
/// Such an attempt leaves no run whose id would be taken, so each needs a `seed` of its own.
fn begin_by_hand(project: &Project, id: &str, seed: u64, end: Option<&End>) {
    let clock = FixedClock(Timestamp::from_rfc3339(NOW).unwrap());
    let ledger = Ledger::builder(project.state()).clock(clock).open().unwrap();
    let caller = Caller { actor: Actor::new("runner").unwrap(), role: Role::Person };
    let works = WorkLedger::new(ledger.clone(), clock, CountingIds::from_seed(seed));
    let begun = works.begin(&caller, &StreamId::new(id).unwrap(), Trigger::Retry).unwrap();
    if let Some(end) = end {
        let command = Command::End { run_id: begun.run_id, end: end.clone() };
        let facts =
            Facts { observed: Observed::default(), caller, now: clock.0, proof: None, unproven: None };
        let stream = ledger.stream::<Work>(id).unwrap();
        stream.execute_with("runner", command, |_| Ok(facts.clone())).unwrap();
    }
}

fn everything() -> Project {
    let project = Project::new();
    project.item("base", "export default async () => 1;\n", &[]);
    let _ = project.harn(&["work", "run", "base"]).ok();
    let _ = project.harn(&["work", "accept", "base"]).ok();
    project.write("release.mjs", SCRIPT);
    let create = [
        "work",
        "create",
        "Release the package 発表 🚀",
        "release.mjs",
        "--id",
        "release",
        "--objective",
        "Publish a verified package release, with notes that name every change since the last one, and an archive \
         that was built from the tag.\n\nNothing is published by hand.",
        "--accept",
        "The full suite passes",
        "--accept",
        "The installed package smoke test passes",
        "--max-attempts",
        "2",
        "--max-uncharged-attempts",
        "9",
        "--depends-on",
        "base",
        "--source-kind",
        "external",
        "--source-ref",
        "https://example.org/issues/12",
    ];
    let _ = project.harn(&create).ok();
    let _ = project.harn(&["work", "note", "release", "--text", "Tagged.\nThe archive follows."]).ok();
    let run = |verb: &str, more: &[&str]| project.harn(&[&["work", verb, "release"], more].concat());
    let _ = run("run", &["--adapter", "exec", "--exec", "no-such-program"]).exits(6);
    let _ = run("retry", &[]).exits(4);
    let _ = run("retry", &[]).exits(1);
    let upstream =
        End::new(Outcome::Failed, Some(Class::Upstream), None, Some("429: slow down"), None).unwrap();
    begin_by_hand(&project, "release", 0xa0, Some(&upstream));
    begin_by_hand(&project, "release", 0xb0, None);
    let _ = run("retry", &[]).ok();
    let finding = "The bounded writer throws on a large result instead of truncating it.";
    let grant = ["--grant", "2", "--reason", "one line is left to correct"];
    let one = ["--actor", "reviewer", "--finding", finding, "--finding", "The manual is one version behind."];
    let _ = run("reopen", &[&one[..], &grant].concat()).ok();
    let _ = run("run", &[]).ok();
    let disposed =
        ["--actor", "reviewer", "--dispose", "f1=fixed", "--dispose", "f2=deferred:with the next release"];
    let _ = run("accept", &disposed).ok();
    let _ = run("reopen", &["--actor", "user", "--finding", "The archive holds no licence."]).ok();
    let _ = run("reopen", &["--actor", "user", "--finding", "The archive holds neither licence."]).ok();
    let _ = run("run", &["--isolation", "worktree"]).ok();
    let _ = project.harn(&["work", "reopen", "base"]).ok();
    project
}

/// The text without what differs between two runs: the project's directory, and the digests of proofs, which hold it.
fn redacted(text: &str, root: &Path) -> String {
    let text = text.replace(root.to_str().unwrap(), "[PROJECT]");
    let line = |line: &str| match line.split_once("proof ") {
        Some((before, digest)) if digest.len() == 64 => format!("{before}proof [DIGEST]\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn an_item_with_everything() {
    let project = everything();
    let shown = project.harn(&["work", "show", "release"]).ok();
    let text = redacted(&shown.stdout, project.root());
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/work_show.txt");
    if std::env::var_os("HARN_BLESS").is_some() {
        fs::create_dir_all(golden.parent().unwrap()).unwrap();
        fs::write(&golden, &text).unwrap();
    }
    let expected = fs::read_to_string(&golden).unwrap();
    let first = text.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert!(text == expected, "first difference: {first:?}\n{text}");
}
