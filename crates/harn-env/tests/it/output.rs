//! What is kept of the output.

use std::env;
use std::fs;
use std::io;
use std::process::Command;
use std::thread;
use std::time::Duration;

use harn_env::command::{Cancel, Captured, CommandSpec, Limits, Outcome, Sink, Streams, Writer, run};

use crate::subject::{has, run_alone, sh};

/// What `sha256sum` says of 100,000,000 zero bytes.
const ZEROS: &str = "a993f8c574e0fea8c1cdcbcd9408d9e2e107ee6e4d120edcfa11decd53fa0cae";
const ZEROS_LENGTH: u64 = 100_000_000;

const MEASURED: &str = "HARN_ENV_TEST_MEASURED";

/// R29: far more output than fits into memory or the sink.
#[test]
fn memory_stays_flat_whatever_is_printed() {
    // In a process of its own, so that other tests do not count.
    let measured = Command::new(env::current_exe().unwrap())
        .args(["--exact", "output::measured_process", "--nocapture"])
        .env(MEASURED, "1")
        .output()
        .unwrap();
    let text = String::from_utf8(measured.stdout).unwrap();
    assert!(measured.status.success() && text.contains("measured"), "{text}");
}

/// Does nothing unless [`memory_stays_flat_whatever_is_printed`] starts it.
#[test]
fn measured_process() {
    if env::var_os(MEASURED).is_none() {
        return;
    }
    let before = peak_memory();
    let spec = CommandSpec::new("head", "/").args(["-c", &ZEROS_LENGTH.to_string(), "/dev/zero"]);
    let finished = run_alone(&spec);
    let grown = peak_memory() - before;
    assert_eq!(finished.outcome, Outcome::Passed);
    let stdout = finished.stdout;
    assert_eq!((stdout.total_bytes, stdout.sha256.as_str()), (ZEROS_LENGTH, ZEROS));
    assert_eq!((stdout.head.len(), stdout.tail.len()), (16 * 1024, 48 * 1024));
    assert!(grown < 16 * 1024, "memory grew by {grown} KiB");
    io::Write::write_all(&mut io::stdout(), b"measured\n").unwrap();
}

/// The most memory this process ever used, in KiB; 0 where the system does not tell.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse().unwrap())
}

/// Prints exactly these bytes.
fn printed(bytes: &[u8], limits: Limits) -> Captured {
    let mut spec = CommandSpec::new("cat", "/").stdin(bytes);
    spec.limits = limits;
    let finished = run_alone(&spec);
    assert_eq!(finished.outcome, Outcome::Passed);
    finished.stdout
}

/// R31: cuts at every place of a character, at the default limits.
#[test]
fn characters_are_never_cut() {
    let limits = Limits::default();
    for k in 0..=3 {
        let text = "a".repeat(limits.head - k) + &"界".repeat(3) + &"b".repeat(limits.tail);
        let kept = printed(text.as_bytes(), limits);
        let whole = k / 3;
        assert_eq!(kept.head, text[..limits.head - k + 3 * whole], "head, {k}");
        assert_eq!(kept.tail, "b".repeat(limits.tail));

        let text = "a".repeat(limits.head) + &"😀".repeat(3) + &"b".repeat(limits.tail - k);
        let kept = printed(text.as_bytes(), limits);
        assert_eq!(kept.tail, "b".repeat(limits.tail - k), "tail, {k}");
        assert_eq!(kept.gap_bytes, 12);
        assert!(kept.valid_utf8);
    }
}

#[test]
fn an_excerpt_is_the_whole_text_or_says_what_is_missing() {
    let limits = Limits { head: 5, tail: 5, sink: 1000 };
    for (text, excerpt, gap) in [
        ("", "", 0),
        ("abc", "abc", 0),
        ("abcdefghij", "abcdefghij", 0),
        ("abcd界efg", "abcd界efg", 0),
        ("abcdefghijk", "abcde\n… 1 bytes left out …\nghijk", 1),
        ("abcd\n1234567890", "abcd\n… 5 bytes left out …\n67890", 5),
        ("abcd界fghijk", "abcd\n… 4 bytes left out …\nghijk", 4),
        ("abcdef界hijk", "abcde\n… 4 bytes left out …\nhijk", 4),
    ] {
        let kept = printed(text.as_bytes(), limits);
        assert_eq!((kept.excerpt().as_ref(), kept.gap_bytes), (excerpt, gap), "{text}");
        assert_eq!(kept.total_bytes, text.len() as u64);
        assert!(kept.valid_utf8);
    }
    let nothing = printed(b"abc", Limits { head: 0, tail: 0, sink: 0 });
    assert_eq!(nothing.excerpt(), "… 3 bytes left out …\n");
    assert_eq!(nothing.sink_bytes, 0);
}

#[test]
fn invalid_bytes_become_replacement_characters() {
    for (bytes, text) in [
        (&b"a\xffb"[..], "a\u{fffd}b"),
        (b"\xe7\x95", "\u{fffd}"),
        (b"\xe7\x95a", "\u{fffd}a"),
        (b"\x80\x80", "\u{fffd}\u{fffd}"),
        (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}"),
    ] {
        let kept = printed(bytes, Limits::default());
        assert_eq!(kept.excerpt(), text);
        assert!(!kept.valid_utf8);
        assert_eq!(kept.total_bytes, bytes.len() as u64);
    }
}

#[test]
fn characters_are_put_together_across_reads() {
    let finished = run_alone(&sh(r"printf '\347'; sleep 0.05; printf '\225'; sleep 0.05; printf '\214'"));
    assert_eq!(finished.stdout.excerpt(), "界");
    assert!(finished.stdout.valid_utf8);
}

#[test]
fn both_streams_go_whole_to_their_sinks() {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let spec = sh("head -c 300000 /dev/zero | tr '\\0' o; head -c 200000 /dev/zero | tr '\\0' e >&2");
    let streams = Streams { stdout: &mut stdout, stderr: &mut Writer(&mut stderr) };
    let finished = run(&spec, streams, &Cancel::new());
    assert_eq!(stdout, b"o".repeat(300_000));
    assert_eq!(stderr, b"e".repeat(200_000));
    assert_eq!(finished.stdout.sink_bytes, 300_000);
    assert_eq!(finished.stderr.sink_bytes, 200_000);
}

#[test]
fn beyond_its_limit_the_sink_gets_nothing() {
    let mut spec = sh("head -c 300000 /dev/zero");
    spec.limits.sink = 100_001;
    let mut stdout = Vec::new();
    let finished = run(&spec, Streams { stdout: &mut stdout, stderr: &mut () }, &Cancel::new());
    assert_eq!(stdout.len(), 100_001);
    assert_eq!(finished.stdout.sink_bytes, 100_001);
    assert_eq!(finished.stdout.total_bytes, 300_000);
    assert!(finished.stdout.sink_error.is_none());
}

/// Takes its time.
struct Slow;

impl Sink for Slow {
    fn receive(&mut self, _chunk: &[u8]) -> io::Result<()> {
        thread::sleep(Duration::from_millis(100));
        Ok(())
    }
}

#[test]
fn a_slow_sink_loses_nothing() {
    if !has("perl") {
        return;
    }
    // Where it works, the program makes its pipe larger and is long gone when the last chunk is read.
    let script = "fcntl(STDOUT, 1031, 1048576); syswrite(STDOUT, 'x' x 614400)";
    let spec = CommandSpec::new("perl", "/").args(["-e", script]);
    let finished = run(&spec, Streams { stdout: &mut Slow, stderr: &mut () }, &Cancel::new());
    assert_eq!(finished.stdout.total_bytes, 614_400);
    assert!(!finished.output_open);
}

/// Takes two chunks, then finds its disk full.
#[derive(Default)]
struct FullDisk {
    calls: usize,
    taken: u64,
}

impl Sink for FullDisk {
    fn receive(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.calls += 1;
        if self.calls > 2 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.taken += chunk.len() as u64;
        Ok(())
    }
}

#[test]
fn a_sink_that_fails_does_not_disturb_the_command() {
    let mut disk = FullDisk::default();
    let spec = sh("head -c 1000000 /dev/zero && echo written >&2");
    let finished = run(&spec, Streams { stdout: &mut disk, stderr: &mut () }, &Cancel::new());
    assert_eq!(finished.outcome, Outcome::Passed);
    assert_eq!(finished.stderr.excerpt(), "written\n");
    assert_eq!(disk.calls, 3);
    assert_eq!(finished.stdout.sink_bytes, disk.taken);
    assert_eq!(finished.stdout.total_bytes, 1_000_000);
    assert_eq!(finished.stdout.sink_error.unwrap().kind(), io::ErrorKind::StorageFull);
}
