//! How much a review may hold. Lengths of texts are Unicode scalar values after trimming.

/// Longest title of a finding, one line.
pub const TITLE: usize = 200;
/// Longest evidence, proposed fix, reason or summary.
pub const TEXT: usize = 8_000;
/// Most new findings in one report. What is left goes into the next turn.
pub const NEW: usize = 8;
/// Most findings in a review.
pub const FINDINGS: usize = 2_000;
/// Most citations of one account.
pub const CITES: usize = 32;
/// Most files that a report says were read.
pub const READ: usize = 5_000;
/// Longest path, in bytes.
pub const PATH: usize = 1_000;
/// Longest name of a task or of a check.
pub const NAME: usize = 100;
/// Most tasks of a plan.
pub const TASKS: usize = 64;
/// Most files, checks or dependencies of a task, and most combined checks.
pub const PER_TASK: usize = 64;
/// Largest plan, in bytes of canonical JSON.
pub const PLAN: usize = 256 << 10;
/// Largest report, in bytes.
pub const REPORT: usize = 4 << 20;
/// Most arguments of a check.
pub const ARGV: usize = 128;
/// Most bytes in the arguments of a check.
pub const ARGV_BYTES: usize = 64 << 10;
/// Longest request, in characters.
pub const REQUEST: usize = 16_000;
/// Most repair passes of a plan.
pub const PASSES: u32 = 2;
/// Time limit of a check, in seconds: the default, and the longest.
pub const TIMEOUT: (u32, u32) = (180, 3_600);
/// Longest title of a publication, in characters.
pub const PUBLICATION_TITLE: usize = 72;
/// Longest summary of a publication, in characters.
pub const PUBLICATION_SUMMARY: usize = 4_096;
