#!/usr/bin/env bash
# A project whose tests are partly red from the start: its baseline is recorded, the source is broken in a second place, and
# the comparison tells the old failure from the new one. Then a tool goes missing, and nobody is blamed for that.
# Everything happens in a temporary directory. Exits non-zero if anything is not as expected.
#
# Uses the program in $HARN if that is set, else builds it. Needs Cargo and Git.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../harness.sh"

cp -R "$here/project" "$directory/project"
cd "$directory/project"
# What is built stays in the project, in a directory that Git ignores.
unset CARGO_TARGET_DIR CARGO_BUILD_TARGET_DIR RUSTFLAGS RUSTDOCFLAGS RUST_BACKTRACE

git_() { git -c user.name=example -c user.email=example@example.org -c commit.gpgsign=false "$@"; }
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null

say "A project with a recipe, as it was accepted. One of its three tests fails."
git_ init -q
expect 0 init
git_ add -A
git_ commit -q -m "Count words"

say "The starting point: set-up, tools, baseline. That a test fails is recorded, and holds nothing."
expect 0 env prepare
shows "unit tests: failed"
shows "documentation: passed"

say "The work breaks a second test."
sed -i.old 's/max_by_key/min_by_key/' src/lib.rs
rm src/lib.rs.old

say "The same commands again. What failed before is told from what the work broke."
expect 1 env check
shows "unit tests: suspected_regression"
shows "broken: tests::the_longest_word_is_found"
shows "documentation: holds"

say "The work repairs what it broke, and the old failure as well."
sed -i.old "s/min_by_key/max_by_key/; s/split(' ')/split_whitespace()/" src/lib.rs
rm src/lib.rs.old
expect 0 env check
shows "unit tests: repaired"

say "The next attempt: the set-up holds and is not done again; the baseline is never taken over."
expect 0 env prepare
shows "set-up reused from"
shows "unit tests: passed"

say "A tool goes missing. That is the environment's fault, and not the work's."
mkdir "$directory/bin"
ln -s "$(command -v git)" "$directory/bin/git"
path=$directory/bin
expect 6 env check
path=$PATH
shows "unit tests: environment_lost"

say "All of it is on record."
expect 0 env list
expect 0 verify
