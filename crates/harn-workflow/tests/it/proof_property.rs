//! Any legal transcript has one proof, which can be read and computed again.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use harn_ledger::Decider as _;
use harn_workflow::run::proof::PROOF_MAX;
use harn_workflow::run::{
    CheckOutcome, Command, Event, EvidenceStatus, Failure, FailureClass, Phase, Proof, Run, State,
};
use proptest::prelude::*;

use crate::run_samples::{
    Transcript, agent_failed, agent_started, agent_succeeded, block, check_ended, check_started, evidence,
    failed, id, loaded, manifest, succeeded,
};

const CITED: [&[&str]; 4] = [&[], &["c"], &["item.1"], &["c", "item.2"]];

/// Something that may or may not be legal where the run stands.
fn command(choice: u8, number: u8, state: &State) -> Command {
    let at = usize::from(number % 4);
    let agent = u32::from(number % 3) + 1;
    let event = match choice % 14 {
        0 | 1 => agent_started(state.next_agent().number()),
        2 => agent_succeeded(agent, "a reply"),
        3 => agent_failed(agent, Some(FailureClass::Environment)),
        4 => agent_failed(agent, [None, Some(FailureClass::Upstream)][at % 2]),
        5 => check_started(state.next_check().number(), CITED[at]),
        6 | 7 => {
            let outcome = [
                CheckOutcome::Passed,
                CheckOutcome::Failed,
                CheckOutcome::Timeout,
                CheckOutcome::MissingTool,
            ][at];
            return check_ended(agent, outcome);
        }
        8 => {
            let status = [
                EvidenceStatus::Passed,
                EvidenceStatus::Failed,
                EvidenceStatus::Observed,
                EvidenceStatus::Unknown,
            ][at];
            evidence(state.next_evidence().number(), status, CITED[usize::from(number / 4 % 4)])
        }
        9 => Event::RunParked { approval_id: id("apr-1") },
        10 => Event::RunResumed {},
        11 if number < 32 => Event::RunBlocked { reason: block("why"), decision: None },
        12 => loaded(&["c"]),
        _ if number < 16 => return failed(Failure::ScriptError, "x"),
        _ => Event::RunStarted {},
    };
    Command::Record(vec![event])
}

fn end(run: &mut Transcript, choice: u8) {
    if run.state.ended() {
        return;
    }
    let command = match run.state.phase() {
        Phase::Blocked { .. } => failed(Failure::Decision, ""),
        Phase::Running if run.state.script_loaded() && choice.is_multiple_of(2) => succeeded(),
        _ => failed(
            [Failure::Signal, Failure::Cancelled, Failure::Deadline][usize::from(choice) % 3],
            "stopped",
        ),
    };
    run.execute(command).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_proof_can_be_computed_again(
        load in proptest::bool::weighted(0.9),
        steps in proptest::collection::vec((any::<u8>(), any::<u8>()), 0..60),
        ending in any::<u8>(),
    ) {
        let mut run = if load { Transcript::of(manifest(), &["c"]) } else { Transcript::started(manifest()) };
        for (choice, number) in steps {
            let before = run.state.clone();
            if run.execute(command(choice, number, &before)).is_err() {
                prop_assert_eq!(&run.state, &before);
            }
        }
        end(&mut run, ending);

        // The state is the fold of what was recorded.
        let mut folded = Run::init(&run.manifest);
        for line in &run.lines {
            prop_assert!(!folded.ended());
            Run::evolve(&mut folded, line);
        }
        prop_assert_eq!(&folded, &run.state);

        let proof = run.proof();
        let bytes = proof.to_bytes();
        prop_assert!(bytes.len() <= PROOF_MAX);
        prop_assert_eq!(run.proof().to_bytes(), bytes.clone());
        prop_assert_eq!(&Proof::from_bytes(&bytes).unwrap(), &proof);
        prop_assert_eq!(proof.verify(&run.manifest, &run.lines), Ok(()));

        // Proof and state tell the same end.
        let Phase::Ended { status, failure, class } = run.state.phase().clone() else {
            return Err(TestCaseError::fail("the run has not ended"));
        };
        prop_assert_eq!((proof.run.status, proof.run.failure, proof.run.class), (status, failure, class));
        let counted = proof.acceptance.criteria.len() + proof.acceptance.not_covered.len();
        prop_assert_eq!(counted, 2 + usize::from(run.state.script_loaded()));

        // Another transcript has another proof.
        let mut other = run.lines.clone();
        let last = other.last_mut().unwrap();
        last.seq += 1;
        prop_assert!(proof.verify(&run.manifest, &other).is_err());
    }
}
