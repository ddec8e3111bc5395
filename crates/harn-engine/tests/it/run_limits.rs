//! The limits of a run, and what a script is told when it meets them.

use std::num::NonZeroU32;

use harn_workflow::run::{CheckOutcome, EvidenceKind, EvidenceStatus, Source};
use serde_json::{Value, json};

use crate::attempt_fixture::{Attempt, Project};

#[test]
fn no_more_agents_are_started_than_the_run_may_start() {
    let project = Project::new();
    let id = project.item(
        "export default async ({agent}) => {
             const replies = [];
             for (let n = 0; n < 3; n += 1) {
                 try { replies.push(await agent('same')); } catch (error) { replies.push(error.message); }
             }
             return replies;
         };",
    );
    let mut attempt = Attempt::of(&project, &id).agent("cat; echo x >>started");
    attempt.options.max_agents = NonZeroU32::new(2).unwrap();
    let report = attempt.run().unwrap();
    let replies = project.result(&report.run_id);
    assert_eq!((&replies[0], &replies[1]), (&"same".into(), &"same".into()));
    let refusal = "the run may start 2 agents and has started them all (`--max-agents`)";
    assert_eq!(replies[2], refusal);
    assert_eq!(project.read("started").lines().count(), 2);
    assert_eq!(report.proof.agents.len(), 2);
}

#[test]
fn no_more_processes_run_at_once_than_there_are_slots() {
    // Each notes that it is there, waits until a second one is and long enough for a third to show, and notes that it goes.
    const BODY: &str = "echo + >>notes; until [ $(grep -c + notes) -ge 2 ]; do sleep 0.01; done
        sleep 0.1; echo - >>notes";
    let project = Project::new();
    let id = project.item(&format!(
        "export default ({{agent, check, parallel}}) => {{
             const thunks = [];
             for (let n = 0; n < 4; n += 1) {{
                 thunks.push(() => agent(`agent ${{n}}`), () => check({{name: 'c', argv: ['sh', '-c', {}]}}));
             }}
             return parallel(thunks);
         }};",
        Value::from(BODY),
    ));
    let mut attempt = Attempt::of(&project, &id).agent(BODY);
    attempt.options.concurrency = NonZeroU32::new(2).unwrap();
    let report = attempt.run().unwrap();
    assert!(project.result(&report.run_id).as_array().unwrap().iter().all(|result| !result.is_null()));
    let notes = project.read("notes");
    let running = notes.lines().scan(0, |running, note| {
        *running += if note == "+" { 1 } else { -1 };
        Some(*running)
    });
    let running: Vec<i32> = running.collect();
    assert_eq!((running.len(), running.iter().max(), running.last()), (16, Some(&2), Some(&0)), "{notes}");
}

#[test]
fn k_91_there_is_an_end_to_evidence_and_open_checks_have_their_place_in_it() {
    let project = Project::new();
    let report = project.run(
        "export default async ({check, evidence}) => {
             const record = (n) => evidence({kind: 'observation', status: 'observed', label: `n${n}`});
             const ids = [];
             for (let n = 1; n < 200; n += 1) ids.push(record(n));
             const last = check({name: 'last', argv: ['true']});
             const errors = [];
             try { record(200); } catch (error) { errors.push(error.message); }
             try { await check({name: 'more', argv: ['true']}); } catch (error) { errors.push(error.message); }
             await last;
             return {first: ids[0], last: ids[198], errors};
         };",
        "",
    );
    let full = "the run has 200 records of evidence, expected no more";
    let expected = json!({"first": "e1", "last": "e199", "errors": [full, full]});
    assert_eq!(project.result(&report.run_id), expected);
    assert_eq!((report.proof.evidence.len(), report.proof.checks.len()), (200, 1));
}

#[test]
fn k_91_only_criteria_that_exist_are_cited_and_each_once() {
    let project = Project::new();
    let id = project.item_with(
        "export const meta = {acceptance: [{id: 'done', statement: 'It is done'}]};
         export default async ({check, evidence}) => {
             const errors = [];
             const attempted = async (work) => { try { await work(); } catch (error) { errors.push(error.message); } };
             const record = (acceptanceIds) => evidence({kind: 'test', status: 'passed', label: 'l', acceptanceIds});
             await attempted(() => record(['other']));
             await attempted(() => record(['item.2']));
             await attempted(() => record(['not an id']));
             await attempted(() => check({name: 'c', argv: ['touch', 'started'], acceptanceIds: ['other']}));
             record(['done', 'item.1', 'done']);
             return errors;
         };",
        |draft| draft.acceptance = vec!["It works".to_owned()],
    );
    let report = Attempt::of(&project, &id).run().unwrap();
    let errors = project.result(&report.run_id);
    assert_eq!(errors[0], "`other` is not a criterion of this run");
    assert_eq!(errors[1], "`item.2` is not a criterion of this run");
    assert!(errors[2].as_str().unwrap().starts_with("`not an id` is not the id of a criterion"));
    assert_eq!(errors[3], errors[0]);
    assert!(!project.cwd().join("started").exists());
    let [evidence] = &report.proof.evidence[..] else { panic!("one record") };
    let cited: Vec<&str> =
        evidence.acceptance_ids.as_slice().iter().map(harn_workflow::run::CriterionId::as_str).collect();
    assert_eq!((evidence.id.to_string().as_str(), &cited[..]), ("e1", &["done", "item.1"][..]));
    assert!(report.proof.passes());
    assert_eq!(report.proof.acceptance.criteria.len(), 2);
}

#[test]
fn evidence_of_a_check_is_the_engines_own_and_a_kind_that_does_not_exist_ends_nothing() {
    let project = Project::new();
    let report = project.run(
        "export default async ({check, evidence}) => {
             await check({name: 'suite', argv: ['false']});
             return evidence({kind: 'ts' + 'et', status: 'passed', label: 'misspelt'});
         };",
        "",
    );
    assert_eq!(project.result(&report.run_id), "e2");
    let [observed, declared] = &report.proof.evidence[..] else { panic!("two records") };
    assert_eq!((observed.source, observed.status), (Source::Engine, EvidenceStatus::Failed));
    assert_eq!(report.proof.checks[0].outcome, Some(CheckOutcome::Failed));
    assert_eq!((declared.source, declared.kind), (Source::Workflow, EvidenceKind::Observation));
    assert_eq!(declared.status, EvidenceStatus::Unknown);
    assert!(declared.note.as_ref().unwrap().as_str().contains("tset"));
}
