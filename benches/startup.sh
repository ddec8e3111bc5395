#!/usr/bin/env bash
# How much processor time a start of `harn` costs, as an average over many starts of a release build.
# Uses the program in $HARN if that is set, else builds it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${HARN:-}" ]; then
    cargo build --quiet --release --locked --manifest-path "$here/../Cargo.toml" -p harn-cli
    target=$(cargo metadata --format-version 1 --no-deps --manifest-path "$here/../Cargo.toml" |
        sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
    HARN=$target/release/harn
fi
harn=$HARN
unset HARN HARN_ROOT
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
cd "$project"
echo 'export default () => 1;' >workflow.mjs
"$harn" init >/dev/null
"$harn" work create "Small" workflow.mjs --objective "Be shown" --id small >/dev/null

rounds=500
measure() {
    local times user system
    # `times` prints the processor time of the shell and then of its children.
    times=$( (for _ in $(seq $rounds); do "$@" >/dev/null; done; times) | tail -n 1)
    user=$(printf '%s' "$times" | sed 's/^0m\([0-9.]*\)s.*/\1/')
    system=$(printf '%s' "$times" | sed 's/.* 0m\([0-9.]*\)s$/\1/')
    awk -v u="$user" -v s="$system" -v n=$rounds -v name="$name" \
        'BEGIN { printf "| `%s` | %.2f ms |\n", name, (u + s) * 1000 / n }'
}
echo '| Command | CPU per start |'
echo '| --- | --- |'
name="harn --version" measure "$harn" --version
name="harn work show small" measure "$harn" work show small
name="harn work list" measure "$harn" work list
