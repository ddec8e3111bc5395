//! What a script is told about its work and its attempt, and that manifest, script and proof say the same.

use harn_ledger::{Expect, StreamId};
use harn_workflow::work::{
    Accept, Disposition, Event as WorkEvent, ItemState, NextAction, Reopen, Ruling, Trigger, Work,
};
use serde_json::{Value, json};

use crate::attempt_fixture::{Attempt, Project, caller};

/// What manifest and proof say, as JSON; the script's own view is compared with it.
fn contexts(project: &Project, report: &harn_engine::attempt::AttemptReport) -> [Value; 2] {
    let stream = project.run_stream(&report.run_id);
    let manifest = stream.intent().parts();
    let run = &report.proof.run;
    assert_eq!(manifest.work_context, run.work_context);
    assert_eq!(manifest.attempt_context, run.attempt_context);
    assert_eq!(manifest.work_item_id, run.work_item_id);
    [serde_json::to_value(&run.work_context).unwrap(), serde_json::to_value(&run.attempt_context).unwrap()]
}

#[test]
fn k_04_the_script_sees_the_work_and_the_item_is_accepted() {
    let project = Project::new();
    let id = project.item_with(
        "export const meta = {acceptance: [{id: 'done', statement: 'It is done'}]};
         export default ({work, evidence}) => {
             evidence({kind: 'observation', status: 'passed', label: 'seen', acceptanceIds: ['done']});
             return work;
         };",
        |draft| draft.acceptance = vec!["It works".to_owned(), "It is “documented”".to_owned()],
    );
    let report = Attempt::of(&project, &id).run().unwrap();
    let expected = json!({
        "schema_version": 1, "id": id.as_str(), "title": "Title", "objective": "The objective",
        "acceptance": ["It works", "It is “documented”"],
    });
    assert_eq!(project.result(&report.run_id), expected);
    assert_eq!(contexts(&project, &report)[0], expected);
    assert_eq!(report.proof.run.work_item_id.as_ref(), Some(&id));
    let item = &report.item.projection;
    assert_eq!((item.state, item.attempts_used), (ItemState::InReview, 1));
    assert_eq!(item.latest_run_id.as_ref(), Some(&report.run_id));
    let accepted = project.works.accept(&project.ann, &id, Accept::default()).unwrap().item.projection;
    assert_eq!((accepted.state, accepted.next_action), (ItemState::Succeeded, NextAction::None));
}

#[test]
fn k_05_failures_need_an_explicit_retry_until_the_budget_is_spent() {
    let project = Project::new();
    let id = project
        .item_with("export default () => { throw new Error('it broke'); }", |draft| draft.max_attempts = 2);
    let first = Attempt::of(&project, &id).run().unwrap();
    assert_eq!(first.proof.run.error.unwrap().as_str(), "it broke");
    assert_eq!(first.item.projection.next_action, NextAction::Retry);
    assert_eq!(Attempt::of(&project, &id).run().unwrap_err().code(), "needs_retry");
    let second = Attempt::of(&project, &id).retry().run().unwrap();
    assert_eq!(
        (second.item.projection.attempts_used, second.item.projection.next_action),
        (2, NextAction::None)
    );
    assert_eq!(Attempt::of(&project, &id).retry().run().unwrap_err().code(), "attempts_exhausted");
    assert_eq!(project.projection(&id).attempts_used, 2);
}

#[test]
fn k_06_a_retry_is_told_what_the_proof_of_the_attempt_before_it_says() {
    let project = Project::new();
    let id = project.item(
        "export const meta = {acceptance: [{id: 'done', statement: 'It is done'}]};
         export default ({attempt, evidence}) => {
             if (attempt.trigger === 'retry') {
                 evidence({kind: 'test', status: 'passed', label: 'seen', acceptanceIds: ['done']});
             }
             return attempt;
         };",
    );
    let first = Attempt::of(&project, &id).run().unwrap();
    let initial = json!({"schema_version": 1, "number": 1, "trigger": "initial"});
    assert_eq!(project.result(&first.run_id), initial);
    assert_eq!(contexts(&project, &first)[1], initial);
    assert_eq!(first.item.projection.state, ItemState::Blocked);

    let second = Attempt::of(&project, &id).retry().run().unwrap();
    let retry = json!({
        "schema_version": 1, "number": 2, "trigger": "retry",
        "prior": {
            "run_id": first.run_id.as_str(),
            "causes": ["acceptance_unknown"],
            "acceptance": {"satisfied": 0, "unsatisfied": 0, "unknown": 1, "total": 1},
            "unresolved": [{"id": "done", "statement": "It is done", "status": "unknown"}],
        },
    });
    assert_eq!(project.result(&second.run_id), retry);
    assert_eq!(contexts(&project, &second)[1], retry);
    assert_eq!(second.item.projection.state, ItemState::InReview);
}

/// Throws on the first attempt and returns its context on the others.
const FAILS_ONCE: &str = "export default ({attempt}) => {
    if (attempt.number === 1) throw THROWN;
    return attempt;
};";

#[test]
fn n_17_n_18_a_retry_works_after_a_failure_without_words() {
    for (thrown, error) in [
        ("null", None),
        ("undefined", None),
        ("new Error('')", None),
        ("''", None),
        ("new Error('  two\\nlines ')", Some("two\nlines")),
    ] {
        let project = Project::new();
        let id = project.item(&FAILS_ONCE.replace("THROWN", thrown));
        let first = Attempt::of(&project, &id).run().unwrap();
        let second = Attempt::of(&project, &id).retry().run().unwrap();
        let mut prior = json!({
            "run_id": first.run_id.as_str(), "causes": ["workflow_error"],
            "acceptance": {"satisfied": 0, "unsatisfied": 0, "unknown": 0, "total": 0}, "unresolved": [],
        });
        if let Some(error) = error {
            prior["error"] = error.into();
        }
        assert_eq!(project.result(&second.run_id)["prior"], prior, "{thrown}");
        assert_eq!(second.item.projection.state, ItemState::InReview, "{thrown}");
    }
}

#[test]
fn an_uncharged_attempt_tells_its_retry_as_much_as_a_charged_one() {
    let project = Project::new();
    let id = project.item(
        "export default ({attempt, blocked}) => {
             if (attempt.number === 1) blocked({reason: 'Which colour?', decision: 'colour'});
             return attempt;
         };",
    );
    Attempt::of(&project, &id).run().unwrap();
    let second = Attempt::of(&project, &id).retry().run().unwrap();
    let prior = &project.result(&second.run_id)["prior"];
    assert_eq!((&prior["causes"], &prior["error"]), (&json!(["workflow_error"]), &json!("Which colour?")));
}

#[test]
fn k_08_an_attempt_without_a_run_is_lost_and_nothing_is_guessed_about_it() {
    let project = Project::new();
    let id = project.item("export default ({attempt}) => attempt;");
    let run_id = StreamId::new("run-by-hand").unwrap();
    let started = WorkEvent::AttemptStarted { run_id: run_id.clone(), attempt: 1, trigger: Trigger::Initial };
    let stream = project.works.ledger().stream::<Work>(id.as_str()).unwrap();
    stream.append(Expect::Any, "by hand", vec![started]).unwrap();
    let lost = project.projection(&id);
    assert_eq!((lost.state, lost.next_action), (ItemState::Blocked, NextAction::Retry));

    let report = Attempt::of(&project, &id).retry().run().unwrap();
    let expected = json!({
        "schema_version": 1, "number": 2, "trigger": "retry",
        "prior": {"run_id": "run-by-hand", "causes": ["lost"], "unresolved": []},
    });
    assert_eq!(project.result(&report.run_id), expected);
    // It had no stream, so it cannot have touched anything.
    assert_eq!((report.item.projection.attempts_used, report.item.projection.charged_attempts), (2, 1));
}

#[test]
fn k_10_k_11_findings_reach_every_later_attempt_on_either_trigger() {
    let project = Project::new();
    let id = project.item(
        "export default ({attempt}) => {
             if (attempt.number === 3) throw new Error('not this time');
             return attempt;
         };",
    );
    let first = Attempt::of(&project, &id).run().unwrap();
    assert_eq!(
        project.result(&first.run_id),
        json!({"schema_version": 1, "number": 1, "trigger": "initial"})
    );

    project.works.reopen(&project.ann, &id, Reopen::default()).unwrap();
    let second = Attempt::of(&project, &id).run().unwrap();
    assert_eq!(
        project.result(&second.run_id),
        json!({"schema_version": 1, "number": 2, "trigger": "initial"})
    );

    let reviewer = caller("reviewer", project.ann.role);
    let reopen = Reopen { findings: vec!["It truncates".to_owned()], grant: Some(2), ..Reopen::default() };
    let reopen = Reopen { reason: Some("one more".to_owned()), ..reopen };
    project.works.reopen(&reviewer, &id, reopen).unwrap();
    let findings = json!([{"id": "f1", "actor": "reviewer", "statement": "It truncates"}]);
    let third = Attempt::of(&project, &id).run().unwrap();
    let told = contexts(&project, &third)[1].clone();
    assert_eq!((&told["trigger"], &told["findings"]), (&json!("initial"), &findings));

    let fourth = Attempt::of(&project, &id).retry().run().unwrap();
    let told = project.result(&fourth.run_id);
    assert_eq!((&told["trigger"], &told["findings"]), (&json!("retry"), &findings));
    assert_eq!(told["prior"]["causes"], json!(["workflow_error"]));
    assert_eq!(contexts(&project, &fourth)[1], told);

    let refused = project.works.accept(&project.ann, &id, Accept::default()).unwrap_err();
    assert_eq!(refused.code(), "findings_open");
    let fixed = Disposition { id: "f1".parse().unwrap(), outcome: Ruling::Fixed, reason: None };
    let accept = Accept { dispositions: vec![fixed], ..Accept::default() };
    let accepted = project.works.accept(&project.ann, &id, accept).unwrap().item.projection;
    assert_eq!(accepted.state, ItemState::Succeeded);
}

#[test]
fn k_44_k_45_nothing_that_the_script_does_changes_its_contexts() {
    let project = Project::new();
    let id = project.item_with(
        "export default (ctx) => {
             if (ctx.attempt.number === 1) throw new Error('first');
             const tries = [
                 () => { ctx.work.title = 'other'; },
                 () => { ctx.work.acceptance.push('more'); },
                 () => { delete ctx.work.objective; },
                 () => { ctx.attempt.prior.causes[0] = 'lost'; },
                 () => { ctx.attempt.prior.acceptance.total = 7; },
                 () => { Object.defineProperty(ctx.attempt, 'number', {value: 9}); },
                 () => { ctx.work = null; },
             ];
             const kept = tries.filter((change) => { try { change(); return true; } catch { return false; } });
             return {kept: kept.length, work: ctx.work, attempt: ctx.attempt};
         };",
        |draft| draft.acceptance = vec!["It works".to_owned()],
    );
    Attempt::of(&project, &id).run().unwrap();
    let report = Attempt::of(&project, &id).retry().run().unwrap();
    let [work, attempt] = contexts(&project, &report);
    assert_eq!(project.result(&report.run_id), json!({"kept": 0, "work": work, "attempt": attempt}));
    assert_eq!(work["acceptance"], json!(["It works"]));
    assert_eq!(attempt["number"], 2);
}
