//! Side by side: a rejection becomes `null` and is on record; what ends the run is never swallowed.

use harn_workflow::run::{Event, Failure};
use serde_json::json;

use crate::attempt_fixture::Project;

#[test]
fn a_rejection_becomes_null_and_is_recorded() {
    let project = Project::new();
    let report = project.run(
        "export default ({agent, check, parallel}) => parallel([
             () => agent('works'),
             () => agent('fails'),
             () => { throw new Error('at once'); },
             async () => { throw null; },
             async () => (await check({name: 'c', argv: ['true']})).passed,
             () => 7,
         ]);",
        "read what; [ $what = works ] && echo yes",
    );
    assert_eq!(project.result(&report.run_id), json!(["yes", null, null, null, true, 7]));
    let failed = |recorded: &harn_ledger::Recorded<Event>| match &recorded.event {
        Event::ParallelItemFailed { index, error } => {
            Some((*index, error.as_ref().map(ToString::to_string).unwrap_or_default()))
        }
        _ => None,
    };
    let mut failures: Vec<_> = project.transcript(&report.run_id).iter().filter_map(failed).collect();
    failures.sort();
    let [(1, agent), (2, at_once), (3, _)] = &failures[..] else { panic!("{failures:?}") };
    assert_eq!((&**agent, &**at_once), ("`sh` exited with code 1", "at once"));
    // The run succeeded, and its proof does not hide that an agent failed.
    assert!(
        report.proof.unknowns.iter().any(|unknown| unknown.message.as_str().contains("1 of 2 agents failed"))
    );
}

#[test]
fn a_failure_that_parallel_swallowed_still_has_its_class() {
    let project = Project::new();
    let id = project.item(
        "export default async ({agent, parallel}) => {
             const [reply] = await parallel([() => agent('p')]);
             if (reply === null) throw new Error('no reply');
         };",
    );
    let absent = harn_engine::adapter::Exec::new("absent", ["/does/not/exist"]).unwrap();
    let report = crate::attempt_fixture::Attempt::of(&project, &id).default_adapter(absent).run().unwrap();
    assert_eq!(report.proof.run.class, Some(harn_workflow::run::Class::Environment));
}

#[test]
fn a_block_inside_is_never_swallowed() {
    let project = Project::new();
    let report = project.run(
        "export default async ({agent, blocked, parallel}) => {
             const results = await parallel([
                 () => agent('p'),
                 async () => { await agent('q'); blocked({reason: 'Which one?', decision: 'one'}); },
             ]);
             return results;
         };",
        "cat",
    );
    assert_eq!(report.proof.run.failure, Some(Failure::Decision));
    assert_eq!(report.proof.run.decision_id.unwrap().as_str(), "one");
    assert_eq!(report.item.projection.charged_attempts, 0);
}
