#!/usr/bin/env bash
# How long the fingerprint of a tree of 50,000 files takes, beside a `git status` of the same tree, and without Git beside
# `sha256sum` of every file. Prints one Markdown table; each time is a median over rounds that take turns.
# Uses the program in $HARN if that is set, else builds it. Needs Git, and `find`, `xargs` and `sha256sum` of GNU.
# Arguments: how many rounds (15), and a directory for the files (a new one below $TMPDIR).
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
rounds=${1:-15}
if [ -n "${2:-}" ]; then directory=$(mktemp -d -p "$2"); else directory=$(mktemp -d); fi
trap 'rm -rf "$directory"' EXIT
export HOME=$directory GIT_CONFIG_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0

# Microseconds that a command takes.
took() {
    local from=${EPOCHREALTIME/[.,]/}
    "$@" >/dev/null
    echo $((${EPOCHREALTIME/[.,]/} - from))
}
median() { sort -n | awk '{ all[NR] = $1 } END { printf "%.0f", all[int((NR + 1) / 2)] / 1000 }'; }

tree=$directory/tree
mkdir "$tree"
cd "$tree"
for outer in $(seq 20); do
    for inner in $(seq 25); do
        mkdir -p "src/$outer/$inner"
        for file in $(seq 100); do echo "$outer $inner $file: some words" >"src/$outer/$inner/$file.txt"; done
    done
done
"$harn" init >/dev/null
git init -q
git add -A
git -c user.name=bench -c user.email=bench@example.org -c commit.gpgsign=false commit -q -m first
# What is as young as the index is read again.
sleep 2
git update-index -q --refresh

hashed() { find . -path ./.git -prune -o -type f -print0 | xargs -0 -P 2 -n 2000 sha256sum; }

# Rounds in which the fingerprint and what it is measured by take turns.
row() {
    local name=$1 ours theirs ratio
    shift
    : >"$directory/ours"
    : >"$directory/theirs"
    for _ in $(seq "$rounds"); do
        took "$@" >>"$directory/theirs"
        took "$harn" env fingerprint >>"$directory/ours"
    done
    ours=$(median <"$directory/ours")
    theirs=$(median <"$directory/theirs")
    ratio=$(awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "%.1f", a / b }')
    echo "| $name | $ours ms | $theirs ms | $ratio |"
}

echo '| 50,000 files | `harn env fingerprint` | beside | ratio |'
echo '| --- | --- | --- | --- |'
row 'nothing changed, `git status`' git status --porcelain
echo edited >src/1/1/1.txt
echo new >src/new.txt
row 'one file edited, one new, `git status`' git status --porcelain
rm -rf .git
row 'no repository, `sha256sum` of each' hashed
