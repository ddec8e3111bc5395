//! The environment of a run: when it may be told of, and what follows from it.

use harn_ledger::{Decider as _, Digest};
use harn_workflow::run::proof::{PROOF_MAX, UnknownCode};
use harn_workflow::run::{
    BaselineResult, COMMANDS_MAX, CheckOutcome, Class, Command, Compared, CriterionStatus, Environment,
    Event, Failure, FinalCheck, Hold, Preparation, Proof, ReceiptHead, Run, TESTS_MAX, Verdict, prior_from,
};

use crate::run_limits::{wide, widest_manifest};
use crate::run_samples::{
    Transcript, agent_started, agent_succeeded, block, evidence, failed, id, line, loaded, manifest,
    succeeded,
};

const VERDICTS: [Verdict; 13] = [
    Verdict::Holds,
    Verdict::Regression,
    Verdict::SuspectedRegression,
    Verdict::Repaired,
    Verdict::PreExisting,
    Verdict::Changed,
    Verdict::EnvironmentLost,
    Verdict::EnvironmentGap,
    Verdict::NewPass,
    Verdict::NewFail,
    Verdict::Inconclusive,
    Verdict::Unknown,
    Verdict::Flaky,
];

fn head(name: &str) -> ReceiptHead {
    ReceiptHead { id: id(name), hash: Digest::of(name.as_bytes()) }
}

/// A preparation whose baseline has this many commands.
fn prepared(commands: usize, hold: Option<Hold>) -> Event {
    let result = |at| BaselineResult { name: line(&format!("command {at}")), outcome: CheckOutcome::Passed };
    Event::EnvironmentPrepared {
        preparation: Box::new(Preparation {
            receipt: head("env-1"),
            hold,
            reason: hold.map(|_| block("it did not work")),
            reused_from: None,
            retried: false,
            baseline: (0..commands).map(result).collect(),
        }),
    }
}

fn checked(verdicts: &[Verdict]) -> Event {
    let compared = |(at, verdict): (usize, &Verdict)| Compared {
        name: line(&format!("command {at}")),
        verdict: *verdict,
        broken: Vec::new(),
        broken_total: 0,
    };
    let comparisons = verdicts.iter().enumerate().map(compared).collect();
    Event::EnvironmentChecked { check: Box::new(FinalCheck { receipt: head("env-2"), comparisons }) }
}

/// A run with a baseline of as many commands as there are verdicts, whose script reached what it had to.
fn run(verdicts: &[Verdict]) -> Transcript {
    Transcript::started(manifest())
        .with(prepared(verdicts.len(), None))
        .with(loaded(&["c"]))
        .with(evidence(1, harn_workflow::run::EvidenceStatus::Passed, &["c"]))
        .with(checked(verdicts))
}

fn unknowns(proof: &Proof) -> Vec<UnknownCode> {
    proof.unknowns.iter().map(|unknown| unknown.code).collect()
}

#[test]
fn it_is_prepared_before_the_script_and_checked_after_it_once_each() {
    const ENVIRONMENT: Option<&str> = Some("run_environment");
    let started = || Transcript::started(manifest());
    let blocked = || Event::RunBlocked { reason: block("which?"), decision: None };
    let cases = [
        // what stands before, the event, whether it is refused
        (started(), prepared(1, None), None),
        (started(), Event::EnvironmentSkipped {}, None),
        (started(), checked(&[]), ENVIRONMENT),
        (started().with(prepared(1, None)), prepared(1, None), ENVIRONMENT),
        (started().with(prepared(1, None)), Event::EnvironmentSkipped {}, ENVIRONMENT),
        (started().with(Event::EnvironmentSkipped {}), prepared(1, None), ENVIRONMENT),
        (started().with(prepared(1, None)), checked(&[Verdict::Holds]), ENVIRONMENT),
        (started().with(prepared(1, None)), loaded(&[]), None),
        (started().with(loaded(&[])), prepared(1, None), ENVIRONMENT),
        (started().with(loaded(&[])), Event::EnvironmentSkipped {}, ENVIRONMENT),
        (started().with(loaded(&[])), checked(&[]), ENVIRONMENT),
        (started().with(Event::EnvironmentSkipped {}).with(loaded(&[])), checked(&[]), ENVIRONMENT),
        (run(&[Verdict::Holds]), checked(&[Verdict::Holds]), ENVIRONMENT),
        (started().with(prepared(0, Some(Hold::Setup))), loaded(&[]), ENVIRONMENT),
        (started().with(prepared(0, Some(Hold::Source))), loaded(&[]), ENVIRONMENT),
        (started().with(prepared(0, Some(Hold::Source))), blocked(), None),
        (started().with(prepared(0, Some(Hold::Tools))), blocked(), Some("run_script_not_loaded")),
        (
            started().with(prepared(1, None)).with(loaded(&[])),
            checked(&[Verdict::Holds, Verdict::Holds]),
            Some("run_inconsistent"),
        ),
        (started(), prepared(COMMANDS_MAX + 1, None), Some("run_inconsistent")),
    ];
    for (before, event, expected) in cases {
        let found = Run::decide(&before.state, Command::Record(vec![event.clone()]), &());
        let found = found.err().map(|refusal| refusal.code());
        assert_eq!(found, expected, "{event:?} after {:?}", before.state.environment());
    }
}

#[test]
fn a_failed_preparation_is_of_the_environment_and_a_changed_source_is_a_persons() {
    for hold in [Hold::Setup, Hold::Tools] {
        let run = Transcript::started(manifest()).with(prepared(0, Some(hold)));
        assert_eq!(*run.state.environment(), Environment::Held(hold));
        let proof = run.then(failed(Failure::Environment, "no compiler")).proof();
        assert_eq!((proof.run.class, proof.passes()), (Some(Class::Environment), false), "{hold:?}");
    }
    let blocked = Event::RunBlocked { reason: block("Cargo.lock"), decision: Some(line("env-1")) };
    let run = Transcript::started(manifest()).with(prepared(0, Some(Hold::Source))).with(blocked);
    let proof = run.then(failed(Failure::Decision, "")).proof();
    assert_eq!(proof.run.class, Some(Class::Decision));
    assert_eq!(proof.run.decision_id.unwrap().as_str(), "env-1");

    // Once the script is loaded, a failure is no longer the environment's alone.
    let late = Transcript::of(manifest(), &[]);
    let refused = Run::decide(&late.state, failed(Failure::Environment, "x"), &());
    assert_eq!(refused.unwrap_err().code(), "run_inconsistent");
}

#[test]
fn only_a_regression_counts_against_the_run_and_what_is_not_certain_is_said() {
    for verdict in VERDICTS {
        let transcript = run(&[Verdict::Holds, verdict]).then(succeeded());
        let proof = transcript.proof();
        let regressed = verdict == Verdict::Regression;
        assert_eq!(proof.passes(), !regressed, "{verdict:?}");
        let last = proof.acceptance.criteria.last().unwrap();
        let expected = if regressed { CriterionStatus::Unsatisfied } else { CriterionStatus::Satisfied };
        assert_eq!((last.id.as_str(), last.status), ("environment.baseline", expected), "{verdict:?}");
        let uncertain = if verdict.is_certain() { vec![] } else { vec![UnknownCode::EnvironmentUncertain] };
        assert_eq!(unknowns(&proof), uncertain, "{verdict:?}");

        let bytes = proof.to_bytes();
        assert_eq!(Proof::from_bytes(&bytes).unwrap(), proof);
        assert_eq!(proof.verify(&transcript.manifest, &transcript.lines), Ok(()));
        if regressed {
            let told = serde_json::to_value(prior_from(&id("run-1"), Some(&proof)).unwrap()).unwrap();
            assert_eq!(told["unresolved"][0]["id"], "environment.baseline");
        }
    }
}

#[test]
fn what_was_not_done_is_said() {
    let script = |run: Transcript| {
        let passed = harn_workflow::run::EvidenceStatus::Passed;
        run.with(loaded(&["c"])).with(evidence(1, passed, &["c"])).then(succeeded()).proof()
    };
    let started = || Transcript::started(manifest());
    let cases = [
        (started(), vec![]),
        (started().with(Event::EnvironmentSkipped {}), vec![UnknownCode::EnvironmentSkipped]),
        (started().with(prepared(0, None)), vec![]),
        (started().with(prepared(2, None)), vec![UnknownCode::EnvironmentUncertain]),
    ];
    for (before, expected) in cases {
        let proof = script(before);
        assert_eq!((unknowns(&proof), proof.passes()), (expected, true), "{:?}", proof.environment);
    }
    // That nothing got worse does not say that anything was reached.
    let nothing = Transcript::started(manifest()).with(prepared(1, None)).with(loaded(&[]));
    let nothing =
        nothing.with(agent_started(1)).with(agent_succeeded(1, "y")).with(checked(&[Verdict::Holds]));
    assert_eq!(unknowns(&nothing.then(succeeded()).proof()), [UnknownCode::NoAcceptanceCriteria]);
}

#[test]
fn the_widest_environment_fits() {
    let names: Vec<_> = (0..COMMANDS_MAX).map(|_| line(&wide(100))).collect();
    let preparation = Preparation {
        receipt: head("env-1"),
        hold: None,
        reason: None,
        reused_from: Some(id("env-0")),
        retried: true,
        baseline: names
            .iter()
            .map(|name| BaselineResult { name: name.clone(), outcome: CheckOutcome::CouldNotStart })
            .collect(),
    };
    let comparisons = names.iter().map(|name| Compared {
        name: name.clone(),
        verdict: Verdict::SuspectedRegression,
        broken: vec![line(&wide(200)); TESTS_MAX],
        broken_total: u32::MAX,
    });
    let check = FinalCheck { receipt: head("env-2"), comparisons: comparisons.collect() };
    let check = Event::EnvironmentChecked { check: Box::new(check) };
    assert!(serde_json::to_vec(&check).unwrap().len() < 127 << 10);
    let run = Transcript::started(widest_manifest())
        .with(Event::EnvironmentPrepared { preparation: Box::new(preparation) })
        .with(loaded(&[]))
        .with(check)
        .then(failed(Failure::ScriptError, &wide(2000)));
    let proof = run.proof();
    assert!(proof.to_bytes().len() <= PROOF_MAX);
    assert_eq!(proof.environment.unwrap().comparisons().count(), COMMANDS_MAX);
}
