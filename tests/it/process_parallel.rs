//! Two programs at work in one project at the same time.

use std::process::Stdio;

use harn_tests::{AGENT, Project};

use crate::PROGRAM;

/// Each agent waits until the other one has begun, so neither run can come before the other.
#[test]
fn different_items_run_at_the_same_time() {
    let mut project = Project::new();
    // Ids from chance: a seed would give the same one to both processes.
    project.set("HARN_TEST_SEED", None);
    let agent = "sh -c 'cat >$HARN_RUN_ID.begun; tries=0
        until [ $(ls *.begun | wc -l) -ge 2 ]; do
            tries=$((tries + 1)); [ $tries -lt 3000 ] || exit 1
            sleep 0.02
        done; echo done'";
    let running = ["a", "b"].map(|id| {
        project.item(id, AGENT, &[]);
        let line = ["work", "run", id, "--adapter", "exec", "--exec", agent];
        project.process(PROGRAM, &line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    });
    for mut child in running {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    let listed = project.harn(&["work", "list", "--json"]).ok().json();
    let items = listed["items"].as_array().unwrap();
    assert!(items.iter().all(|item| item["state"] == "in_review" && item["attempts_used"] == 1), "{listed}");
    let _ = project.harn(&["verify"]).ok();
}
