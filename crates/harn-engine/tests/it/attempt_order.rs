//! In which order an attempt is recorded, and that what is refused costs nothing.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use harn_engine::attempt::AttemptError;
use harn_engine::run::Adapters;
use harn_workflow::run::{Class, Failure};
use harn_workflow::work::{ItemState, NextAction};

use crate::attempt_disk::Watch;
use crate::attempt_fixture::{Attempt, Project, sh};

#[test]
fn each_step_is_on_stable_storage_before_the_next() {
    let watch = Watch::default();
    let project = Project::on(watch.disk());
    let id = project.item(
        "console.log('the first line');
         export default async ({agent}) => (await agent('p')).length;",
    );
    let report = Attempt::of(&project, &id).agent("head -c 5000 /dev/zero | tr '\\0' x").run().unwrap();
    let (work, run) = (format!("work/{id}/events.jsonl"), format!("run/{}", report.run_id));
    let proof = report.item.projection.proof.unwrap().blob.to_string();

    // What is looked for, one after the other; other things may happen in between.
    let steps = [
        format!("write {work} attempt.started"),
        format!("sync {work}"),
        format!("rename {run}"),
        "sync run".to_owned(),
        format!("write {run}/events.jsonl log"),
        format!("write {run}/events.jsonl script.loaded"),
        format!("write {run}/events.jsonl agent.started"),
        format!("sync {run}/events.jsonl"),
        // The reply is a blob before an event cites it.
        "rename blobs/".to_owned(),
        "sync blobs/".to_owned(),
        // The end of the call is in the same batch as its try.
        format!("write {run}/events.jsonl agent.try"),
        format!("write {run}/events.jsonl run.ended"),
        format!("sync {run}/events.jsonl"),
        format!("rename blobs/{}/{proof}", &proof[..2]),
        format!("sync blobs/{}", &proof[..2]),
        format!("write {work} attempt.ended"),
        format!("sync {work}"),
    ];
    let seen = watch.seen();
    let mut rest = seen.iter();
    for step in &steps {
        assert!(
            rest.any(|seen| seen.starts_with(step)),
            "`{step}` is missing or comes too early in {seen:#?}"
        );
    }
    for step in steps.iter().filter(|step| step.starts_with("write") || step.starts_with("rename run")) {
        let count = seen.iter().filter(|seen| seen.starts_with(step)).count();
        assert_eq!(count, 1, "`{step}` in {seen:#?}");
    }
    assert_eq!(
        project.events(&report.run_id),
        ["run.started", "log", "script.loaded", "agent.started", "agent.try", "agent.ended", "run.ended"]
    );
    assert_eq!(project.work_events(&id), ["work.created", "attempt.started", "attempt.ended"]);
}

#[test]
fn k_15_what_the_script_gets_wrong_at_import_ends_a_recorded_attempt_with_a_proof() {
    let cases = [
        ("throw new Error('not today'); export default () => 1;", Failure::ScriptError, "not today"),
        ("export default 3;", Failure::LoadFailed, "the default export must be a function"),
        ("export const meta = {titel: 'x'}; export default () => 1;", Failure::LoadFailed, "titel"),
        (
            "export const meta = {acceptance: [{id: 'a', statement: 's'}, {id: 'a', statement: 't'}]};
             export default () => 1;",
            Failure::LoadFailed,
            "`a`",
        ),
        (
            "export const meta = {acceptance: [{id: 'item.1', statement: 's'}]}; export default () => 1;",
            Failure::LoadFailed,
            "item.1",
        ),
    ];
    for (script, failure, message) in cases {
        let project = Project::new();
        let id = project.item(script);
        let report = Attempt::of(&project, &id).run().unwrap();
        assert_eq!(report.proof.run.failure, Some(failure), "{script}");
        let error = report.proof.run.error.as_ref().unwrap().to_string();
        assert!(error.contains(message), "{error}");
        assert_eq!(project.events(&report.run_id), ["run.started", "run.ended"], "{script}");

        let item = report.item.projection;
        assert_eq!((item.state, item.next_action), (ItemState::Blocked, NextAction::Retry));
        // A mistake of the script is charged, although it started nothing.
        assert_eq!((item.attempts_used, item.charged_attempts), (1, 1));
        assert_eq!(item.proof, Some(report.proof.blob_ref()));
        let second = Attempt::of(&project, &id).retry().run().unwrap();
        assert_eq!(second.item.projection.attempts_used, 2);
    }
}

#[test]
fn a_process_that_is_told_to_end_before_the_script_has_begun_is_interrupted() {
    let project = Project::new();
    let id = project.item("export default ({agent}) => agent('p');");
    let stopper = harn_engine::run::Stopper::new();
    stopper.stop(harn_engine::run::StopReason::Signal);
    let report = Attempt::of(&project, &id).agent("touch started").stopper(&stopper).run().unwrap();
    assert_eq!(report.proof.run.class, Some(Class::Interrupted));
    assert_eq!((report.item.projection.attempts_used, report.item.projection.charged_attempts), (1, 0));
    assert!(!project.cwd().join("started").exists());
}

/// What a refused attempt must leave: nothing.
fn assert_untouched(project: &Project, id: &harn_ledger::StreamId) {
    assert_eq!(project.work_events(id), ["work.created"]);
    assert!(!project.state().join("run").exists());
    assert_eq!(project.projection(id).state, ItemState::Ready);
}

type OptionChange<'a> = Box<dyn FnOnce(&mut Attempt<'_>) + 'a>;

#[test]
fn n_08_an_option_that_is_not_acceptable_is_refused_before_anything_is_recorded() {
    let project = Project::new();
    let id = project.item("export default () => 1;");
    let file = project.write("file", "");
    let cases: [(&str, OptionChange<'_>); 9] = [
        ("cwd_missing", Box::new(|attempt| attempt.options.cwd = "/does/not/exist".into())),
        ("cwd_missing", Box::new(|attempt| attempt.options.cwd = file.clone())),
        ("cwd_invalid", Box::new(|attempt| attempt.options.cwd = ".".into())),
        (
            "cwd_invalid",
            Box::new(|attempt| {
                let path = project.cwd().join(OsStr::from_bytes(b"caf\xe9"));
                fs::create_dir(&path).unwrap();
                attempt.options.cwd = path;
            }),
        ),
        ("text_blank", Box::new(|attempt| attempt.options.approval_to = Some(" ".to_owned()))),
        ("text_too_long", Box::new(|attempt| attempt.options.approval_to = Some("x".repeat(201)))),
        ("text_control_character", Box::new(|attempt| attempt.options.approval_to = Some("a\nb".to_owned()))),
        (
            "manifest_billing_conflict",
            Box::new(|attempt| {
                attempt.options.subscription_only = true;
                attempt.options.allow_api_billing = true;
            }),
        ),
        ("manifest_not_exact", Box::new(|attempt| attempt.options.deadline = Some(Duration::MAX))),
    ];
    for (code, change) in cases {
        let mut attempt = Attempt::of(&project, &id);
        change(&mut attempt);
        let error = attempt.run().unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert_untouched(&project, &id);
    }
    let unknown =
        Attempt::of(&project, &id).adapters(Adapters::none().with(sh("a", "cat")).with_default("b"));
    let error = unknown.run().unwrap_err();
    assert_eq!(
        (error.code(), &*error.to_string()),
        ("adapter_unknown", "there is no adapter `b`, expected `a`")
    );
    assert!(error.hint().is_some());
    assert_untouched(&project, &id);
}

#[test]
fn a_deadline_of_less_than_a_millisecond_is_still_a_deadline() {
    let project = Project::new();
    let id = project.item("export default () => { while (true); }");
    let mut attempt = Attempt::of(&project, &id);
    attempt.options.deadline = Some(Duration::from_nanos(1));
    assert_eq!(attempt.run().unwrap().proof.run.failure, Some(Failure::Deadline));
}

type FileChange<'a> = Box<dyn Fn(&Path) + 'a>;

#[test]
fn k_26_a_script_that_is_not_what_was_frozen_is_refused_and_costs_nothing() {
    const SCRIPT: &str = "import {two} from './two.mjs'; export default () => two;";
    const TWO: &str = "export const two = 2;";
    let pipe = |path: &Path| {
        fs::remove_file(path).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let write = |text: &str| -> FileChange<'_> {
        let text = text.to_owned();
        Box::new(move |path| fs::write(path, &text).unwrap())
    };
    let cases: [(&str, &str, FileChange<'_>); 7] = [
        ("workflow.mjs", "script_changed", write("export default () => 3;")),
        // Of the same length.
        ("two.mjs", "script_changed", write("export const two = 3;")),
        ("two.mjs", "script_changed", write(&"x".repeat(2 << 20))),
        ("two.mjs", "script_missing", Box::new(|path| fs::remove_file(path).unwrap())),
        ("workflow.mjs", "script_missing", Box::new(|path| fs::remove_file(path).unwrap())),
        (
            "two.mjs",
            "script_unreadable",
            Box::new(|path| {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            }),
        ),
        // Reading it would wait for somebody to write.
        ("two.mjs", "script_unreadable", Box::new(pipe)),
    ];
    for (name, code, change) in cases {
        let project = Project::new();
        project.write("two.mjs", TWO);
        let id = project.item(SCRIPT);
        let path = project.cwd().join(name);
        change(&path);
        let error = Attempt::of(&project, &id).run().unwrap_err();
        assert!(matches!(error, AttemptError::Script(_)), "{error}");
        assert_eq!(error.code(), code);
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        if code == "script_changed" {
            let found = harn_ledger::Digest::of(&fs::read(&path).unwrap()).to_string();
            assert!(error.to_string().contains(&found), "{error}");
        }
        assert_untouched(&project, &id);
    }
    let project = Project::new();
    project.write("two.mjs", TWO);
    let id = project.item(SCRIPT);
    let report = Attempt::of(&project, &id).run().unwrap();
    assert_eq!(project.result(&report.run_id), 2);
}

#[test]
fn frozen_bytes_that_are_damaged_are_not_run() {
    let project = Project::new();
    let id = project.item("export default () => 1;");
    let frozen = project.works.get(&id).unwrap().intent().workflow.content.unwrap().blob.to_string();
    let blob = project.state().join("blobs").join(&frozen[..2]).join(&frozen);
    fs::write(&blob, "export default () => 2;").unwrap();
    assert_eq!(Attempt::of(&project, &id).run().unwrap_err().code(), "blob_damaged");
    fs::remove_file(&blob).unwrap();
    assert_eq!(Attempt::of(&project, &id).run().unwrap_err().code(), "blob_missing");
    assert_untouched(&project, &id);
}
