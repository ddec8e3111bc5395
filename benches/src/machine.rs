//! What the figures depend on besides the code: the machine, and the versions that are compared.

use std::fs;
use std::path::Path;
use std::thread;

use crate::setting::Result;

/// The packages whose versions matter.
const PACKAGES: [&str; 6] = ["harn-ledger", "rusqlite", "libsqlite3-sys", "serde_json", "sha2", "memchr"];

/// Says on what and of what it is measured, one line each.
pub fn describe(directory: &Path) -> Result<String> {
    let cpus = thread::available_parallelism()?;
    let model = value_of("/proc/cpuinfo", "model name").unwrap_or_else(|| "of an unknown model".to_owned());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_else(|_| "unknown".to_owned());
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_else(|_| "unknown".to_owned());
    let load = load.split(' ').next().unwrap_or_default();
    let file_system = file_system(directory)?;
    let in_memory =
        if file_system.starts_with("tmpfs") { " (in memory: syncs cost nothing here)" } else { "" };
    let versions: Vec<String> =
        PACKAGES.iter().filter_map(|name| Some(format!("{name} {}", locked(name)?))).collect();
    Ok(format!(
        "{cpus} processors, {model}, load {load} in the minute before\nkernel {} {}\nfile system {file_system}{in_memory}\n{}\nSQLite {}\n",
        std::env::consts::OS,
        kernel.trim(),
        versions.join(", "),
        rusqlite::version(),
    ))
}

/// The version of a package in the lock file.
fn locked(name: &str) -> Option<&'static str> {
    let lock = include_str!("../../Cargo.lock");
    let (_, rest) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    rest.split('"').next()
}

fn value_of(file: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The type of the file system that holds the directory, and what it is on.
fn file_system(directory: &Path) -> Result<String> {
    let directory = directory.canonicalize()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let holds = |line: &&str| line.split(' ').nth(4).is_some_and(|point| directory.starts_with(point));
    // Of mounts at the same point, the last one is seen.
    let mount = mounts.lines().filter(holds).max_by_key(|line| line.split(' ').nth(4).map(str::len));
    let mut words = mount.and_then(|line| line.split_once(" - ")).map_or("", |(_, rest)| rest).split(' ');
    match (words.next(), words.next()) {
        (Some(kind), Some(source)) => Ok(format!("{kind} on {source}")),
        _ => Ok("unknown".to_owned()),
    }
}
