#!/usr/bin/env bash
# The whole loop on real files with real processes: an item is created, run, found wrong, corrected and accepted.
# Everything happens in a temporary directory. Exits non-zero if anything is not as expected.
#
# Uses the program in $HARN if that is set, else builds it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../harness.sh"

project=$directory/project
mkdir "$project"
cp "$here/workflow.mjs" "$here/agent.sh" "$project"
cd "$project"

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
run=$(sed -n 's/^run: //p' "$output")
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
