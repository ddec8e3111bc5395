#!/usr/bin/env bash
# How long `harn work list` takes on many items, with and without its catalog, beside a `find` that looks at the same
# files, and how much memory it takes. Prints one Markdown table; each time is a median over rounds that take turns.
# Uses the programs in $HARN and $LIST_STORE if they are set, else builds them. Needs Linux and the `find` of GNU.
# Arguments: how many rounds (15), and a directory for the files (a new one below $TMPDIR).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${HARN:-}" ] || [ -z "${LIST_STORE:-}" ]; then
    cargo build --quiet --release --locked --manifest-path "$here/../Cargo.toml" -p harn-cli -p harn-benches
    target=$(cargo metadata --format-version 1 --no-deps --manifest-path "$here/../Cargo.toml" |
        sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
    HARN=$target/release/harn
    LIST_STORE=$target/release/list-store
fi
harn=$HARN
store=$LIST_STORE
unset HARN LIST_STORE HARN_ROOT
rounds=${1:-15}
if [ -n "${2:-}" ]; then directory=$(mktemp -d -p "$2"); else directory=$(mktemp -d); fi
trap 'rm -rf "$directory"' EXIT

# Microseconds that a command takes.
took() {
    local from=${EPOCHREALTIME/[.,]/}
    "$@" >/dev/null
    echo $((${EPOCHREALTIME/[.,]/} - from))
}
median() { sort -n | awk '{ all[NR] = $1 } END { printf "%.1f", all[int((NR + 1) / 2)] / 1000 }'; }

# The most memory that the command held, in MiB: of text it has all before any is read; a document is looked at while it is
# written.
peak() {
    local pipe=$directory/pipe pid
    mkfifo "$pipe"
    "$@" >"$pipe" &
    pid=$!
    exec 3<"$pipe"
    sleep 2
    awk '/^VmHWM:/ { printf "%.0f", $2 / 1024 }' "/proc/$pid/status"
    cat <&3 >/dev/null
    exec 3<&-
    wait "$pid"
    rm "$pipe"
}

looked_at() { find "$1/.harn/state/work" -type f -printf '%i %s %T@ %C@\n'; }

echo '| Items × events | no catalog | catalog | `find -printf` | ratio | `--json` | memory | memory `--json` |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
for size in '10000 3' '1000 300'; do
    read -r items events <<<"$size"
    project=$directory/$items
    mkdir "$project"
    "$harn" --root "$project" init >/dev/null 2>&1 || (cd "$project" && "$harn" init >/dev/null)
    "$store" "$project" "$items" "$events"
    list=("$harn" --root "$project" work list)
    catalog=$project/.harn/state/catalog/work.jsonl
    # What is too young for a catalog is older at the next tick of the disk's clock.
    sleep 1
    for file in cold warm found json; do : >"$directory/$file"; done
    for _ in $(seq "$rounds"); do
        rm -f "$catalog"
        took "${list[@]}" >>"$directory/cold"
        took "${list[@]}" >>"$directory/warm"
        took looked_at "$project" >>"$directory/found"
        took "${list[@]}" --json >>"$directory/json"
    done
    cold=$(median <"$directory/cold")
    warm=$(median <"$directory/warm")
    found=$(median <"$directory/found")
    json=$(median <"$directory/json")
    ratio=$(awk -v a="$warm" -v b="$found" 'BEGIN { printf "%.1f", a / b }')
    echo "| $items × $events | $cold ms | $warm ms | $found ms | $ratio | $json ms |" \
        "$(peak "${list[@]}") MiB | $(peak "${list[@]}" --json) MiB |"
    rm -rf "$project"
done
