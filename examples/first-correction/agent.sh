#!/bin/sh
# Stands in for a coding agent: reads its prompt on standard input, edits files in the directory where it is started,
# and says what it did on standard output. What it does depends on nothing but the prompt.
set -eu
prompt=$(cat)

if printf '%s\n' "$prompt" | grep -q '^Finding '; then
    cat > bounded_writer.sh <<'END'
#!/bin/sh
# usage: bounded_writer.sh LIMIT < INPUT
# Writes INPUT to standard output, at most LIMIT bytes of it.
head -c "$1"
END
    cat >> suite.sh <<'END'
expect "12345" "$(printf '123456789' | sh bounded_writer.sh 5)" "a large result is cut to the limit"
END
    echo "The writer truncates now, and the suite has a case for it."
else
    cat > bounded_writer.sh <<'END'
#!/bin/sh
# usage: bounded_writer.sh LIMIT < INPUT
# Writes INPUT to standard output if it has at most LIMIT bytes.
input=$(cat)
if [ "${#input}" -gt "$1" ]; then
    echo "the result is too large" >&2
    exit 1
fi
printf '%s' "$input"
END
    cat > suite.sh <<'END'
#!/bin/sh
# The test suite. Every case must give the expected text.
set -eu
expect() {
    if [ "$1" = "$2" ]; then
        echo "ok: $3"
    else
        echo "FAILED: $3: expected '$1', found '$2'"
        exit 1
    fi
}
expect "1234" "$(printf '1234' | sh bounded_writer.sh 5)" "a small result is written as it is"
END
    echo "The writer is there, and its suite passes."
fi
