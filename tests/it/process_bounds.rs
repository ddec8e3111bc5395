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

/// Runs the program to its end. Returns how it ended and its peak.
fn watched(project: &Project, line: &[&str]) -> (Option<i32>, u64) {
    let mut child =
        project.process(PROGRAM, line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    loop {
        peak = peak.max(peak_kib(child.id()).unwrap_or_default());
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), peak);
        }
        sleep(Duration::from_millis(2));
    }
}

/// R29. The agent prints 300 MB, which is more than is kept (a gigabyte would only take longer): memory stays flat, and at
/// most 256 MiB are on disk. Nothing that is done with the record later holds the output in memory either.
#[test]
fn r_29_an_agent_that_never_stops_talking() {
    if !Path::new("/proc/self/status").exists() {
        return;
    }
    let project = Project::new();
    project.item("a", AGENT, &[]);
    let agent = "sh -c 'yes 0123456789 | head -c 300000000'";
    let run = ["work", "run", "a", "--adapter", "exec", "--exec", agent];
    let failed = 1;
    for (line, code) in
        [(&run[..], failed), (&["verify"], 0), (&["work", "list"], 0), (&["work", "show", "a"], 0)]
    {
        let (found, peak) = watched(&project, line);
        assert_eq!(found, Some(code), "{line:?}");
        assert!(peak < 100_000, "{line:?} had {peak} KiB");
    }
    let (mut kept, mut longest) = (0, 0);
    for (name, (_, bytes)) in project.tree() {
        let size = bytes.map_or(0, |bytes| bytes.len());
        kept += size;
        if Path::new(&name).ends_with("events.jsonl") {
            longest = longest.max(size);
        }
    }
    assert!((256 << 20..(256 << 20) + (1 << 20)).contains(&kept), "{kept} bytes are kept");
    assert!(longest < 16 << 10, "a log has {longest} bytes");
    let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
    let run = shown["projection"]["attempts"][0]["run_id"].as_str().unwrap();
    let log = project.harn(&["run", "log", run, "--json"]).ok().json();
    let events = log["events"].as_array().unwrap();
    let tried = events.iter().find(|event| event["event"] == "agent.try").unwrap();
    let stored = &tried["data"]["reply"]["stored"];
    assert_eq!(stored["content"]["bytes"], 256 << 20);
    assert_eq!(stored["dropped"], 300_000_000 - (256 << 20));
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
