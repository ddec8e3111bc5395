//! Other processes: this test binary, started again to play a role.
//!
//! The parent names the role in an environment variable; the test `process::play_the_role` then plays it instead of
//! passing at once. Parent and child talk in lines, over the child's standard input and output.

use std::io::{self, BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::{catalog, contention, create, kill, leases, places};

const ROLE: &str = "HARN_LEDGER_TEST_ROLE";
const ROOT: &str = "HARN_LEDGER_TEST_ROOT";
/// Tells the child's own lines from those of the test harness.
const MARK: &str = "> ";

/// What a child does in the ledger at this root.
type Role = fn(&Path);

const ROLES: [(&str, Role); 9] = [
    ("append", contention::append_ten),
    ("contend", contention::contend_for_the_head),
    ("append until killed", kill::append_until_killed),
    ("create until killed", kill::create_until_killed),
    ("create privately", create::create_under_a_permissive_umask),
    ("race for leases", leases::race),
    ("hold a lease", leases::hold),
    ("open a relative root", places::open_a_relative_root),
    ("list", catalog::list_until_told),
];

/// Plays the role that the parent asked for, if this is such a child; passes at once if it is not.
#[test]
fn play_the_role() {
    let (Ok(name), Some(root)) = (std::env::var(ROLE), std::env::var_os(ROOT)) else { return };
    let (_, role) = ROLES.iter().find(|(role, _)| *role == name).expect("the parent names a role");
    role(Path::new(&root));
}

/// Tells the parent a line.
pub(crate) fn say(line: &str) {
    let mut out = io::stdout().lock();
    // A parent that is gone has killed this process already or will.
    let _ = writeln!(out, "{MARK}{line}").and_then(|()| out.flush());
}

/// The next line from the parent; `None` when it has closed the pipe.
pub(crate) fn listen() -> Option<String> {
    io::stdin().lock().lines().next().map(|line| line.expect("the parent writes text"))
}

/// A child that plays a role. It is killed when this is dropped.
pub(crate) struct Player {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Player {
    pub(crate) fn start(role: &str, root: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["process::play_the_role", "--exact", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(ROOT, root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, input, output }
    }

    /// Tells the child a line.
    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the pipe is open until the child is waited for");
        writeln!(input, "{line}").and_then(|()| input.flush()).unwrap();
    }

    /// The next line from the child; `None` when it has ended.
    pub(crate) fn listen(&mut self) -> Option<String> {
        self.output.by_ref().map(Result::unwrap).find_map(|line| {
            // The harness prints the name of the test before the first line, and no line feed behind it.
            line.find(MARK).map(|at| line[at + MARK.len()..].to_owned())
        })
    }

    /// Ends the child as a power cut would: it gets to do nothing more. Returns what it said before.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.listen()).collect()
    }

    /// Waits for the child to end by itself. Returns what it said before.
    pub(crate) fn finish(mut self) -> Vec<String> {
        drop(self.input.take());
        let said = std::iter::from_fn(|| self.listen()).collect();
        assert!(self.child.wait().unwrap().success(), "the child failed; its panic stands above");
        said
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // Both fail if it has ended already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
