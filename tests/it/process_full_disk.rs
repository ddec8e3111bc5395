//! The disk gets full: what was acknowledged stays, what could not be recorded is said, and with room again all goes on.
//!
//! A full disk is made of a small file system of the test's own, in a name space of its own so that nothing is left behind.
//! Where the machine does not allow that, there is nothing to test with.

use std::process::{Command, Stdio};

use harn_tests::{AGENT, PASS, Project};

use crate::PROGRAM;

/// Puts a file system of 512 KiB in the place of the state, and goes through a full disk in it. `harn` is the program.
const SCRIPT: &str = r#"
set -u
mount -t tmpfs -o size=512k,mode=0700 tmpfs .harn/state || exit 77
fail() { echo "$*" >&2; cat out err >&2; exit 1; }
# Runs the program, which must end with this code.
expect() {
    code=$1; shift
    "$harn" "$@" >out 2>err; found=$?
    [ "$found" -eq "$code" ] || fail "harn $*: exit code $found, expected $code"
}
fill() { head -c 2000000 /dev/zero >.harn/state/filler 2>/dev/null; }
notes() { grep -c '"event":"work.noted"' .harn/state/work/a/events.jsonl; }

expect 0 work create Title agent.mjs --objective Objective --id a
expect 0 work create Title pass.mjs --objective Objective --id b

# Notes until one does not fit. Those before it are there, the one that did not fit is not, and the log is whole.
fill
acknowledged=0
while [ "$acknowledged" -lt 100 ]; do
    "$harn" work note a --text "$(printf 'n%.0s' $(seq 1 1000))" >out 2>err; found=$?
    [ "$found" -eq 0 ] || break
    acknowledged=$((acknowledged + 1))
done
[ "$found" -eq 6 ] || fail "a full disk is exit code $found, expected 6"
grep -q 'room' err || fail "the error does not say what is wrong"
[ "$(notes)" -eq "$acknowledged" ] || fail "$(notes) notes are there, $acknowledged were acknowledged"
expect 6 work create Title pass.mjs --objective Objective --id c
expect 0 work list
expect 0 work show a
rm .harn/state/filler
expect 0 verify
expect 3 work show c
expect 0 work create Title pass.mjs --objective Objective --id c

# The disk gets full while an agent is at work: its reply can be stored nowhere, and nothing is made up.
expect 6 work run a --adapter exec --exec 'sh -c "head -c 2000000 /dev/zero >.harn/state/filler 2>/dev/null; head -c 100000 /dev/zero"'
grep -q 'attempt.ended' .harn/state/work/a/events.jsonl && fail "an end is on record"
rm .harn/state/filler
expect 0 verify
expect 0 work show a
grep -q '^state: blocked' out || fail "the item is not blocked"
expect 0 work retry a --adapter exec --exec 'echo done'
expect 0 work run b
expect 0 work accept a
expect 0 verify

# The disk gets full while a command of a preparation is at work: its receipt has no end, and nothing of it is reused.
cat >plan.json <<'PLAN'
{"schema":"environment.v1","setup":[{"name":"install","argv":["sh","-c",
 "test -e full || exit 0; head -c 2000000 /dev/zero >.harn/state/filler 2>/dev/null; head -c 100000 /dev/urandom"]}]}
PLAN
touch full
expect 6 env prepare --plan plan.json
grep -q 'room' err || fail "the error does not say what is wrong"
rm .harn/state/filler full
expect 0 verify
expect 0 env show
grep -q '^status: interrupted' out || fail "the receipt is not interrupted"
expect 0 env prepare --plan plan.json
grep -q 'install: passed' out || fail "the set-up was not done again"
expect 0 verify
"#;

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let project = Project::new();
    project.write("agent.mjs", AGENT);
    project.write("pass.mjs", PASS);
    // With and without being the administrator of the machine.
    for options in ["-m", "-rm"] {
        let possible = Command::new("unshare")
            .args([options, "mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs"])
            .arg(project.state())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if possible {
            let arguments = [options, "sh", "-c", SCRIPT];
            let output = project.process("unshare", &arguments).env("harn", PROGRAM).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{said}");
            return;
        }
    }
}
