//! What an agent may do to the program and to the disk: very little.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use harn_tests::{AGENT, Project};

use crate::PROGRAM;

/// The largest amount of memory that a process has had, in KiB, as long as it runs.
fn peak_kib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// R29. The agent prints 600 MB (a gigabyte would only take longer): memory stays flat, and at most 256 MiB are kept.
#[test]
fn r_29_an_agent_that_never_stops_talking() {
    if !Path::new("/proc/self/status").exists() {
        return;
    }
    let project = Project::new();
    project.item("a", AGENT, &[]);
    let line = ["work", "run", "a", "--adapter", "exec", "--exec", "head -c 600000000 /dev/zero"];
    let mut child =
        project.process(PROGRAM, &line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    let status = loop {
        peak = peak.max(peak_kib(child.id()).unwrap_or_default());
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        sleep(Duration::from_millis(5));
    };
    assert_eq!(status.code(), Some(1), "a reply that no script can take fails the call");
    assert!(peak > 0 && peak < 100_000, "the program had {peak} KiB");
    let blobs: u64 =
        project.tree().values().filter_map(|(_, bytes)| bytes.as_ref()).map(|bytes| bytes.len() as u64).sum();
    assert!(blobs <= (256 << 20) + (1 << 20), "{blobs} bytes are kept");
    let _ = project.harn(&["verify"]).ok();
}

#[test]
fn output_that_is_not_text_is_kept_byte_for_byte() {
    let project = Project::new();
    project.item("a", AGENT, &[]);
    let agent = r"printf '\377\376 caf\351'";
    let _ = project
        .harn(&["work", "run", "a", "--adapter", "exec", "--exec", &format!("sh -c \"{agent}\"")])
        .ok();
    let kept = project.tree().into_values().any(|(_, bytes)| bytes.as_deref() == Some(b"\xff\xfe caf\xe9"));
    assert!(kept, "the bytes of the reply are not there");
    let _ = project.harn(&["verify"]).ok();
}

/// Whatever the umask says, nobody else can read the record.
#[test]
fn everything_is_private() {
    let project = Project::uninitialised();
    project.write("w.mjs", AGENT);
    let program = PROGRAM.replace('\'', "");
    let script = format!(
        "umask 000; '{program}' init && '{program}' work create T w.mjs --objective O --id a && \
         '{program}' work run a --adapter exec --exec 'head -c 9000 /dev/zero'"
    );
    let status =
        project.process("sh", &["-c", &script]).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success());
    assert_eq!(fs::metadata(project.state()).unwrap().permissions().mode() & 0o777, 0o700);
    let tree = project.tree();
    assert!(tree.len() > 10, "a run leaves more than that: {:?}", tree.keys());
    for (path, (mode, bytes)) in tree {
        let expected = if bytes.is_some() { 0o600 } else { 0o700 };
        assert_eq!(mode, expected, "{path}");
    }
}
