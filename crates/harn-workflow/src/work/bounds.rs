//! Every bound on the texts and lists of a work item.
//!
//! Lengths count Unicode scalar values after trimming. All bounds of one record hold jointly: the largest intent and the
//! largest event of each kind fit into the limits of a stream of kind `work`, even in four-byte characters.

use harn_ledger::Limits;

/// Bounds of a stream of kind `work`: lines of 128 KiB, intents of 192 KiB.
pub const LIMITS: Limits = Limits { intent_bytes: 192 << 10, line_bytes: 128 << 10, ..Limits::DEFAULT };

/// Longest title, one line.
pub const TITLE: usize = 200;
/// Longest objective.
pub const OBJECTIVE: usize = 4_000;
/// Most acceptance texts.
pub const ACCEPTANCE_TEXTS: usize = 50;
/// Longest acceptance text.
pub const ACCEPTANCE: usize = 500;
/// Most dependencies.
pub const DEPENDENCIES: usize = 50;
/// Most modules that a workflow's script imports.
pub const MODULES: usize = 64;
/// Longest path of a script or module.
pub const PATH: usize = 1_000;
/// Longest sum of the paths of a script and its modules.
pub const PATHS: usize = 8_000;
/// Longest reference of a source, one line.
pub const SOURCE_REF: usize = 1_000;
/// Largest number of attempts, frozen or granted at once.
pub const ATTEMPTS: u32 = 100;
/// Attempts when nothing else is asked for, charged and uncharged alike.
pub const DEFAULT_ATTEMPTS: u32 = 3;
/// Longest reason, given by a person or composed.
pub const REASON: usize = 2_000;
/// Longest error of an attempt.
pub const ERROR: usize = 2_000;
/// Longest name of a decision that an attempt waits for, one line.
pub const DECISION: usize = 1_000;
/// Longest note.
pub const NOTE: usize = 2_000;
/// Most findings that are open at once.
pub const FINDINGS: usize = 20;
/// Longest statement of a finding.
pub const FINDING: usize = 1_000;
/// Longest reason of a disposition.
pub const DISPOSITION_REASON: usize = 500;
/// Most unknowns that an acceptance names.
pub const UNKNOWNS: usize = 50;
/// Longest code of an unknown, one line.
pub const UNKNOWN: usize = 200;
/// Longest name of a review's turn, one line.
pub const REVIEW_TURN: usize = 20;
/// Longest reason of a closed gate in a refusal, one line.
pub const REVIEW_REASON: usize = 500;
/// Longest path of a file in another program's tree, one line.
pub const OLD_PATH: usize = 400;
/// Longest name that another program gave to somebody or to a run, one line.
pub const OLD_NAME: usize = 200;
/// Longest id that another program gave to a finding, one line.
pub const OLD_FINDING: usize = 64;
