//! Which exit code an error means: by its code, and a refusal unless it stands here.

use crate::exit::Exit;

/// Codes of errors that are not refusals.
const EXITS: [(Exit, &[&str]); 6] = [
    (Exit::Interrupted, &["stopped"]),
    (Exit::Usage, &["no_such_event"]),
    (Exit::WorkFailed, &["replay_diverged"]),
    (Exit::Busy, &["busy", "conflict", "lease_held", "running"]),
    (
        Exit::Damaged,
        &["damaged", "blob_damaged", "blob_missing", "nothing_whole", "proof_unreadable", "run_foreign"],
    ),
    (
        Exit::Environment,
        &[
            "blob_failed",
            "durability_unknown",
            "environment_held",
            "file_unreadable",
            "file_unstable",
            "git_answer",
            "git_broken",
            "git_failed",
            "git_missing",
            "lease_failed",
            "not_read_back",
            "open_failed",
            "read_failed",
            "read_only_file_system",
            "script_unreadable",
            "storage_full",
            "write_failed",
        ],
    ),
];

/// The exit code of an error.
pub(super) fn exit_of(code: &str) -> Exit {
    EXITS.iter().find(|(_, codes)| codes.contains(&code)).map_or(Exit::Refused, |(exit, _)| *exit)
}
