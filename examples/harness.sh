# What the examples on the command line share; they source it. Sets `harn`, the program (that in $HARN, else a build of it), and
# `directory`, a temporary one that is removed at the end.
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ -z "${HARN:-}" ]; then
    cargo build --quiet --locked --manifest-path "$examples/../Cargo.toml" -p harn-cli
    target=$(cargo metadata --format-version 1 --no-deps --manifest-path "$examples/../Cargo.toml" |
        sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
    HARN=$target/debug/harn
fi
harn=$HARN
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
output=$directory/output
# Where the program looks for others.
path=$PATH
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
    PATH=$path "$harn" "$@" >"$output" 2>&1 || found=$?
    cat "$output"
    if [ "$found" -ne "$code" ]; then
        printf '\nexpected exit code %s, found %s\n' "$code" "$found" >&2
        exit 1
    fi
}

# The last command's output has this line.
shows() {
    if ! grep -qF -- "$1" "$output"; then
        printf '\nexpected the output to contain: %s\n' "$1" >&2
        exit 1
    fi
}
