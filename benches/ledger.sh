#!/usr/bin/env bash
# Measures harn-ledger beside its baselines with a release build, and prints one Markdown table.
# Arguments are those of `ledger-bench`: names of groups of rows, --runs N, --quick, --dir DIR.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec cargo run --quiet --release --locked --manifest-path "$here/../Cargo.toml" -p harn-benches --bin ledger-bench -- "$@"
