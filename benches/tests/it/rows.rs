//! Every row comes out. That the ledgers which were written verify, each round checks itself.

use std::fs;
use std::path::{Path, PathBuf};

use harn_benches::domain;
use harn_benches::rows::GROUPS;
use harn_benches::setting::{Result, Setting, Sizes};
use harn_ledger::Ledger;
use tempfile::TempDir;

fn quick(directory: &Path) -> Result<Setting> {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_ledger-bench"));
    Setting::new(directory, program, 1, 0, Sizes::QUICK)
}

#[test]
fn every_row_comes_out() {
    let directory = TempDir::new().unwrap();
    let setting = quick(directory.path()).unwrap();
    for group in GROUPS {
        let rows = group.measure(&setting).unwrap();
        assert_eq!(rows.len(), group.comparisons.len(), "{}", group.name);
        for row in rows {
            for figure in [row.ours.median(), row.baseline.median(), row.ratio()] {
                assert!(figure.is_finite() && figure > 0.0, "{}: {figure}", row.comparison.what);
            }
        }
    }
    drop(setting);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "files were left behind");
}

#[test]
fn a_ledger_that_is_not_what_was_written_is_not_measured() {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("ledger");
    domain::create(&Ledger::open(&root).unwrap(), "one", 2).unwrap();
    domain::check(&root, 2).unwrap();
    assert_eq!(domain::check(&root, 3).unwrap_err().to_string(), "the ledger holds 2 events, expected 3");
    let log = root.join("job/one/events.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replacen("part 1", "part 2", 1)).unwrap();
    let error = domain::check(&root, 2).unwrap_err().to_string();
    assert!(error.starts_with("`job/one`: damaged at line 1"), "{error}");
}
