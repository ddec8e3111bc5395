//! What the documents say about the project: the crate graph, the paths, and how source files begin.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The dependencies between the crates of the project, as `ARCHITECTURE.md` draws them.
const GRAPH: [(&str, &[&str]); 6] = [
    ("harn-ledger", &[]),
    ("harn-env", &["harn-ledger"]),
    ("harn-workflow", &["harn-ledger"]),
    ("harn-review", &["harn-ledger"]),
    ("harn-engine", &["harn-env", "harn-ledger", "harn-review", "harn-workflow"]),
    ("harn-cli", &["harn-engine", "harn-env", "harn-ledger", "harn-review", "harn-workflow"]),
];

#[test]
fn the_crate_graph_is_the_one_that_is_written_down() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (name, expected) in GRAPH {
        let packages = metadata["packages"].as_array().unwrap();
        let package = packages.iter().find(|package| package["name"] == name).unwrap();
        let found: BTreeSet<&str> = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|dependency| dependency["kind"].is_null())
            .filter_map(|dependency| dependency["name"].as_str())
            .filter(|dependency| dependency.starts_with("harn-"))
            .collect();
        assert_eq!(found, expected.iter().copied().collect(), "{name}");
    }
}

/// The documents whose paths are checked.
const DOCUMENTS: [&str; 17] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SHORTCOMINGS.md",
    "docs/format/ledger-v1.md",
    "docs/environment.md",
    "docs/import.md",
    "docs/reference-cases.md",
    "docs/work-items.md",
    "benches/README.md",
    "crates/harn-ledger/README.md",
    "crates/harn-workflow/README.md",
    "crates/harn-env/README.md",
    "crates/harn-review/README.md",
    "docs/reviews.md",
    "crates/harn-engine/README.md",
    "crates/harn-cli/README.md",
];

/// Links, and names in backticks that look like files of the project.
fn paths(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for link in line.split("](").skip(1) {
            let target = link.split(')').next().unwrap_or_default();
            if !target.starts_with("http") && !target.starts_with('#') && target.contains('.') {
                found.push((number + 1, target.to_owned()));
            }
        }
        let is_source = |name: &&str| {
            let file = [".rs", ".md", ".sh"].iter().any(|ending| name.ends_with(ending));
            file && !name.contains([' ', '<', '*'])
        };
        found.extend(
            line.split('`').skip(1).step_by(2).filter(is_source).map(|name| (number + 1, name.to_owned())),
        );
    }
    found
}

#[test]
fn every_path_that_a_document_names_exists() {
    for document in DOCUMENTS {
        let place = root().join(document);
        let text = fs::read_to_string(&place).unwrap();
        // A bare name stands beside the path named before it.
        let mut beside = place.parent().unwrap().to_owned();
        for (line, name) in paths(&text) {
            let bases = [root(), place.parent().unwrap().to_owned()].into_iter();
            let nearby = beside.ancestors().take(4).map(Path::to_owned);
            let found = bases.chain(nearby).map(|base| base.join(&name)).find(|path| path.exists());
            let is_placeholder = ["agent.sh", "events.jsonl"].contains(&name.trim_start_matches("./"));
            match found {
                Some(path) => beside = path.parent().unwrap().to_owned(),
                None => assert!(is_placeholder, "{document}:{line}: `{name}` does not exist"),
            }
        }
    }
}

fn source_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") && !path.ends_with(".git") {
            source_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_source_file_states_its_job_and_keeps_to_it() {
    let mut files = Vec::new();
    source_files(&root(), &mut files);
    assert!(files.len() > 100, "the source files were not found");
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let stated = text.starts_with("//!") || text.starts_with("#![doc");
        assert!(stated, "{} does not open with the job that it has", path.display());
        let is_test = path.components().any(|part| part.as_os_str() == "tests");
        let code = text.lines().take_while(|line| *line != "#[cfg(test)]").count();
        assert!(is_test || code <= 400, "{} has {code} lines without tests", path.display());
    }
}

#[test]
fn what_is_printed_from_the_code_is_what_the_code_prints() {
    let path = root().join("docs/work-items.md");
    let mut text = fs::read_to_string(&path).unwrap();
    let printed = [
        ("table", harn_workflow::work::transition::markdown()),
        ("rules", harn_workflow::work::rule::markdown()),
    ];
    for (what, expected) in printed {
        let (begin, end) = (format!("<!-- {what} -->\n"), format!("<!-- end of {what} -->"));
        let (before, rest) = text.split_once(&begin).unwrap();
        let (found, after) = rest.split_once(&end).unwrap();
        if std::env::var_os("HARN_BLESS").is_some() {
            text = format!("{before}{begin}{expected}{end}{after}");
            fs::write(&path, &text).unwrap();
        } else {
            assert_eq!(found, expected, "{what}");
        }
    }
}

/// The numbers that a text names: `K-08`, `k_08`, `k08`, `n_17_n_18`, and those of a range such as `k_18_to_k_23`.
fn case_numbers(text: &str, kind: char) -> BTreeSet<u32> {
    let text = text.to_ascii_lowercase();
    let mut found = BTreeSet::new();
    let mut range = None;
    for (at, _) in text.match_indices(kind) {
        if text[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) {
            continue;
        }
        let rest = text[at + 1..].trim_start_matches(['-', '_']);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Ok(number) = rest[..digits].parse::<u32>() else { continue };
        if let Some((first, end)) = range.take()
            && at <= end + 4
        {
            found.extend(first..number);
        }
        let after = &rest[digits..];
        if after.starts_with("_to_") || after.starts_with(" to ") {
            range = Some((number, at + 1 + (text[at + 1..].len() - rest.len()) + digits));
        }
        found.insert(number);
    }
    found
}

/// Every case of the reference is in a test, or is said to wait for something.
#[test]
fn every_case_of_the_reference_is_tested_or_waits() {
    assert_eq!(case_numbers("K-08, k_18_to_k_20 and n_17_n_18", 'k'), BTreeSet::from([8, 18, 19, 20]));
    let page = fs::read_to_string(root().join("docs/reference-cases.md")).unwrap();
    let waiting = page.split("## Waiting").nth(1).unwrap();
    let mut sources = String::new();
    let mut directories = vec![root().join("crates"), root().join("tests/it")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                // In a source file, what stands behind the tests' beginning.
                let in_tests = path.components().any(|part| part.as_os_str() == "tests");
                sources += if in_tests { &text } else { text.split("#[cfg(test)]").nth(1).unwrap_or("") };
            }
        }
    }
    // The numbers between do not exist.
    let cases = (1..=28).chain(30..=38).chain(40..=50).chain(60..=80).chain(90..=96).chain(130..=132);
    let kinds = [
        ('k', cases.collect::<Vec<u32>>()),
        ('n', (1..=20).collect()),
        ('b', (1..=36).collect()),
        ('a', (1..=48).collect()),
        ('c', (16..=25).collect()),
    ];
    for (kind, all) in kinds {
        let tested = case_numbers(&sources, kind);
        let waits = case_numbers(waiting, kind);
        let missing: Vec<_> = all.iter().filter(|it| !tested.contains(it) && !waits.contains(it)).collect();
        assert!(missing.is_empty(), "{kind}: {missing:?} are in no test and wait for nothing");
    }
}
