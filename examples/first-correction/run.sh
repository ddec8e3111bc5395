#!/usr/bin/env bash
# The whole loop on real files with real processes: an item is created, run, found wrong, corrected and accepted.
# Everything happens in a temporary directory. Exits non-zero if anything is not as expected.
#
# Uses the program in $HARN if that is set, else builds it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ -z "${HARN:-}" ]; then
    cargo build --quiet --locked --manifest-path "$here/../../Cargo.toml" -p harn-cli
    target=$(cargo metadata --format-version 1 --no-deps --manifest-path "$here/../../Cargo.toml" |
        sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
    HARN=$target/debug/harn
fi
harn=$HARN

project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
cp "$here/workflow.mjs" "$here/agent.sh" "$project"
cd "$project"
unset HARN HARN_ROOT HARN_ACTOR HARN_CHILD

say() { printf '\n# %s\n' "$*"; }

# Prints a command as a person would type it, runs it, and checks how it ended.
expect() {
    local code=$1 found=0 word
    shift
    printf '\n$ harn'
    for word in "$@"; do
        case $word in
            *[!A-Za-z0-9_./=-]*) printf ' "%s"' "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$harn" "$@" >output 2>&1 || found=$?
    cat output
    if [ "$found" -ne "$code" ]; then
        printf '\nexpected exit code %s, found %s\n' "$code" "$found" >&2
        exit 1
    fi
}

# The last command's output has this line.
shows() {
    if ! grep -qF -- "$1" output; then
        printf '\nexpected the output to contain: %s\n' "$1" >&2
        exit 1
    fi
}

say "A durable objective; the script's bytes are frozen with it."
expect 0 init
expect 0 work create "Bounded writer" workflow.mjs --id writer \
    --objective "Write a bounded writer" \
    --accept "A result of any size is written, up to the limit" --max-attempts 3
shows "writer  ready"

say "An attempt: the script sends a real process at it and runs the test suite."
expect 0 work run writer --adapter exec --exec "sh agent.sh"
shows "state: in_review"
shows "acceptance: 2 satisfied, 0 unsatisfied, 0 unknown"

say "The suite is green. A person tries what it does not cover: a large result."
if printf '123456789' | sh bounded_writer.sh 5; then
    echo "expected the first version to throw" >&2
    exit 1
fi

say "Passing is not accepted. The work goes back with a finding."
expect 0 work reopen writer --actor reviewer \
    --finding "The bounded writer throws on a large result instead of truncating it."
shows "f1 by reviewer"
shows "state: ready"

say "The next attempt is told about it."
expect 0 work run writer --adapter exec --exec "sh agent.sh"
shows "state: in_review"
run=$(sed -n 's/^run: //p' output)
expect 0 run log "$run"
shows "Finding f1: The bounded writer throws"

say "The result is right now."
[ "$(printf '123456789' | sh bounded_writer.sh 5)" = 12345 ]

say "Acceptance refuses until somebody says what happened to the finding."
expect 3 work accept writer --actor reviewer
shows "f1"
expect 0 work accept writer --actor reviewer --dispose f1=fixed
shows "state: succeeded"
shows "fixed by reviewer"

say "Every line of the record verifies, and the proof follows from it."
expect 0 run proof "$run" --verify
expect 0 verify
shows "everything verifies"

say "Done."
