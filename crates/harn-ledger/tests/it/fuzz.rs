//! What the fuzz targets check, on every run: the corpus, and a few thousand mutations of it, always the same ones.
//!
//! `PROPTEST_CASES=100000 cargo test -p harn-ledger --test it fuzz` goes further; `cargo fuzz` goes on for as long as it
//! is let. A new target is a function in `fuzzing`, a row in `TARGETS`, a directory in `tests/corpus`, and a few lines in
//! `fuzz/`.

use std::path::{Path, PathBuf};

use harn_ledger::fuzzing;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use crate::store::config;

/// A target, whose corpus is the directory of the same name.
struct Target {
    name: &'static str,
    check: fn(&[u8]),
    /// How many mutations are tried: what takes a second or less without optimisation.
    mutations: u32,
}

const TARGETS: [Target; 4] = [
    Target { name: "line", check: fuzzing::line, mutations: 8000 },
    Target { name: "catalog", check: fuzzing::catalog, mutations: 4000 },
    Target { name: "checkpoint", check: fuzzing::checkpoint, mutations: 4000 },
    Target { name: "scan", check: fuzzing::scan, mutations: 1200 },
];

/// A change that keeps most of what was there.
#[derive(Debug, Clone)]
enum Mutation {
    Flip {
        at: Index,
        bit: u8,
    },
    Insert {
        at: Index,
        bytes: Vec<u8>,
    },
    /// Something that JSON gives a meaning, where one member or value ends and another begins.
    InsertPart {
        joint: Index,
        part: &'static str,
    },
    Delete {
        at: Index,
        length: usize,
    },
    /// Zeros, as a power loss leaves them.
    Blank {
        at: Index,
        length: usize,
    },
    Cut {
        at: Index,
    },
    DropLine {
        line: Index,
    },
    RepeatLine {
        line: Index,
        at: Index,
    },
    SwapLines {
        line: Index,
        with: Index,
    },
    /// Goes on with another file of the corpus.
    Splice {
        at: Index,
        file: Index,
        from: Index,
    },
}

const PARTS: [&str; 22] = [
    "null",
    "\"",
    "\\",
    "\\u0061",
    "\\/",
    "\n",
    "\r",
    "\t",
    " ",
    "{",
    "}",
    "[",
    "-",
    "0",
    "9",
    ",",
    r#","more":true"#,
    r#","hash":""#,
    r#","prev":""#,
    r#","data":"#,
    "\u{2028}",
    "\0",
];

fn mutation() -> impl Strategy<Value = Mutation> {
    use Mutation as M;
    let at = any::<Index>;
    prop_oneof![
        4 => (at(), 0..8_u8).prop_map(|(at, bit)| M::Flip { at, bit }),
        2 => (at(), vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| M::Insert { at, bytes }),
        8 => (at(), select(&PARTS[..])).prop_map(|(joint, part)| M::InsertPart { joint, part }),
        2 => (at(), 1..200_usize).prop_map(|(at, length)| M::Delete { at, length }),
        1 => (at(), 1..400_usize).prop_map(|(at, length)| M::Blank { at, length }),
        1 => at().prop_map(|at| M::Cut { at }),
        1 => at().prop_map(|line| M::DropLine { line }),
        1 => (at(), at()).prop_map(|(line, at)| M::RepeatLine { line, at }),
        1 => (at(), at()).prop_map(|(line, with)| M::SwapLines { line, with }),
        1 => (at(), at(), at()).prop_map(|(at, file, from)| M::Splice { at, file, from }),
    ]
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>, corpus: &[(PathBuf, Vec<u8>)]) {
        // Every place there is, and the one behind the last byte.
        let place = |at: &Index, length: usize| at.index(length + 1);
        let part = |bytes: &[u8], at: &Index, length: usize| {
            let start = place(at, bytes.len());
            start..bytes.len().min(start + length)
        };
        match self {
            Self::Flip { at, bit } if !bytes.is_empty() => {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            Self::Flip { .. } => {}
            Self::Insert { at, bytes: inserted } => {
                let at = place(at, bytes.len());
                bytes.splice(at..at, inserted.iter().copied());
            }
            Self::InsertPart { joint, part } => {
                let is_joint = |at: &usize| b"\":,{}[]\n".contains(&bytes[*at]);
                let joints: Vec<usize> =
                    (0..bytes.len()).filter(is_joint).flat_map(|at| [at, at + 1]).collect();
                let at = if joints.is_empty() { 0 } else { *joint.get(&joints) };
                bytes.splice(at..at, part.bytes());
            }
            Self::Delete { at, length } => drop(bytes.drain(part(bytes, at, *length))),
            Self::Blank { at, length } => {
                let part = part(bytes, at, *length);
                bytes[part].fill(0);
            }
            Self::Cut { at } => bytes.truncate(place(at, bytes.len())),
            Self::DropLine { .. } | Self::RepeatLine { .. } | Self::SwapLines { .. } => {
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
                if !lines.is_empty() {
                    self.apply_to_lines(&mut lines);
                    *bytes = lines.concat();
                }
            }
            Self::Splice { at, file, from } => {
                bytes.truncate(place(at, bytes.len()));
                let (_, other) = file.get(corpus);
                bytes.extend_from_slice(&other[place(from, other.len())..]);
            }
        }
    }

    fn apply_to_lines(&self, lines: &mut Vec<&[u8]>) {
        let count = lines.len();
        match self {
            Self::DropLine { line } => drop(lines.remove(line.index(count))),
            Self::RepeatLine { line, at } => lines.insert(at.index(count + 1), lines[line.index(count)]),
            Self::SwapLines { line, with } => lines.swap(line.index(count), with.index(count)),
            other => unreachable!("{other:?} is not about lines"),
        }
    }
}

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn the_corpus_and_its_mutations() {
    for Target { name, check, mutations } in TARGETS {
        let corpus = corpus(name);
        assert!(corpus.len() >= 10, "{name}: the corpus was not found");
        for (_, bytes) in &corpus {
            check(bytes);
        }
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(config(mutations), rng);
        let result = runner.run(&(any::<Index>(), vec(mutation(), 1..5)), |(file, mutations)| {
            let mut bytes = file.get(&corpus).1.clone();
            for mutation in mutations {
                mutation.apply(&mut bytes, &corpus);
            }
            check(&bytes);
            Ok(())
        });
        if let Err(failure) = result {
            panic!("{name}: {failure}");
        }
    }
}
