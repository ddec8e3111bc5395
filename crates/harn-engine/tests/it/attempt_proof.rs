//! Proofs: what is stored is what manifest and transcript give, and a change to either is found.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use harn_engine::attempt::{AttemptError, AttemptReport};
use harn_ledger::{Digest, Ledger, StreamId, SystemClock, SystemIds, VerifyOptions};
use harn_workflow::run::Proof;
use harn_workflow::run::proof::UnknownCode;
use harn_workflow::work::{Accept, Caller, ItemState, Reopen};
use harn_workflow::{UnprovenKind, WorkLedger};

use crate::attempt_disk::Watch;
use crate::attempt_fixture::{Attempt, Project};

const PASSES: &str = "export const meta = {name: 'n', acceptance: [{id: 'done', statement: 'It is done'}]};
    export default async ({agent, check, evidence, stage, log}) => {
        stage('work');
        log('a line that stands in the transcript');
        const reply = await agent('p');
        evidence({kind: 'review', status: 'observed', label: 'seen', summary: reply});
        return (await check({name: 'c', argv: ['true'], acceptanceIds: ['done']})).passed;
    };";

fn passed(project: &Project) -> (StreamId, AttemptReport) {
    let id = project.item(PASSES);
    let report = Attempt::of(project, &id).agent("cat; echo ' done'").run().unwrap();
    assert_eq!(report.item.projection.state, ItemState::InReview);
    (id, report)
}

#[test]
fn the_stored_proof_is_the_one_that_manifest_and_transcript_give() {
    let scripts = [
        PASSES,
        "export default () => { throw new Error('no'); };",
        "throw null; export default 1;",
        "export default ({blocked}) => blocked({reason: 'r', decision: 'd'});",
        "export default async ({agent, parallel}) => parallel([() => agent('a'), () => agent('b')]);",
        "export default async ({check}) => check({name: 'c', argv: ['false']});",
    ];
    let project = Project::new();
    for script in scripts {
        let id = project.item(script);
        let report = Attempt::of(&project, &id).agent("cat").run().unwrap();
        let cited = report.item.projection.proof.unwrap();
        let stored = project.works.stored_proof(&report.run_id, &cited).unwrap();
        assert_eq!(stored, report.proof);
        assert_eq!(stored, project.works.compute_proof(&report.run_id).unwrap());
        let stream = project.run_stream(&report.run_id);
        let recomputed = Proof::of(stream.intent(), &project.transcript(&report.run_id)).unwrap();
        assert_eq!(recomputed.to_bytes(), project.works.blobs().get(&cited).unwrap(), "{script}");
        assert!(project.works.verify_proof(&report.run_id).unwrap().is_none());
    }
    let again = project.reopened();
    assert!(again.verify_proofs().is_empty());
    assert_eq!(again.ledger().verify(&VerifyOptions::default()).problems, []);
}

/// An item whose runner was gone after `run.ended` and before anything else: no proof is stored, no end recorded.
fn cut_off_before_its_proof(watch: &Watch) -> (Project, StreamId) {
    let project = Project::on(watch.disk());
    let id = project.item("export default () => 'done';");
    let attempt = Attempt::of(&project, &id).observer(|recorded| {
        if recorded.event.name() == "run.ended" {
            watch.set_full(true);
        }
    });
    let error = attempt.run().unwrap_err();
    assert!(matches!(error, AttemptError::End(_)), "{error}");
    assert_eq!(error.code(), "storage_full");
    assert_eq!(project.work_events(&id), ["work.created", "attempt.started"]);
    watch.set_full(false);
    (project, id)
}

#[test]
fn an_end_that_only_the_run_shows_is_taken_in_with_its_proof() {
    type Command = fn(&WorkLedger, &Caller, &StreamId);
    let commands: [(Command, &[&str]); 3] = [
        (|works, ann, id| drop(works.reconcile(ann, id).unwrap()), &["attempt.ended", "work.reconciled"]),
        (
            |works, ann, id| drop(works.accept(ann, id, Accept::default()).unwrap()),
            &["attempt.ended", "work.accepted"],
        ),
        (
            |works, ann, id| drop(works.reopen(ann, id, Reopen::default()).unwrap()),
            &["attempt.ended", "work.reopened"],
        ),
    ];
    for (command, recorded) in commands {
        // Once it has ended long ago, and once it comes to light while the command is decided.
        for at_the_last_moment in [false, true] {
            let watch = Watch::default();
            let (project, id) = cut_off_before_its_proof(&watch);
            assert_eq!(project.projection(&id).state, ItemState::InReview);
            if at_the_last_moment {
                let (run, hidden) = (project.state().join("run"), project.state().join("hidden"));
                fs::rename(&run, &hidden).unwrap();
                watch.at_lease(move || fs::rename(hidden, run).unwrap());
            }
            let works = WorkLedger::new(
                Ledger::builder(project.state()).disk(watch.disk()).open().unwrap(),
                SystemClock,
                SystemIds,
            );
            command(&works, &project.ann, &id);
            assert_eq!(project.work_events(&id)[2..], *recorded);
            assert_eq!(problems(&project), Vec::<String>::new());
            assert!(project.reopened().verify_proofs().is_empty());
        }
    }
}

#[test]
fn a_proof_says_what_it_cannot_vouch_for() {
    let project = Project::new();
    let report = project.run("export default () => 1;", "");
    assert!(report.proof.passes());
    let codes: Vec<UnknownCode> = report.proof.unknowns.iter().map(|unknown| unknown.code).collect();
    assert_eq!(codes, [UnknownCode::NoAcceptanceCriteria]);
}

/// Flips one bit of the file at the place where `text` stands.
fn tamper(path: &PathBuf, text: &str) {
    let content = fs::read(path).unwrap();
    let at = content.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&[content[at] ^ 1], at as u64).unwrap();
}

fn problems(project: &Project) -> Vec<String> {
    let found = project.reopened().ledger().verify(&VerifyOptions::default());
    found.problems.iter().map(|problem| format!("{}: {}", problem.place, problem.kind.code())).collect()
}

#[test]
fn a_changed_or_missing_proof_is_found_and_cannot_be_accepted() {
    for (removed, problem) in [(false, "damaged_blob"), (true, "missing_blob")] {
        let project = Project::new();
        let (id, report) = passed(&project);
        let digest = report.proof.blob_ref().blob.to_string();
        let blob = project.state().join("blobs").join(&digest[..2]).join(&digest);
        if removed {
            fs::remove_file(&blob).unwrap();
        } else {
            tamper(&blob, "satisfied");
        }
        assert_eq!(problems(&project), [format!("work/{id}: {problem}")]);
        // What it should say still follows from the run.
        assert!(project.reopened().verify_proofs().is_empty());
        for works in [&project.works, &project.reopened()] {
            let refused = works.accept(&project.ann, &id, Accept::default()).unwrap_err();
            assert_eq!(refused.code(), "proof_missing");
        }
        assert_eq!(project.projection(&id).state, ItemState::InReview);
    }
}

#[test]
fn a_changed_transcript_is_found_and_proves_nothing() {
    let refused = |project: &Project, id: &StreamId| {
        let refused = project.reopened().accept(&project.ann, id, Accept::default()).unwrap_err();
        assert_eq!(refused.code(), "unproven", "{refused}");
    };
    let project = Project::new();
    let (id, report) = passed(&project);
    let run = project.state().join("run").join(report.run_id.as_str());
    tamper(&run.join("events.jsonl"), "stands in the transcript");
    assert_eq!(problems(&project), [format!("run/{}: damaged", report.run_id)]);
    let unproven = project.reopened().verify_proofs();
    assert!(matches!(unproven[..], [ref one] if one.id == id && one.code() == "proof_not_computable"));
    refused(&project, &id);

    let project = Project::new();
    let (id, report) = passed(&project);
    let run = project.state().join("run").join(report.run_id.as_str());
    fs::remove_dir_all(run).unwrap();
    let unproven = project.reopened().verify_proofs();
    assert!(
        matches!(&unproven[..], [one] if matches!(one.kind, UnprovenKind::NotComputable { attempt: 1, .. }))
    );
    refused(&project, &id);
    // Where the item stands rests on its log alone.
    assert_eq!(project.projection(&id).state, ItemState::InReview);
}

#[test]
fn n_15_only_the_proof_that_was_reviewed_is_accepted() {
    let project = Project::new();
    let (id, report) = passed(&project);
    let accept = |digest| {
        let accept = Accept { expect_proof: Some(digest), ..Accept::default() };
        project.works.accept(&project.ann, &id, accept)
    };
    assert_eq!(accept(Digest::of(b"another")).unwrap_err().code(), "other_proof");
    let accepted = accept(report.proof.blob_ref().blob).unwrap();
    assert_eq!(accepted.item.projection.state, ItemState::Succeeded);
}
